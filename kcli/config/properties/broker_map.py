"""`FROM=TO` of --broker-map: where to connect instead of the address that the cluster advertises, for tunnels and port
forwards.

FROM is host:port, or a host for all its ports; TO is host:port, or a host with the same port. TLS still expects the
name FROM in the certificate.
"""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.settings import parse_bootstrap

ANY = 1  # a port that users never give


def pair(item: str, where: str) -> tuple[str, str]:
    """Return (FROM, TO), checked. Raises UsageError."""
    one, equals, to = (part.strip() for part in item.partition("="))
    if not equals or not one or not to:
        raise UsageError(f"{where} {item}: expected FROM=TO, such as kafka-1:9092=localhost:19092")
    for part in (one, to):
        try:
            parse_bootstrap(part, ANY)
        except ValueError as problem:
            raise UsageError(f"{where} {item}: {problem}") from problem
    return one, to

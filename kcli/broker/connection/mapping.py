"""`broker_map`: addresses that replace those of the cluster (tunnels, port forwards)."""

from __future__ import annotations

from kcli.model import Address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def mapped(address: Address, rules: Sequence[tuple[str, str]]) -> Address:
    """Where to connect instead of `address`: the first rule (FROM, TO) that fits; `address` when none does."""
    for rule, to in rules:
        host, port = _parts(rule)
        if host == address.host.lower() and port in (None, address.port):
            there, its = _parts(to)
            return Address(there, address.port if its is None else its)
    return address


def _parts(text: str) -> tuple[str, int | None]:
    """host, and port where there is one; of an IPv6 address too."""
    host, colon, port = text.lower().rpartition(":")
    if not colon or not port.isdigit() or (":" in host and not host.endswith("]")):
        host, port = text.lower(), ""
    return host.strip("[]"), int(port) if port else None

"""Resolves a host name to all its addresses: each is tried before the host counts as failed (KIP-302)."""

from __future__ import annotations

import socket

from kcli.model import Address
from kcli.tasks import in_daemon_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def not_a_port(port: int) -> str:
    """Return the error for an advertised port that is impossible; "" for a valid one."""
    return (
        "" if 0 < port < 65536 else f"{port} is not a valid port (1 to 65535): check the broker's advertised.listeners"
    )


async def resolve(host: str, port: int) -> list[tuple[int, tuple[Any, ...]]]:
    """Return (family, socket address) for every address of the name. Raises OSError if there is none, or if it cannot
    be a name."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.inet_pton(family, host)
        return [(family, (host, port))]
    except OSError:
        pass  # not a literal address but a name
    except ValueError as problem:  # a NUL, or a character that no encoding has
        raise OSError(0, "not a valid host name") from problem
    if host == "localhost":  # no name server is needed, so no thread has to wait
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    else:
        try:
            infos = await in_daemon_thread(f"resolve {host}", _look_up, host.rstrip("."), port)
        except UnicodeError as problem:
            raise OSError(0, "not a valid host name") from problem
    return list(dict.fromkeys((family, address) for family, _, _, _, address in infos))


def _look_up(host: str, port: int) -> list[Any]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def open_socket(family: int) -> socket.socket:
    """Return a socket with our options, which are set before it connects."""
    created = socket.socket(family, socket.SOCK_STREAM)
    created.setblocking(False)
    created.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    created.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return created


def mapped(address: Address, rules: Sequence[tuple[str, str]]) -> Address:
    """Return the address to connect to instead of `address`: the first matching rule (FROM, TO), else `address`
    itself."""
    for rule, to in rules:
        host, port = _parts(rule)
        if host == address.host.lower() and port in (None, address.port):
            there, its = _parts(to)
            return Address(there, address.port if its is None else its)
    return address


def _parts(text: str) -> tuple[str, int | None]:
    """Return the host, and the port if there is one; also for IPv6 addresses."""
    host, colon, port = text.lower().rpartition(":")
    if not colon or not port.isdigit() or (":" in host and not host.endswith("]")):
        host, port = text.lower(), ""
    return host.strip("[]"), int(port) if port else None

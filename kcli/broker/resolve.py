"""From a host name to all its addresses: every one is tried before the host counts as failed (B23, KIP-302)."""

from __future__ import annotations

import asyncio
import socket


async def resolve(host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    """(family, socket address) of everything the name stands for. Raises OSError when it stands for nothing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.inet_pton(family, host)
        return [(family, (host, port))]
    except OSError:
        pass  # not a literal address: a name
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host.rstrip("."), port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys((family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found))


def open_socket(family: int) -> socket.socket:
    """A socket with our options, set before it is connected (B26)."""
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return made

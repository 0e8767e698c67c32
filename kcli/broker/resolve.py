"""From a host name to all its addresses: every one is tried before the host counts as failed (B23, KIP-302)."""

from __future__ import annotations

import asyncio
import socket
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


async def resolve(host: str, port: int) -> list[tuple[int, tuple[Any, ...]]]:
    """(family, socket address) of everything the name stands for. Raises OSError when it stands for nothing, also
    when it cannot be a name at all."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.inet_pton(family, host)
        return [(family, (host, port))]
    except OSError:
        pass  # not a literal address: a name
    if host == "localhost":  # nobody has to be asked, so no thread has to wait
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    else:
        try:
            found = await _look_up(host.rstrip("."), port)
        except UnicodeError as problem:
            raise OSError(0, "this cannot be a host name") from problem
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


async def _look_up(host: str, port: int) -> Any:
    """getaddrinfo in a thread that nobody has to wait for: a resolver may take half a minute, and the loop's own
    threads are joined before the process may end (B30)."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(found: Any, problem: BaseException | None) -> None:
        if answer.done():
            return
        if problem is not None:
            answer.set_exception(problem)
        else:
            answer.set_result(found)

    def ask() -> None:
        found, problem = None, None
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as failed:
            problem = failed
        try:
            loop.call_soon_threadsafe(settle, found, problem)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    Thread(target=ask, name=f"resolve {host}", daemon=True).start()
    return await answer


def open_socket(family: int) -> socket.socket:
    """A socket with our options, set before it is connected (B26)."""
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return made

"""Accepts connections: listening sockets, and the limit of connections.

asyncio's own server accepts everything, and logs a hundred tracebacks per second if the process has no more files.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kcli.system.processes import most_files
from kcli.system.sockets import share_nothing

if TYPE_CHECKING:
    from ssl import SSLContext

Address = tuple[Any, ...]

BACKLOG = 1024  # connections waiting in the kernel
AT_ONCE = 8  # accepted before others get their turn
PAUSE = 0.2  # seconds until the next attempt if the process has no more files
MOST = 4096


def possible() -> int:
    """Return how many connections this process can have: fewer than open files, because it needs some itself."""
    files = most_files()
    return MOST if files is None else min(MOST, max(files // 2, files - 256))


class Listener:
    """Accepts connections; `protocol` creates the protocol of each. `admits` decides about each first, and closes it by
    returning False; `full` is called if the system has no more files."""

    def __init__(
        self,
        protocol: Callable[[], asyncio.BaseProtocol],
        admits: Callable[[], bool],
        full: Callable[[OSError], None],
        tls: SSLContext | None = None,
    ) -> None:
        self._protocol = protocol
        self._admits = admits
        self._full = full
        self._tls = tls
        self._sockets: list[socket.socket] = []
        self._coming: dict[asyncio.Task[None], None] = {}  # the oldest first; TLS may take a while
        self._again: asyncio.TimerHandle | None = None
        self._accepting: dict[socket.socket, asyncio.Task[None]] = {}  # if the loop has no `add_reader`

    @property
    def coming(self) -> int:
        """How many were accepted, but have no protocol yet."""
        return len(self._coming)

    async def open(self, host: str, port: int) -> int:
        """Listen on every address of a host; port 0 takes a free one. Returns the port. Raises OSError."""
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        try:
            for family, _, _, _, address in dict.fromkeys(addresses):
                listening = self._listening(family, (address[0], port, *address[2:]))
                port = listening.getsockname()[1]  # the same for all addresses
        except BaseException:
            self._close()
            raise
        self._listen()
        return port

    def _listening(self, family: int, address: Address) -> socket.socket:
        # without a protocol asyncio leaves Nagle's delay on, 40 ms for a response in two pieces
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._sockets.append(listening)
        share_nothing(listening)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.setblocking(False)
        try:
            listening.bind(address)
        except OSError as problem:
            raise OSError(problem.errno, f"{problem.strerror} ({address[0]}:{address[1]})") from None
        listening.listen(BACKLOG)
        return listening

    def _listen(self) -> None:
        self._again = None
        loop = asyncio.get_running_loop()
        for listening in self._sockets:
            try:
                loop.add_reader(listening, self._take, listening)
            except NotImplementedError:  # Windows' loop has operations instead of readiness
                self._accepting[listening] = loop.create_task(self._accept(listening))

    async def _accept(self, listening: socket.socket) -> None:
        """Accept connections one after another, until the system has no more files."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                taken, _ = await loop.sock_accept(listening)
            except ConnectionError:
                continue
            except OSError as none_left:
                self._rest(none_left)
                return
            self._admit(taken)

    def _take(self, listening: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                taken, _ = listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionError:
                continue  # closed before it was accepted
            except OSError as none_left:
                self._rest(none_left)
                return
            self._admit(taken)

    def _admit(self, taken: socket.socket) -> None:
        if not self._admits():
            taken.close()
            return
        taken.setblocking(False)
        task = asyncio.get_running_loop().create_task(self._let_in(taken))
        self._coming[task] = None
        task.add_done_callback(lambda done: self._come(done, taken))

    def _rest(self, problem: OSError) -> None:
        """Accept no connections for a while."""
        self._full(problem)
        for listening in self._sockets:
            self._ignore(listening)
        if self._again is None:
            self._again = asyncio.get_running_loop().call_later(PAUSE, self._listen)

    def _ignore(self, listening: socket.socket) -> None:
        task = self._accepting.pop(listening, None)
        if task is not None:
            task.cancel()
            return
        try:
            asyncio.get_running_loop().remove_reader(listening)
        except NotImplementedError:
            return

    def _come(self, task: asyncio.Task[None], taken: socket.socket) -> None:
        self._coming.pop(task, None)
        if task.cancelled():
            taken.close()  # refused before it began: it has no transport

    def turn_away(self) -> bool:
        """Close the connection that has been waiting longest to be admitted. Returns whether there was one."""
        oldest = next(iter(self._coming), None)
        if oldest is None:
            return False
        del self._coming[oldest]
        oldest.cancel()
        return True

    async def _let_in(self, taken: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.connect_accepted_socket(self._protocol, taken, ssl=self._tls)
        except OSError:  # includes SSLError: the client does not use TLS, or is gone, and knows that itself
            taken.close()

    async def close(self) -> None:
        """Stop listening; connections that are not admitted yet are closed."""
        self._close()
        coming = list(self._coming)
        for task in coming:
            task.cancel()
        await asyncio.gather(*coming, return_exceptions=True)

    def _close(self) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None
        for listening in self._sockets:
            self._ignore(listening)
            listening.close()
        self._sockets.clear()

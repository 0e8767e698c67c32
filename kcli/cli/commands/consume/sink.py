"""stdout: one write per batch, whole records only (R3), and never a blocked loop.

A reader that does not read must hold us back without freezing the heartbeats of a group. A pipe is opened again with
its own O_NONBLOCK, because the flag of an inherited one is shared with other processes; for a socket each send has the
flag. Where both is impossible (macOS, Windows), a write that would block is made in a thread.
"""

from __future__ import annotations

import asyncio
import os
import select
import stat

from kcli.cli.output.failure import OutputFailed
from kcli.cli.output.messages import name_of
from kcli.cli.runtime.signals import Interrupted
from kcli.system import pipes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from kcli.cli.runtime.signals import Stop
    from kcli.model import TopicPartition
    from kcli.proto.buffer import Buffer

GRACE = 0.8  # seconds after the first Ctrl-C in which a stuck reader may still take the rest of a record


class Sink:
    """The output. `open` is False once the reader left: then there is nothing more to do (SIGPIPE)."""

    def __init__(self, fd: int = 1, stop: Stop | None = None) -> None:
        self._fd = fd
        self._stop = stop
        self.terminal = os.isatty(fd)
        self.open = True
        self.buffer = bytearray()
        """What is not written yet: fill it, then `await flush()`."""
        self.left: asyncio.Future[None] | None = None
        """Done once the reader of a pipe is gone; None where that is learned only by writing."""
        self.holds: tuple[TopicPartition, int] | None = None
        """The last record in the buffer: where, and its offset. Set it before `flush`."""
        self._wrote: tuple[TopicPartition, int] | None = None
        self._own = -1
        mode = os.fstat(fd).st_mode
        self.watched = self.terminal or stat.S_ISFIFO(mode)
        """Whether records may appear on a terminal: it is one, or what reads the pipe may print them there."""
        self._at_once = stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and not self.terminal)  # files, /dev/null
        self._socket: socket.socket | None = None
        if stat.S_ISSOCK(mode):
            from socket import socket as open_socket

            self._own = os.dup(fd)
            self._socket = open_socket(fileno=self._own)
        elif stat.S_ISFIFO(mode):
            pipes.widen(fd)
            self._own = pipes.own_end(fd)
            if self._own >= 0 and stop is not None:
                self._watch(asyncio.get_running_loop())

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """A pipe whose reader is gone is readable for its writer: `consume | head -1` ends although nothing comes."""
        left = self.left = loop.create_future()

        def gone() -> None:
            loop.remove_reader(self._own)
            self.open = False
            if not left.done():
                left.set_result(None)

        loop.add_reader(self._own, gone)

    async def flush(self, more: Sequence[Buffer] = ()) -> bool:
        """Write the whole buffer and empty it; then `more`, piece after piece and without a copy. False when the reader
        left. Raises OutputFailed where no more can be written, as on a full disk."""
        with memoryview(self.buffer) as data:
            try:
                await self._write(data)
                await self._write_pieces(more)
            except OSError as problem:
                self.open = not pipes.reader_left(problem)
                if self.open:
                    raise OutputFailed(f"{name_of(self._fd)}: {problem.strerror}; {self._last()}") from None
        self.buffer.clear()
        self._wrote = self.holds
        return self.open

    def _last(self) -> str:
        if self._wrote is None:
            return "no record was written completely"
        at, offset = self._wrote
        return f"the last record that was certainly written is {at.topic}[{at.partition}] offset {offset}"

    @property
    def gathers(self) -> bool:
        """Whether many pieces are written by one call."""
        return pipes.GATHERS and (self._at_once or (self._own >= 0 and self._socket is None))

    async def _write(self, data: memoryview) -> None:
        done = 0
        while done < len(data) and self.open:
            with data[done:] as rest:
                if self._own >= 0:
                    try:
                        done += self._put(rest)
                    except BlockingIOError:
                        await self._writable()
                elif self._at_once:
                    done += os.write(self._fd, rest)
                elif self.terminal and self._ready():
                    done += os.write(self._fd, rest[:1024])  # the amount that a ready terminal takes
                else:
                    done += await asyncio.to_thread(os.write, self._fd, rest)

    async def _write_pieces(self, pieces: Sequence[Buffer]) -> None:
        at = 0
        while at < len(pieces) and self.open:
            written = self._put_pieces(pieces[at : at + pipes.MOST_PIECES])
            while at < len(pieces) and written >= len(pieces[at]):
                written -= len(pieces[at])
                at += 1
            if at < len(pieces):
                with memoryview(pieces[at]) as piece, piece[written:] as rest:
                    await self._write(rest)  # it waits for the reader, where that is slow
                at += 1

    def _put_pieces(self, pieces: Sequence[Buffer]) -> int:
        """How many bytes of the pieces could be written at once."""
        if not self.gathers:
            return 0
        try:
            return pipes.write_pieces(self._own if self._own >= 0 else self._fd, pieces)
        except BlockingIOError:
            return 0

    def _put(self, rest: memoryview) -> int:
        if self._socket is None:
            return os.write(self._own, rest)
        from socket import MSG_DONTWAIT

        return self._socket.send(rest, MSG_DONTWAIT)

    def _ready(self) -> bool:
        try:
            return bool(select.select([], [self._fd], [], 0)[1])
        except (OSError, ValueError):
            return False

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        loop.add_writer(self._own, lambda: None if ready.done() else ready.set_result(None))
        try:
            if self._stop is not None:
                await self._stop.unless(_wait(ready))
            await asyncio.wait_for(ready, GRACE if self._stop is not None else None)
        except TimeoutError:
            raise Interrupted(
                "interrupted while the reader of the output was not reading; the output is incomplete"
            ) from None
        finally:
            loop.remove_writer(self._own)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        elif self._own >= 0:
            if self.left is not None:
                self.left.get_loop().remove_reader(self._own)
            os.close(self._own)
        self._own = -1


async def _wait(ready: asyncio.Future[None]) -> None:
    await asyncio.wait({ready})

"""A large response wakes the loop for large pieces, and the last of them at once; small ones that are of use together
wake it once."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest

from kcli.broker.connection.wakes import LARGE, PATIENCE, PIECE, Wakes
from kcli.errors import ConnectError
from kcli.proto.session import FrameReader
from tests.fakes.scripted import Step

from .peers import pair, question

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SIZE = 2 * 1024 * 1024
SENT = 8 * 1024


class Taking(asyncio.BufferedProtocol):
    """Takes one frame, as a connection does."""

    def __init__(self) -> None:
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.reader = FrameReader(SIZE)
        self.pieces = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.wakes = Wakes(transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self.pieces += 1
        for frame in self.reader.received(nbytes):
            self.done.set_result(len(frame))
        self.wakes.expect(self.reader.missing)

    def connection_lost(self, exc: BaseException | None) -> None:
        if not self.done.done():
            self.done.set_result(-1)


def slowly(listening: socket.socket, size: int, sent: int) -> None:
    """Announce a frame of `size` bytes, and send `sent` of them in small pieces; then wait for the peer to leave."""
    peer, _ = listening.accept()
    with peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.sendall(size.to_bytes(4, "big"))
        for start in range(0, sent, SENT):
            peer.sendall(bytes(min(SENT, sent - start)))
            time.sleep(0.001)
        if sent == size:
            peer.recv(1)


@pytest.mark.parametrize(("size", "sent"), [(SIZE, SIZE), (SIZE - 1, SIZE - 1), (SIZE, SIZE // 2)])
async def test_a_large_frame_wakes_for_large_pieces_and_for_its_end(size: int, sent: int) -> None:
    """A stream that ends in the middle of it is over at once, too."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sending = threading.Thread(target=slowly, args=(listening, size, sent))
        sending.start()
        transport, taking = await asyncio.get_running_loop().create_connection(
            Taking, "127.0.0.1", listening.getsockname()[1]
        )
        try:
            async with asyncio.timeout(30):
                assert await taking.done == (size if sent == size else -1)
        finally:
            transport.abort()
            await asyncio.to_thread(sending.join)
    # a piece of 8 KiB at a time until the size is read and below LARGE; pieces of PIECE between
    assert taking.pieces < 2 * (SIZE // PIECE + LARGE // SENT) + 20


async def test_a_connection_says_what_is_missing_of_a_response(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(Wakes, "expect", lambda _, missing: told.append(missing))
    half = (SIZE // 8).to_bytes(4, "big") + bytes(SIZE // 16)
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(raw=half, drop_after=len(half)))
        with pytest.raises(ConnectError):
            await near.ask(question(1))
    assert max(told) >= SIZE // 16
    assert 0 in told, "after small ones nothing is"


class Refusing:
    """A transport whose socket takes no option."""

    def __init__(self, problem: Exception) -> None:
        self.asked, self.problem = 0, problem

    def get_extra_info(self, name: str) -> Refusing:
        return self

    def setsockopt(self, *_: object) -> None:
        self.asked += 1
        raise self.problem


@pytest.mark.parametrize("problem", [OSError("it has none"), ValueError("negative file descriptor")])
async def test_a_system_without_the_option_and_a_closed_socket_are_asked_once(problem: Exception) -> None:
    refusing = Refusing(problem)
    wakes = Wakes(refusing)  # type: ignore[arg-type]
    for missing in (SIZE, 0, SIZE):
        wakes.expect(missing)
        wakes.expect_together(300)
    assert refusing.asked == 1


class Reading(asyncio.BufferedProtocol):
    """Notes how many bytes came by each read, and when."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, float]] = []
        self.buffer = bytearray(4096)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.wakes = Wakes(transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return memoryview(self.buffer)

    def buffer_updated(self, nbytes: int) -> None:
        self.reads.append((nbytes, time.monotonic()))
        self.wakes.expect(0)

    async def until(self, nbytes: int) -> list[int]:
        """Wait for `nbytes` bytes in all; the bytes of each read."""
        async with asyncio.timeout(10):
            while sum(count for count, _ in self.reads) < nbytes:  # noqa: ASYNC110 - a read sets no event
                await asyncio.sleep(0.001)
        return [count for count, _ in self.reads]


@pytest.fixture
async def reading() -> AsyncIterator[tuple[socket.socket, Reading]]:
    """The peer, and what reads."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        transport, reads = await asyncio.get_running_loop().create_connection(
            Reading, "127.0.0.1", listening.getsockname()[1]
        )
        peer, _ = listening.accept()
        with peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield peer, reads
        reads.wakes.end()
        transport.abort()


async def test_small_responses_that_are_of_use_together_are_read_in_one_piece(
    reading: tuple[socket.socket, Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.broker.connection.wakes.PATIENCE", 30.0)
    peer, reads = reading
    reads.wakes.expect_together(300)
    for _ in range(2):
        for _ in range(3):
            peer.sendall(bytes(100))
            await asyncio.sleep(0.005)
    assert min(await reads.until(600)) >= 300, "a loop that is late reads all six at once"
    reads.wakes.expect_together(1)
    peer.sendall(bytes(100))
    assert (await reads.until(700))[-1] == 100


async def test_a_response_that_is_late_or_short_holds_the_others_up_for_a_moment_only(
    reading: tuple[socket.socket, Reading],
) -> None:
    peer, reads = reading
    reads.wakes.expect_together(300)
    sent = time.monotonic()
    peer.sendall(bytes(200))
    assert await reads.until(200) == [200]
    assert reads.reads[0][1] - sent < 10 * PATIENCE + 1, "a loaded machine is given a second"
    reads.wakes.expect_together(300)
    assert reads.wakes._alarm is None, "not again so soon: that would be a delay for each of them"
    peer.sendall(bytes(200))
    assert await reads.until(400) == [200, 200]


async def test_a_stream_that_ends_is_over_whatever_is_expected_together(
    reading: tuple[socket.socket, Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.broker.connection.wakes.PATIENCE", 30.0)
    peer, reads = reading
    reads.wakes.expect_together(300)
    peer.sendall(bytes(100))
    peer.shutdown(socket.SHUT_WR)
    assert await reads.until(100) == [100]

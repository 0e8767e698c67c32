"""A large response wakes the loop for large pieces, and the last of them at once."""

from __future__ import annotations

import asyncio
import socket
import threading
import time

import pytest

from kcli.broker.connection.wakes import LARGE, PIECE, Wakes
from kcli.errors import ConnectError
from kcli.proto.session import FrameReader
from tests.fakes.scripted import Step

from .peers import pair, question

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

    def __init__(self) -> None:
        self.asked = 0

    def get_extra_info(self, name: str) -> Refusing:
        return self

    def setsockopt(self, *_: object) -> None:
        self.asked += 1
        raise OSError("it has none")


def test_a_system_without_the_option_is_asked_once() -> None:
    refusing = Refusing()
    wakes = Wakes(refusing)  # type: ignore[arg-type]
    for missing in (SIZE, 0, SIZE):
        wakes.expect(missing)
    assert refusing.asked == 1

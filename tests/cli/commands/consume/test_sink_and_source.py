"""Input and output: large chunks, whole records, no blocked loop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from kcli.cli.commands.consume.reading import Reading
from kcli.cli.commands.consume.sink import Sink
from kcli.cli.commands.produce.input.source import CHUNK, Source
from kcli.cli.runtime.signals import Interrupted, Stop
from kcli.errors import KcliError


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    try:
        yield reader, writer
    finally:
        for fd in (reader, writer):
            try:
                os.close(fd)
            except OSError:
                continue


async def blocks(source: Source, delimiter: bytes = b"\n", limit: int = 1 << 22) -> list[bytes]:
    return [bytes(buffer[:end]) async for buffer, end in source.blocks(delimiter, limit)]


@pytest.mark.parametrize("delimiter", [b"\n", b"\0", b"||"])
async def test_blocks_hold_whole_records_and_the_last_gets_its_delimiter(tmp_path: Path, delimiter: bytes) -> None:
    lines = [b"x" * (n * 37 % 70_000) for n in range(120)]
    file = tmp_path / "in"
    file.write_bytes(delimiter.join([*lines, b"last"]))
    source = Source(str(file))
    got = await blocks(source, delimiter)
    source.close()
    assert all(block.endswith(delimiter) for block in got)
    assert b"".join(got).split(delimiter) == [*lines, b"last", b""]


@pytest.mark.parametrize("content", [b"", b"\n", b"a\n", b"a"])
async def test_small_inputs(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "in"
    file.write_bytes(content)
    source = Source(str(file))
    got = b"".join(await blocks(source))
    source.close()
    assert got == (content + b"\n" if content == b"a" else content)


async def test_a_record_larger_than_a_chunk_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(b"a" * (CHUNK * 2 + 5) + b"\nb\n")
    source = Source(str(file))
    got = b"".join(await blocks(source))
    source.close()
    assert got == b"a" * (CHUNK * 2 + 5) + b"\nb\n"


async def test_a_record_without_an_end_is_refused_before_memory_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_bytes(b"a" * (CHUNK * 3))
    source = Source(str(file))
    with pytest.raises(KcliError, match="a record of more than 1000 bytes"):
        await blocks(source, limit=1000)
    source.close()


async def test_a_slow_pipe_is_read_as_it_comes_and_the_loop_goes_on() -> None:
    with pipe() as (reader, writer):
        source = Source(f"/proc/self/fd/{reader}")
        seen: list[bytes] = []

        async def read() -> None:
            async for buffer, end in source.blocks(b"\n", 1000):
                seen.append(bytes(buffer[:end]))

        task = asyncio.create_task(read())
        for line in (b"one\n", b"two\nthr", b"ee\n"):
            os.write(writer, line)
            for _ in range(50):
                await asyncio.sleep(0.001)
                if line.endswith(b"\n") and seen and seen[-1].endswith(line.rpartition(b"\n")[0][-3:] + b"\n"):
                    break
        os.close(writer)
        await task
        source.close()
        assert seen == [b"one\n", b"two\n", b"three\n"]


async def test_dev_null_is_an_empty_input() -> None:
    source = Source("/dev/null")
    assert await blocks(source) == []
    source.close()


def test_a_directory_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(KcliError, match="is a directory"):
        Source(str(tmp_path))


async def test_R3_a_slow_reader_gets_every_byte_while_the_loop_goes_on() -> None:
    with pipe() as (reader, writer):
        sink = Sink(writer)
        sink.buffer += os.urandom(1 << 16) * 64
        expected = bytes(sink.buffer)
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.create_task(tick())
        flushing = asyncio.create_task(sink.flush())
        async with asyncio.timeout(30):
            while ticks < 3:  # noqa: ASYNC110 - a tick sets no event
                await asyncio.sleep(0.005)
        assert not flushing.done()
        got = bytearray()

        def drain() -> None:
            while len(got) < len(expected):
                got.extend(os.read(reader, 65536))

        drained = threading.Thread(target=drain)
        drained.start()
        assert await flushing
        drained.join()
        ticking.cancel()
        sink.close()
        assert bytes(got) == expected
        assert sink.buffer == b""


async def test_the_flags_of_an_inherited_pipe_stay_as_they_are() -> None:
    with pipe() as (reader, writer):
        sink = Sink(writer)
        sink.buffer += b"x"
        await sink.flush()
        assert os.get_blocking(writer)
        sink.close()
        assert os.read(reader, 10) == b"x"


async def test_a_reader_that_left_closes_the_sink_quietly() -> None:
    with pipe() as (reader, writer):
        sink = Sink(writer)
        os.close(reader)
        sink.buffer += b"x"
        assert not await sink.flush()
        assert not sink.open
        sink.close()


async def test_a_reader_that_leaves_while_nothing_comes_ends_the_wait() -> None:
    with pipe() as (reader, writer):
        stop = Stop()
        sink = Sink(writer, stop)
        sink.buffer += b"x"
        assert await sink.flush()
        asyncio.get_running_loop().call_later(0.01, os.close, reader)
        assert await asyncio.wait_for(stop.unless(asyncio.Event().wait(), sink.left), 10) is None
        assert not sink.open
        assert not stop.asked
        assert await stop.unless(asyncio.sleep(0, "what is left to do")) == "what is left to do"
        sink.close()


async def test_R7_a_stuck_reader_does_not_hold_up_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.cli.commands.consume.sink.GRACE", 0.02)
    with pipe() as (_, writer):
        stop = Stop()
        sink = Sink(writer, stop)
        sink.buffer += bytes(1 << 22)
        flushing = asyncio.create_task(sink.flush())
        await asyncio.sleep(0.01)
        stop.interrupt()
        with pytest.raises(Interrupted, match="incomplete"):
            await asyncio.wait_for(flushing, 10)
        sink.close()


async def test_a_file_gets_the_bytes_at_once(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as file:
        sink = Sink(file.fileno())
        sink.buffer += b"a\n"
        assert await sink.flush()
        sink.close()
    assert (tmp_path / "out").read_bytes() == b"a\n"


async def test_D45_a_first_signal_ends_the_work_and_raises_nothing() -> None:
    stop = Stop()
    stop.listen()
    ended: list[str] = []

    async def work() -> str:
        try:
            await asyncio.sleep(10)
        finally:
            ended.append("cancelled")
        return "done"

    asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGINT)
    assert await stop.unless(work()) is None
    assert ended == ["cancelled"]
    assert stop.asked


async def test_the_work_gives_its_result_or_its_error() -> None:
    async def good() -> int:
        return 5

    async def bad() -> int:
        raise KcliError("no")

    stop = Stop()
    assert await stop.unless(good()) == 5
    with pytest.raises(KcliError):
        await stop.unless(bad())


async def test_R7_a_socket_that_is_not_read_does_not_hold_up_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.cli.commands.consume.sink.GRACE", 0.05)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        stop = Stop()
        sink = Sink(ours.fileno(), stop)
        sink.buffer += b"x" * (8 * CHUNK)
        asyncio.get_running_loop().call_later(0.05, stop.interrupt)
        with pytest.raises(Interrupted):
            await sink.flush()
        sink.close()
        assert ours.gettimeout() is None  # the flags of the inherited one are as they were
        assert os.get_blocking(ours.fileno())


async def test_R3_a_socket_gets_every_byte_and_a_reader_that_left_is_a_quiet_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sink = Sink(ours.fileno())
        sink.buffer += b"x" * (4 * CHUNK)
        got = bytearray()
        reading = asyncio.create_task(asyncio.to_thread(lambda: got.extend(_all(theirs, 4 * CHUNK))))
        assert await sink.flush()
        await reading
        assert len(got) == 4 * CHUNK
        theirs.close()
        sink.buffer += b"y"
        assert not await sink.flush()
        sink.close()


def _all(reader: socket.socket, size: int) -> bytes:
    out = bytearray()
    while len(out) < size:
        out += reader.recv(CHUNK)
    return bytes(out)


async def test_D45_a_look_for_new_partitions_does_not_hold_up_ctrl_c() -> None:
    stop = Stop()
    reading = Reading.__new__(Reading)
    reading.commits = None
    reading._arrivals = SimpleNamespace(wait=0.0, new=asyncio.Event().wait)  # type: ignore[assignment]  # brokers are silent
    asyncio.get_running_loop().call_later(0.01, stop.interrupt)
    async with asyncio.timeout(10):
        await reading._now_and_then(stop)
    assert stop.asked

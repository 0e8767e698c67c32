"""Compressed batches: who decompresses them, how many at once, and what becomes of those that are broken."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest

from kcli.consumer.consumer import Consumer
from kcli.model import TopicPartition
from kcli.proto import compression, core
from kcli.proto.batch import CODECS, CorruptBatch, seal
from kcli.settings import ConsumerSettings
from kcli.tasks import DaemonThread
from tests.consumer.formats import message, stored, wrapped
from tests.consumer.log import FakeCluster, Log, until

A = TopicPartition("t", 0)
MB = 1024 * 1024
PACKED = [codec for codec in CODECS if codec != "none"]


def packed(base: int, values: list[bytes], codec: str = "zstd", *, broken: bool = False) -> bytes:
    builder = core.Builder()
    for value in values:
        builder.append(1000, None, value, ())
    data = bytearray(seal(builder.take(), len(values), 1000, 1000, codec=codec).data)
    data[0:8] = base.to_bytes(8, "big")
    if broken:
        data[-8:] = b"\xff" * 8
        data[61:65] = b"\xff" * 4
    data[17:21] = core.crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


def reading(log: Log, **changes: object) -> Consumer:
    cluster = FakeCluster({A: log})
    return Consumer(cluster, ConsumerSettings(fetch_max_wait=0.01).replace(**changes))


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where something was decompressed, and how large it was."""
    seen: list[tuple[str, int]] = []
    decompress = compression.decompress

    def noted(codec: str, data: bytes, bound: int) -> object:
        made = decompress(codec, data, bound)
        seen.append((threading.current_thread().name, len(made)))
        return made

    monkeypatch.setattr(compression, "decompress", noted)
    return seen


@pytest.mark.parametrize("codec", PACKED)
async def test_B31_large_batches_leave_the_thread_of_the_loop_and_small_ones_stay(
    codec: str, threads: list[tuple[str, int]]
) -> None:
    log = Log()
    for base in range(0, 12, 2):
        log.add(packed(base, [b"x" * (MB if base % 4 else 1000)] * 2, codec))
    async with reading(log) as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: log.end})
        seen = []
        while not consumer.finished:
            for fetched in await consumer.poll(10):
                assert sum(batch.body_end - batch.body_start for batch in fetched.batches) < 5 * MB
                assert not any(batch.compressed for batch in fetched.batches)
                seen += [(record.offset, len(record.value or b"")) for batch in fetched.batches for record in batch]
                assert fetched.next_offset == seen[-1][0] + 1 == consumer.position(A)
    assert seen == [(n, MB if n // 2 % 2 else 1000) for n in range(12)]
    assert {name for name, size in threads if size > 256 * 1024} == {"kcli-unpack"}
    assert "MainThread" in {name for name, size in threads if size < 256 * 1024}


async def test_E6_plain_bytes_of_a_poll_are_bounded_and_it_may_be_cut_in_any_place(
    threads: list[tuple[str, int]],
) -> None:
    log = Log()
    for base in range(0, 40, 2):
        log.add(packed(base, [b"x" * MB] * 2))
    async with reading(log) as consumer:
        consumer.assign({A: 0})
        for _ in range(3):
            got = await consumer.poll(10)
            assert [len(fetched.batches) for fetched in got] == [1]  # 2 MB, the usual bound
        assert consumer.position(A) == 6
        assert sum(size for _, size in threads) <= 5 * 2.1 * MB  # those, and what is ahead
        consumer.seek(A, 3)
        got = await consumer.poll(10)
        assert [record.offset for record in got[0].batches[0]] == [3]
        consumer.pause(A)
        assert await consumer.poll(0.05) == []
        consumer.resume(A)
        got = await consumer.poll(10)
        assert [record.offset for record in got[0].batches[0]] == [4, 5]


async def test_E6_many_small_batches_are_no_more_in_a_poll_than_large_ones(threads: list[tuple[str, int]]) -> None:
    log = Log()
    for base in range(40):
        log.add(packed(base, [b"x" * 200_000]))
    async with reading(log) as consumer:
        consumer.assign({A: 0})
        for number in range(1, 4):
            (fetched,) = await consumer.poll(10)
            assert len(fetched.batches) == 2 * MB // 200_000
            assert sum(size for _, size in threads) <= (number * 2 + 4.3) * MB  # those, and what is ahead


async def test_E5_a_large_batch_that_cannot_be_decompressed_is_heard_of_by_who_reads_it() -> None:
    log = Log().add(packed(0, [b"x" * MB])).add(packed(1, [b"y" * MB] * 2, broken=True)).add(packed(3, [b"z" * MB]))
    async with reading(log) as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: log.end})
        offsets, broken = [], []
        while not consumer.finished:
            for fetched in await consumer.poll(10):
                for batch in fetched.batches:
                    try:
                        offsets += [record.offset for record in batch]
                    except CorruptBatch as error:
                        broken.append(error.base_offset)
    assert (offsets, broken) == ([0, 3], [1])


async def test_what_is_not_to_be_decompressed_is_handed_out_as_it_came(threads: list[tuple[str, int]]) -> None:
    log = Log().add(packed(0, [b"x" * MB] * 3))
    async with reading(log, decompress=False) as consumer:
        consumer.assign({A: 0})
        (fetched,) = await consumer.poll(10)
        assert fetched.batches[0].compressed
        assert (fetched.batches[0].visible, threads) == (3, [])


async def test_B30_closing_while_the_thread_works_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()
    decompress = compression.decompress

    def slow(codec: str, data: bytes, bound: int) -> object:
        begun.set()
        over.wait(20)
        return decompress(codec, data, bound)

    monkeypatch.setattr(compression, "decompress", slow)
    log = Log().add(packed(0, [b"x" * MB * 40]))
    async with reading(log) as consumer:
        consumer._delivery._unpacking._ratio = 1e9  # all is large
        consumer.assign({A: 0})
        assert await consumer.poll(0.05) == []
        await until(begun.is_set)
        consumer.seek(A, 0)
    over.set()


@pytest.mark.parametrize("magic", [0, 1])
async def test_B31_large_wrappers_of_old_messages_leave_the_thread_of_the_loop(
    magic: int, threads: list[tuple[str, int]]
) -> None:
    log = Log()
    for base in range(0, 40, 2):
        values = [random.randbytes(10_000) + b"x" * MB for _ in range(2)]
        inner = [message(base + n, value, magic=magic) for n, value in enumerate(values)]
        if magic:
            inner = [message(n, value, magic=magic) for n, value in enumerate(values)]
        stored(log, base, base + 1, wrapped(base + 1, inner, magic=magic))
    seen: list[tuple[int, int]] = []
    async with reading(log, partition_max_bytes=100_000) as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: log.end})
        while not consumer.finished:
            for fetched in await consumer.poll(10):
                seen += [(record.offset, len(record.value or b"")) for batch in fetched.batches for record in batch]
                assert fetched.next_offset == seen[-1][0] + 1
    assert seen == [(n, MB + 10_000) for n in range(40)]
    assert {name for name, _ in threads} == {"kcli-unpack"}


async def test_B30_a_thread_does_one_piece_after_another_and_begins_none_that_was_cancelled() -> None:
    thread, go, done = DaemonThread("tried"), threading.Event(), list[str]()
    first = thread.do(go.wait)
    second, third = thread.do(done.append, "second"), thread.do(done.append, "third")
    second.cancel()
    failing = thread.do(int, "no number")
    go.set()
    await asyncio.gather(first, third)
    assert done == ["third"]
    with pytest.raises(ValueError, match="no number"):
        await failing
    (running,) = [each for each in threading.enumerate() if each.name == "tried"]
    assert running.daemon
    thread.stop()
    running.join(10)
    assert not running.is_alive()


async def test_B30_work_for_more_than_one_thread_has_as_many_as_are_allowed() -> None:
    threads, meeting = DaemonThread("several", 2), threading.Barrier(3)
    for _ in range(3):
        await threads.do(int)
    assert len([each for each in threading.enumerate() if each.name == "several"]) == 1
    works = [threads.do(meeting.wait, 10) for _ in range(2)]  # each waits for the other
    third = threads.do(int, "3")
    running = [each for each in threading.enumerate() if each.name == "several"]
    assert len(running) == 2
    await asyncio.to_thread(meeting.wait, 10)
    await asyncio.gather(*works)
    assert await third == 3
    threads.stop()
    for each in running:
        each.join(10)
        assert not each.is_alive()


async def test_B30_work_has_the_threads_that_the_system_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = DaemonThread("few", 2)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="new thread"):
            threads.do(int, "1")
    go = threading.Event()
    first = threads.do(go.wait)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        second = threads.do(int, "2")
    go.set()
    assert (await first, await second) == (True, 2)
    threads.stop()

"""The consumer's promise in small programs: nothing fetched is lost, and only what is done is committed."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

import kcli
from kcli.consumer.messages import Stream
from kcli.model import TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.sync.consumer import SyncConsumer
from tests.each import each

AT = TopicPartition("t", 0)
COUNT = 60


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with kcli.SandboxThread(topics={"t": 1, "pair": 2, "empty": 1}) as running:
        with kcli.SyncClient(running.bootstrap) as kafka, kafka.producer() as producer:
            producer.send_records("t", [(0, None, None, b"%d" % n, ()) for n in range(COUNT)])
            producer.send_records("pair", [(n % 2, None, None, b"%d" % n, ()) for n in range(COUNT)])
        yield running


@pytest.fixture
def kafka(sandbox: SandboxThread) -> Iterator[kcli.SyncClient]:
    with kcli.SyncClient(sandbox.bootstrap) as client:
        yield client


def quick(group: str, **changes: Any) -> kcli.GroupSettings:
    return kcli.GroupSettings(group=group, heartbeat_interval=0.1, session_timeout=6.0).replace(**changes)


def committed(kafka: kcli.SyncClient, group: str, at: TopicPartition = AT) -> int | None:
    there = kafka.admin.committed([group])[group]
    assert isinstance(there, dict)
    place = there.get(at)
    assert not isinstance(place, kcli.KcliError)
    return None if place is None else place.offset


def offsets(got: list[kcli.Fetched]) -> list[int]:
    return [record.offset for fetched in got for batch in fetched.batches for record in batch]


async def places(consumer: kcli.Consumer, ats: list[TopicPartition]) -> list[int | None]:
    """The committed offsets."""
    return [None if place is None else place.offset for place in (await consumer.committed(ats)).values()]


async def ends(client: kcli.Client, group: str) -> dict[int, int]:
    """The committed offsets of a group, by partition."""
    there = (await client.admin.committed([group]))[group]
    assert isinstance(there, dict)
    return {at.partition: place.offset for at, place in there.items() if isinstance(place, kcli.OffsetAndMetadata)}


@asynccontextmanager
async def reading(sandbox: SandboxThread, group: str, **settings: Any) -> AsyncIterator[kcli.Consumer]:
    async with kcli.Client(sandbox.bootstrap) as client:
        async with client.consumer(group=quick(group, **settings)) as consumer:
            await consumer.subscribe(["t"])
            yield consumer


# -- messages, one after another ---------------------------------------------------------------------------------------


def test_a_slow_loop_over_one_fetch_keeps_its_member(kafka: kcli.SyncClient) -> None:
    seen = []
    with kafka.consumer("t", group=quick("slow", max_poll_interval=0.5)) as consumer:
        for message in consumer:
            seen.append(message.offset)
            if len(seen) == 12:
                break
            time.sleep(0.15)
        assert consumer.group_metadata().generation == 1
    assert seen == list(range(12))
    assert committed(kafka, "slow") == 12


def test_a_program_that_stands_still_leaves_and_continues_where_it_was(kafka: kcli.SyncClient) -> None:
    own = quick("still", max_poll_interval=0.3, auto_commit_interval=0.05)
    with kafka.consumer("t", group=own) as consumer:
        seen = [next(consumer).offset for _ in range(5)]
        time.sleep(0.8)
        assert consumer.group_metadata().generation == -1
        seen += [next(consumer).offset for _ in range(3)]
    assert seen == [0, 1, 2, 3, 4, 4, 5, 6], "4 was in hand, so it was not committed before the member left"
    assert committed(kafka, "still") == 7


def test_what_is_done_is_committed_inside_of_a_fetch(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("t", group=quick("inside", auto_commit_interval=0.05)) as consumer:
        for _ in range(5):
            next(consumer)
        end = time.monotonic() + 10
        while committed(kafka, "inside") is None:
            assert time.monotonic() < end
        assert committed(kafka, "inside") == 4


def test_an_exception_repeats_the_record_in_hand_and_no_other(kafka: kcli.SyncClient) -> None:
    def read() -> None:
        with kafka.consumer("t", group="raised") as consumer:
            for message in consumer:
                if message.offset == 30:
                    raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read()
    assert committed(kafka, "raised") == 30


def test_a_commit_after_each_message(kafka: kcli.SyncClient) -> None:
    own = quick("each", max_poll_interval=0.5, auto_commit=False)
    with kafka.consumer("t", group=own) as consumer:
        for message in consumer:
            consumer.commit({AT: message.offset + 1})
            assert committed(kafka, "each") == message.offset + 1
            if message.offset == 8:
                break
            time.sleep(0.1)
    assert committed(kafka, "each") == 9


def test_what_was_committed_by_hand_is_done(kafka: kcli.SyncClient) -> None:
    def read(commit: Callable[[SyncConsumer], None], group: str) -> int | None:
        try:
            with kafka.consumer("t", group=group) as consumer:
                for _ in range(4):
                    next(consumer)
                commit(consumer)
                raise ZeroDivisionError
        except ZeroDivisionError:
            return committed(kafka, group)

    assert read(lambda consumer: consumer.commit(), "plain") == 4
    assert read(lambda consumer: consumer.commit({AT: 4}), "named") == 4


def test_partitions_that_are_given_up_are_not_iterated_over_any_more(sandbox: SandboxThread) -> None:
    """A second member joins while the first is inside of a fetch: no record is processed twice, none is missed."""
    seen: list[list[tuple[int, int]]] = [[], []]
    stop = threading.Event()

    def member(number: int) -> None:
        with kcli.SyncClient(sandbox.bootstrap) as kafka:
            with kafka.consumer(
                "pair", group=quick("both", auto_commit_interval=60.0, rebalance_timeout=1.0)
            ) as consumer:
                while not stop.is_set():
                    message = next(consumer)
                    seen[number].append((message.partition, message.offset))
                    time.sleep(0.05)
                    if sum(map(len, seen)) >= COUNT:
                        stop.set()

    threads = [threading.Thread(target=member, args=(number,)) for number in range(2)]
    threads[0].start()
    while len(seen[0]) < 3:
        time.sleep(0.01)
    threads[1].start()
    assert stop.wait(30)
    with kcli.SyncClient(sandbox.bootstrap) as kafka, kafka.producer() as producer:
        producer.send_records("pair", [(n, None, None, b"last", ()) for n in range(2)])  # wakes who waits
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert seen[1], "the second member got a partition"
    both = seen[0] + seen[1]
    assert len(both) == len(set(both)), "processed twice"


def test_a_call_between_two_messages_loses_nothing(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("t", group="mixed") as consumer:
        seen = [next(iter(consumer)).offset]
        seen += offsets(consumer.poll(5, max_records=3))
        seen += [next(consumer).offset for _ in range(2)]
        consumer.pause(AT)
        assert consumer.poll(0.05) == []
        consumer.resume(AT)
        assert consumer.position(AT) == 6
        seen += [next(consumer).offset]
        seen += offsets(consumer.poll(5))
    assert seen == list(range(COUNT))
    assert committed(kafka, "mixed") == COUNT


def test_ctrl_c_when_a_poll_has_its_records_loses_none(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("t", group="interrupted") as consumer:
        run = consumer._thread.run

        def interrupted(work: Any) -> Any:
            consumer._thread.run = run  # type: ignore[method-assign]
            run(work)
            raise KeyboardInterrupt

        consumer._thread.run = interrupted  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            consumer.poll(5, max_records=10)
        assert offsets(consumer.poll(5)) == list(range(COUNT))


# -- batches -----------------------------------------------------------------------------------------------------------


def test_a_poll_that_is_refused_returns_nothing_again(kafka: kcli.SyncClient) -> None:
    with kafka.consumer("t", group="refused") as consumer:
        assert offsets(consumer.poll(max_records=3)) == [0, 1, 2]
        with pytest.raises(kcli.UsageError):
            consumer.poll(max_records=0)
        assert offsets(consumer.poll(max_records=3)) == [3, 4, 5]


def test_a_message_that_is_taken_while_the_loop_looks_takes_no_commit_back() -> None:
    """The program's thread takes message 10 between two steps of `look`, after it committed the offset 10."""

    class Moving:
        steps = iter([10, 11, 11])

        @property
        def after(self) -> int:
            return next(self.steps)

    noted: list[int] = []
    link = SimpleNamespace(note=lambda _, place: noted.append(place.offset))
    stream = Stream(link, lambda: None, lambda: None)  # type: ignore[arg-type]
    stream.messages = Moving()  # type: ignore[assignment]
    stream._pieces.append(SimpleNamespace(at=AT, start=0))  # type: ignore[arg-type]
    stream._batch, stream._batches, stream._confirmed = SimpleNamespace(leader_epoch=0), deque(), 10  # type: ignore[assignment]
    assert stream.note_progress() == (0, 10)
    assert noted == []
    assert stream.note_progress() == (0, 11)
    assert noted == [10]


async def test_a_loop_that_is_entered_again_continues(sandbox: SandboxThread) -> None:
    seen = []
    async with kcli.Client(sandbox.bootstrap) as client:
        async with client.consumer(group=quick("again")) as consumer:
            await consumer.subscribe(["pair"])
            await consumer.positioned()
            async for fetched in consumer:
                seen += offsets([fetched])
                break

            async def read(error: Exception | None) -> None:
                async for fetched in consumer:
                    seen.extend(offsets([fetched]))
                    if error is not None:
                        raise error

            with pytest.raises(ZeroDivisionError):
                await read(ZeroDivisionError())
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(read(None), 0.3)
        assert sorted(seen) == sorted([*range(COUNT // 2)] * 2)
        assert await ends(client, "again") == {0: 30, 1: 30}


async def test_what_a_loop_has_not_taken_is_not_committed(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        async with client.consumer() as probe:
            probe.assign({TopicPartition("pair", n): 0 for n in range(2)})
            assert len(await polled(probe, 2)) == 2
        async with client.consumer(group=quick("one")) as consumer:
            await consumer.subscribe(["pair"])
            async for _ in consumer:
                await asyncio.sleep(0.2)  # both partitions are there
                break
        assert [*(await ends(client, "one")).values()] == [30]


async def polled(consumer: kcli.Consumer, count: int) -> set[int]:
    seen: set[int] = set()
    while len(seen) < count:
        seen |= {fetched.partition for fetched in await consumer.poll(1)}
    return seen


async def test_what_could_not_be_decoded_is_returned_again(sandbox: SandboxThread) -> None:
    async with reading(sandbox, "decode", auto_commit_interval=0.05) as consumer:

        async def broken(*_: Any) -> Any:
            raise ZeroDivisionError

        async def slow(*_: Any) -> Any:
            await asyncio.sleep(60)

        consumer.decode = broken
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await consumer.poll()
        consumer.decode = slow
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await consumer.poll()
        assert await consumer.committed([AT]) == {AT: None}
        consumer.decode = None
        assert offsets(await consumer.poll()) == list(range(COUNT))


async def test_a_batch_that_is_decoded_while_its_partition_is_moved_is_dropped(sandbox: SandboxThread) -> None:
    async with reading(sandbox, "moved") as consumer:

        async def seeking(batch: Any, *_: Any) -> Any:
            consumer.decode = None
            consumer.seek(AT, 50)
            return batch

        consumer.decode = seeking
        assert offsets(await consumer.poll()) == list(range(50, COUNT))


@each("to", [7, 0, 40])
def test_a_seek_is_what_is_committed(to: int) -> None:
    with kcli.SandboxThread(topics={"t": 1}) as sandbox, kcli.SyncClient(sandbox.bootstrap) as kafka:
        with kafka.producer() as producer:
            producer.send_records("t", [(0, None, None, b"v", ()) for _ in range(COUNT)])
        own = quick("sought", auto_commit_interval=0.05)
        with kafka.consumer("t", group=own) as consumer:
            for _ in range(10):
                next(consumer)
            consumer.commit()
            consumer.seek(AT, to)
        assert committed(kafka, "sought") == to
        with kafka.consumer("t", group=own) as consumer:
            assert offsets(consumer.poll(5, max_records=2)) == [to, to + 1]
            consumer.seek(AT, to)
            consumer.commit()
            assert committed(kafka, "sought") == to


async def test_a_seek_to_the_beginning_is_committed_when_it_is_known(sandbox: SandboxThread) -> None:
    async with reading(sandbox, "begin", auto_commit_interval=0.05) as consumer:
        await consumer.poll(max_records=10)
        await consumer.commit()
        consumer.seek(AT, kcli.Bound("earliest"))
        async with asyncio.timeout(5):
            while await places(consumer, [AT]) != [0]:
                pass


# -- assigned by hand, in a group --------------------------------------------------------------------------------------


async def test_assigning_committing_and_reading_are_independent(sandbox: SandboxThread) -> None:
    other = TopicPartition("pair", 1)
    async with kcli.Client(sandbox.bootstrap) as client:
        async with client.consumer(group="by hand") as consumer:
            assert await places(consumer, [AT]) == [None]
            consumer.assign({AT: kcli.Bound("stored")})
            assert offsets(await consumer.poll(5, max_records=5)) == [0, 1, 2, 3, 4]
            await consumer.commit()
            assert await places(consumer, [AT]) == [5]
            assert offsets(await consumer.poll(5, max_records=2)) == [5, 6]
            consumer.incremental_assign({other: 0})
            await consumer.commit({other: 9})
            while not (got := [one for one in await consumer.poll(5) if one.partition == 1]):
                pass
            assert offsets(got) == list(range(30))
            with pytest.raises(kcli.UsageError, match="manually"):
                await consumer.subscribe(["t"])
        async with client.consumer(group="by hand") as consumer:
            consumer.assign({AT: kcli.Bound("stored"), other: kcli.Bound("stored")})
            await consumer.positioned()
            assert {at.partition: consumer.position(at) for at in (AT, other)} == {0: COUNT, 1: 30}


# -- limits, ends and starts -------------------------------------------------------------------------------------------


def test_limits_of_a_poll_hold_inside_of_a_batch(kafka: kcli.SyncClient) -> None:
    with kafka.producer() as producer:
        producer.send_records("empty", [(0, None, None, b"x" * 100, ()) for _ in range(1000)])
    with kafka.consumer("empty", stop_at_end=True) as consumer:
        seen = []
        while got := consumer.poll(5, max_bytes=10_000):
            size = sum(len(record.value or b"") for one in got for batch in one.batches for record in batch)
            assert 5_000 < size <= 10_000
            seen += offsets(got)
        assert seen == list(range(1000))
    with kafka.consumer("empty", stop_at_end=True) as consumer:
        counts = [len(offsets(got)) for got in iter(lambda: consumer.poll(5, max_records=300), [])]
        assert counts == [300, 300, 300, 100]
        with pytest.raises(kcli.UsageError, match="max_records=0"):
            consumer.poll(max_records=0)


def test_an_open_transaction_does_not_hold_up_the_end(kafka: kcli.SyncClient) -> None:
    committed_only = kcli.ConsumerSettings(isolation="read_committed")
    writer = kafka.producer(kcli.ProducerSettings(transactional_id="open"))
    with writer, writer.transaction():
        writer.send("t", b"open", partition=0)
        writer.flush()
        with kafka.consumer("t", stop_at_end=True, settings=committed_only) as consumer:
            seen: list[int] = []
            reader = threading.Thread(target=lambda: seen.extend(message.offset for message in consumer), daemon=True)
            reader.start()
            reader.join(5)
            assert not reader.is_alive()
    assert seen == list(range(COUNT))


def test_a_consumer_at_the_end_has_its_place_when_its_block_begins(
    sandbox: SandboxThread, kafka: kcli.SyncClient
) -> None:
    sandbox.faults.wire.delay("ListOffsets", 0.3)
    with (
        kcli.SyncClient(sandbox.bootstrap) as other,
        other.producer() as producer,
        kafka.consumer("t", start="latest") as consumer,
    ):
        producer.send("t", b"reply", partition=0).result(10)
        (got,) = consumer.poll(2)
        assert [record.value for batch in got.batches for record in batch] == [b"reply"]


def test_the_reset_of_the_settings_is_where_reading_starts(kafka: kcli.SyncClient) -> None:
    latest = kcli.ConsumerSettings(reset="latest")
    with kafka.consumer("t", settings=latest, stop_at_end=True) as consumer:
        assert list(consumer) == []
    with kafka.consumer("t", settings=latest, start="earliest", stop_at_end=True) as consumer:
        assert len(list(consumer)) == COUNT
    with kafka.consumer("t", group="late", settings=latest) as consumer:
        assert consumer.poll(0.5) == []
    with kafka.consumer("t", group="early", start="earliest", settings=latest) as consumer:
        assert next(consumer).offset == 0
    with pytest.raises(kcli.UsageError, match="requires a start"):
        kafka.consumer("t", settings=kcli.ConsumerSettings(reset="none"))


# -- workers -----------------------------------------------------------------------------------------------------------


async def test_workers_commit_what_their_function_returned_from(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        with pytest.raises(kcli.UsageError, match="auto_commit=True"):
            kcli.Workers(client.consumer(group=quick("w", auto_commit=True)), lambda *_: None)
        async with client.consumer(group=quick("w", auto_commit_interval=0.05)) as consumer:

            async def work(fetched: kcli.Fetched, stop: asyncio.Event) -> None:
                await asyncio.sleep(0.5)
                assert await consumer.committed([AT]) == {AT: None}
                workers.stop()

            workers = kcli.Workers(consumer, work, commit_interval=60.0)
            await workers.run(["t"])
        assert await ends(client, "w") == {0: COUNT}


async def test_workers_that_fail_commit_what_others_have_done(sandbox: SandboxThread) -> None:
    async def work(fetched: kcli.Fetched, stop: asyncio.Event) -> None:
        if fetched.partition == 1:
            await asyncio.sleep(0.3)
            raise ZeroDivisionError

    async with kcli.Client(sandbox.bootstrap) as client:
        with pytest.raises(ZeroDivisionError):
            async with client.consumer(group=quick("half")) as consumer:
                await kcli.Workers(consumer, work, commit_interval=60.0).run(["pair"])
        assert await ends(client, "half") == {0: 30}

"""Share group members through the whole client, against the sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading

import pytest

from kcli import codes
from kcli.consumer.fetch.unpacking import SMALL
from kcli.errors import BrokerError, Closed, UnsupportedVersion, UsageError
from kcli.model import TopicPartition
from kcli.proto import compression, core
from kcli.proto.batch import CorruptBatch, seal
from kcli.proto.buffer import Buffer
from tests.consumer.share.world import gather, until, values, world

pytestmark = pytest.mark.usefixtures("leaping_clock")


async def test_E64_implicit_the_next_poll_accepts_what_the_last_one_handed_out() -> None:
    async with world() as w:
        await w.write(0, 30)
        async with w.member(explicit=False) as consumer:
            async with asyncio.timeout(10):
                got = await consumer.poll()
                assert values(got) == list(range(30))
                assert w.start() == 0
                await consumer.poll(0.2)
            await until(lambda: bool(w.outcomes))  # the answer came, so the broker has moved before it
            assert w.start() == 30
            assert w.sandbox.seen.get(79, 0) == 0  # the accepts rode on the fetch
            assert [(one.kind, one.first, one.last) for one in w.outcomes] == [("accept", 0, 29)]


async def test_E64_explicit_a_poll_with_something_unsaid_raises_and_loses_nothing() -> None:
    async with world() as w:
        await w.write(0, 30)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got, "accept", last=9)
            with pytest.raises(UsageError, match="t partition 0, offset 10 and later: acknowledge every record"):
                await consumer.poll(0.1)
            consumer.acknowledge(got, "reject", 10, 19)
            consumer.acknowledge(got, "release")
            (again,) = await gather(consumer, 10)
            assert (again.first, again.last, again.delivery_count) == (20, 29, 2)
            assert await consumer.commit(5) == []
            assert w.start() == 30


async def test_E66_delivery_count_and_deadline_are_told() -> None:
    async with world() as w:
        w.configure(lock_ms="7000")
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            left = got.deadline - asyncio.get_running_loop().time()
            assert (got.delivery_count, 6.0 < left <= 7.0) == (1, True)
            consumer.acknowledge(got, "release")
            (got,) = await gather(consumer, 10)
            assert got.delivery_count == 2


async def test_E66_after_the_delivery_limit_the_record_is_not_given_any_more() -> None:
    async with world() as w:
        w.configure(limit="2")
        await w.write(0, 10)
        async with w.member() as consumer:
            await gather(consumer, 20, say="release")
            assert await consumer.poll(0.3) == []
            assert w.start() == 10


async def test_E66_a_renewed_lock_lasts_longer() -> None:
    async with world() as w:
        w.configure(lock_ms="150")
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            for _ in range(4):
                await asyncio.sleep(0.07)
                assert await consumer.renew([got])
            consumer.acknowledge(got)
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_E66_a_broker_before_4_2_cannot_renew() -> None:
    async with world() as w:
        await w.write(0, 10)
        w.sandbox.faults.wire.speak_only("ShareAcknowledge", 1, 1)
        w.sandbox.faults.wire.speak_only("ShareFetch", 1, 1)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            assert not await consumer.renew([got])
            consumer.acknowledge(got)
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_E64_markers_and_gaps_are_said_to_be_gaps_and_nobody_is_asked_about_them() -> None:
    async with world() as w:
        from kcli.settings import ProducerSettings

        async with w.client.producer(ProducerSettings(transactional_id="x")) as producer:
            async with producer.transaction():
                await producer.send("t", b"0", partition=0)
        await w.write(1, 2)
        async with w.member() as consumer:
            got = await gather(consumer, 2)
            assert values(got) == [0, 1]
            assert await consumer.commit(5) == []
            assert w.start() == 3
            said = {(one.kind, one.first) for one in w.outcomes}
            assert ("gap", 1) in said


async def test_two_members_get_each_record_once() -> None:
    async with world(partitions=2, brokers=2) as w:
        seen: list[int] = []

        async def member() -> None:
            async with w.member() as consumer:
                while len(seen) < 400:
                    got = await consumer.poll(0.1, 20)
                    for one in got:
                        consumer.acknowledge(one)
                    seen.extend(values(got))

        async with asyncio.timeout(20):
            await w.write(0, 200)
            await w.write(200, 400, partition=1)
            await asyncio.gather(member(), member(), member())
        assert sorted(seen) == list(range(400))
        assert (w.start(0), w.start(1)) == (200, 200)


async def test_what_was_not_acknowledged_is_given_back_when_the_member_closes() -> None:
    async with world() as w:
        await w.write(0, 30)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got, "accept", last=9)
        assert w.start() == 10
        assert w.share.members == {}
        async with w.member() as consumer:
            again = await gather(consumer, 20)
            assert {(one.first, one.delivery_count) for one in again} == {(10, 2)}


async def test_what_was_handed_out_is_released_when_the_block_is_left_by_an_exception() -> None:
    async with world() as w:
        await w.write(0, 10)

        async def broken() -> None:
            async with w.member(explicit=False) as consumer:
                await consumer.poll(5)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await broken()
        assert w.start() == 0


async def test_E63_a_broker_without_share_groups_is_told_by_name_and_how_they_are_switched_on() -> None:
    async with world(share_version=0) as w:
        async with w.member() as consumer:
            with pytest.raises(UnsupportedVersion, match=r"disabled .* upgrade --feature share.version=1"):
                await consumer.poll(5)
    async with world() as w:
        w.sandbox.faults.wire.speak_only("ShareGroupHeartbeat", 0, 0)
        async with w.member() as consumer:
            with pytest.raises(UnsupportedVersion, match=r"does not support share groups \(KIP-932\)"):
                await consumer.poll(5)


async def test_E63_a_group_of_another_kind_is_refused_in_the_brokers_words() -> None:
    async with world() as w:
        w.sandbox.cluster.groups.remember(w.sandbox.cluster.groups.get_or_create("g"))
        async with w.member() as consumer:
            with pytest.raises(BrokerError, match="not a share group"):
                await consumer.poll(5)


async def test_a_closed_consumer_says_so_and_closes_twice() -> None:
    async with world() as w:
        async with w.member() as consumer:
            await consumer.close()
            assert await consumer.close() == []
            with pytest.raises(Closed):
                await consumer.poll(0.1)


async def test_E57_a_topic_that_appears_later_is_read_from() -> None:
    async with world() as w:
        async with w.member() as consumer:
            await consumer.subscribe(["t", "later"])
            assert await consumer.poll(0.1) == []
            w.sandbox.topics.create("later", 2)
            await until(lambda: len(consumer.assignment) == 3)
            assert TopicPartition("later", 1) in consumer.assignment


async def test_damaged_records_are_given_back_or_rejected_with_skip_corrupt() -> None:
    async with world() as w:
        await w.write(0, 10)
        w.sandbox.faults.planned.plan("corrupt", "ShareFetch", times=1)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            assert "corrupt" in str(got.error)
            assert values([got]) == []
            (again,) = await gather(consumer, 10)
            assert (again.delivery_count, values([again])) == (2, list(range(10)))
        await w.write(10, 20)
        w.sandbox.faults.planned.plan("corrupt", "ShareFetch", times=1)
        async with w.member(skip_corrupt=True) as consumer:
            (got,) = await consumer.poll(5)
            assert got.error is not None
            assert await consumer.commit(5) == []
            assert w.start() == 20


async def test_the_group_outlives_the_process(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from kcli.client import Client
    from kcli.sandbox import Sandbox
    from kcli.settings import ClientSettings, parse_bootstrap
    from tests.consumer.share.world import World

    for run in (0, 1):
        async with Sandbox(topics={"t": 1}, data=tmp_path) as sandbox:
            async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
                w = World(sandbox, client)
                if run == 0:
                    await w.write(0, 30)
                async with w.member() as consumer:
                    if run == 0:
                        (got,) = await consumer.poll(5)
                        consumer.acknowledge(got, "accept", last=9)
                        consumer.acknowledge(got, "accept", first=15, last=19)
                        consumer.acknowledge(got, "release")
                        assert await consumer.commit(5) == []
                    else:
                        again = await gather(consumer, 15)
                        assert values(again) == [10, 11, 12, 13, 14, *range(20, 30)]


async def test_E67_alter_and_delete_offsets_of_a_share_group_go_to_its_coordinator() -> None:
    from kcli.proto.messages.alter_share_group_offsets import (
        AlterShareGroupOffsetsRequest,
        AlterShareGroupOffsetsRequestPartition,
        AlterShareGroupOffsetsRequestTopic,
    )
    from kcli.proto.messages.delete_share_group_offsets import (
        DeleteShareGroupOffsetsRequest,
        DeleteShareGroupOffsetsRequestTopic,
    )

    async with world(brokers=2) as w:
        await w.write(0, 30)
        async with w.member() as consumer:
            await gather(consumer, 30)
        rows = [AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=20)]
        alter = AlterShareGroupOffsetsRequest(
            group_id="g", topics=[AlterShareGroupOffsetsRequestTopic(topic_name="t", partitions=rows)]
        )
        here = w.sandbox.brokers.coordinator("g")
        assert here is not None
        for node in (1, 2):
            broker = await w.client.cluster.node(node)
            answer = await broker.ask(alter)
            assert answer.error_code == (0 if node == here.node_id else codes.NOT_COORDINATOR.number)
        async with w.member() as consumer:
            assert values(await gather(consumer, 10)) == list(range(20, 30))
        delete = DeleteShareGroupOffsetsRequest(
            group_id="g", topics=[DeleteShareGroupOffsetsRequestTopic(topic_name="t")]
        )
        broker = await w.client.cluster.node(here.node_id)
        assert (await broker.ask(delete)).responses[0].error_code == 0
        async with w.member() as consumer:
            await gather(consumer, 30)


@pytest.mark.parametrize("codec", ["none", "zstd"])
async def test_ranges_of_one_batch_are_windows_of_it_and_are_told_by_their_delivery_count(codec: str) -> None:
    from kcli.settings import ProducerSettings

    async with world() as w:
        async with w.client.producer(ProducerSettings(compression=codec, linger=0.5)) as producer:
            for n in range(20):
                await producer.send("t", b"%d" % n, partition=0)
            assert await producer.flush(10) == 0
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            for first, last in ((2, 4), (9, 9), (15, 19)):
                consumer.acknowledge(got, "release", first, last)
            consumer.hold(got)
            again = await gather(consumer, 9, say=None)
            assert [(one.first, one.last, one.delivery_count) for one in again] == [(2, 4, 2), (9, 9, 2), (15, 19, 2)]
            assert [values([one]) for one in again] == [[2, 3, 4], [9], [15, 16, 17, 18, 19]]
            for one in [got, *again]:
                consumer.acknowledge(one)
            assert await consumer.commit(5) == []
            assert w.start() == 20


async def test_B31_large_batches_are_decompressed_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, int]] = []
    decompress = compression.decompress

    def noted(codec: str, data: Buffer, bound: int) -> Buffer:
        made = decompress(codec, data, bound)
        seen.append((threading.current_thread() is threading.main_thread(), len(made)))
        return made

    monkeypatch.setattr(compression, "decompress", noted)
    async with world() as w:
        for size in (1 << 20, 100, 1 << 21):
            builder = core.Builder()
            builder.append(1000, None, b"x" * size, ())
            w.sandbox.faults.logs.append("t", 0, bytes(seal(builder.take(), 1, 1000, 1000, codec="zstd").data))
        async with w.member(explicit=False) as consumer:
            got = [one for _ in range(3) for one in await consumer.poll(1)]
            sizes = [len(record.value or b"") for one in got for batch in one.batches for record in batch]
    assert sizes == [1 << 20, 100, 1 << 21]
    assert [main for main, size in seen if size > SMALL] == [False, False]
    assert [main for main, size in seen if size < SMALL] == [True]


async def test_B31_polls_that_are_cancelled_decompress_a_batch_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    may_end = threading.Event()
    decompress = compression.decompress

    def slow(codec: str, data: Buffer, bound: int) -> Buffer:
        if threading.current_thread() is not threading.main_thread():
            begun.append(bound)
            may_end.wait(10)
        return decompress(codec, data, bound)

    monkeypatch.setattr(compression, "decompress", slow)
    async with world() as w:
        builder = core.Builder()
        builder.append(1000, None, b"x" * (1 << 20), ())
        w.sandbox.faults.logs.append("t", 0, bytes(seal(builder.take(), 1, 1000, 1000, codec="zstd").data))
        async with w.member(explicit=False) as consumer:
            while not begun:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(consumer.poll(), 0.2)
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(consumer.poll(), 0.05)
            may_end.set()
            (got,) = await consumer.poll(5)
            assert [len(record.value or b"") for batch in got.batches for record in batch] == [1 << 20]
    assert len(begun) == 1


async def test_B31_a_large_batch_that_is_broken_is_an_error_and_ends_no_poll_in_a_loop() -> None:
    builder = core.Builder()
    builder.append(1000, None, os.urandom(1 << 20), ())
    sealed = seal(builder.take(), 1, 1000, 1000, codec="gzip").data
    cut = bytearray(sealed)
    cut[-70_000:-60_000] = bytes(10_000)
    cut[17:21] = core.crc32c(memoryview(cut)[21:]).to_bytes(4, "big")
    async with world() as w:
        w.sandbox.faults.logs.append("t", 0, bytes(cut))
        async with w.member(explicit=False) as consumer:
            (got,) = await asyncio.wait_for(consumer.poll(5), 10)
            with pytest.raises(CorruptBatch):
                [list(batch) for batch in got.batches]

"""Every format and every cut, through the whole consumer: nothing twice, nothing skipped, no position past a loss."""

from __future__ import annotations

import asyncio
import time
from collections import deque

import pytest

from kcli.consumer.consumer import Consumer
from kcli.consumer.fetch.chunk import CorruptRecords
from kcli.errors import DecodeError
from kcli.grammar.bound import Bound
from kcli.proto import core
from kcli.proto.batch import CODECS, seal
from kcli.settings import GroupSettings
from tests.consumer.formats import message, stored, wrapped
from tests.consumer.group.fakes import FakeKafka
from tests.consumer.log import FakeCluster, Log, batch, until
from tests.consumer.test_consumer import QUICK, A, everything, reading

pytestmark = pytest.mark.usefixtures("leaping_clock")


def packed(base, values, codec="none", epoch=0):
    """A stored v2 batch in a codec."""
    builder = core.Builder()
    for value in values:
        builder.append(1000, None, value, ())
    count = builder.count
    data = bytearray(seal(builder.take(), count, 1000, 1000, codec=codec).data)
    data[0:8] = base.to_bytes(8, "big")
    data[12:16] = epoch.to_bytes(4, "big")
    return bytes(data)


def with_a_broken_record(base):
    """A batch of three whose checksum is right and whose second record claims to be longer than all there is."""
    data = bytearray(packed(base, [b"one", b"two", b"three"]))
    second = 61 + 1 + (data[61] >> 1)
    data[second] = 0x7E
    data[17:21] = core.crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


def mixed():
    """v0, v1, v2 and compressed ones of each, twenty offsets with a hole (12 is compacted away)."""
    log = Log()
    stored(log, 0, 0, message(0, b"0", magic=0))
    stored(log, 1, 1, message(1, b"1"))
    stored(log, 2, 4, wrapped(4, [message(n, b"%d" % n, magic=0) for n in (2, 3, 4)], magic=0))
    stored(log, 5, 7, wrapped(7, [message(n, b"%d" % (n + 5)) for n in (0, 1, 2)], codec="snappy"))
    log.add(packed(8, [b"8", b"9"]))
    stored(log, 10, 13, wrapped(13, [message(0, b"10"), message(1, b"11"), message(3, b"13")], codec="lz4"))
    log.add(packed(14, [b"%d" % n for n in range(14, 19)], "zstd"))
    stored(log, 19, 19, message(19, b"19"))
    return log


MIXED = [n for n in range(20) if n != 12]


async def values(consumer):
    got = []
    while not consumer.finished:
        for fetched in await consumer.poll(5):
            if fetched.error is not None:
                raise fetched.error
            got += [(record.offset, record.value) for one in fetched.batches for record in one]
    return got


@pytest.mark.parametrize("start", range(21))
async def test_E8_E9_three_formats_in_one_answer_from_any_offset(start):
    log = mixed()
    consumer, _ = reading(log)
    async with consumer:
        consumer.assign({A: start})
        consumer.stop_at({A: 20})
        assert await values(consumer) == [(n, b"%d" % n) for n in MIXED if n >= start]
        assert consumer.position(A) == 20


@pytest.mark.parametrize("codec", CODECS)
async def test_E3_E5_compressed_batches_of_every_codec_are_read_and_trimmed(codec):
    log = Log()
    for base in range(0, 60, 20):
        log.add(packed(base, [b"%d" % n * 9 for n in range(base, base + 20)], codec))
    consumer, _ = reading(log)
    async with consumer:
        consumer.assign({A: 13})
        consumer.stop_at({A: 47})
        assert await values(consumer) == [(n, b"%d" % n * 9) for n in range(13, 47)]


@pytest.mark.slow
@pytest.mark.parametrize("log", [Log().fill(30), mixed()], ids=["v2", "mixed"])
async def test_E1_an_answer_cut_at_any_byte_loses_and_repeats_nothing(log):
    whole = log.read(0, 1 << 20)
    expected = list(range(30)) if log.end == 30 else MIXED
    for cut in range(1, len(whole)):
        consumer, cluster = reading(log)
        broker = cluster.brokers[0]
        cuts = [cut]

        async def hook(request, broker=broker, cuts=cuts):
            answer = await broker.fetch(request)
            for topic in answer.responses:
                for row in topic.partitions:
                    if row.records and cuts:
                        row.records = row.records[: cuts.pop()]
            return answer

        broker.hook = hook
        async with consumer:
            consumer.assign({A: 0})
            consumer.stop_at({A: log.end})
            assert await everything(consumer) == {A: expected}, cut


@pytest.mark.parametrize(
    ("size", "usual", "settings"),
    [(3000, 100, {"partition_max_bytes": 100}), (3 << 20, 2 << 20, {"buffer_bytes": 1 << 20})],
)
async def test_E1_a_batch_larger_than_the_limit_of_an_old_broker_is_asked_for_with_more(size, usual, settings):
    """However little room there is."""
    log = Log().add(batch(0, [b"x" * size])).add(batch(1, [b"y"] * 1000))
    consumer, cluster = reading(log, **settings)
    asked = []

    async def hook(request):
        answer = await cluster.brokers[0].fetch(request)
        for topic in request.topics:
            asked.extend(ask.partition_max_bytes for ask in topic.partitions)
        for topic in answer.responses:
            for row in topic.partitions:
                row.records = row.records and row.records[: min(asked[-1], request.max_bytes)]
        return answer

    cluster.brokers[0].hook = hook
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 1001})
        assert await everything(consumer) == {A: [*range(1001)]}
    more = 2 * usual if usual == 2 << 20 else usual  # as its records are large
    assert asked[:3] == [usual, len(log.batches[0][2]), more]  # what the batch says it has, once


async def test_E11_top_level_errors_of_every_kind_pass_without_a_spin_and_without_a_loss():
    for code in (-1, 29, 56, 70, 71, 106):
        consumer, cluster = reading(Log().fill(20))
        broker = cluster.brokers[0]
        broker.top_error = code
        async with consumer:
            consumer.assign({A: 0})
            consumer.stop_at({A: 20})
            await consumer.poll(0.1)
            assert len(broker.fetches) <= 4, code
            broker.top_error = 0
            assert await everything(consumer) == {A: list(range(20))}


# -- the group's commit ---------------------------------------------------------------------------------------------


class Both(FakeCluster):
    """A log's cluster and a group's coordinator."""

    def __init__(self, logs):
        super().__init__(logs)
        self.kafka = FakeKafka({"t": len(logs)})

    async def coordinator(self, of):
        return self.kafka

    async def anyone(self):
        return self.kafka

    def coordinator_moved(self, of):
        self.kafka.moves += 1

    def topic_id(self, topic):
        return self.kafka.topic_id(topic)

    async def refresh(self, topics=None):
        return None


class Named(Both):
    """As Both, with fetches by name, as the log's broker wants them."""

    def topic_id(self, topic):
        return bytes(16)


GROUP = GroupSettings(group="g", heartbeat_interval=0.02, auto_commit_interval=0.02)


def member(log, **changes):
    cluster = Named({A: log})
    cluster.kafka.highest = {8: 8, 9: 7}  # by name
    return Consumer(cluster, QUICK, GROUP.replace(**changes)), cluster.kafka


async def test_E5_R4_a_bad_checksum_is_never_committed_past():
    log = Log().fill(30)
    base, last, data = log.batches[1]
    log.batches[1] = (base, last, data[:-1] + bytes([data[-1] ^ 1]))
    consumer, kafka = member(log)
    async with consumer:
        await consumer.subscribe(["t"])
        error = None
        async with asyncio.timeout(5):
            while error is None:
                for fetched in await consumer.poll(0.1):
                    error = error or fetched.error
        assert isinstance(error, CorruptRecords)
        await consumer.poll(0.05)
        assert consumer.position(A) == 10
    assert kafka.committed[A].offset == 10


async def test_E5_R4_a_broken_record_under_a_good_checksum_is_not_committed_when_its_reader_gives_up():
    log = Log().fill(10).add(with_a_broken_record(10)).add(batch(13, [b"x"]))
    consumer, kafka = member(log, auto_commit_interval=60.0)
    seen = []

    async def read():
        async with consumer, asyncio.timeout(5):
            await consumer.subscribe(["t"])
            while True:
                for fetched in await consumer.poll(0.1, 1):
                    for one in fetched.batches:
                        seen.extend(record.offset for record in one)

    with pytest.raises(DecodeError):
        await read()
    assert kafka.committed.get(A, (0,))[0] <= len(seen) <= 11
    assert "LeaveGroup" in kafka.log


async def test_E38_what_was_handed_out_before_an_exception_is_not_committed():
    consumer, kafka = member(Log().fill(100), auto_commit_interval=60.0)

    async def read():
        async with consumer:
            await consumer.subscribe(["t"])
            while not await consumer.poll(0.1):
                pass
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await read()
    assert not kafka.committed


async def test_E38_what_was_handed_out_before_a_regular_end_is_committed():
    consumer, kafka = member(Log().fill(100), auto_commit_interval=60.0)
    async with consumer:
        await consumer.subscribe(["t"])
        while not await consumer.poll(0.1):
            pass
    assert kafka.committed[A].offset == 100
    assert kafka.log[-1] == "LeaveGroup"


async def test_E39_A3_12_finished_committed_reported_joined_in_that_order():
    consumer, kafka = member(Log().fill(100), auto_commit_interval=60.0)

    async def revoked(partitions):
        kafka.log.append("revoked")

    async with consumer:
        await consumer.subscribe(["t"], on_revoked=revoked)
        while not await consumer.poll(0.1):
            pass
        kafka.rebalance()
        del kafka.log[:]
        await until(lambda: kafka.count("Heartbeat") > 1)
        await asyncio.sleep(0.05)
        assert "JoinGroup" not in kafka.log  # the handler is not through
        kafka.log.append("handled")
        while kafka.generation == 1:
            await consumer.poll(0.01)
        order = [what for what in kafka.log if what in ("handled", "OffsetCommit", "revoked", "JoinGroup")]
        assert order[:4] == ["handled", "OffsetCommit", "revoked", "JoinGroup"]
        assert kafka.committed[A].offset == 100


async def test_E39_what_is_lost_is_not_committed():
    consumer, kafka = member(Log().fill(100), auto_commit_interval=60.0)
    lost = []

    async def told(partitions):
        lost.append(partitions)

    async with consumer:
        await consumer.subscribe(["t"], on_lost=told)
        while not await consumer.poll(0.1):
            pass
        kafka.fence(kafka.leader)
        while not lost:
            await consumer.poll(0.01)
        assert lost == [{A}]
        assert not kafka.committed


async def test_E35_a_member_whose_partitions_are_all_paused_stays_one_while_it_polls():
    consumer, kafka = member(Log().fill(100), max_poll_interval=0.2, session_timeout=0.4)

    async def assigned(partitions):
        consumer.pause(*partitions)

    async with consumer:
        await consumer.subscribe(["t"], on_assigned=assigned)
        began = time.monotonic()
        while time.monotonic() - began < 0.5:
            assert await consumer.poll(0.3) == []  # longer than max.poll.interval: who waits here is alive
        assert kafka.generation == 1
        assert consumer.assignment == consumer.paused == {A}
        consumer.resume(A)
        assert await consumer.poll(1)


async def test_E23_an_offset_that_was_looked_up_never_overwrites_a_newer_seek():
    consumer, cluster = reading(Log().fill(100))
    gate = asyncio.Event()
    broker = cluster.brokers[0]

    async def hook(request):
        if type(request).__name__ == "ListOffsetsRequest":
            answer = broker.list_offsets(request)
            await gate.wait()
            return answer
        return None

    broker.hook = hook
    async with consumer:
        consumer.assign({A: Bound("latest")})
        await until(lambda: broker.asked)
        consumer.seek(A, 42)
        gate.set()
        consumer.stop_at({A: 60})
        assert await everything(consumer) == {A: list(range(42, 60))}


async def test_E23_E19_a_seek_while_the_groups_commit_is_looked_up_stays():
    consumer, kafka = member(Log().fill(100))
    gate = asyncio.Event()
    kafka.errors["OffsetFetch"] = deque([gate])
    async with consumer:
        await consumer.subscribe(["t"])
        while not consumer.assignment:
            await consumer.poll(0.01)
        await until(lambda: "OffsetFetch" in kafka.log)
        consumer.seek(A, 42)
        gate.set()
        got = []
        while not got:
            got = await consumer.poll(0.1)
        assert next(iter(got[0].batches[0])).offset == 42

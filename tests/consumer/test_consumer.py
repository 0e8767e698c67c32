"""The consumer against fakes: positions, markers, errors, pause, bounds, and the races of the seed issue."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from kcli import codes
from kcli.consumer.consumer import Consumer
from kcli.consumer.fetch.chunk import CorruptRecords
from kcli.consumer.fetch.positions import LogTruncated, OffsetOutOfRange
from kcli.errors import BrokerError, Closed, ConnectError, DeadlineExceeded
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchRequest
from kcli.proto.messages.list_offsets import ListOffsetsRequest
from kcli.proto.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from kcli.settings import ConsumerSettings
from tests.consumer.log import FakeCluster, Log, batch, until

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
QUICK = ConsumerSettings(fetch_max_wait=0.01, request_timeout=5.0)


def reading(log, **changes):
    """A consumer of one partition, and its cluster."""
    cluster = FakeCluster({A: log})
    return Consumer(cluster, QUICK.replace(**changes)), cluster


async def everything(consumer):
    """Offsets of all that comes until the end, errors raised."""
    offsets = {}
    while not consumer.finished:
        for fetched in await consumer.poll(5):
            if fetched.error is not None:
                raise fetched.error
            at = TopicPartition(fetched.topic, fetched.partition)
            offsets.setdefault(at, []).extend(record.offset for one in fetched.batches for record in one)
    return offsets


async def test_E3_a_batch_that_begins_before_the_position_is_trimmed():
    consumer, _ = reading(Log().fill(30))
    async with consumer:
        consumer.assign({A: 15})
        consumer.stop_at({A: 25})
        assert await everything(consumer) == {A: list(range(15, 25))}


@pytest.mark.parametrize(
    "tail", [batch(10, [b""], marker="commit", pid=1), batch(10, [], last=14), batch(10, [b"x"], last=19)]
)
async def test_E4_E18_a_tail_of_markers_or_compaction_ends_all_the_same(tail):
    log = Log().fill(10).add(tail)
    consumer, _ = reading(log)
    async with consumer:
        consumer.assign({A: Bound("earliest")})
        consumer.stop_at({A: log.end})
        got = await everything(consumer)
        assert got[A][:10] == list(range(10))
        assert consumer.position(A) == log.end


async def test_E18_an_end_in_a_hole_and_an_empty_partition_are_ends():
    log = Log().fill(10).add(batch(30, [b"x"]))
    cluster = FakeCluster({A: log, B: Log()})
    async with Consumer(cluster, QUICK) as consumer:
        consumer.assign({A: 0, B: Bound("earliest")})
        consumer.stop_at({A: 20, B: 0})
        assert await everything(consumer) == {A: list(range(10))}
        assert consumer.position(A) == 20


async def test_E14_E15_E16_read_committed_hides_what_was_aborted_and_nothing_else():
    log = Log()
    log.add(batch(0, [b"plain"], pid=7))
    log.add(batch(1, [b"good"], pid=7, transactional=True)).add(batch(2, [b""], marker="commit", pid=7))
    log.add(batch(3, [b"bad"], pid=7, transactional=True)).add(batch(4, [b"other"], pid=8, transactional=True))
    log.add(batch(5, [b""], marker="abort", pid=7)).add(batch(6, [b""], marker="commit", pid=8))
    log.add(batch(7, [b"again"], pid=7, transactional=True)).add(batch(8, [b""], marker="commit", pid=7))
    log.add(batch(9, [b""], marker="abort", pid=99)).add(batch(10, [b""], marker=99, pid=7))
    log.aborted = [(99, 9), (7, 3)]
    for isolation, expected in (("read_committed", [0, 1, 4, 7]), ("read_uncommitted", [0, 1, 3, 4, 7])):
        consumer, _ = reading(log, isolation=isolation)
        async with consumer:
            consumer.assign({A: 0})
            consumer.stop_at({A: 11})
            assert await everything(consumer) == {A: expected}


async def test_E16_a_plain_batch_of_a_producer_whose_transaction_is_aborted_is_delivered():
    log = Log().add(batch(0, [b"bad"], pid=7, transactional=True)).add(batch(1, [b"plain"], pid=7))
    log.add(batch(2, [b"bad"], pid=7, transactional=True)).add(batch(3, [b""], marker="abort", pid=7))
    log.aborted = [(7, 0)]
    consumer, _ = reading(log, isolation="read_committed")
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 4})
        assert await everything(consumer) == {A: [1]}


async def test_E14_control_batches_are_shown_on_request():
    log = Log().fill(10).add(batch(10, [b""], marker="commit", pid=1))
    consumer, _ = reading(log, include_control=True)
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 11})
        assert (await everything(consumer))[A][-1] == 10


def corrupted(log, number):
    base, last, data = log.batches[number]
    log.batches[number] = (base, last, data[:-1] + bytes([data[-1] ^ 1]))
    return log


async def test_E5_E13_a_bad_crc_comes_after_the_good_records_and_the_position_stays():
    consumer, _ = reading(corrupted(Log().fill(30), 1))
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 30})
        (fetched,) = await consumer.poll(5)
        assert [one.base_offset for one in fetched.batches] == [0]
        assert isinstance(fetched.error, CorruptRecords)
        assert str(fetched.error).startswith("t[0]: the batch at offset 10 is corrupt")
        assert consumer.position(A) == fetched.next_offset == 10
        assert consumer.finished


async def test_E5_skip_corrupt_reads_on_after_the_bad_batch():
    consumer, _ = reading(corrupted(Log().fill(30), 1), skip_corrupt=True)
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 30})
        assert await everything(consumer) == {A: [*range(10), *range(20, 30)]}


async def test_E21_out_of_range_without_a_policy_says_what_was_asked_and_what_there_is():
    log = Log().fill(50)
    log.start = 20
    consumer, _ = reading(log, reset="none")
    async with consumer:
        consumer.assign({A: 5})
        (fetched,) = await consumer.poll(5)
        error = fetched.error
        assert isinstance(error, OffsetOutOfRange)
        assert (error.asked, error.start, error.end) == (5, 20, 50)
        assert consumer.position(A) == 5


@pytest.mark.parametrize(("reset", "first"), [("earliest", 20), ("latest", 50)])
async def test_E21_out_of_range_follows_the_policy_and_says_so(reset, first):
    log = Log().fill(50)
    log.start = 20
    consumer, _ = reading(log, reset=reset)
    said = []
    async with consumer:
        consumer.on_notice = said.append
        consumer.assign({A: 5})
        while consumer.position(A) == 5:
            await consumer.poll(0.02)
        assert "offset 5 is out of range" in said[0]
        assert f"continuing at {first}" in said[0]


@pytest.mark.parametrize("reset", ["earliest", "latest", "none"])
@pytest.mark.parametrize("place", [20, 30, 50])
async def test_E21_out_of_range_inside_the_log_is_a_broker_that_was_behind_and_resets_nothing(place, reset):
    log = Log().fill(50)
    log.start = 20
    log.errors = [1]
    consumer, cluster = reading(log, reset=reset)
    said = []
    async with consumer:
        consumer.on_notice = said.append
        consumer.assign({A: place})
        await until(lambda: not log.errors and len(cluster.brokers[0].fetches) > 2)
        assert consumer.position(A) == place
        log.fill(10)
        consumer.stop_at({A: 60})
        assert await everything(consumer) == {A: list(range(place, 60))}
        assert said == []


async def test_E13_A3_16_an_error_of_one_partition_hides_no_records_of_another():
    logs = {A: Log().fill(20), B: Log().fill(20)}
    logs[A].errors = [29]  # TOPIC_AUTHORIZATION_FAILED
    async with Consumer(FakeCluster(logs), QUICK) as consumer:
        consumer.assign({A: 0, B: 0})
        consumer.stop_at({A: 20, B: 20})
        errors, offsets = [], []
        while not consumer.finished:
            for fetched in await consumer.poll(5):
                offsets += [record.offset for one in fetched.batches for record in one]
                errors += [fetched.error] if fetched.error else []
        assert offsets == list(range(20))
        assert [type(error) for error in errors] == [BrokerError]


@pytest.mark.parametrize("code", [6, 3, 5, 9, 56, 74, 75, 78, 100, 103, -1, 2])
async def test_C4_errors_that_pass_are_tried_again_and_lose_nothing(code):
    log = Log().fill(20)
    log.errors = [code]
    consumer, _ = reading(log)
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 20})
        assert await everything(consumer) == {A: list(range(20))}


async def test_E11_a_top_level_error_for_ever_does_not_spin():
    consumer, cluster = reading(Log().fill(20))
    cluster.brokers[0].top_error = 29
    async with consumer:
        consumer.assign({A: 0})
        await consumer.poll(0.35)
        assert len(cluster.brokers[0].fetches) <= 4


async def test_E10_a_transport_error_opens_a_new_session_and_loses_nothing():
    consumer, cluster = reading(Log().fill(100), partition_max_bytes=200)
    broker = cluster.brokers[0]

    async def hook(_request):
        if len(broker.fetches) == 3:
            raise ConnectError("cut", sent=True)

    broker.hook = hook
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 100})
        assert await everything(consumer) == {A: list(range(100))}
        assert [one.session_epoch for one in broker.fetches[:5]] == [0, 1, 2, 0, 1]


async def test_E12_undelivered_bytes_stay_below_the_bound():
    cluster = FakeCluster({TopicPartition("t", n): Log().fill(2000) for n in range(8)}, brokers=4)
    settings = QUICK.replace(buffer_bytes=8000, partition_max_bytes=1000, fetch_max_bytes=2000)
    async with Consumer(cluster, settings) as consumer:
        consumer.assign(dict.fromkeys(cluster.logs, 0))
        for _ in range(20):
            await asyncio.sleep(0.005)
            assert sum(cursor.buffered for cursor in consumer._reader.cursors.values()) <= 8000 + 8 * 200
            await consumer.poll(1)


async def test_E12_E30_A3_06_a_paused_partition_keeps_its_data_and_blocks_nobody():
    logs = {A: Log().fill(100), B: Log().fill(3000)}
    cluster = FakeCluster(logs)
    async with Consumer(cluster, QUICK.replace(partition_max_bytes=500, buffer_bytes=4000)) as consumer:
        consumer.assign({A: 0, B: 0})
        await until(lambda: consumer._reader.cursors[A].chunks)
        consumer.pause(A)
        asked = consumer._reader.cursors[A].fetch_at
        seen = 0
        while seen < 3000:
            for fetched in await consumer.poll(5):
                assert fetched.partition == 1
                seen += sum(one.visible for one in fetched.batches)
        assert consumer.position(A) == 0
        fetches = len(cluster.brokers[0].fetches)
        consumer.resume(A)
        (fetched,) = await consumer.poll(0)
        assert (fetched.partition, fetched.batches[0].base_offset) == (0, 0)
        assert consumer._reader.cursors[A].fetch_at >= asked
        assert len(cluster.brokers[0].fetches) == fetches


async def test_E28_A3_04_nothing_comes_out_of_a_paused_partition():
    consumer, _ = reading(Log().fill(500))
    async with consumer:
        consumer.assign({A: 0})
        await until(lambda: consumer._reader.cursors[A].chunks)
        consumer.pause(A)
        for _ in range(10):
            assert await consumer.poll(0.001) == []


async def test_E24_the_position_is_the_next_to_be_delivered_not_fetched():
    consumer, _ = reading(Log().fill(500), partition_max_bytes=400)
    async with consumer:
        consumer.assign({A: 0})
        await until(lambda: consumer._reader.cursors[A].chunks)
        assert consumer.position(A) == 0
        (fetched,) = await consumer.poll(1)
        assert consumer.position(A) == fetched.next_offset < consumer._reader.cursors[A].fetch_at + 1


async def test_E33_an_answer_that_comes_after_a_seek_is_dropped():
    consumer, cluster = reading(Log().fill(100))
    gate = asyncio.Event()

    async def hook(_request):
        await gate.wait()

    cluster.brokers[0].hook = hook
    async with consumer:
        consumer.assign({A: 0})
        await until(lambda: cluster.brokers[0].fetches)
        consumer.seek(A, 50)
        gate.set()
        (fetched,) = await consumer.poll(5)
        assert next(iter(fetched.batches[0])).offset == 50


async def test_C7_a_leader_hint_is_followed_without_looking_up():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)

    async def hook(request):
        answer = await cluster.brokers[0].fetch(request)
        row = answer.responses[0].partitions[0]
        row.error_code, row.records = 6, b""
        row.current_leader.leader_id, row.current_leader.leader_epoch = 1, 5
        return answer

    cluster.brokers[0].hook = hook
    async with Consumer(cluster, QUICK) as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 20})
        assert await everything(consumer) == {A: list(range(20))}
        assert cluster.lookups == 0


async def test_C9_a_truncated_log_is_told_and_read_on_where_it_was_cut():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    said = []
    async with Consumer(cluster, QUICK) as consumer:
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        log.batches.pop()
        log.end = 10
        log.epoch_ends[0] = (0, 10)
        cluster.epochs[A] = 1
        while consumer.position(A) != 10:
            await consumer.poll(0.02)
        assert "truncated" in said[0]


@pytest.mark.parametrize("told_by", ["C9 a new leader epoch", "C10 the answer of a fetch"])
@pytest.mark.parametrize("cut", [20, 40])
async def test_C9_C10_what_was_fetched_of_a_log_that_was_cut_is_never_delivered(cut, told_by):
    """Read up to 20, fetched up to 60, cut at `cut`, where a new leader writes other records."""
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    broker = cluster.brokers[0]
    said = []

    async def hook(request):
        """An old broker: its Fetch says nothing of epochs."""
        for topic in getattr(request, "topics", ()) if isinstance(request, FetchRequest) else ():
            for part in topic.partitions:
                part.last_fetched_epoch = -1

    async with Consumer(cluster, QUICK) as consumer:
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        (first,) = await consumer.poll(5)
        assert first.next_offset == 20
        cursor = consumer._reader.cursors[A]
        log.fill(40)
        await until(lambda: cursor.fetch_at == 60)
        del log.batches[cut // 10 :]
        for base in range(cut, 50, 10):
            log.add(batch(base, [b"new %d" % n for n in range(base, base + 10)], epoch=1))
        log.epoch_ends[0] = (0, cut)
        if told_by.startswith("C9"):
            broker.hook = hook
            cluster.epochs[A] = 1
        consumer._reader.changed()
        await until(lambda: cursor.fetch_epoch == 1)
        consumer.stop_at({A: 50})
        read = [record.value for one in first.batches for record in one]
        while not consumer.finished:
            for fetched in await consumer.poll(5):
                assert fetched.error is None
                read += [record.value for one in fetched.batches for record in one]
        assert read == [b"%d" % n for n in range(cut)] + [b"new %d" % n for n in range(cut, 50)]
        assert said == [], "nothing that was delivered is gone"
        epochs = [one for one in broker.asked if isinstance(one, OffsetForLeaderEpochRequest)]
        assert bool(epochs) == told_by.startswith("C9")


async def test_C10_a_fetch_that_tells_of_a_cut_before_the_position_is_told_and_read_on_where_it_was_cut():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    said = []
    async with Consumer(cluster, QUICK) as consumer:
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        log.batches.pop()
        log.end = 10
        log.epoch_ends[0] = (0, 10)
        async with asyncio.timeout(10):
            while consumer.position(A) != 10:
                await consumer.poll(0.02)
        assert "position 20 no longer exists; continuing at 10" in said[0]
        assert not [one for one in cluster.brokers[0].asked if isinstance(one, OffsetForLeaderEpochRequest)]


async def test_C9_a_truncated_log_without_a_policy_is_an_error():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    async with Consumer(cluster, QUICK.replace(reset="none")) as consumer:
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        log.epoch_ends[0] = (0, 10)
        cluster.epochs[A] = 1
        (fetched,) = await consumer.poll(5)
        assert isinstance(fetched.error, LogTruncated)
        assert (fetched.error.position, fetched.error.end) == (20, 10)


REFUSALS = {
    "authz": BrokerError(codes.TOPIC_AUTHORIZATION_FAILED, "t"),
    "timeout": DeadlineExceeded("no answer", sent=True),
    "DNS": ConnectError("no address for broker-1", sent=False),
}


@pytest.mark.parametrize("kind", REFUSALS)
async def test_C11_a_validation_that_fails_three_times_moves_nothing_and_repeats_nothing(kind):
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    broker = cluster.brokers[0]
    said, failures = [], [REFUSALS[kind]] * 3

    async def hook(request):
        if isinstance(request, OffsetForLeaderEpochRequest) and failures:
            raise failures.pop()

    async with Consumer(cluster, QUICK) as consumer:
        consumer.on_notice = said.append
        consumer.assign({A: 0})
        got = []
        while consumer.position(A) != 20:
            got += [record.offset for one in await consumer.poll(1) for each in one.batches for record in each]
        broker.hook = hook
        cluster.epochs[A] = 1
        log.fill(20)
        broker.more.set()
        async with asyncio.timeout(5):
            while consumer.position(A) != 40:
                for fetched in await consumer.poll(0.05):
                    assert fetched.error is None
                    got += [record.offset for each in fetched.batches for record in each]
                assert failures == [] or consumer.position(A) == 20
        assert got == list(range(40))
        assert said == failures == []


async def test_C9_a_seek_during_a_validation_stays():
    log = Log().fill(20)
    cluster = FakeCluster({A: log})
    broker = cluster.brokers[0]
    gate = asyncio.Event()

    async def hook(request):
        if not isinstance(request, OffsetForLeaderEpochRequest):
            return None
        answer = broker.epoch_end(request)
        answer.topics[0].partitions[0].end_offset = 10
        await gate.wait()
        return answer

    async with Consumer(cluster, QUICK) as consumer:
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        broker.hook = hook
        cluster.epochs[A] = 1
        await until(lambda: any(isinstance(one, OffsetForLeaderEpochRequest) for one in broker.asked))
        consumer.seek(A, 3)
        gate.set()
        (fetched,) = await consumer.poll(1)
        assert next(iter(fetched.batches[0])).offset == 3


async def test_C14_list_offsets_goes_to_the_leader_while_a_follower_is_read_from():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)

    async def point(request):
        if not isinstance(request, FetchRequest):
            return None
        answer = await cluster.brokers[0].fetch(request)
        for topic in answer.responses:
            for row in topic.partitions:
                row.preferred_read_replica, row.records = 1, b""
        return answer

    cluster.brokers[0].hook = point
    async with Consumer(cluster, QUICK, rack="r1") as consumer:
        consumer.assign({A: 0})
        while consumer.position(A) != 20:
            await consumer.poll(1)
        consumer.seek(A, Bound("earliest"))
        assert consumer.position(A) is None
        while consumer.position(A) != 20:
            await consumer.poll(1)
    assert {type(one) for one in cluster.brokers[1].asked} == {FetchRequest}
    assert any(isinstance(one, ListOffsetsRequest) for one in cluster.brokers[0].asked)


async def test_C12_a_follower_that_dies_is_left_for_the_leader_at_once():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)

    async def point(request):
        answer = await cluster.brokers[0].fetch(request)
        if not cluster.brokers[1].fetches:
            for topic in answer.responses:
                for row in topic.partitions:
                    row.preferred_read_replica, row.records = 1, b""
        return answer

    async def dead(_request):
        raise ConnectError("gone", sent=False)

    cluster.brokers[0].hook, cluster.brokers[1].hook = point, dead
    async with Consumer(cluster, QUICK, rack="r1") as consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 20})
        async with asyncio.timeout(10):
            assert await everything(consumer) == {A: list(range(20))}


async def test_C10_the_request_has_the_leaders_epoch_and_the_records_epoch():
    log = Log().add(batch(0, [b"x"], epoch=5))
    cluster = FakeCluster({A: log})
    cluster.epochs[A] = 7
    async with Consumer(cluster, QUICK) as consumer:
        consumer.assign({A: 0})
        await consumer.poll(1)
        await until(lambda: len(cluster.brokers[0].fetches) >= 2)
        ask = cluster.brokers[0].fetches[1].topics[0].partitions[0]
        assert (ask.current_leader_epoch, ask.last_fetched_epoch) == (7, 5)


async def test_C12_C13_a_follower_is_read_from_until_it_says_something_is_wrong():
    log = Log().fill(20)
    cluster = FakeCluster({A: log}, brokers=2)

    async def point(request):
        answer = await cluster.brokers[0].fetch(request)
        if not cluster.brokers[1].fetches:
            for topic in answer.responses:
                for row in topic.partitions:
                    row.preferred_read_replica, row.records = 1, b""
        return answer

    async def behind(request):
        answer = await cluster.brokers[1].fetch(request)
        answer.responses[0].partitions[0].error_code = 1
        return answer

    cluster.brokers[0].hook, cluster.brokers[1].hook = point, behind
    async with Consumer(cluster, QUICK.replace(reset="none"), rack="r1") as consumer:
        consumer.assign({A: 10})
        consumer.stop_at({A: 20})
        assert await everything(consumer) == {A: list(range(10, 20))}
        assert cluster.brokers[1].fetches[0].rack_id == "r1"


async def test_C8_a_topic_made_anew_stops_loudly():
    consumer, cluster = reading(Log().fill(20))
    cluster.ids["t"] = b"1" * 16
    broker = cluster.brokers[0]

    async def hook(_request):
        cluster.ids["t"] = b"2" * 16

    async with consumer:
        consumer.assign({A: 0})
        (first,) = await consumer.poll(1)
        assert first.error is None
        broker.hook = hook
        got = []
        while not got:
            got = await consumer.poll(1)
        assert "deleted and created again" in str(got[0].error)


async def test_B29_a_cancelled_poll_takes_nothing():
    consumer, _ = reading(Log().fill(2000), partition_max_bytes=400)
    seen = []
    async with consumer:
        consumer.assign({A: 0})
        consumer.stop_at({A: 2000})
        dice = random.Random(1)
        while not consumer.finished:
            task = asyncio.ensure_future(consumer.poll(1))
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)
            task.cancel()
            try:
                got = await task
            except asyncio.CancelledError:
                continue
            seen += [record.offset for one in got for each in one.batches for record in each]
        assert seen == list(range(2000))


async def test_B30_close_ends_a_waiting_poll_and_leaves_no_task():
    consumer, _ = reading(Log())
    consumer.assign({A: 0})
    waiting = asyncio.ensure_future(consumer.poll())
    await asyncio.sleep(0.01)
    await consumer.close()
    await consumer.close()
    with pytest.raises(Closed):
        await waiting
    assert len(asyncio.all_tasks()) == 1


async def test_B29_a_dead_fetcher_fails_every_poll_at_once():
    consumer, cluster = reading(Log())

    async def hook(_request):
        raise RuntimeError("a bug")

    cluster.brokers[0].hook = hook
    async with consumer:
        consumer.assign({A: 0})
        with pytest.raises(RuntimeError, match="a bug"):
            await consumer.poll(5)


async def test_E2_partitions_that_had_data_stand_last_in_the_next_full_request():
    logs = {TopicPartition("t", n): Log() for n in range(4)}
    logs[A].fill(20)
    cluster = FakeCluster(logs)
    async with Consumer(cluster, QUICK) as consumer:
        consumer.assign(dict.fromkeys(logs, 0))
        await consumer.poll(1)
        cut = [ConnectError("cut", sent=True)]

        async def hook(_request):
            if cut:
                raise cut.pop()

        def busy(*_what: object) -> None:
            time.sleep(0.005)  # as on a loaded machine: what failed together comes back together even so

        consumer._reader.observer.retried = busy  # type: ignore[method-assign, assignment]
        cluster.brokers[0].hook = hook
        broker = cluster.brokers[0]
        await until(lambda: sum(one.session_epoch == 0 for one in broker.fetches) == 2)
        full = [one for one in broker.fetches if one.session_epoch == 0]
        assert [one.partition for one in full[1].topics[0].partitions] == [1, 2, 3, 0]

"""The consumer through the whole client while brokers misbehave: every record once, in order, and no hang."""

from __future__ import annotations

import asyncio
import random

import pytest

from kcli.client import Client
from kcli.consumer.fetch.chunk import CorruptRecords
from kcli.model import TopicPartition
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap

pytestmark = pytest.mark.usefixtures("leaping_clock")

EACH, BATCH = 120, 20
TPS = [TopicPartition("t", n) for n in range(3)]
SETTINGS = ConsumerSettings(fetch_max_wait=0.01, request_timeout=1.0, partition_max_bytes=700, retry_backoff=0.01)


def client_of(sandbox):
    return Client(
        ClientSettings(
            bootstrap=parse_bootstrap(sandbox.bootstrap), request_timeout=1.0, reconnect_backoff=0.01,
            reconnect_backoff_max=0.1, retry_backoff=0.01, retry_backoff_max=0.1,
        )
    )  # fmt: skip


async def fill(client):
    """Batches of BATCH records, EACH per partition."""
    async with client.producer(ProducerSettings(linger=0.0)) as producer:
        for base in range(0, EACH, BATCH):
            for at in TPS:
                for n in range(base, base + BATCH):
                    await producer.send("t", b"%d" % n, partition=at.partition)
            assert await producer.flush(10) == 0


class Reader:
    """Reads to the ends and keeps books: the next record of a partition is always the one expected."""

    def __init__(self, client, **changes):
        self.consumer = client.consumer(settings=SETTINGS.replace(**changes))
        self.following = dict.fromkeys(TPS, 0)
        self.errors = []
        self.skipped = []

    def begin(self):
        self.consumer.assign(self.following)
        self.consumer.stop_at(dict.fromkeys(TPS, EACH))

    def take(self, got):
        for fetched in got:
            at = TopicPartition(fetched.topic, fetched.partition)
            assert at not in self.consumer.paused
            for left_out in fetched.skipped:
                self.skipped.append(left_out)
                assert left_out.offset == self.following[at]
                self.following[at] += BATCH
            for one in fetched.batches:
                for record in one:
                    assert (record.offset, record.value) == (self.following[at], b"%d" % self.following[at])
                    self.following[at] += 1
            assert fetched.next_offset == self.following[at] == self.consumer.position(at)
            if fetched.error is not None:  # the position has not moved: the user decides
                self.errors.append(fetched.error)
                self.consumer.seek(at, self.following[at])

    async def to_the_end(self):
        async with asyncio.timeout(15):
            while not self.consumer.finished:
                self.take(await self.consumer.poll(1))
        assert set(self.following.values()) == {EACH}


def lose_answers(sandbox):
    sandbox.faults.wire.lose_answer("Fetch", times=3)


def cut_answers(sandbox):
    for after in (1, 5, 40, 200):
        sandbox.faults.wire.cut_answer("Fetch", after)


def mix_up_answers(sandbox):
    sandbox.faults.wire.wrong_correlation_id("Fetch", times=2)


def drop_connections(sandbox):
    sandbox.faults.wire.drop_connections()


def forget_sessions(sandbox):
    sandbox.faults.cluster.forget_sessions()


def delay(sandbox):
    sandbox.faults.wire.delay("Fetch", 0.05, times=3)


def throttle(sandbox):
    sandbox.faults.wire.throttle("Fetch", 60, times=2)


def move_with_a_hint(sandbox):
    sandbox.faults.cluster.move_leader("t", 0, leader_other_than(sandbox, 0))


def move_without_a_hint(sandbox):
    sandbox.faults.cluster.move_leader("t", 0, leader_other_than(sandbox, 0), hint=False)


def leader_other_than(sandbox, number):
    now = sandbox.topics.partition("t", number).leader
    return next(one.node_id for one in sandbox.brokers if one.node_id != now)


FAULTS = [
    lose_answers, cut_answers, mix_up_answers, drop_connections, forget_sessions, delay, throttle, move_with_a_hint,
    move_without_a_hint,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
async def test_B21_C4_E10_B25_a_fault_in_the_middle_loses_and_repeats_nothing(fault):
    async with Sandbox(topics={"t": 3}, brokers=2) as sandbox, client_of(sandbox) as client:
        await fill(client)
        reader = Reader(client)
        async with reader.consumer:
            reader.begin()
            reader.take(await reader.consumer.poll(1))
            fault(sandbox)
            await reader.to_the_end()
        assert reader.errors == []


async def test_B21_a_broker_that_dies_and_comes_back_loses_and_repeats_nothing():
    async with Sandbox(topics={"t": 3}, brokers=2) as sandbox, client_of(sandbox) as client:
        await fill(client)
        for elect in (True, False):
            reader = Reader(client)
            async with reader.consumer:
                reader.begin()
                reader.take(await reader.consumer.poll(1))
                victim = sandbox.brokers[1].node_id
                await sandbox.faults.cluster.stop_broker(victim, elect=elect)
                for _ in range(5):
                    reader.take(await reader.consumer.poll(0.01))
                await sandbox.faults.cluster.start_broker(victim)
                await reader.to_the_end()
            assert reader.errors == []


async def test_E5_a_corrupt_answer_is_an_error_at_the_position_and_a_seek_reads_on():
    async with Sandbox(topics={"t": 3}) as sandbox, client_of(sandbox) as client:
        await fill(client)
        sandbox.faults.logs.corrupt("t", 1, times=2)
        reader = Reader(client)
        async with reader.consumer:
            reader.begin()
            await reader.to_the_end()
        assert [type(error) for error in reader.errors] == [CorruptRecords] * 2


async def test_E5_skip_corrupt_leaves_out_the_batch_and_says_so():
    async with Sandbox(topics={"t": 3}) as sandbox, client_of(sandbox) as client:
        await fill(client)
        sandbox.faults.logs.corrupt("t", 1, times=2)
        reader = Reader(client, skip_corrupt=True)
        async with reader.consumer:
            reader.begin()
            await reader.to_the_end()
        assert reader.errors == []
        assert len(reader.skipped) == 2


@pytest.mark.parametrize("reset", ["earliest", "none"])
async def test_C9_a_truncated_log_is_noticed(reset):
    async with Sandbox(topics={"t": 1}) as sandbox, client_of(sandbox) as client:
        async with client.producer(ProducerSettings(linger=0.0)) as producer:
            for n in range(50):
                await producer.send("t", b"%d" % n)
            await producer.flush(5)
        said = []
        async with client.consumer(settings=SETTINGS.replace(reset=reset)) as consumer, asyncio.timeout(10):
            consumer.on_notice = said.append
            consumer.assign({TPS[0]: 0})
            while consumer.position(TPS[0]) != 50:
                await consumer.poll(1)
            sandbox.faults.logs.truncate("t", 0, 0)
            error = None
            while error is None and not said:
                for fetched in await consumer.poll(0.05):
                    error = error or fetched.error
            assert "truncated" in (said[0] if said else str(error))
            assert bool(said) == (reset == "earliest")


@pytest.mark.parametrize("seed", range(50))
async def test_E27_E33_random_faults_and_random_wishes(seed):
    dice = random.Random(seed)
    async with Sandbox(topics={"t": 3}, brokers=2) as sandbox, client_of(sandbox) as client:
        await fill(client)
        reader = Reader(client)
        consumer = reader.consumer
        async with consumer:
            reader.begin()
            for _ in range(12):
                at = dice.choice(TPS)
                match dice.randrange(7):
                    case 0:
                        dice.choice(FAULTS)(sandbox)
                    case 1:
                        consumer.pause(at)
                    case 2:
                        consumer.resume(*TPS)
                    case 3:
                        reader.following[at] = dice.randrange(EACH)
                        consumer.seek(at, reader.following[at])
                    case 4:
                        reader.following = {one: dice.randrange(EACH) for one in TPS}
                        consumer.assign(reader.following)
                    case _:
                        reader.take(await consumer.poll(0.005))
            consumer.resume(*TPS)
            await reader.to_the_end()
        assert reader.errors == []

"""Transactions on a real Apache Kafka, by protocol v1 and v2: readers who are strangers to kcli see what was committed,
and never a record of an aborted transaction."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from kcli.client import Client
from kcli.consumer.classic.member import GroupSession
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition, Transaction
from kcli.producer.producer import Producer
from kcli.producer.transactions import transaction
from kcli.producer.transactions.state import AbortRequired, Fenced
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from tests.consumer.group.fakes import Reader
from tests.kafka.cluster import Kafka
from tests.kafka.transactions import decided
from tests.programs import KCLI, kcat, kcli


@pytest.fixture(scope="module")
def kafka_v1() -> Iterator[Kafka]:
    """One node whose transactions are of version 1 (KIP-98), as a cluster's that was upgraded."""
    cluster = Kafka(1, features={"transaction.version": 1})
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(params=["kafka_v1", "kafka"], ids=["v1", "v2"])
def versioned(request: pytest.FixtureRequest) -> tuple[Kafka, int]:
    """A cluster, and the version of its transactions."""
    return request.getfixturevalue(request.param), 1 if request.param == "kafka_v1" else 2


def create(kafka: Kafka, name: str, partitions: int = 2, replicas: int = 1) -> str:
    made = kcli("topics", "create", name, "-p", str(partitions), "-r", str(replicas), "-b", kafka.bootstrap)
    assert made.code == 0, made.err
    return name


def client(kafka: Kafka) -> Client:
    return Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap)))


def transactional(one: Client, name: str, **changes: float) -> Producer:
    return one.producer(ProducerSettings(transactional_id=name, transaction_timeout=20.0, **changes))  # type: ignore[arg-type]


def seen_by_kcat(kafka: Kafka, topic: str) -> list[bytes]:
    decided(kafka, topic)  # a commit is decided before its markers are written everywhere
    return read_now(kafka, topic)


def read_now(kafka: Kafka, topic: str, isolation: str = "read_committed") -> list[bytes]:
    """Up to the first open transaction, if there is one; with read_uncommitted behind it too."""
    read = kcat("-b", kafka.bootstrap, "-C", "-t", topic, "-e", "-q", "-X", f"isolation.level={isolation}")
    assert read.code == 0, read.err
    return sorted(read.out.split())


def seen_by_java(kafka: Kafka, topic: str, count: int) -> list[bytes]:
    """One more is waited for than there should be."""
    told = kafka.tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", kafka.bootstrap, "--topic", topic,
        "--from-beginning", "--isolation-level", "read_committed", "--timeout-ms", "4000",
        "--max-messages", str(count + 1),
    )  # fmt: skip
    return sorted(line.encode() for line in told.splitlines() if line.startswith("value-"))


def seen_by_kcli(kafka: Kafka, topic: str) -> list[bytes]:
    decided(kafka, topic)
    read = kcli("consume", topic, "-b", kafka.bootstrap, "-e", "--isolation", "read_committed")
    assert read.code == 0, read.err
    return sorted(read.out.split())


async def send(producer: Producer, topic: str, name: str, count: int = 20) -> list[bytes]:
    values = [b"value-%s-%d" % (name.encode(), n) for n in range(count)]
    for number, value in enumerate(values):
        await producer.send(topic, value, partition=number % 2)
    return values


@pytest.mark.needs("kcat")
async def test_D36_D37_readers_see_the_committed_and_never_an_aborted_record(
    versioned: tuple[Kafka, int], topic_name: Callable[[], str]
) -> None:
    kafka, version = versioned
    topic = create(kafka, topic_name())
    kept: list[bytes] = []
    async with client(kafka) as one, transactional(one, topic) as producer:
        for turn in range(3):
            async with producer.transaction():
                kept += await send(producer, topic, f"kept{turn}")
            await producer.begin()
            await send(producer, topic, f"gone{turn}")
            await producer.flush()
            await producer.abort()
        with contextlib.suppress(ZeroDivisionError):
            async with producer.transaction():
                await send(producer, topic, "gone-too")
                await producer.flush()
                assert 1 / 0
        await producer.begin()
        await producer.commit()  # of nothing (D42)
        assert producer._engine.transactions is not None
        assert producer._engine.transactions._v2 is (version == 2)
        assert (producer.counts.acked, producer.counts.failed, producer.counts.unknown) == (140, 0, 0)
    everything = kcat("-b", kafka.bootstrap, "-C", "-t", topic, "-e", "-q", "-X", "isolation.level=read_uncommitted")
    assert len(everything.out.split()) == 140
    for seen in (seen_by_kcat(kafka, topic), seen_by_kcli(kafka, topic), seen_by_java(kafka, topic, len(kept))):
        assert seen == sorted(kept)


@pytest.mark.needs("kcat")
async def test_D41_a_second_producer_fences_the_first(
    versioned: tuple[Kafka, int], topic_name: Callable[[], str]
) -> None:
    kafka, _ = versioned
    topic = create(kafka, topic_name())
    async with client(kafka) as one, transactional(one, topic) as first, transactional(one, topic) as second:
        await first.begin()
        await send(first, topic, "first")
        await first.flush()
        async with second.transaction():
            kept = await send(second, topic, "second")
        with pytest.raises(Fenced):
            await first.commit()
        with pytest.raises(Fenced):
            await first.begin()
    assert seen_by_kcat(kafka, topic) == sorted(kept)


@pytest.mark.needs("kcat")
async def test_D38_a_transaction_that_took_too_long_is_not_committed(
    versioned: tuple[Kafka, int], topic_name: Callable[[], str]
) -> None:
    kafka, _ = versioned
    topic = create(kafka, topic_name())
    settings = ProducerSettings(transactional_id=topic, transaction_timeout=1.0)
    async with client(kafka) as one, one.producer(settings) as producer:
        await producer.begin()
        await send(producer, topic, "late")
        await producer.flush()
        await asyncio.sleep(2.5)  # the coordinator looks every half second
        with pytest.raises(Fenced, match=r"transaction\.timeout\.ms"):
            await producer.commit()
    assert seen_by_kcat(kafka, topic) == []


@pytest.mark.needs("kcat")
async def test_D40_positions_are_committed_with_the_records_or_not_at_all(
    versioned: tuple[Kafka, int], topic_name: Callable[[], str]
) -> None:
    kafka, _ = versioned
    topic = create(kafka, topic_name())
    at = TopicPartition(topic, 0)
    async with client(kafka) as one, transactional(one, topic) as producer:
        reader = Reader([])
        session = GroupSession(one.cluster, GroupSettings(group=f"g-{topic}", auto_commit=False), reader, reader)
        await session.start([topic])
        async with asyncio.timeout(20):
            while not session.assignment:  # noqa: ASYNC110 - what changes is the broker's
                await asyncio.sleep(0.02)
        group = GroupMetadata(f"g-{topic}", session.generation, session.member_id)
        async with producer.transaction():
            kept = await send(producer, topic, "kept")
            await producer.send_offsets({at: OffsetAndMetadata(7)}, group)
        await producer.begin()
        await send(producer, topic, "gone")
        await producer.send_offsets({at: OffsetAndMetadata(8)}, group)
        await producer.abort()
        assert await session.committed([at]) == {at: OffsetAndMetadata(7)}  # require_stable: nothing pending is left
        await producer.begin()
        await send(producer, topic, "stale")
        with pytest.raises(AbortRequired, match="ILLEGAL_GENERATION"):
            await producer.send_offsets({at: OffsetAndMetadata(9)}, group._replace(generation=group.generation + 1))
        await producer.abort()
        assert await session.committed([at]) == {at: OffsetAndMetadata(7)}
        await session.close()
    assert seen_by_kcat(kafka, topic) == sorted(kept)


@pytest.mark.needs("kcat")
async def test_D37_the_cluster_is_upgraded_between_two_transactions(
    topic_name: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "LOOK_AGAIN", 0.0)
    kafka = Kafka(1, features={"transaction.version": 1})
    await asyncio.to_thread(kafka.start)
    try:
        topic = create(kafka, topic_name())
        kept: list[bytes] = []
        async with client(kafka) as one, transactional(one, topic) as producer:
            for level in (1, 2):
                for turn in range(2):
                    async with producer.transaction():
                        kept += await send(producer, topic, f"v{level}-{turn}")
                    assert producer._engine.transactions is not None
                    assert producer._engine.transactions._v2 is (level == 2)
                if level == 1:
                    await asyncio.to_thread(
                        kafka.tool, "org.apache.kafka.tools.FeatureCommand", "--bootstrap-server", kafka.bootstrap,
                        "upgrade", "--feature", "transaction.version=2",
                    )  # fmt: skip
        assert seen_by_kcat(kafka, topic) == sorted(kept)
    finally:
        kafka.stop()


@pytest.mark.needs("kcat")
@pytest.mark.long
async def test_D35_C15_the_coordinator_is_killed_mid_transaction(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka3, topic_name(), 2, 3)
    kept: list[bytes] = []
    async with client(kafka3) as one, transactional(one, topic) as producer:
        async with producer.transaction():
            kept += await send(producer, topic, "before")
        await producer.begin()
        values = await send(producer, topic, "during")
        await producer.flush()
        broker = await one.cluster.coordinator(Transaction(topic))
        kafka3.nodes[broker.node_id - 1].kill()
        try:
            values += await send(producer, topic, "after-it-died")
            await producer.commit()
            kept += values
        except AbortRequired:
            await producer.abort()
        async with producer.transaction():
            kept += await send(producer, topic, "later")
    assert seen_by_kcat(kafka3, topic) == sorted(kept)


@pytest.mark.long
@pytest.mark.needs("kcat")
@pytest.mark.parametrize("batch", [None, 500])
def test_D45_kcli_produce_is_interrupted_and_readers_see_whole_transactions(
    versioned: tuple[Kafka, int], topic_name: Callable[[], str], batch: int | None
) -> None:
    kafka, _ = versioned
    topic = create(kafka, topic_name(), 1)
    more = [] if batch is None else ["--batch", str(batch)]
    process = subprocess.Popen(
        [*KCLI, "produce", topic, "-b", kafka.bootstrap, "--transactional-id", topic, *more],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"".join(b"value-%d\n" % n for n in range(1700)))
    process.stdin.flush()
    try:
        deadline = time.monotonic() + 60
        while len(read_now(kafka, topic, "read_uncommitted")) < 1700:  # the last are in a transaction that stays open
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    kept = 0 if batch is None else 1500
    assert b"1700 records read: %d committed" % kept in said, said
    assert b"%d aborted, 0 unknown, 0 not sent" % (1700 - kept) in said, said
    assert len(seen_by_kcat(kafka, topic)) == kept
    again = kcli("produce", topic, "-b", kafka.bootstrap, "--transactional-id", topic, stdin=b"value-z\n")
    assert again.code == 0, again.err
    assert seen_by_java(kafka, topic, kept + 1)[-1:] == [b"value-z"]

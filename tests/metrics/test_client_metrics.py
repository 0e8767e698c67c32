"""The counters of a client against what a sandbox saw, and the hooks."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import kcli
from kcli import codes
from kcli.metrics.hooks import EVENTS
from kcli.sandbox.thread import SandboxThread

FIELDS = [field.name for field in kcli.Hooks.__fields__]


class Seen:
    """Every event of a client, by hook."""

    def __init__(self) -> None:
        self.events: dict[str, list[Any]] = {name: [] for name in FIELDS}
        self.hooks = kcli.Hooks(**{name: self.events[name].append for name in FIELDS})

    def __getitem__(self, name: str) -> list[Any]:
        return self.events[name]


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread() as sandbox:
        yield sandbox


async def topic(client: kcli.Client, partitions: int = 1) -> None:
    await client.admin.create_topics([kcli.NewTopic(topic="t", partitions=partitions)])


def test_each_hook_has_its_event() -> None:
    assert list(EVENTS) == FIELDS


async def test_connections_and_requests_are_those_of_the_broker(sandbox: SandboxThread) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client)
        async with client.producer() as producer:
            for number in range(3):
                await producer.send_and_wait("t", b"%d" % number)
        metrics = client.metrics
        assert metrics.connections == metrics.opened_connections - len(seen["on_disconnect"])
        assert metrics.connections >= 2
    assert client.metrics.connections == 0
    assert client.metrics.lost_connections == 0
    assert client.metrics.opened_connections == len(seen["on_connect"]) == len(seen["on_disconnect"])
    assert not any(event.lost for event in seen["on_disconnect"])
    counted = {name: one.count for name, one in client.metrics.requests.items()}
    assert counted["Produce"] == 3
    assert counted == Counter(event.api for event in seen["on_request"])
    produce = client.metrics.requests["Produce"]
    assert produce.sent_bytes == sum(event.sent_bytes for event in seen["on_request"] if event.api == "Produce")
    assert produce.latency.count == 3
    assert 0 < produce.latency.least <= produce.latency.largest
    assert all(event.received_bytes > 4 and not event.error for event in seen["on_request"])
    assert sum(one.count for one in client.metrics.node_latency.values()) == sum(counted.values())
    assert set(client.metrics.node_latency) == {-1, 1}


async def test_the_bytes_are_those_of_the_frames(sandbox: SandboxThread, tmp_path: Any) -> None:
    """Held against --trace, which counts them at another place."""
    trace = tmp_path / "trace"
    settings = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(sandbox.bootstrap), trace=str(trace))
    async with kcli.Client(settings) as client:
        await topic(client)
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"v" * 1000)
    sent: Counter[str] = Counter()
    received: Counter[str] = Counter()
    for line in trace.read_text().splitlines():
        _, sign, _, rest = line.split(" ", 3)
        if sign in "<>":
            name = next(name for name in client.metrics.requests if f" {name} v" in rest)
            size = int(rest.split(" B")[0].rsplit(" ", 1)[1])
            (sent if sign == ">" else received)[name] += size
    requests = client.metrics.requests
    assert {name: one.sent_bytes for name, one in requests.items()} == sent
    assert {name: one.received_bytes for name, one in requests.items()} == received


async def test_a_producer_counts_its_batches(sandbox: SandboxThread) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client)
        settings = kcli.ProducerSettings(linger=30.0, compression="gzip")
        async with client.producer(settings) as producer:
            for _ in range(50):
                await producer.send("t", b"v" * 100)
            held = producer.metrics
            assert held.buffered_records == 50
            assert held.buffered_bytes >= 5000
            assert held.batches == 0
            await producer.flush()
            metrics = producer.metrics
            assert held.batches == 0, "a copy stays as it is"
    (event,) = seen["on_batch_written"]
    assert event[:4] == ("t", 0, 1, 50)
    assert event.offset == 0
    assert event.size < event.raw_size
    assert (metrics.batches, metrics.records, metrics.bytes, metrics.raw_bytes) == (1, 50, event.size, event.raw_size)
    assert (metrics.batch_bytes.total, metrics.batch_records.total) == (event.size, 50)
    assert metrics.queue_time.count == metrics.delivery_time.count == 1
    assert metrics.queue_time.total <= metrics.delivery_time.total
    assert (metrics.buffered_records, metrics.buffered_bytes, metrics.retries, metrics.failed_batches) == (0, 0, 0, 0)


async def test_retries_lost_requests_and_throttles(sandbox: SandboxThread) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client)
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"1")
            sandbox.faults.wire.lose_answer("Produce")
            await producer.send_and_wait("t", b"2")
            sandbox.faults.wire.throttle("Produce", 20)
            await producer.send_and_wait("t", b"3")
            metrics = producer.metrics
        lost = client.metrics
    assert metrics.retries == len(seen["on_retry"]) == 1
    assert seen["on_retry"][0][:4] == ("produce", "t", 0, 1)
    assert "closed the connection" in seen["on_retry"][0].error
    assert lost.lost_connections == 1
    assert lost.requests["Produce"].lost == 1
    assert lost.requests["Produce"].count == 4
    assert [event.error != "" for event in seen["on_request"] if event.api == "Produce"] == [False, True, False, False]
    assert [event.lost for event in seen["on_disconnect"]].count(True) == 1
    assert lost.throttles == 1
    assert lost.throttle_time.total == pytest.approx(0.02)
    assert [(event.api, event.node_id, event.seconds) for event in seen["on_throttle"]] == [("Produce", 1, 0.02)]


async def test_a_batch_that_fails_is_counted_and_no_connection_is_an_event() -> None:
    seen = Seen()
    with SandboxThread() as sandbox:
        async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
            await topic(client)
            async with client.producer() as producer:
                sandbox.faults.error("Produce", codes.TOPIC_AUTHORIZATION_FAILED)
                with pytest.raises(kcli.BrokerError):
                    await producer.send_and_wait("t", b"1")
                assert producer.metrics.failed_batches == 1
                assert producer.metrics.batches == 0
    nowhere = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap("127.0.0.1:1"), wait_for_cluster=False)
    async with kcli.Client(nowhere, hooks=seen.hooks) as client:
        with pytest.raises(kcli.ConnectError):
            await client.admin.describe_cluster()
    assert client.metrics.refused_connections >= 1
    assert client.metrics.connections == client.metrics.opened_connections == 0
    assert isinstance(seen["on_connect"][-1].error, kcli.ConnectError)


async def test_requests_without_a_response_are_counted(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        await topic(client)
        async with client.producer(kcli.ProducerSettings(acks=0, idempotence=False)) as producer:
            await producer.send_and_wait("t", b"1")
        produce = client.metrics.requests["Produce"]
    assert (produce.count, produce.lost, produce.received_bytes, produce.latency.count) == (1, 0, 0, 0)
    assert produce.sent_bytes > 69


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_consumer_counts_fetches_records_and_rebalances(sandbox: SandboxThread, protocol: str) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client, 2)
        async with client.producer() as producer:
            for number in range(10):
                await producer.send("t", b"v" * 50, partition=number % 2)
        group = kcli.GroupSettings(group="g", protocol=protocol)
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(["t"])
            records = 0
            while records < 10:
                records += sum(len(list(batch)) for one in await consumer.poll(5.0) for batch in one.batches)
            metrics = consumer.metrics
            assert (metrics.records, metrics.batches) == (10, 2)
            assert metrics.fetched_bytes == metrics.fetch_bytes.total > 500
            assert metrics.fetches == len(seen["on_fetch"]) == 2
            assert (metrics.buffered_bytes, metrics.buffered_partitions) == (0, 0)
            assert metrics.assigned_partitions == 2
        assert consumer.metrics.revoked_partitions == 2
    at = {kcli.TopicPartition("t", 0), kcli.TopicPartition("t", 1)}
    assert [tuple(event) for event in seen["on_rebalance"]] == [("g", "assigned", at), ("g", "revoked", at)]
    assert {event[:3] for event in seen["on_fetch"]} == {("t", 0, 1), ("t", 1, 1)}


async def test_what_is_fetched_and_not_polled_is_buffered(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        await topic(client, 2)
        async with client.producer() as producer:
            for number in range(2):
                await producer.send_and_wait("t", b"v" * 5000, partition=number)
        async with client.consumer() as consumer:
            ats = [kcli.TopicPartition("t", number) for number in range(2)]
            consumer.assign(dict.fromkeys(ats, 0))
            async with asyncio.timeout(10):
                while consumer.metrics.buffered_partitions < 2:  # noqa: ASYNC110 - a gauge tells of no change
                    await asyncio.sleep(0.01)
            assert consumer.metrics.buffered_bytes == consumer.metrics.fetched_bytes > 10_000
            assert consumer.metrics.records == 0


async def test_a_share_consumer_counts_what_it_acquired(sandbox: SandboxThread) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client)
        reset = kcli.Operation(name="share.auto.offset.reset", value="earliest")
        await client.admin.alter_configs({kcli.Resource("group", "g"): [reset]})
        async with client.producer(kcli.ProducerSettings(linger=30.0)) as producer:
            for _ in range(10):
                await producer.send("t", b"v" * 50)
        sandbox.faults.error("ShareFetch", codes.KAFKA_STORAGE_ERROR, topic="t")
        share = kcli.ShareSettings(group="g")
        async with client.share_consumer(kcli.ConsumerSettings(), share) as consumer:
            await consumer.subscribe(["t"])
            while not await consumer.poll(1.0):
                pass
            metrics = consumer.metrics
    assert (metrics.records, metrics.batches, metrics.fetches, metrics.buffered_bytes) == (10, 1, 1, 0)
    assert metrics.fetched_bytes == seen["on_fetch"][0].size > 500
    assert metrics.retries == len(seen["on_retry"]) == 1
    assert "KAFKA_STORAGE_ERROR" in seen["on_retry"][0].error


async def test_part_of_a_batch_counts_as_its_records(sandbox: SandboxThread) -> None:
    async with kcli.Client(sandbox.bootstrap) as client:
        await topic(client)
        async with client.producer(kcli.ProducerSettings(linger=30.0)) as producer:
            for _ in range(10):
                await producer.send("t", b"v")
        async with client.consumer() as consumer:
            at = kcli.TopicPartition("t", 0)
            consumer.stop_at({at: 7})
            consumer.assign({at: 3})
            while not consumer.finished:
                await consumer.poll(5.0)
            assert consumer.metrics.records == 4


async def test_a_fetch_that_is_repeated_is_a_retry(sandbox: SandboxThread) -> None:
    seen = Seen()
    async with kcli.Client(sandbox.bootstrap, hooks=seen.hooks) as client:
        await topic(client)
        async with client.producer() as producer:
            await producer.send_and_wait("t", b"v")
        sandbox.faults.error("Fetch", codes.KAFKA_STORAGE_ERROR)
        async with client.consumer() as consumer:
            consumer.assign({kcli.TopicPartition("t", 0): 0})
            while not await consumer.poll(5.0):
                pass
            assert consumer.metrics.retries == 1
    assert seen["on_retry"][0][:4] == ("fetch", "t", 0, 1)


@pytest.mark.parametrize("problem", [ZeroDivisionError, asyncio.CancelledError])
async def test_an_exception_of_a_hook_is_logged_and_breaks_nothing(
    sandbox: SandboxThread, caplog: pytest.LogCaptureFixture, problem: type[BaseException]
) -> None:
    def fails(event: object) -> None:
        raise problem(type(event).__name__)

    hooks = kcli.Hooks(**dict.fromkeys(FIELDS, fails))
    with caplog.at_level(logging.WARNING, "kcli.metrics"):
        async with kcli.Client(sandbox.bootstrap, hooks=hooks) as client:
            await topic(client)
            async with client.producer() as producer:
                stored = await producer.send_and_wait("t", b"v")
            async with client.consumer(group=kcli.GroupSettings(group="g")) as consumer:
                await consumer.subscribe(["t"])
                while not any(one.batches for one in await consumer.poll(5.0)):
                    pass
    assert stored.offset == 0
    said = {row.getMessage() for row in caplog.records if row.name == "kcli.metrics"}
    assert f"the hook on_batch_written raised {problem.__name__}: BatchWritten" in said
    assert f"the hook on_rebalance raised {problem.__name__}: Rebalanced" in said
    assert {text.split()[2] for text in said} == set(FIELDS) - {"on_throttle", "on_retry"}


def test_without_asyncio(sandbox: SandboxThread) -> None:
    seen = Seen()
    with kcli.SyncClient(sandbox.bootstrap, hooks=seen.hooks) as kafka:
        kafka.admin.create_topics([kcli.NewTopic(topic="t")])
        with kafka.producer() as producer:
            producer.send_and_wait("t", b"v")
            assert producer.metrics.records == 1
        with kafka.consumer("t", stop_at_end=True) as consumer:
            assert [message.value for message in consumer] == [b"v"]
            assert consumer.metrics.records == 1
        assert kafka.metrics.requests["Produce"].count == 1
    assert len(seen["on_batch_written"]) == 1

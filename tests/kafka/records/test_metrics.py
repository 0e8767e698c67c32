"""The client's counters and hooks on a real Apache Kafka, a quota that throttles among them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import kcli
from tests.kafka.cluster import Kafka
from tests.programs import kcli as run


def test_counters_and_hooks_say_what_the_cluster_stored(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-p", "2", "-b", kafka.bootstrap).code == 0
    written: list[Any] = []
    rebalanced: list[Any] = []
    hooks = kcli.Hooks(on_batch_written=written.append, on_rebalance=rebalanced.append)

    async def scene() -> None:
        async with kcli.Client(kafka.bootstrap, hooks=hooks) as client:
            async with client.producer() as producer:
                for number in range(1000):
                    await producer.send(topic, b"v" * 100, partition=number % 2)
                await producer.flush()
                metrics = producer.metrics
                assert (metrics.records, metrics.buffered_records, metrics.buffered_bytes) == (1000, 0, 0)
                assert sum(event.records for event in written) == 1000
                assert sum(event.size for event in written) == metrics.bytes
            async with client.consumer(group=kcli.GroupSettings(group=topic)) as consumer:
                await consumer.subscribe([topic])
                records = 0
                while records < 1000:
                    records += sum(len(list(batch)) for one in await consumer.poll(10.0) for batch in one.batches)
                read = consumer.metrics
                assert (read.records, read.fetched_bytes, read.assigned_partitions) == (1000, metrics.bytes, 2)
            requests = client.metrics.requests
            assert requests["Produce"].lost == requests["Fetch"].lost == 0
            assert requests["Produce"].sent_bytes > metrics.bytes
            assert requests["Fetch"].received_bytes > metrics.bytes
        assert client.metrics.connections == 0

    asyncio.run(scene())
    ends = run("offsets", topic, "--format", "tsv", "--no-headers", "-b", kafka.bootstrap).out
    assert ends.count(b"\t500") >= 2
    assert [event.what for event in rebalanced] == ["assigned", "revoked"]


def test_a_quota_that_throttles_is_counted(kafka: Kafka, topic_name: Callable[[], str]) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-b", kafka.bootstrap).code == 0
    limit = ("--client-id", topic, "producer_byte_rate=1000")
    quota = ("quotas", "alter", *limit, "--execute", "-b", kafka.bootstrap)
    done = run(*quota)
    assert done.code == 0, done.err
    throttled: list[Any] = []

    async def scene() -> kcli.ClientMetrics:
        settings = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(kafka.bootstrap), client_id=topic)
        hooks = kcli.Hooks(on_throttle=throttled.append)
        async with kcli.Client(settings, hooks=hooks) as client, client.producer() as producer:
            async with asyncio.timeout(60):
                while not throttled:  # the quota reaches the broker a moment after it was set
                    await producer.send_and_wait(topic, b"v" * 2000)
            return client.metrics

    metrics = asyncio.run(scene())
    assert metrics.throttles == len(throttled) >= 1
    assert throttled[0].api == "Produce"
    assert 0 < throttled[0].seconds <= metrics.throttle_time.total + 0.001

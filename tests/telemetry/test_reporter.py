"""KIP-714 against a sandbox that subscribes: what is pushed, when, and what each error means."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import kcli
from kcli import codes
from kcli.proto.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse
from kcli.sandbox import Sandbox
from kcli.sandbox.cluster.telemetry import Push
from kcli.sandbox.faults.planned import FOREVER
from tests.telemetry.reading import read

PRODUCER, CONSUMER = "org.apache.kafka.producer.", "org.apache.kafka.consumer."
ASKED, PUSHED = 71, 72


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(telemetry=True, topics={"t": 1}) as sandbox:
        yield sandbox


def subscribe(sandbox: Sandbox, metrics: str = "*", interval: int = 100, match: str = "") -> None:
    configs = {"metrics": metrics, "interval.ms": str(interval), "match": match}
    sandbox.cluster.named_configs.metrics["all"] = configs


def client(sandbox: Sandbox, **more: Any) -> kcli.Client:
    settings = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(sandbox.bootstrap), metrics_push=True, **more)
    return kcli.Client(settings)


async def pushes(sandbox: Sandbox, count: int) -> list[Push]:
    """The first pushes, once there are so many."""
    async with asyncio.timeout(20):
        while len(sandbox.cluster.telemetry.pushes) < count:  # noqa: ASYNC110 - the sandbox tells of no push
            await asyncio.sleep(0.01)
    return list(sandbox.cluster.telemetry.pushes)


async def asked(sandbox: Sandbox, api: int, count: int) -> None:
    async with asyncio.timeout(20):
        while sandbox.seen.get(api, 0) < count:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)


def total(push: Push, name: str) -> int:
    (metric,) = read(push.metrics)[name]
    return int(metric.sum.data_points[0].as_int)


async def test_it_is_off_unless_it_is_asked_for(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    async with kcli.Client(sandbox.bootstrap) as plain, plain.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await asyncio.sleep(0.3)
    assert sandbox.seen.get(ASKED, 0) == sandbox.seen.get(PUSHED, 0) == 0


async def test_a_client_that_only_administers_pushes_nothing(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    async with client(sandbox) as admin:
        await admin.admin.describe_cluster()
        await asyncio.sleep(0.2)
    assert sandbox.seen.get(ASKED, 0) == 0


async def test_totals_are_deltas_and_the_last_push_says_that_it_is(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    name = f"{PRODUCER}record.send.total"
    async with client(sandbox, rack="a") as pushing, pushing.producer() as producer:
        for number in range(10):
            await producer.send_and_wait("t", b"v")
            if number == 4:
                await pushes(sandbox, 2)
    sent = list(sandbox.cluster.telemetry.pushes)
    assert [push.terminating for push in sent] == [False] * (len(sent) - 1) + [True]
    assert len({push.instance for push in sent}) == 1
    assert sum(total(push, name) for push in sent) == 10, "each record is in one push"
    found = read(sent[0].metrics)
    (latency,) = found[f"{PRODUCER}node.request.latency.avg"][-1].gauge.data_points
    assert [(one.key, one.value.string_value) for one in latency.attributes] == [("node_id", "1")]
    assert 0 < latency.as_double < 5000
    assert not [name for name in found if name.startswith(CONSUMER)]
    assert sent[0].compression == 4, "the broker's first choice"
    starts = [read(push.metrics)[name][0].sum.data_points[0].start_time_unix_nano for push in sent]
    ends = [read(push.metrics)[name][0].sum.data_points[0].time_unix_nano for push in sent]
    assert starts[1:] == ends[:-1]


async def test_a_consumer_pushes_what_it_reads(sandbox: Sandbox) -> None:
    subscribe(sandbox, f"{CONSUMER}fetch.manager,{CONSUMER}coordinator")
    async with kcli.Client(sandbox.bootstrap) as plain, plain.producer() as producer:
        await producer.send_and_wait("t", b"v")
    async with client(sandbox) as reading, reading.consumer(group=kcli.GroupSettings(group="g")) as consumer:
        await consumer.subscribe(["t"])
        while not await consumer.poll(5.0):
            pass
        await pushes(sandbox, 1)
        await consumer.commit({kcli.TopicPartition("t", 0): 1})
    sent = list(sandbox.cluster.telemetry.pushes)
    assert sum(total(push, f"{CONSUMER}fetch.manager.records.consumed.total") for push in sent) == 1
    names = set().union(*(read(push.metrics) for push in sent))
    assert {
        f"{CONSUMER}fetch.manager.fetch.latency.max",
        f"{CONSUMER}coordinator.assigned.partitions",
        f"{CONSUMER}coordinator.commit.latency.avg",
    } <= names
    assert all(name.startswith((f"{CONSUMER}fetch.manager.", f"{CONSUMER}coordinator.")) for name in names)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_consumer_pushes_how_long_rebalances_take_and_how_idle_it_is(sandbox: Sandbox, protocol: str) -> None:
    subscribe(sandbox, interval=500)
    latency, idle = f"{CONSUMER}coordinator.rebalance.latency", f"{CONSUMER}poll.idle.ratio.avg"

    async def slowly(_: object) -> None:
        await asyncio.sleep(0.2)

    group = kcli.GroupSettings(group="g", protocol=protocol)
    async with client(sandbox) as reading, reading.consumer(group=group) as consumer:
        await consumer.subscribe(["t"], on_assigned=slowly)
        while not consumer.metrics.rebalance_time.count:
            await consumer.poll(0.05)
        await asyncio.sleep(0.3)  # the program works, and does not poll
        await consumer.poll(0.1)
        metrics = consumer.metrics
    assert metrics.rebalance_time.least >= 0.2
    assert metrics.busy_time.largest >= 0.3
    assert metrics.poll_time.largest >= 0.1
    sent = list(sandbox.cluster.telemetry.pushes)
    assert sum(total(push, f"{latency}.total") for push in sent) == round(1000 * metrics.rebalance_time.total)
    found = [read(push.metrics) for push in sent]
    averages = [each[f"{latency}.avg"][0].gauge.data_points[0].as_double for each in found if f"{latency}.avg" in each]
    assert 200 <= averages[0] <= 1000 * metrics.rebalance_time.largest
    assert all(f"{latency}.max" in each for each in found if f"{latency}.avg" in each)
    ratios = [each[idle][0].gauge.data_points[0].as_double for each in found if idle in each]
    assert all(0 < ratio <= 1 for ratio in ratios)
    assert min(ratios) < 1


async def test_what_producers_that_are_gone_counted_is_not_lost(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    async with client(sandbox) as pushing:
        for _ in range(5):
            async with pushing.producer() as producer:
                await producer.send_and_wait("t", b"v")
            del producer
        await pushes(sandbox, 1)
    sent = list(sandbox.cluster.telemetry.pushes)
    assert sum(total(push, f"{PRODUCER}record.send.total") for push in sent) == 5


async def test_without_a_subscription_it_asks_again_after_the_interval(sandbox: Sandbox) -> None:
    subscribe(sandbox, metrics="", interval=100)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await asked(sandbox, ASKED, 3)
        assert sandbox.seen.get(PUSHED, 0) == 0
        subscribe(sandbox)
        await pushes(sandbox, 1)


async def test_a_subscription_that_changed_is_asked_for_again(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await pushes(sandbox, 1)
        subscribe(sandbox, f"{PRODUCER}record.queue")
        await producer.send_and_wait("t", b"v")
        async with asyncio.timeout(20):
            while not any(f"{PRODUCER}record.send.total" not in read(push.metrics)
                          for push in sandbox.cluster.telemetry.pushes):  # fmt: skip
                await producer.send_and_wait("t", b"v")
                await asyncio.sleep(0.01)
    assert sandbox.seen.get(ASKED, 0) >= 2


async def test_a_compression_that_is_refused_is_not_used_again(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    sandbox.faults.error("PushTelemetry", codes.UNSUPPORTED_COMPRESSION_TYPE)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        (push, *_) = await pushes(sandbox, 1)
    assert push.compression == 3
    assert total(push, f"{PRODUCER}record.send.total") == 1, "what was refused is in the next push"


@pytest.mark.parametrize("code", [codes.TELEMETRY_TOO_LARGE, codes.THROTTLING_QUOTA_EXCEEDED])
async def test_too_large_or_too_often_waits_for_the_next_interval(sandbox: Sandbox, code: codes.ErrorCode) -> None:
    subscribe(sandbox)
    sandbox.faults.error("PushTelemetry", code)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await pushes(sandbox, 1)
    assert sandbox.seen.get(ASKED, 0) >= 2


@pytest.mark.parametrize("code", [codes.INVALID_REQUEST, codes.INVALID_RECORD, codes.CLUSTER_AUTHORIZATION_FAILED])
async def test_other_errors_end_the_telemetry_and_nothing_else(sandbox: Sandbox, code: codes.ErrorCode) -> None:
    subscribe(sandbox)
    sandbox.faults.error("PushTelemetry", code, times=FOREVER)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await asked(sandbox, PUSHED, 1)
        await asyncio.sleep(0.4)
        await producer.send_and_wait("t", b"v")
    assert sandbox.seen.get(PUSHED, 0) == sandbox.seen.get(ASKED, 0) == 1


async def test_errors_that_are_asked_for_again_at_once_do_not_spin(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    sandbox.faults.error("GetTelemetrySubscriptions", codes.UNKNOWN_SUBSCRIPTION_ID, times=FOREVER)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await asyncio.sleep(1.0)
    assert 2 <= sandbox.seen.get(ASKED, 0) <= 8


async def test_a_broker_that_takes_little_gets_nothing(sandbox: Sandbox) -> None:
    def small(response: GetTelemetrySubscriptionsResponse) -> None:
        response.telemetry_max_bytes = 10

    subscribe(sandbox)
    sandbox.faults.wire.alter("GetTelemetrySubscriptions", small, times=FOREVER)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await asked(sandbox, ASKED, 2)
    assert sandbox.seen.get(PUSHED, 0) == 0


async def test_cumulative_totals_count_from_the_beginning(sandbox: Sandbox) -> None:
    def cumulative(response: GetTelemetrySubscriptionsResponse) -> None:
        response.delta_temporality = False

    subscribe(sandbox)
    sandbox.faults.wire.alter("GetTelemetrySubscriptions", cumulative, times=FOREVER)
    name = f"{PRODUCER}record.send.total"
    async with client(sandbox) as pushing, pushing.producer() as producer:
        for _ in range(3):
            await producer.send_and_wait("t", b"v")
            await pushes(sandbox, len(sandbox.cluster.telemetry.pushes) + 1)
    sums = [read(push.metrics)[name][0].sum for push in sandbox.cluster.telemetry.pushes]
    assert {one.aggregation_temporality for one in sums} == {2}
    assert sums[-1].data_points[0].as_int == 3
    assert len({one.data_points[0].start_time_unix_nano for one in sums}) == 1


async def test_a_broker_without_telemetry_is_not_asked() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox:
        async with client(sandbox) as pushing, pushing.producer() as producer:
            await producer.send_and_wait("t", b"v")
            await asyncio.sleep(0.2)
        assert sandbox.seen.get(ASKED, 0) == 0


async def test_a_broker_that_goes_away_holds_the_end_up_for_no_more_than_a_second(sandbox: Sandbox) -> None:
    subscribe(sandbox)
    async with client(sandbox) as pushing, pushing.producer() as producer:
        await producer.send_and_wait("t", b"v")
        await pushes(sandbox, 1)
        sandbox.faults.wire.never_answer("PushTelemetry", times=FOREVER)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 5


def test_without_asyncio_and_by_property(monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.sandbox.thread import SandboxThread

    with SandboxThread(telemetry=True, topics={"t": 1}) as sandbox:
        sandbox.call(subscribe)
        settings = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(sandbox.bootstrap), metrics_push=True)
        with kcli.SyncClient(settings) as kafka, kafka.producer() as producer:
            producer.send_and_wait("t", b"v")
            sandbox.call(lambda inner: pushes(inner, 1))
        (*_, last) = sandbox.call(lambda inner: list(inner.cluster.telemetry.pushes))
        assert last.terminating

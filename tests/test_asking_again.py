"""Whatever a broker answers, nobody asks it as fast as it speaks: requests are counted while it goes on being wrong.

Each case is a client at work against a sandbox that gives one wrong answer for ever. What a sound client asks in such
a time is a handful; one that spins asks thousands, on any machine.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from typing import Any

import pytest

from kcli import codes
from kcli.client import Client
from kcli.consumer.share.settings import ShareSettings
from kcli.errors import KcliError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto.messages import api_name
from kcli.sandbox import Sandbox
from kcli.sandbox.faults.planned import FOREVER
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap

pytestmark = pytest.mark.usefixtures("leaping_clock")

SECONDS = 1.5
AT = TopicPartition("t", 0)

Retry = dict[str, Any]
Work = Callable[[Client, Retry], Awaitable[None]]
Disturb = Callable[[Sandbox], None]


# -- clients at work --------------------------------------------------------------------------------------------------


async def produce(client: Client, retry: Retry) -> None:
    async with client.producer(ProducerSettings(linger=0.0, **retry)) as producer:
        while True:
            await producer.send_and_wait("t", b"x")
            await asyncio.sleep(0.2)


async def transact(client: Client, retry: Retry) -> None:
    async with client.producer(ProducerSettings(linger=0.0, transactional_id="tx", **retry)) as producer:
        while True:
            await producer.begin()
            await producer.send("t", b"x")
            await producer.commit()
            await asyncio.sleep(0.2)


async def read(client: Client, retry: Retry) -> None:
    async with client.consumer(settings=ConsumerSettings(**retry)) as consumer:
        consumer.assign({AT: Bound("earliest")})
        while True:
            await consumer.poll(0.2)


async def join(client: Client, retry: Retry, protocol: str = "classic") -> None:
    group = GroupSettings(group="g", protocol=protocol, auto_commit_interval=0.2)
    async with client.consumer(settings=ConsumerSettings(**retry), group=group) as consumer:
        await consumer.subscribe(["t"])
        while True:
            await consumer.poll(0.2)


async def join_848(client: Client, retry: Retry) -> None:
    await join(client, retry, "consumer")


async def share(client: Client, retry: Retry) -> None:
    async with client.share_consumer(ConsumerSettings(**retry), ShareSettings(group="s")) as consumer:
        await consumer.subscribe(["t"])
        while True:
            await consumer.poll(0.2)


async def read_hastily(client: Client, retry: Retry) -> None:
    await read(client, {**retry, "fetch_max_wait": 0.0})


async def share_hastily(client: Client, retry: Retry) -> None:
    await share(client, {**retry, "fetch_max_wait": 0.0})


async def look(client: Client, retry: Retry) -> None:
    from kcli.asking.offsets import list_offsets

    while True:
        await list_offsets(client.cluster, {AT: -1})
        await asyncio.sleep(0.2)


# -- what the broker does wrong ---------------------------------------------------------------------------------------


def error(api: str, code: codes.ErrorCode) -> Disturb:
    return lambda sandbox: sandbox.faults.error(api, code, times=FOREVER)


def closes(api: str) -> Disturb:
    return lambda sandbox: sandbox.faults.wire.close_before(api, times=FOREVER)


def says(api: str, **fields: object) -> Disturb:
    def change(response: Any) -> None:
        for name, value in fields.items():
            setattr(response, name, value)

    return lambda sandbox: sandbox.faults.wire.alter(api, change, times=FOREVER)


def no_leader(sandbox: Sandbox) -> None:
    def change(response: Any) -> None:
        for topic in response.topics:
            for partition in topic.partitions:
                partition.leader_id = -1

    sandbox.faults.wire.alter("Metadata", change, times=FOREVER)


def nobody_coordinates(sandbox: Sandbox) -> None:
    def change(response: Any) -> None:
        for one in response.coordinators:
            one.node_id, one.host, one.port = -1, "", -1

    sandbox.faults.wire.alter("FindCoordinator", change, times=FOREVER)


def always_somebody_else(sandbox: Sandbox) -> None:
    """Each broker says that the other one leads, in a newer epoch each time."""
    epochs = count(100)

    def told(other: int) -> Callable[[Any], None]:
        def change(response: Any) -> None:
            for topic in response.responses:
                for partition in topic.partition_responses:
                    partition.error_code = codes.NOT_LEADER_OR_FOLLOWER.number
                    partition.current_leader.leader_id, partition.current_leader.leader_epoch = other, next(epochs)

        return change

    sandbox.faults.wire.alter("Produce", told(2), times=FOREVER, broker=1)
    sandbox.faults.wire.alter("Produce", told(1), times=FOREVER, broker=2)


def assigns_each_time(sandbox: Sandbox) -> None:
    from kcli.proto.messages.consumer_group_heartbeat import Assignment

    says("ConsumerGroupHeartbeat", assignment=Assignment(topic_partitions=[]))(sandbox)


def nothing_wrong(sandbox: Sandbox) -> None:
    """An empty answer at once is right where fetch.max.wait.ms is 0, and looks like a broker that does not wait."""


def protocol_1(sandbox: Sandbox) -> None:
    sandbox.faults.wire.speak_only("Produce", 3, 11)


def both(*some: Disturb) -> Disturb:
    def disturb(sandbox: Sandbox) -> None:
        for one in some:
            one(sandbox)

    return disturb


CASES: dict[str, list[tuple[str, Work, Disturb]]] = {
    "producer": [
        ("an id of -1", produce, says("InitProducerId", producer_id=-1)),
        ("an epoch of -1", produce, says("InitProducerId", producer_epoch=-1)),
        ("out of order", produce, error("Produce", codes.OUT_OF_ORDER_SEQUENCE_NUMBER)),
        ("unknown producer", produce, error("Produce", codes.UNKNOWN_PRODUCER_ID)),
        ("leaders that name each other", produce, always_somebody_else),
        ("not enough replicas", produce, error("Produce", codes.NOT_ENOUGH_REPLICAS)),
        ("no leader", produce, no_leader),
        ("closed", produce, closes("Produce")),
    ],
    "transactions": [
        ("an id of -1", transact, says("InitProducerId", producer_id=-1)),
        ("loading", transact, error("InitProducerId", codes.COORDINATOR_LOAD_IN_PROGRESS)),
        ("add: concurrent", transact, both(protocol_1, error("AddPartitionsToTxn", codes.CONCURRENT_TRANSACTIONS))),
        ("end: loading", transact, error("EndTxn", codes.COORDINATOR_LOAD_IN_PROGRESS)),
        ("end: closed", transact, closes("EndTxn")),
        ("nobody coordinates", transact, nobody_coordinates),
    ],
    "reading": [
        ("no leader", read, no_leader),
        ("offsets: not the leader", read, error("ListOffsets", codes.NOT_LEADER_OR_FOLLOWER)),
        ("nothing, at once", read_hastily, nothing_wrong),
        ("fetch: closed", read, closes("Fetch")),
        ("offsets: not available", look, error("ListOffsets", codes.OFFSET_NOT_AVAILABLE)),
        ("offsets: closed", look, closes("ListOffsets")),
        ("metadata: closed", look, closes("Metadata")),
    ],
    "group": [
        ("nobody coordinates", join, nobody_coordinates),
        ("no coordinator", join, error("FindCoordinator", codes.COORDINATOR_NOT_AVAILABLE)),
        ("join: loading", join, error("JoinGroup", codes.COORDINATOR_LOAD_IN_PROGRESS)),
        ("join: a member id each time", join, error("JoinGroup", codes.MEMBER_ID_REQUIRED)),
        ("join: unknown", join, error("JoinGroup", codes.UNKNOWN_MEMBER_ID)),
        ("sync: rebalancing", join, error("SyncGroup", codes.REBALANCE_IN_PROGRESS)),
        ("heartbeat: illegal generation", join, error("Heartbeat", codes.ILLEGAL_GENERATION)),
        ("offsets: unstable", join, error("OffsetFetch", codes.UNSTABLE_OFFSET_COMMIT)),
        ("commits: loading", join, error("OffsetCommit", codes.COORDINATOR_LOAD_IN_PROGRESS)),
    ],
    "group by KIP-848": [
        ("each millisecond", join_848, says("ConsumerGroupHeartbeat", heartbeat_interval_ms=1)),
        ("before the last one", join_848, says("ConsumerGroupHeartbeat", heartbeat_interval_ms=-9)),
        ("assigned each time", join_848, assigns_each_time),
        ("loading", join_848, error("ConsumerGroupHeartbeat", codes.COORDINATOR_LOAD_IN_PROGRESS)),
        ("fenced", join_848, error("ConsumerGroupHeartbeat", codes.FENCED_MEMBER_EPOCH)),
        ("commits: stale", join_848, error("OffsetCommit", codes.STALE_MEMBER_EPOCH)),
    ],
    "share group": [
        ("each millisecond", share, says("ShareGroupHeartbeat", heartbeat_interval_ms=1)),
        ("not the coordinator", share, error("ShareGroupHeartbeat", codes.NOT_COORDINATOR)),
        ("no session", share, error("ShareFetch", codes.SHARE_SESSION_NOT_FOUND)),
        ("fenced", share, error("ShareFetch", codes.FENCED_LEADER_EPOCH)),
        ("nothing, at once", share_hastily, nothing_wrong),
    ],
}  # fmt: skip


@pytest.mark.kcli_violates  # requests go to the leader that an error names, even if Metadata names another
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("backoff", [None, 0.0])
async def test_nobody_asks_as_fast_as_a_broker_is_wrong(kind: str, backoff: float | None) -> None:
    """With Kafka's back-offs, and with retry.backoff.ms=0 and reconnect.backoff.ms=0: these are a hundredth of a
    second, less the jitter."""
    most = SECONDS * 125 + 10
    asked = await asyncio.gather(*(requests(work, disturb, backoff) for _, work, disturb in CASES[kind]))
    for (name, _, _), seen in zip(CASES[kind], asked, strict=True):
        assert max(seen.values()) <= most, (name, seen)


async def requests(work: Work, disturb: Disturb, backoff: float | None) -> Counter[str]:
    """How many requests of each API the work comes to."""
    retry = {} if backoff is None else {"retry_backoff": backoff, "retry_backoff_max": backoff}
    again = {} if backoff is None else {"reconnect_backoff": backoff, "reconnect_backoff_max": backoff}
    async with Sandbox(topics={"t": 1}, brokers=2) as sandbox:
        sandbox.cluster.groups.configure("s", {"share.auto.offset.reset": "earliest"})
        disturb(sandbox)
        sandbox.seen.clear()
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), **retry, **again)
        async with Client(settings) as client:
            task = asyncio.ensure_future(work(client, retry))
            for _ in range(3000):
                if sandbox.seen:
                    break
                await asyncio.sleep(0.01)
            await asyncio.wait([task], timeout=SECONDS)
            seen = Counter({api_name(key): times for key, times in sandbox.seen.items()})
            sandbox.faults.clear()
            task.cancel()
            with suppress(asyncio.CancelledError, KcliError):
                await task
        return seen

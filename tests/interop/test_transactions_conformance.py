"""The same requests to the sandbox and to a real Apache Kafka: the answers must be the same, with errors and epochs.
Told as lines of text, so that a difference reads well."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kcli import codes
from kcli.proto.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kcli.proto.messages.describe_producers import DescribeProducersRequest, TopicRequest
from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.sandbox import Sandbox
from tests.kafka.cluster import Kafka
from tests.sandbox.client import Peer, batch
from tests.sandbox.log.test_recovery import _At
from tests.sandbox.transacting import V1, V2, Producer, end_of, headers, position_of

pytestmark = [pytest.mark.kafka, pytest.mark.needs("java", "mvn")]
CHECKS_TIMEOUTS = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "50"}
LATER = {14, 15, 16, 51}  # loading, not available, not coordinator, concurrent transactions


async def settled(ask: Callable[..., Awaitable[int]], *arguments: Any, **options: Any) -> int:
    """The answer when the coordinator is done with what it was asked before."""
    code = 0

    async def done() -> bool:
        nonlocal code
        code = await ask(*arguments, **options)
        return code not in LATER

    await until(done)
    return code


async def until(done: Callable[[], Awaitable[bool]]) -> None:
    for _ in range(500):
        if await done():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError("the broker does not get there")


class Story:
    """What one producer of one protocol is told."""

    def __init__(self, peer: Peer, protocol: tuple[int, int, int], lines: list[str]) -> None:
        self.peer = peer
        self.protocol = protocol
        self.lines = lines
        self.label = "v1" if protocol is V1 else "v2"
        self.start = 0

    def say(self, what: str, code: int, *facts: object) -> None:
        self.lines.append(f"{self.label} {what}: {codes.of(code).name} {' '.join(map(str, facts))}".rstrip())

    def made(self, name: str) -> Producer:
        return Producer(self.peer, f"{name}-{self.label}", self.protocol)

    def again(self, one: Producer) -> Producer:
        twin = Producer(self.peer, one.name, self.protocol)
        twin.id, twin.epoch = one.id, one.epoch
        return twin

    async def add(self, one: Producer, partition: int = 0) -> None:
        if self.protocol is V1:
            assert await settled(one.add, partition) == 0

    async def ends(self) -> Producer:
        one = self.made("ends")
        self.say("init", await settled(one.init), one.epoch)
        self.say("commit of nothing", await one.commit())
        self.say("abort of nothing", await one.abort(), one.epoch)
        if self.protocol is V1:
            for version in (11, 10):
                one.protocol = (version, 4, version - 7)
                self.say(f"produce {version}, not added", await one.send())
                self.say("position, not added", await one.position(1))
            one.protocol = V1
            self.say("add what is not there", await one.add(9))
        await self.add(one)
        self.start = await end_of(self.peer, committed=False)
        self.say("send", await settled(one.send, 2))
        plain = batch(1, producer=one.id, epoch=one.epoch, sequence=2)
        self.say("a plain batch", (await self.peer.produce(plain)).error_code)
        self.say("ends", 0, *[await end_of(self.peer, committed=c) - self.start for c in (True, False)])
        for what, commit in (("commit", True), ("commit again", True), ("abort after it", False)):
            self.say(what, await settled(one.end, commit=commit), one.epoch)
        await self.add(one)
        self.say("send", await settled(one.send), one.epoch)
        self.say("abort", await one.abort(), one.epoch)
        return one

    async def log(self) -> None:
        async def decided() -> bool:
            return await end_of(self.peer) == await end_of(self.peer, committed=False)

        await until(decided)
        row = await self.peer.fetch(self.start, isolation=1)
        self.say("aborted", 0, [each.first_offset - self.start for each in row.aborted_transactions or ()])
        kept = [(h.size, h.attributes, h.count, h.base_sequence, h.producer_epoch) for h in headers(row)]
        self.say("batches", 0, kept)
        self.say("uncommitted", 0, (await self.peer.fetch()).aborted_transactions)

    async def fencing(self, one: Producer) -> Producer:
        old, twin = self.again(one), self.again(one)
        self.say("init", await settled(one.init), one.epoch - old.epoch)
        self.say("old add", await old.add(0))
        self.say("old send", await old.send())
        self.say("old position", await old.position(1))
        self.say("old group", await old.add_group())
        self.say("old commit", await old.commit())
        for version in (3, 5):
            self.say(f"old init {version}", await old.init(version=version, resume=True))
        twin.epoch = one.epoch
        for each in (one, twin):
            self.say("resume", await settled(each.init, resume=True), each.epoch - old.epoch)
        await self.add(one)
        self.say("send", await settled(one.send))
        new = self.again(one)
        self.say("take over", await new.init())
        self.say("take over", await settled(new.init), new.epoch - one.epoch)
        self.say("fenced send", await one.send())
        self.say("fenced commit", await one.commit())
        self.say("fenced resume", await one.init(resume=True))
        await self.described(new)
        return new

    async def described(self, one: Producer) -> None:
        [row] = (await self.peer.ask(DescribeTransactionsRequest(transactional_ids=[one.name]))).transaction_states
        facts = (row.transaction_state, row.transaction_timeout_ms, row.producer_epoch - one.epoch)
        self.say("described", row.error_code, *facts, row.transaction_start_time_ms > 0, [t.topic for t in row.topics])
        request = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0, 7])])
        known, unknown = (await self.peer.ask(request)).topics[0].partitions
        for each in known.active_producers:
            if each.producer_id == one.id:
                facts = (each.producer_epoch - one.epoch, each.last_sequence, each.coordinator_epoch)
                self.say("producer", known.error_code, *facts, each.current_txn_start_offset)
        self.say("producer of nothing", unknown.error_code)

    async def positions(self, one: Producer) -> None:
        if self.protocol is V1:
            self.say("group", await settled(one.add_group))
        self.say("position", await settled(one.position, 5))
        self.say("stable", *await position_of(self.peer, stable=True))
        self.say("position of generation 3", await one.position(5, generation=3, member="m"))
        self.say("position of a member", await one.position(5, member="m"))
        self.say("position of no group", await one.position(5, group="nope", generation=3, member="m"))
        await self.described(one)
        self.say("commit", await one.commit())

        async def settled_there() -> bool:
            return (await position_of(self.peer, stable=True))[0] == 0

        await until(settled_there)
        self.say("stable", *await position_of(self.peer, stable=True))

    async def strangers(self, one: Producer) -> None:
        unknown, wrong = self.again(one), self.again(one)
        unknown.name, wrong.id = "nobody", one.id + 5000
        for each in (unknown, wrong):
            self.say("stranger sends", await each.send())
            self.say("stranger adds", await each.add(0))
            self.say("stranger commits", await each.commit())
            self.say("stranger's position", await each.position(1))
        self.say("another id resumes", await wrong.init(resume=True))
        nameless = batch(1, producer=one.id + 7000, epoch=0, sequence=0, attributes=16)
        self.say("no transactional id", (await self.peer.produce(nameless)).error_code)
        for name, timeout_ms, producer in (("", 1000, -1), ("x", 0, -1), ("x", 900_001, -1), ("x", 1000, 5)):
            request = InitProducerIdRequest(
                transactional_id=name, transaction_timeout_ms=timeout_ms, producer_id=producer
            )  # fmt: skip
            self.say(f"init {name} {timeout_ms} {producer}", (await self.peer.ask(request)).error_code)

    async def timeouts(self) -> None:
        late = [self.made(f"late-{n}") for n in range(4)]
        for one in late:
            await settled(one.init, timeout_ms=50)
            await self.add(one, 1)
            await settled(one.send, 1, 1)
        request = DescribeTransactionsRequest(transactional_ids=[one.name for one in late])

        async def aborted() -> bool:
            rows = (await self.peer.ask(request)).transaction_states
            return all(row.transaction_state == "CompleteAbort" for row in rows)

        await until(aborted)
        sends, resumes, commits, aborts = late
        self.say("late send", await sends.send(1, 1))
        self.say("late resume", await resumes.init(resume=True), resumes.epoch)
        for one, commit in ((commits, True), (aborts, False)):
            for _ in range(2):
                self.say("late end", await settled(one.end, commit=commit), one.epoch)
            self.say("late resume", await settled(one.init, resume=True), one.epoch)


async def told(port: int) -> list[str]:
    lines: list[str] = []
    async with Peer(_At(port)) as peer:  # type: ignore[arg-type]
        # old timestamps before new ones would make Kafka roll a segment at every marker
        config = CreatableTopicConfig(name="segment.ms", value=str(2**62))
        topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1, configs=[config])
        assert (await peer.ask(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7)).topics[0].error_code == 0

        async def there() -> bool:
            for kind, key in ((0, "g"), (1, "tx")):
                asked = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                if (await peer.ask(asked)).coordinators[0].error_code:
                    return False
            return (await peer.fetch(0, partition=1)).error_code == 0

        await until(there)
        for protocol in (V1, V2):
            story = Story(peer, protocol, lines)
            one = await story.ends()
            await story.log()
            one = await story.fencing(one)
            await story.positions(one)
            await story.strangers(one)
            await story.timeouts()
        for timestamp in (-1, -2, -3, -4, -5, 1000, 1001, 5000, 2**60):
            for isolation in (0, 1):
                rows = [ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])]
                answer = await peer.ask(ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=rows))
                [row] = answer.topics[0].partitions
                at = "now" if row.timestamp > 10**9 else row.timestamp
                lines.append(f"at {timestamp}, {isolation}: {row.error_code} {row.offset} {at} {row.leader_epoch}")
    return lines


async def test_D36_D37_D40_D41_the_sandbox_answers_as_kafka_does() -> None:
    kafka = Kafka(1, CHECKS_TIMEOUTS)
    await asyncio.to_thread(kafka.start)
    try:
        async with asyncio.timeout(40):
            want = await told(kafka.nodes[0].client_port)
    finally:
        await asyncio.to_thread(kafka.stop)
    async with Sandbox() as sandbox, asyncio.timeout(20):
        assert len(want) > 150
        assert await told(sandbox.brokers[0].port) == want

"""Odd requests and the error codes that Apache Kafka answers them with: played on the sandbox by test_answers.py, on a
real Kafka by tests/kafka/sandbox/test_sandbox_answers.py. A scene takes a connection and a word for new names; it
returns the request, with the code it has to be answered with and the code that came."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kcli import codes
from kcli.proto.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kcli.proto.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kcli.proto.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from kcli.sandbox.log.batches import LAYOUT, checksum

from .client import Peer

Row = tuple[str, codes.ErrorCode, codes.ErrorCode]
Scene = Callable[[Peer, str], Awaitable[list[Row]]]
NOT_YET = {codes.COORDINATOR_LOAD_IN_PROGRESS, codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR}
OK, WRONG = codes.NONE, codes.INVALID_REQUEST


async def until_there(peer: Peer, *names: str) -> dict[str, bytes]:
    """Their topic ids, as soon as each has a leader."""
    while True:
        rows = (await peer.ask(MetadataRequest(topics=[MetadataRequestTopic(name=one) for one in names]))).topics
        if not any(row.error_code or row.partitions[0].error_code for row in rows):
            return {row.name: row.topic_id for row in rows}
        await asyncio.sleep(0.05)


async def create(peer: Peer, *topics: tuple[str, str]) -> dict[str, bytes]:
    """Topics of a cleanup policy, and their ids."""
    asked = [
        CreatableTopic(
            name=name, num_partitions=1, replication_factor=1,
            configs=[CreatableTopicConfig(name="cleanup.policy", value=policy)],
        )
        for name, policy in topics
    ]  # fmt: skip
    await peer.ask(CreateTopicsRequest(topics=asked, timeout_ms=30_000))
    return await until_there(peer, *(name for name, _ in topics))


class Heartbeats:
    """Heartbeats of a group of KIP-848, and what each was answered with."""

    def __init__(self, peer: Peer, word: str) -> None:
        self._peer = peer
        self._word = word
        self.epoch = 0
        self.rows: list[Row] = []

    async def beat(
        self, what: str, expected: codes.ErrorCode, member: str, at: int, version: int = 1, **more: Any
    ) -> None:
        if at == 0:
            topics = [f"t{self._word}"]
            more = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": topics, "topic_partitions": [], **more}
        group = f"g{self._word}"
        asked = {"group_id": group, "member_id": member, "member_epoch": at, **more}
        while True:
            response = await self._peer.ask(ConsumerGroupHeartbeatRequest(**asked), version)
            if codes.of(response.error_code) not in NOT_YET:
                break
            await self._peer.ask(FindCoordinatorRequest(coordinator_keys=[group]))  # makes the offsets topic, at first
            await asyncio.sleep(0.1)
        if response.member_epoch > 0:
            self.epoch = response.member_epoch
        self.rows.append((what, expected, codes.of(response.error_code)))


async def members(peer: Peer, word: str) -> list[Row]:
    """ConsumerGroupHeartbeat: a member with its instance id, without it, with another one."""
    await create(peer, (f"t{word}", "delete"))
    beats = Heartbeats(peer, word)
    await _static_members(beats)
    await _dynamic_members(beats)
    return beats.rows


async def _static_members(beats: Heartbeats) -> None:
    beat = beats.beat
    unknown, fenced = codes.UNKNOWN_MEMBER_ID, codes.FENCED_INSTANCE_ID
    await beat("a static member joins", OK, "m1", 0, instance_id="i1")
    await beat("it says no instance: unchanged", OK, "m1", beats.epoch)
    await beat("it says its instance", OK, "m1", beats.epoch, instance_id="i1")
    await beat("it says another", unknown, "m1", beats.epoch, instance_id="other")
    await beat("it says an empty one", WRONG, "m1", beats.epoch, instance_id="")
    await beat("another member says its instance", fenced, "m9", beats.epoch, instance_id="i1")
    await beat("another joins with it", codes.UNRELEASED_INSTANCE_ID, "m9", 0, instance_id="i1")
    await beat("it joins again and says no instance", OK, "m1", 0)
    await beat("it still has its instance", OK, "m1", beats.epoch, instance_id="i1")
    await beat("it goes for a while and says no instance", WRONG, "m1", -2)
    await beat("it goes for a while as another", unknown, "m1", -2, instance_id="other")
    await beat("it goes for a while", OK, "m1", -2, instance_id="i1")
    await beat("it beats while it is away", codes.FENCED_MEMBER_EPOCH, "m1", beats.epoch, instance_id="i1")
    await beat("a new one takes its place", OK, "m2", 0, instance_id="i1")
    await beat("the old one beats", fenced, "m1", beats.epoch, instance_id="i1")
    await beat("the old one beats and says no instance", unknown, "m1", beats.epoch)
    await beat("the new one leaves and says no instance", OK, "m2", -1)


async def _dynamic_members(beats: Heartbeats) -> None:
    beat, unknown = beats.beat, codes.UNKNOWN_MEMBER_ID
    await beat("a dynamic member joins", OK, "d", 0)
    await beat("it says an instance", unknown, "d", beats.epoch, instance_id="x")
    await beat("it joins again with one", OK, "d", 0, instance_id="x")
    await beat("it beats with it", OK, "d", beats.epoch, instance_id="x")
    await beat("a strange epoch", WRONG, "d", -3)
    await beat("no group", WRONG, "d", beats.epoch, group_id="")
    await beat("an empty rack", WRONG, "e", 0, rack_id="")
    await beat("an assignor that is not there", codes.UNSUPPORTED_ASSIGNOR, "e", 0, server_assignor="")
    await beat("who joins subscribes", WRONG, "e", 0, subscribed_topic_names=None)
    await beat("who joins says that it owns nothing", WRONG, "e", 0, topic_partitions=None)
    await beat("who joins says its timeout", WRONG, "e", 0, rebalance_timeout_ms=-1)
    await beat("nobody leaves", unknown, "nobody", -1)
    await beat("it leaves", OK, "d", -1, instance_id="x")
    await beat("who joins has an id", WRONG, "", 0)
    await beat("who joins at version 0 is given one", OK, "", 0, version=0)
    await beat("who beats at version 0 has one", WRONG, "", beats.epoch, version=0)


async def deletions(peer: Peer, word: str) -> list[Row]:
    """DeleteTopics: by name, by id, by both, by neither, twice."""
    a, b, c = (f"{one}{word}" for one in "abc")
    ids = await create(peer, (a, "delete"), (b, "delete"), (c, "delete"))
    rows: list[Row] = []

    async def delete(what: str, expected: list[codes.ErrorCode], *named: tuple[str | None, bytes | None]) -> None:
        states = [DeleteTopicState(name=name, **({"topic_id": id} if id else {})) for name, id in named]
        told = await peer.ask(DeleteTopicsRequest(topics=states, timeout_ms=30_000))
        came = sorted((codes.of(one.error_code) for one in told.responses), key=lambda code: code.number)
        assert len(came) == len(expected), (what, came)
        rows.extend((what, one, other) for one, other in zip(expected, came, strict=True))

    await delete("a name and its id", [WRONG], (a, ids[a]))
    await delete("a name and another id", [WRONG], (a, ids[b]))
    await delete("a name that is not there, and an id", [WRONG], ("nobody", ids[a]))
    await delete("neither", [WRONG], (None, None))
    await delete("a name three times: said once", [WRONG], (a, None), (a, None), (a, None))
    await delete("an id twice", [WRONG], (None, ids[a]), (None, ids[a]))
    await delete("a name, and its id beside it", [WRONG], (b, None), (None, ids[b]))
    await delete("an empty name", [codes.UNKNOWN_TOPIC_OR_PARTITION], ("", None))
    await delete("an id that is not there", [codes.UNKNOWN_TOPIC_ID], (None, b"q" * 16))
    await delete("one that is there, another twice", [OK, WRONG], ("no", None), (c, None), ("no", None))
    told = await peer.ask(DeleteTopicsRequest(topic_names=[a, a], timeout_ms=30_000), 5)
    rows.append(("twice, by names only", WRONG, codes.of(told.responses[0].error_code)))
    await delete("what nobody deleted before", [OK, OK], (a, None), (None, ids[b]))
    return rows


def keyed(keys: list[bytes | None]) -> bytes:
    """A batch of records with these keys."""
    records = b""
    for n, key in enumerate(keys):
        record = b"\0" + bytes([0, 2 * n]) + (b"\x01" if key is None else bytes([2 * len(key)]) + key) + b"\x02v\0"
        records += bytes([2 * len(record)]) + record
    count = len(keys)
    head = struct.pack(">hiqqqhii", 0, count - 1, 1000, 1000, -1, -1, -1, count)
    return LAYOUT.pack(
        0, 49 + len(records), -1, 2, checksum(head + records), 0, count - 1, 1000, 1000, -1, -1, -1, count
    ) + records  # fmt: skip


async def led(ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer for the only partition; a topic that was just created may have no leader for a moment."""
    deadline = time.monotonic() + 20
    while True:
        told = await ask()
        if told.error_code not in (3, 6) or time.monotonic() > deadline:
            return told
        await asyncio.sleep(0.1)


async def produced(peer: Peer, asked: ProduceRequest) -> PartitionProduceResponse:
    async def ask() -> PartitionProduceResponse:
        row: PartitionProduceResponse = (await peer.ask(asked, 12)).responses[0].partition_responses[0]
        return row

    told: PartitionProduceResponse = await led(ask)
    return told


async def compacted(peer: Peer, word: str) -> list[Row]:
    """Produce: records without a key where the topic is compacted."""
    topics = {f"d{word}": "delete", f"c{word}": "compact", f"b{word}": "compact,delete"}
    await create(peer, *topics.items())
    rows: list[Row] = []
    keys: list[bytes | None] = [b"k", None, b"", None]
    for name, policy in topics.items():
        for what, some in (("keys", [b"k", b""]), ("some without keys", keys)):
            data = PartitionProduceData(index=0, records=keyed(some))
            asked = ProduceRequest(
                acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=name, partition_data=[data])]
            )
            told = await produced(peer, asked)
            refused = policy != "delete" and some is keys
            code = codes.INVALID_RECORD if refused else OK
            rows.append((f"{policy}: {what}", code, codes.of(told.error_code)))
            assert [one.batch_index for one in told.record_errors] == ([1, 3] if refused else [])
    return rows


class Altering:
    """AlterConfigs, and what each was answered with."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.rows: list[Row] = []

    async def alter(
        self, what: str, expected: codes.ErrorCode, kind: int, name: str, *configs: tuple[str, str | None],
        version: int = 2, only: bool = False,
    ) -> None:  # fmt: skip
        resource = AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[AlterableConfig(name=n, value=v) for n, v in configs]
        )
        response = await self.peer.ask(AlterConfigsRequest(resources=[resource], validate_only=only), version)
        self.rows.append((what, expected, codes.of(response.responses[0].error_code)))

    async def shown(self, kind: int, name: str, expected: dict[str, str]) -> None:
        """The overrides of a resource are these, soon: a real Kafka takes a moment."""
        for _ in range(200):
            asked = DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
            configs = (await self.peer.ask(DescribeConfigsRequest(resources=[asked]))).results[0].configs
            overrides = {config.name: config.value for config in configs if config.config_source in (1, 7, 8)}
            if overrides == expected:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{overrides} is set of {name}, not {expected}")


async def configured(peer: Peer, word: str) -> list[Row]:
    """AlterConfigs: the whole configuration of a resource is replaced."""
    a, b = f"a{word}", f"b{word}"
    await create(peer, (a, "compact"), (b, "compact"))
    configs = Altering(peer)
    await _topic_configs(configs, a)
    await _broker_configs(configs)
    await _other_configs(configs, word)
    await _two_topics(configs, a, b)
    return configs.rows


async def _topic_configs(configs: Altering, a: str) -> None:
    alter, shown = configs.alter, configs.shown
    missing, bad = codes.UNKNOWN_TOPIC_OR_PARTITION, codes.INVALID_CONFIG
    for version in range(3):
        await alter("set", OK, 2, a, ("retention.bytes", str(version)), version=version)
        await shown(2, a, {"retention.bytes": str(version)})
    await alter("only looked at", OK, 2, a, ("retention.bytes", "8"), only=True)
    await alter("only looked at, and wrong", bad, 2, a, ("retention.bytes", "x"), only=True)
    await alter("a value of null", WRONG, 2, a, ("retention.ms", None))
    await alter("a name that is none", bad, 2, a, ("nope", "1"))
    await alter("a value that is none", bad, 2, a, ("retention.ms", "x"))
    await alter("a name twice", WRONG, 2, a, ("retention.ms", "1"), ("retention.ms", "2"))
    await shown(2, a, {"retention.bytes": "2"})
    await alter("nothing", OK, 2, a)
    await shown(2, a, {})
    await alter("a topic that is not there", missing, 2, "nope", ("retention.ms", "1"))
    await alter("all topics", WRONG, 2, "", ("retention.ms", "1"))
    await alter("a topic that cannot be", codes.INVALID_TOPIC_EXCEPTION, 2, "a b", ("retention.ms", "1"))


async def _broker_configs(configs: Altering) -> None:
    alter = configs.alter
    await alter("another broker", WRONG, 4, "7", ("log.cleaner.backoff.ms", "2"))
    await alter("no broker", WRONG, 4, "x", ("log.cleaner.backoff.ms", "2"))
    await alter("a broker's file", WRONG, 4, "1", ("log.dirs", "/x"))
    await alter("a broker's null", WRONG, 4, "1", ("log.cleaner.backoff.ms", None))
    await alter("a broker", OK, 4, "1", ("log.cleaner.backoff.ms", "15000"))
    await alter("a broker, nothing", OK, 4, "1")
    await alter("loggers", WRONG, 8, "1", ("root", "DEBUG"))


async def _other_configs(configs: Altering, word: str) -> None:
    """Of client metrics and groups."""
    alter, shown = configs.alter, configs.shown
    await alter("client metrics", OK, 16, f"m{word}", ("interval.ms", "1000"))
    await shown(16, f"m{word}", {"interval.ms": "1000"})
    await alter("client metrics too often", WRONG, 16, f"m{word}", ("interval.ms", "1"))
    await alter("client metrics of no name", WRONG, 16, "", ("interval.ms", "1000"))
    await alter("client metrics, nothing", OK, 16, f"m{word}")
    await alter("a group", OK, 32, f"g{word}", ("share.auto.offset.reset", "earliest"))
    await shown(32, f"g{word}", {"share.auto.offset.reset": "earliest"})
    await alter("a group, wrong", codes.INVALID_CONFIG, 32, f"g{word}", ("share.auto.offset.reset", "sometimes"))
    await alter("all groups", WRONG, 32, "", ("share.auto.offset.reset", "earliest"))
    await alter("a group, nothing", OK, 32, f"g{word}")
    await shown(32, f"g{word}", {})
    await alter("a kind that is none", WRONG, 99, "x")


async def _two_topics(configs: Altering, a: str, b: str) -> None:
    """A good one and a bad one in a request."""
    two = [
        AlterConfigsResource(
            resource_type=2, resource_name=name, configs=[AlterableConfig(name="retention.ms", value=value)]
        )
        for name, value in ((a, "33"), (b, "q"))
    ]
    response = await configs.peer.ask(AlterConfigsRequest(resources=two))
    configs.rows += [
        ("a good one and a bad", code, codes.of(row.error_code))
        for code, row in zip((OK, codes.INVALID_CONFIG), response.responses, strict=True)
    ]
    await configs.shown(2, a, {"retention.ms": "33"})
    await configs.shown(2, b, {"cleanup.policy": "compact"})


async def creations(peer: Peer, word: str) -> list[Row]:
    """CreateTopics: how much in one request, and the same twice. Nothing is made."""
    rows: list[Row] = []

    async def tried(what: str, expected: list[codes.ErrorCode], *topics: tuple[str, int]) -> None:
        asked = [CreatableTopic(name=name, num_partitions=count, replication_factor=1) for name, count in topics]
        told = await peer.ask(CreateTopicsRequest(topics=asked, timeout_ms=30_000, validate_only=True))
        came = sorted((codes.of(one.error_code) for one in told.topics), key=lambda code: code.number)
        assert len(came) == len(expected), (what, came)
        rows.extend((what, one, other) for one, other in zip(expected, came, strict=True))

    a, b = f"a{word}", f"b{word}"
    policy = codes.POLICY_VIOLATION
    await tried("a name three times: said once", [OK, WRONG], (a, 1), (b, 1), (a, 1), (a, 1))
    await tried("too many partitions", [policy], (a, 10_001))
    await tried("too many partitions together", [policy, policy], (a, 9_000), (b, 9_000))
    await tried("too many names", [policy] * 10_001, *((f"{a}-{n}", 1) for n in range(10_001)))
    await tried("none", [codes.INVALID_PARTITIONS], (a, 0))
    return rows


async def looked_up(peer: Peer, word: str) -> list[Row]:
    """Metadata: by name and by id, in versions that know ids and in such that only tell them."""
    name = f"t{word}"
    ids = await create(peer, (name, "delete"))
    rows: list[Row] = []

    async def look(what: str, expected: codes.ErrorCode, version: int, name: str | None, id: bytes | None) -> None:
        topic = MetadataRequestTopic(name=name, **({"topic_id": id} if id else {}))
        told = await peer.ask(MetadataRequest(topics=[topic], allow_auto_topic_creation=False), version)
        assert [one.name for one in told.topics] in ([name], [""], [f"t{word}"], [None])
        rows.append((f"{what}, version {version}", expected, codes.of(told.topics[0].error_code)))

    for version in (10, 11):
        await look("a name", OK, version, name, None)
        await look("an id", WRONG, version, None, ids[name])
        await look("neither", WRONG, version, None, None)
        await look("both", WRONG, version, name, ids[name])
    await look("an id", OK, 12, None, ids[name])
    await look("an id that is not there", codes.UNKNOWN_TOPIC_ID, 12, None, b"q" * 16)
    return rows


async def fetched(peer: Peer, word: str) -> list[Row]:
    """Fetches that make no sense: a limit below 0 counts only where there is something to read."""
    name = f"f{word}"
    await create(peer, (name, "delete"))
    rows: list[Row] = []

    async def fetch(what: str, expected: codes.ErrorCode, isolation: int = 0, most: int = 1000) -> None:
        asked = FetchPartition(partition=0, partition_max_bytes=most)
        request = FetchRequest(isolation_level=isolation, topics=[FetchTopic(topic=name, partitions=[asked])])

        async def ask() -> Any:
            return (await peer.ask(request, 12)).responses[0].partitions[0]

        rows.append((what, expected, codes.of((await led(ask)).error_code)))

    await fetch("nothing, and a negative limit", OK, most=-1)
    data = TopicProduceData(name=name, partition_data=[PartitionProduceData(index=0, records=keyed([None]))])
    await produced(peer, ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[data]))
    await fetch("records", OK)
    await fetch("a negative limit", codes.UNKNOWN_SERVER_ERROR, most=-1)
    await fetch("an unknown isolation level", codes.UNKNOWN_SERVER_ERROR, isolation=9)
    return rows


SCENES: list[Scene] = [members, deletions, compacted, configured, creations, looked_up, fetched]

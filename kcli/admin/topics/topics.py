"""Topics: listed and described from one metadata response, created and deleted at the controller."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_anyone
from kcli.asking.controller import ask_controller
from kcli.asking.fan_out import PATIENCE, pauses
from kcli.asking.leaders import TopicMissing
from kcli.backoff import repeat
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.proto.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from kcli.proto.schema import NO_ID
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar

    from kcli.model import Broker, Cluster

    R = TypeVar("R")


class Partition(Value):
    """A partition from the metadata. `leader` is -1 without a leader. `elr` are the replicas outside the ISR that have
    all committed records, `last_known_elr` those that had them last (KIP-966); both are None until `add_eligible` sets
    them, and from brokers before 3.7."""

    topic: str = ""
    partition: int = 0
    leader: int = -1
    leader_epoch: int = -1
    replicas: list[int] = field(factory=list)
    isr: list[int] = field(factory=list)
    offline: list[int] = field(factory=list)
    elr: list[int] | None = None
    last_known_elr: list[int] | None = None

    @property
    def advice(self) -> str | None:
        """A sentence about the replicas that could lead a partition without a leader; None if it has one."""
        if self.leader >= 0:
            return None
        if complete := sorted({*self.isr, *(self.elr or ())}):
            brokers, has = _brokers(complete), "has" if len(complete) == 1 else "have"
            return f"no leader; {brokers} {has} all committed records: start {'it' if len(complete) == 1 else 'one'}"
        if self.last_known_elr:
            return (
                f"no leader, and no replica is known to have all committed records; {_brokers(self.last_known_elr)} "
                "had them last"
            )
        return "no leader, and no replica is known to have all committed records"


def _brokers(ids: list[int]) -> str:
    return f"broker{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


class Topic(Value):
    """A topic. `topic_id` is in Kafka's base64 form, "" from brokers before 2.8 (KIP-516)."""

    topic: str = ""
    topic_id: str = ""
    internal: bool = False
    partitions: list[Partition] = field(factory=list)

    @property
    def replication_factor(self) -> int:
        return max((len(p.replicas) for p in self.partitions), default=0)

    @property
    def under_replicated(self) -> int:
        return sum(len(p.isr) < len(p.replicas) for p in self.partitions)

    @property
    def leaderless(self) -> int:
        return sum(p.leader < 0 for p in self.partitions)


class NewTopic(Value):
    """A topic to create. -1 partitions or replicas mean the broker's default (KIP-464)."""

    topic: str = ""
    partitions: int = -1
    replication_factor: int = -1
    configs: dict[str, str] = field(factory=dict)


class Created(Value):
    """A topic that was created, or would be. Numbers are -1 if the broker did not report them."""

    topic: str = ""
    topic_id: str = ""
    partitions: int = -1
    replication_factor: int = -1
    configs: dict[str, str] = field(factory=dict)


async def describe_topics(
    cluster: Cluster, names: Iterable[str] | None = None, *, internal: bool = True
) -> dict[str, Topic | KcliError]:
    """Describe the named topics, or all. An unknown name has the error TopicMissing; the request never creates it.
    Without `internal`, Kafka's own topics are not included in "all"."""
    asked = None if names is None else [MetadataRequestTopic(name=name) for name in dict.fromkeys(names)]
    if asked == []:
        return {}
    answer = await ask_anyone(cluster, MetadataRequest(topics=asked, allow_auto_topic_creation=False))
    topics = described(answer, internal=internal or bool(asked))
    if asked is not None:  # a response may omit some and have others
        left_out = KcliError("the broker's response does not contain this topic")
        topics = {
            name: topics.get(name, left_out) for name in sorted(topic.name for topic in asked if topic.name is not None)
        }
    return topics


async def add_eligible(cluster: Cluster, topics: Iterable[Topic]) -> None:
    """Add the replicas that are eligible to lead (KIP-966), page by page; nothing from brokers before 3.7. Raises
    KcliError if the request fails."""
    from kcli.proto.messages.describe_topic_partitions import (
        Cursor,
        DescribeTopicPartitionsRequest,
        TopicRequest,
    )

    partitions = {(one.topic, one.partition): one for topic in topics for one in topic.partitions}
    names = sorted({topic for topic, _ in partitions})
    if not names or DescribeTopicPartitionsRequest.api_key not in await (await cluster.anyone()).versions():
        return
    cursor: Cursor | None = None
    while names:
        asked = [TopicRequest(name=name) for name in names]
        answer = await ask_anyone(cluster, DescribeTopicPartitionsRequest(topics=asked, cursor=cursor))
        for row in answer.topics:
            for one in row.partitions:
                if (known := partitions.get((row.name or "", one.partition_index))) is not None:
                    known.elr, known.last_known_elr = one.eligible_leader_replicas, one.last_known_elr
        if answer.next_cursor is None or answer.next_cursor == cursor:  # also ends if a broker returns the same cursor
            return
        cursor = answer.next_cursor
        names = [name for name in names if name >= cursor.topic_name]


def described(
    answer: MetadataResponse, *, internal: bool, known: Mapping[str, Topic | KcliError] | None = None
) -> dict[str, Topic | KcliError]:
    """Return the topics of a response by name, in order; Kafka's own only with `internal`.

    An unchanged topic remains the same object as in `known`, the topics of an earlier response, which saves time and
    memory.
    """
    rows = {row.name: row for row in answer.topics if row.name and (internal or not row.is_internal)}
    before = known or {}
    return {name: _as_before(before.get(name), rows[name]) or _topic(rows[name]) for name in sorted(rows)}


def _as_before(topic: Topic | KcliError | None, row: MetadataResponseTopic) -> Topic | None:
    """Return the topic if the row is equal."""
    if not isinstance(topic, Topic) or len(topic.partitions) != len(row.partitions):
        return None
    if row.error_code or (topic.topic_id, topic.internal) != (id_text(row.topic_id), row.is_internal):
        return None
    for one, p in zip(topic.partitions, sorted(row.partitions, key=lambda p: p.partition_index), strict=True):
        if (
            one.partition != p.partition_index
            or one.leader != p.leader_id
            or one.leader_epoch != p.leader_epoch
            or one.replicas != p.replica_nodes
            or one.isr != p.isr_nodes
            or one.offline != p.offline_replicas
        ):
            return None
    return topic


def _topic(row: MetadataResponseTopic) -> Topic | KcliError:
    code, name = codes.of(row.error_code), row.name or ""
    if code is codes.UNKNOWN_TOPIC_OR_PARTITION:
        return TopicMissing(name)
    if code and not row.partitions:
        return BrokerError(code, name, api=MetadataRequest.api_key, topic=name)
    partitions = [
        Partition(
            topic=name,
            partition=p.partition_index,
            leader=p.leader_id,
            leader_epoch=p.leader_epoch,
            replicas=p.replica_nodes,
            isr=p.isr_nodes,
            offline=p.offline_replicas,
        )
        for p in sorted(row.partitions, key=lambda p: p.partition_index)
    ]
    return Topic(topic=name, topic_id=id_text(row.topic_id), internal=row.is_internal, partitions=partitions)


def id_text(topic_id: bytes) -> str:
    """Return a topic id as Kafka prints it: URL-safe base64 without padding; "" for none."""
    from binascii import b2a_base64

    if topic_id == NO_ID:
        return ""
    return b2a_base64(topic_id, newline=False).decode().rstrip("=").replace("+", "-").replace("/", "_")


async def create_topics(
    cluster: Cluster, topics: Iterable[NewTopic], *, dry_run: bool = False, patience: float = PATIENCE
) -> dict[str, Created | KcliError]:
    """Create topics, or with `dry_run` let the broker validate it. An existing topic has the error BrokerError
    TOPIC_ALREADY_EXISTS."""
    from kcli.proto.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest

    wanted = [
        CreatableTopic(
            name=new.topic,
            num_partitions=new.partitions,
            replication_factor=new.replication_factor,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in new.configs.items()],
        )
        for new in topics
    ]
    request = CreateTopicsRequest(topics=wanted, timeout_ms=30_000, validate_only=dry_run)
    answer = await ask_controller(
        cluster, request, lambda answer: [row.error_code for row in answer.topics], patience=patience
    )
    done: dict[str, Created | KcliError] = {}
    for row in answer.topics:
        if row.error_code:
            message = _sentence(row.error_message)
            error = BrokerError(codes.of(row.error_code), row.name, message, api=request.api_key, topic=row.name)
            done[row.name] = error
            continue
        done[row.name] = Created(
            topic=row.name,
            topic_id=id_text(row.topic_id),
            partitions=row.num_partitions,
            replication_factor=row.replication_factor,
            configs={c.name: c.value or "" for c in row.configs or () if c.config_source == 1},
        )
    return {topic.name: done.get(topic.name, _left_out(topic.name)) for topic in wanted}


async def delete_topics(
    cluster: Cluster, names: Iterable[str], *, patience: float = PATIENCE
) -> dict[str, bool | KcliError]:
    """Delete topics by name. True if the topic will be gone; TopicMissing if there was none."""
    from kcli.proto.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

    wanted = list(dict.fromkeys(names))
    by_id = (await (await cluster.controller()).versions()).get(20, (0, 0))[1] >= 6
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in wanted] if by_id else [], topic_names=wanted, timeout_ms=30_000
    )
    answer = await ask_controller(
        cluster, request, lambda answer: [row.error_code for row in answer.responses], patience=patience
    )
    done: dict[str, bool | KcliError] = {}
    for row in answer.responses:
        code, name = codes.of(row.error_code), row.name or ""
        if code is codes.UNKNOWN_TOPIC_OR_PARTITION:
            done[name] = TopicMissing(name)
        else:
            message, api = _sentence(row.error_message), request.api_key
            done[name] = BrokerError(code, name, message, api=api, topic=name) if code else True
    return {name: done.get(name, _left_out(name)) for name in wanted}


def _left_out(name: str) -> KcliError:
    return KcliError(f"{name}: the broker's response does not contain this topic")


async def wait_for_topics(cluster: Cluster, names: Iterable[str], *, gone: bool = False, timeout: float = 30.0) -> None:
    """Wait until every broker knows these topics with a leader for each partition, or, with `gone`, until no broker
    knows them. `timeout` is in seconds; raises DeadlineExceeded that names what is missing."""
    left = list(dict.fromkeys(names))

    async def arrived() -> bool:
        nonlocal left
        brokers = [await cluster.node(node.id) for node in await cluster.nodes()]
        answers = await asyncio.gather(*(_seen(broker, left) for broker in brokers))
        left = [name for name in left if not all((name not in seen) if gone else seen.get(name) for seen in answers)]
        return not left

    if left and not await repeat(arrived, pauses(), asyncio.get_running_loop().time() + timeout):
        what = "still there" if gone else "not ready on every broker"
        raise DeadlineExceeded(
            f"{', '.join(left)}: {what} after {timeout:g} s; brokers learn about it one by one", sent=True
        )
    await cluster.refresh(list(dict.fromkeys(names)) if not gone else [])


async def _seen(broker: Broker, names: list[str]) -> dict[str, bool]:
    """Return the topics that this broker knows, with True if all partitions have leaders. A broker that cannot be asked
    is not waited for: clients that cannot reach it learn nothing from it either."""
    asked = [MetadataRequestTopic(name=name) for name in names]
    try:
        answer = await broker.ask(MetadataRequest(topics=asked, allow_auto_topic_creation=False))
    except ConnectError:
        return dict.fromkeys(names, True)
    return {
        row.name: bool(row.partitions) and all(p.leader_id >= 0 for p in row.partitions)
        for row in answer.topics
        if row.name and row.error_code != codes.UNKNOWN_TOPIC_OR_PARTITION.number
    }


def _sentence(message: str | None) -> str | None:
    """Return a broker's message without its final full stop."""
    return message.strip().rstrip(".") if message else None

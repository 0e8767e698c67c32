"""A Kafka in a hundred lines: enough metadata, offsets and groups to ask an administrator's questions of.

It implements model.Broker and model.Cluster, counts what it was asked, and can be told to fail once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from struct import pack
from typing import Any

from kcli import codes
from kcli.errors import BrokerError, ConnectError
from kcli.model import Node, TopicPartition
from kcli.proto.messages import consumer_group_describe as new
from kcli.proto.messages import describe_share_group_offsets as shares
from kcli.proto.messages import share_group_describe, streams_group_describe
from kcli.proto.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
from kcli.proto.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kcli.proto.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from kcli.proto.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kcli.proto.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from kcli.proto.messages.fetch import FetchResponse
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kcli.proto.messages.list_groups import ListedGroup, ListGroupsResponse
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kcli.proto.messages.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic
from kcli.proto.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

GROUP = 32
INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def assignment(*partitions: tuple[str, list[int]]) -> bytes:
    """A ConsumerProtocolAssignment, as a classic leader writes it."""
    out = pack(">hi", 3, len(partitions))
    for topic, numbers in partitions:
        out += pack(">h", len(topic)) + topic.encode() + pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return out + pack(">i", -1)


def member(name: str, *partitions: tuple[str, list[int]], host: str = "/10.0.0.1") -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=f"{name}-id", client_id=name, client_host=host, member_assignment=assignment(*partitions)
    )


class Tiny:
    """The cluster. `logs` is (start, stable, end) by partition; leaders are by partition number modulo brokers."""

    def __init__(self, brokers: int = 3) -> None:
        self.brokers = {n: TinyBroker(self, n) for n in range(1, brokers + 1)}
        self.topic_partitions: dict[str, int] = {}
        self.logs: dict[TopicPartition, tuple[int, int, int]] = {}
        self.groups: dict[str, ListedGroup] = {}
        self.members: dict[str, list[Any]] = {}
        self.reasons: dict[str, str] = {}  # why a group is not deleted
        self.commits: dict[str, dict[tuple[str, int], int]] = {}
        self.down: set[int] = set()
        self.asked: list[tuple[int, Any]] = []
        self.once: dict[str, list[int]] = {}  # request name to error codes answered first
        self.topologies: dict[str, Any] = {}  # of streams groups
        self.share_lags: dict[tuple[str, str, int], int] = {}  # of share groups; -1 where it is not here
        self.cached: dict[TopicPartition, int] = {}
        self.moved: list[Any] = []
        self.resets: dict[str, str | int] = {}  # share.auto.offset.reset of groups, or an error code
        self.since: dict[TopicPartition, int] = {}  # the first offset after any time; -1 where nothing is so new

    def topic(self, name: str, *logs: tuple[int, int, int]) -> None:
        self.topic_partitions[name] = len(logs)
        self.logs |= {TopicPartition(name, n): log for n, log in enumerate(logs)}

    def group(self, name: str, state: str = "Stable", type: str = "classic", members: Any = (), **commits: Any) -> None:
        self.groups[name] = ListedGroup(group_id=name, protocol_type="consumer", group_state=state, group_type=type)
        self.members[name] = list(members)
        self.commits[name] = {(t, n): at for t, rows in commits.items() for n, at in enumerate(rows) if at is not None}

    def coordinator_id(self, group: str) -> int:
        return sum(group.encode()) % len(self.brokers) + 1

    def leader_of(self, at: TopicPartition) -> int:
        return at.partition % len(self.brokers) + 1

    def count(self) -> Counter[str]:
        return Counter(type(request).__name__.removesuffix("Request") for _, request in self.asked)

    def fail_once(self, api: str) -> int:
        left = self.once.get(api, [])
        return left.pop(0) if left else 0

    # model.Cluster

    async def node(self, node_id: int) -> TinyBroker:
        return self.brokers[node_id]

    async def nodes(self) -> list[Node]:
        return [Node(n, "localhost", 9091 + n, None) for n in self.brokers]

    async def anyone(self) -> TinyBroker:
        return next(broker for n, broker in self.brokers.items() if n not in self.down)

    controller = anyone

    async def coordinator(self, of: Any) -> TinyBroker:
        return self.brokers[self.coordinator_id(of.name)]

    def coordinator_moved(self, of: Any) -> None:
        self.moved.append(of)

    def leader_moved(self, at: TopicPartition, *hint: Any) -> None:
        self.moved.append(at)
        self.cached.pop(at, None)

    def leader_id(self, at: TopicPartition) -> int:
        return self.cached.get(at, -1)

    def leader_epoch(self, at: TopicPartition) -> int:
        return 0

    def topic_name(self, topic_id: bytes) -> str | None:
        return None

    async def partitions(self, topic: str) -> list[int]:
        if topic not in self.topic_partitions:
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION, topic)
        return list(range(self.topic_partitions[topic]))

    async def refresh(self, topics: Any = None) -> None:
        for at in self.logs:
            if topics is None or at.topic in topics:
                self.cached[at] = self.leader_of(at)


class TinyBroker:
    def __init__(self, cluster: Tiny, node_id: int) -> None:
        self.cluster = cluster
        self.node_id = node_id
        self.highest = {9: 9, 10: 6, 20: 5, 69: 1}

    async def versions(self) -> dict[int, tuple[int, int]]:
        return {key: (0, last) for key, last in self.highest.items()}

    async def ask(self, request: Any, **_: Any) -> Any:
        self.cluster.asked.append((self.node_id, request))
        if self.node_id in self.cluster.down:
            raise ConnectError(f"broker {self.node_id} is down")
        name = type(request).__name__.removesuffix("Request")
        answer: Callable[[Any], Any] = getattr(self, f"_{name}")
        return answer(request)

    def _Metadata(self, request: Any) -> MetadataResponse:
        names = self.cluster.topic_partitions if request.topics is None else [t.name for t in request.topics]
        return MetadataResponse(cluster_id="tiny", topics=[self._topic(name) for name in names])

    def _topic(self, name: str) -> MetadataResponseTopic:
        if name not in self.cluster.topic_partitions:
            return MetadataResponseTopic(error_code=3, name=name)
        parts = [
            MetadataResponsePartition(
                partition_index=n,
                leader_id=self.cluster.leader_of(TopicPartition(name, n)),
                replica_nodes=[1],
                isr_nodes=[1],
            )
            for n in range(self.cluster.topic_partitions[name])
        ]
        return MetadataResponseTopic(name=name, is_internal=name in INTERNAL, topic_id=b"\1" * 16, partitions=parts)

    def _ListOffsets(self, request: Any) -> ListOffsetsResponse:
        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=topic.name, partitions=[self._offset(request, topic.name, p) for p in topic.partitions]
                )
                for topic in request.topics
            ]
        )

    def _offset(self, request: Any, topic: str, asked: Any) -> ListOffsetsPartitionResponse:
        at = TopicPartition(topic, asked.partition_index)
        error = self.cluster.fail_once("ListOffsets") or (6 if self.cluster.leader_of(at) != self.node_id else 0)
        start, stable, end = self.cluster.logs[at]
        after = self.cluster.since.get(at, asked.timestamp)
        where = {-1: stable if request.isolation_level else end, -2: start}.get(asked.timestamp, after)
        return ListOffsetsPartitionResponse(partition_index=at.partition, error_code=error, offset=where)

    def _FindCoordinator(self, request: Any) -> FindCoordinatorResponse:
        found = [Coordinator(key=key, node_id=self.cluster.coordinator_id(key)) for key in request.coordinator_keys]
        return FindCoordinatorResponse(coordinators=found)

    def _ListGroups(self, request: Any) -> ListGroupsResponse:
        mine = [g for name, g in self.cluster.groups.items() if self.cluster.coordinator_id(name) == self.node_id]
        return ListGroupsResponse(groups=mine)

    def _DescribeGroups(self, request: Any) -> DescribeGroupsResponse:
        return DescribeGroupsResponse(groups=[self._classic(name) for name in request.groups])

    def _classic(self, name: str) -> DescribedGroup:
        error = self.cluster.fail_once("DescribeGroups")
        group = self.cluster.groups.get(name)
        if error or group is None or group.group_type != "classic":
            return DescribedGroup(error_code=error or 69, group_id=name)
        state, members = group.group_state, self.cluster.members[name]
        return DescribedGroup(
            group_id=name, group_state=state, protocol_type="consumer", protocol_data="range", members=members
        )

    def _ConsumerGroupDescribe(self, request: Any) -> new.ConsumerGroupDescribeResponse:
        return new.ConsumerGroupDescribeResponse(groups=[self._new(name) for name in request.group_ids])

    def _new(self, name: str) -> new.DescribedGroup:
        group = self.cluster.groups.get(name)
        if group is None or group.group_type != "consumer":
            return new.DescribedGroup(error_code=69, group_id=name)
        return new.DescribedGroup(group_id=name, group_state=group.group_state, members=self.cluster.members[name])

    def _ShareGroupDescribe(self, request: Any) -> share_group_describe.ShareGroupDescribeResponse:
        made, groups = share_group_describe.DescribedGroup, self.cluster.groups
        return share_group_describe.ShareGroupDescribeResponse(
            groups=[
                made(group_id=name, group_state=groups[name].group_state, members=self.cluster.members[name])
                if name in groups and groups[name].group_type == "share"
                else made(group_id=name, error_code=69)
                for name in request.group_ids
            ]
        )

    def _StreamsGroupDescribe(self, request: Any) -> streams_group_describe.StreamsGroupDescribeResponse:
        return streams_group_describe.StreamsGroupDescribeResponse(
            groups=[
                streams_group_describe.DescribedGroup(
                    group_id=name, group_state=self.cluster.groups[name].group_state,
                    members=self.cluster.members[name], topology=self.cluster.topologies.get(name),
                )
                for name in request.group_ids
            ]
        )  # fmt: skip

    def _DescribeShareGroupOffsets(self, request: Any) -> shares.DescribeShareGroupOffsetsResponse:
        return shares.DescribeShareGroupOffsetsResponse(groups=[self._starts(one.group_id) for one in request.groups])

    def _starts(self, group: str) -> shares.DescribeShareGroupOffsetsResponseGroup:
        topics: dict[str, Any] = {}
        for (topic, partition), at in self.cluster.commits.get(group, {}).items():
            row = topics.setdefault(topic, shares.DescribeShareGroupOffsetsResponseTopic(topic_name=topic))
            lag = self.cluster.share_lags.get((group, topic, partition), -1)
            row.partitions.append(
                shares.DescribeShareGroupOffsetsResponsePartition(partition_index=partition, start_offset=at, lag=lag)
            )
        error = self.cluster.fail_once("DescribeShareGroupOffsets")
        return shares.DescribeShareGroupOffsetsResponseGroup(
            group_id=group, topics=list(topics.values()), error_code=error
        )

    def _Fetch(self, request: Any) -> FetchResponse:
        return FetchResponse()  # no records

    def _OffsetFetch(self, request: Any) -> OffsetFetchResponse:
        return OffsetFetchResponse(groups=[self._commits(group.group_id) for group in request.groups])

    def _commits(self, group: str) -> OffsetFetchResponseGroup:
        topics: dict[str, OffsetFetchResponseTopics] = {}
        for (topic, partition), at in self.cluster.commits.get(group, {}).items():
            row = topics.setdefault(topic, OffsetFetchResponseTopics(name=topic))
            row.partitions.append(OffsetFetchResponsePartitions(partition_index=partition, committed_offset=at))
        error = self.cluster.fail_once("OffsetFetch")
        return OffsetFetchResponseGroup(group_id=group, topics=list(topics.values()), error_code=error)

    def _DeleteGroups(self, request: Any) -> DeleteGroupsResponse:
        return DeleteGroupsResponse(results=[self._delete(name) for name in request.groups_names])

    def _delete(self, name: str) -> DeletableGroupResult:
        if self.cluster.members.get(name):
            return DeletableGroupResult(group_id=name, error_code=68)
        if reason := self.cluster.reasons.get(name):
            return DeletableGroupResult(group_id=name, error_code=134, error_message=reason)
        gone = self.cluster.groups.pop(name, None)
        return DeletableGroupResult(group_id=name, error_code=0 if gone else 69)

    def _CreateTopics(self, request: Any) -> CreateTopicsResponse:
        return CreateTopicsResponse(topics=[self._create(topic, request.validate_only) for topic in request.topics])

    def _create(self, topic: Any, validate_only: bool) -> CreatableTopicResult:
        if error := self.cluster.fail_once("CreateTopics"):
            return CreatableTopicResult(name=topic.name, error_code=error)
        if topic.name in self.cluster.topic_partitions:
            return CreatableTopicResult(name=topic.name, error_code=36)
        count = topic.num_partitions if topic.num_partitions > 0 else 2
        if not validate_only:
            self.cluster.topic(topic.name, *[(0, 0, 0)] * count)
        return CreatableTopicResult(name=topic.name, num_partitions=count, replication_factor=1, topic_id=b"\1" * 16)

    def _DeleteTopics(self, request: Any) -> DeleteTopicsResponse:
        gone = [(name, self.cluster.topic_partitions.pop(name, None)) for name in request.topic_names]
        rows = [DeletableTopicResult(name=name, error_code=0 if was else 3) for name, was in gone]
        return DeleteTopicsResponse(responses=rows)

    def _DescribeConfigs(self, request: Any) -> DescribeConfigsResponse:
        mine = DescribeConfigsResourceResult(name="cleanup.policy", value="compact", config_source=1)
        default = DescribeConfigsResourceResult(name="retention.ms", value="604800000", config_source=5)
        results = [
            DescribeConfigsResult(resource_name=r.resource_name, configs=[mine, default])
            if r.resource_type != GROUP
            else self._group_configs(r.resource_name)
            for r in request.resources
        ]
        return DescribeConfigsResponse(results=results)

    def _group_configs(self, group: str) -> DescribeConfigsResult:
        reset = self.cluster.resets.get(group, "latest")
        if isinstance(reset, int):
            return DescribeConfigsResult(resource_type=GROUP, resource_name=group, error_code=reset)
        config = DescribeConfigsResourceResult(name="share.auto.offset.reset", value=reset)
        return DescribeConfigsResult(resource_type=GROUP, resource_name=group, configs=[config])

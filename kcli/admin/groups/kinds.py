"""Share groups (KIP-932) and streams groups (KIP-1071), as described by the coordinator, and the progress of share
groups.

A share group commits no offsets: it keeps the state of each record, and a start offset before which all are processed.
Members of a streams group have tasks; task N_P reads partition P of every source topic of subtopology N.
"""

from __future__ import annotations

import time

from kcli import codes
from kcli.admin.groups.rows import Described, Member, Subtopology, description, refusal
from kcli.asking.offsets import LogOffset, list_offsets
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kcli.asking.coordinators import Coordinators
    from kcli.model import Broker, Cluster
    from kcli.proto.messages import streams_group_describe as streams
    from kcli.proto.messages.describe_share_group_offsets import DescribeShareGroupOffsetsResponseGroup

SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE, DESCRIBE_SHARE_GROUP_OFFSETS = 77, 89, 90
RESET, EARLIEST, LATEST, BY_DURATION = "share.auto.offset.reset", "earliest", "latest", "by_duration:"
DESCRIBE_SHARE_GROUP_OFFSETS = 90
DESCRIBES = {"share": SHARE_GROUP_DESCRIBE, "streams": STREAMS_GROUP_DESCRIBE}
NODES_SINCE = 1
"""The version of StreamsGroupDescribe that includes the nodes of a topology (Kafka 4.4)."""
NOT_READ, AVAILABLE = 2, 3
"""Values of the state of a topology's description."""
NODE_KINDS = {1: "source", 2: "processor", 3: "sink"}


class ShareStart(Value):
    """A share group's state of one partition. `start` is None before its first read, `lag` None if the broker does not
    report it (DescribeShareGroupOffsets 0). The lag excludes records already acknowledged past the start."""

    start: int | None = None
    leader_epoch: int = -1
    lag: int | None = None


class ProcessingNode(Value):
    """A node of a streams application's topology (KIP-1331). `subtopology` is None for nodes of a global store.
    `topics` are those that a source reads or a sink writes; empty if the application chooses them at run time."""

    subtopology: str | None = None
    node: str = ""
    kind: str = ""
    topics: list[str] = field(factory=list)
    stores: list[str] = field(factory=list)
    successors: list[str] = field(factory=list)


async def describe_kind(
    cluster: Cluster, broker: Broker, kind: str, groups: list[str]
) -> dict[str, Described | KcliError]:
    """Describe share or streams groups of this coordinator; empty if it does not support that kind, or has it
    disabled."""
    if not groups or DESCRIBES[kind] not in await broker.versions():
        return {}
    return await (_share_groups(broker, groups) if kind == "share" else _streams_groups(cluster, broker, groups))


async def _share_groups(broker: Broker, groups: list[str]) -> dict[str, Described | KcliError]:
    from kcli.proto.messages.share_group_describe import ShareGroupDescribeRequest

    response = await broker.ask(ShareGroupDescribeRequest(group_ids=groups))
    return {
        row.group_id: refusal(row) or description(row, "share", broker.node_id)
        for row in response.groups
        if row.error_code != codes.UNSUPPORTED_VERSION.number
    }


async def _streams_groups(cluster: Cluster, broker: Broker, groups: list[str]) -> dict[str, Described | KcliError]:
    from kcli.proto.messages.streams_group_describe import StreamsGroupDescribeRequest

    groups_by_name: dict[str, Described | KcliError] = {}
    for row in (await broker.ask(StreamsGroupDescribeRequest(group_ids=groups))).groups:
        if row.error_code != codes.UNSUPPORTED_VERSION.number:
            sources = await _sources(cluster, row.topology)
            groups_by_name[row.group_id] = refusal(row) or Described(
                group=row.group_id,
                type="streams",
                state=row.group_state,
                protocol="streams",
                epoch=row.group_epoch,
                coordinator=broker.node_id,
                members=[_streams_member(member, sources) for member in row.members],
                assignor=row.assignor_name or "",
                topology=_topology(row.topology),
                topology_epoch=None if row.topology is None else row.topology.epoch,
            )
    return groups_by_name


async def _sources(cluster: Cluster, topology: streams.Topology | None) -> dict[str, list[TopicPartition]]:
    """Return what each subtopology reads. Unknown topics are missing."""
    sources: dict[str, list[TopicPartition]] = {}
    for subtopology in (topology.subtopologies if topology is not None else None) or ():
        read = sources[subtopology.subtopology_id] = []
        for topic in [*subtopology.source_topics, *(inner.name for inner in subtopology.repartition_source_topics)]:
            try:
                read += [TopicPartition(topic, partition) for partition in await cluster.partitions(topic)]
            except BrokerError:
                continue
    return sources


def _topology(topology: streams.Topology | None) -> list[Subtopology] | None:
    """Return the subtopologies by number."""
    if topology is None or topology.subtopologies is None:
        return None
    parts = [
        Subtopology(
            name=part.subtopology_id,
            sources=sorted(part.source_topics),
            repartitions=sorted(topic.name for topic in part.repartition_source_topics),
            sinks=sorted(part.repartition_sink_topics),
            changelogs=sorted(topic.name for topic in part.state_changelog_topics),
        )
        for part in topology.subtopologies
    ]
    return sorted(parts, key=lambda part: (len(part.name), part.name))


def _streams_member(row: streams.Member, sources: dict[str, list[TopicPartition]]) -> Member:
    active = {(task.subtopology_id, number) for task in row.assignment.active_tasks for number in task.partitions}
    return Member(
        member_id=row.member_id,
        instance_id=row.instance_id,
        client_id=row.client_id,
        host=row.client_host.removeprefix("/"),
        rack=row.rack_id,
        epoch=row.member_epoch,
        topics=sorted({at.topic for read in sources.values() for at in read}),
        assignment=sorted(at for name, read in sources.items() for at in read if (name, at.partition) in active),
        tasks=[
            *_tasks(row.assignment.active_tasks, ""),
            *_tasks(row.assignment.standby_tasks, " standby"),
            *_tasks(row.assignment.warmup_tasks, " warm-up"),
        ],
    )


def _tasks(tasks: Iterable[streams.TaskIds], role: str) -> list[str]:
    return [f"{task.subtopology_id}_{number}{role}" for task in tasks for number in sorted(task.partitions)]


async def processing_nodes(
    coordinators: Coordinators, groups: Iterable[str]
) -> dict[str, list[ProcessingNode] | KcliError | None]:
    """Return the nodes of streams groups' topologies; None if the cluster has no description: before Kafka 4.4, without
    a plugin that stores them, and until the application has sent one."""
    from kcli.proto.messages.streams_group_describe import StreamsGroupDescribeRequest

    async def ask(broker: Broker, some: list[str]) -> dict[str, list[ProcessingNode] | KcliError | None]:
        if (await broker.versions()).get(STREAMS_GROUP_DESCRIBE, (0, 0))[1] < NODES_SINCE:
            return dict.fromkeys(some)
        answer = await broker.ask(StreamsGroupDescribeRequest(group_ids=some, include_topology_description=True))
        return {row.group_id: refusal(row) or _nodes(row) for row in answer.groups}

    return await coordinators.ask(groups, ask, most=200)


def _nodes(row: streams.DescribedGroup) -> list[ProcessingNode] | KcliError | None:
    if row.topology_description_status == NOT_READ:
        return KcliError(f"{row.group_id}: the broker cannot read the description of the topology; its log shows why")
    described = row.topology_description
    if row.topology_description_status != AVAILABLE or described is None:
        return None
    found = [(part.subtopology_id, node) for part in described.subtopologies for node in part.nodes]
    found.sort(key=lambda at: (len(at[0]), at[0]))
    inside = [(None, node) for store in described.global_stores for node in (store.source, store.processor)]
    return [
        ProcessingNode(
            subtopology=part,
            node=node.name,
            kind=NODE_KINDS.get(node.node_type, str(node.node_type)),
            topics=sorted(node.source_topics) if node.sink_topic is None else [node.sink_topic],
            stores=sorted(node.stores),
            successors=sorted(node.successors),
        )
        for part, node in [*found, *inside]
    ]


# -- progress of share groups ---------------------------------------------------------------------------------------


async def share_offsets(
    coordinators: Coordinators, groups: Iterable[str], *, patience: float
) -> dict[str, dict[TopicPartition, ShareStart | KcliError] | KcliError]:
    """Return the start offset of every partition that each share group has read from, as reported by the group's
    coordinator."""
    from kcli.proto.messages.describe_share_group_offsets import (
        DescribeShareGroupOffsetsRequest,
        DescribeShareGroupOffsetsRequestGroup,
    )

    async def ask(
        broker: Broker, some: list[str]
    ) -> dict[str, dict[TopicPartition, ShareStart | KcliError] | KcliError]:
        if DESCRIBE_SHARE_GROUP_OFFSETS not in await broker.versions():
            return {
                name: KcliError(f"{name}: this broker does not report the progress of its share groups")
                for name in some
            }
        asked = [DescribeShareGroupOffsetsRequestGroup(group_id=name, topics=None) for name in some]
        answer = await broker.ask(DescribeShareGroupOffsetsRequest(groups=asked))
        return {row.group_id: _starts(row) for row in answer.groups}

    return await coordinators.ask(groups, ask, patience=patience, most=200)


def _starts(row: DescribeShareGroupOffsetsResponseGroup) -> dict[TopicPartition, ShareStart | KcliError] | KcliError:
    if row.error_code:
        name, message = row.group_id, row.error_message or None
        return BrokerError(codes.of(row.error_code), name, message, api=DESCRIBE_SHARE_GROUP_OFFSETS, group=name)
    starts: dict[TopicPartition, ShareStart | KcliError] = {}
    for topic in row.topics:
        for partition in topic.partitions:
            at = TopicPartition(topic.topic_name, partition.partition_index)
            if partition.error_code:
                about = f"{at.topic} partition {at.partition}"
                starts[at] = BrokerError(codes.of(partition.error_code), about, partition.error_message or None)
            else:
                starts[at] = ShareStart(
                    start=partition.start_offset if partition.start_offset >= 0 else None,
                    leader_epoch=partition.leader_epoch,
                    lag=partition.lag if partition.lag >= 0 else None,
                )
    return starts


async def share_reset(cluster: Cluster, groups: Iterable[str]) -> dict[str, str | KcliError]:
    """Return where share groups start partitions that they have not read yet: latest, earliest or by_duration:PT1H."""
    from kcli.admin.configs import Resource, describe_configs

    resources = {name: Resource("group", name) for name in groups}
    configs = await describe_configs(cluster, resources.values(), names=[RESET])
    resets: dict[str, str | KcliError] = {}
    for name, at in resources.items():
        answer = configs[at]
        given = (
            answer if isinstance(answer, KcliError) else next((row.value for row in answer if row.name == RESET), "")
        )
        resets[name] = given or LATEST  # Kafka's default
    return resets


async def share_begins(
    cluster: Cluster,
    unread: Mapping[str, list[TopicPartition]],
    ends: Mapping[TopicPartition, LogOffset | KcliError],
) -> dict[tuple[str, TopicPartition], int | KcliError]:
    """Return the offset at which share groups will start partitions that they have not read yet, except those that
    start at the beginning of the log."""
    from kcli.grammar.durations import iso_duration

    begins: dict[tuple[str, TopicPartition], int | KcliError] = {}
    for group, reset in (await share_reset(cluster, unread)).items():
        if isinstance(reset, KcliError):
            begins |= {(group, at): reset for at in unread[group]}
        elif reset != EARLIEST:
            length = iso_duration(reset.removeprefix(BY_DURATION)) if reset.startswith(BY_DURATION) else None
            found: Mapping[TopicPartition, LogOffset | KcliError] = ends
            if length is not None:
                moment = int(time.time() * 1000) - length
                found = await list_offsets(cluster, dict.fromkeys(unread[group], moment))
            for at in unread[group]:
                first, end = found.get(at), ends.get(at)
                if isinstance(first, LogOffset) and first.offset < 0:
                    first = end  # no record is that recent
                if first is not None:
                    begins[group, at] = first.offset if isinstance(first, LogOffset) else first
    return begins

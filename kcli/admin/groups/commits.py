"""Commits and deletes offsets as a non-member (generation -1), and sets the start offsets of share groups (KIP-932).
Groups accept this only while they have no members.

Every partition has its own outcome. A commit is idempotent, so it is retried while that may help. If the last request
got no response, the outcome is unknown and reported as such.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, DecodeError, KcliError, UnknownOutcome
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.proto.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from kcli.asking.coordinators import Coordinators
    from kcli.model import Broker, Cluster
    from kcli.proto.messages.offset_commit import OffsetCommitResponse
    from kcli.proto.messages.offset_delete import OffsetDeleteResponse
    from kcli.proto.messages.offset_fetch import OffsetFetchResponsePartition, OffsetFetchResponsePartitions

    Outcome = dict[TopicPartition, bool | KcliError]
    Ask = Callable[[Broker, list[TopicPartition]], Awaitable[Outcome]]

BY_NAME = 9  # from version 10 on it uses topic ids only
MOST = 10_000
"""Partitions in one request."""
OFFSET_FETCH, STABLE_SINCE, MANY_GROUPS_SINCE = 9, 7, 8


async def write_commits(
    coordinators: Coordinators,
    group: str,
    commits: Mapping[TopicPartition, OffsetAndMetadata],
    *,
    patience: float = PATIENCE,
) -> Outcome:
    """Commit these offsets, which creates an unknown group. Returns True on success. Errors: UNKNOWN_MEMBER_ID (or that
    of a member epoch) if the group has members, UnknownOutcome without a response. `patience` is in seconds."""

    async def ask(broker: Broker, some: list[TopicPartition]) -> Outcome:
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for at in some:
            topic = topics.get(at.topic) or topics.setdefault(at.topic, OffsetCommitRequestTopic(name=at.topic))
            to = commits[at]
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=at.partition,
                    committed_offset=to.offset,
                    committed_leader_epoch=to.leader_epoch,
                    committed_metadata=to.metadata,
                )
            )
        request = OffsetCommitRequest(
            group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=list(topics.values())
        )
        return _read(group, await broker.ask(request, max_version=BY_NAME))

    return await _each(coordinators, group, sorted(commits), ask, patience)


async def delete_commits(
    coordinators: Coordinators, group: str, partitions: Iterable[TopicPartition], *, patience: float = PATIENCE
) -> Outcome:
    """Delete committed offsets. Errors: GROUP_SUBSCRIBED_TO_TOPIC if a member reads the topic (KIP-496), else as in
    `write_commits`. A missing commit counts as deleted."""
    from kcli.proto.messages.offset_delete import (
        OffsetDeleteRequest,
        OffsetDeleteRequestPartition,
        OffsetDeleteRequestTopic,
    )

    async def ask(broker: Broker, some: list[TopicPartition]) -> Outcome:
        topics: dict[str, OffsetDeleteRequestTopic] = {}
        for at in some:
            topic = topics.get(at.topic) or topics.setdefault(at.topic, OffsetDeleteRequestTopic(name=at.topic))
            topic.partitions.append(OffsetDeleteRequestPartition(partition_index=at.partition))
        answer = await broker.ask(OffsetDeleteRequest(group_id=group, topics=list(topics.values())))
        if answer.error_code:
            raise BrokerError(codes.of(answer.error_code), group, api=OffsetDeleteRequest.api_key, group=group)
        return _read(group, answer)

    return await _each(coordinators, group, sorted(partitions), ask, patience)


async def write_starts(
    coordinators: Coordinators,
    group: str,
    starts: Mapping[TopicPartition, OffsetAndMetadata],
    *,
    patience: float = PATIENCE,
) -> Outcome:
    """Set the start offsets of a share group, which forgets acknowledgements after them. Errors: NON_EMPTY_GROUP if the
    group has members, else as in `write_commits`."""
    from kcli.proto.messages.alter_share_group_offsets import (
        AlterShareGroupOffsetsRequest,
        AlterShareGroupOffsetsRequestPartition,
        AlterShareGroupOffsetsRequestTopic,
    )

    async def ask(broker: Broker, some: list[TopicPartition]) -> Outcome:
        topics: dict[str, AlterShareGroupOffsetsRequestTopic] = {}
        for at in some:
            topic = topics.setdefault(at.topic, AlterShareGroupOffsetsRequestTopic(topic_name=at.topic))
            topic.partitions.append(
                AlterShareGroupOffsetsRequestPartition(partition_index=at.partition, start_offset=starts[at].offset)
            )
        request = AlterShareGroupOffsetsRequest(group_id=group, topics=list(topics.values()))
        answer = await broker.ask(request)
        if answer.error_code:
            code, message = codes.of(answer.error_code), answer.error_message or None
            raise BrokerError(code, group, message, api=request.api_key, group=group)
        return {
            at: _outcome(group, at, part.error_code, part.error_message)
            for topic in answer.responses
            for part in topic.partitions
            for at in [TopicPartition(topic.topic_name, part.partition_index)]
        }

    return await _each(coordinators, group, sorted(starts), ask, patience)


async def delete_starts(
    coordinators: Coordinators, group: str, partitions: Iterable[TopicPartition], *, patience: float = PATIENCE
) -> Outcome:
    """Make a share group forget its state of the topics of these partitions. Errors as in `write_starts`."""
    from kcli.proto.messages.delete_share_group_offsets import (
        DeleteShareGroupOffsetsRequest,
        DeleteShareGroupOffsetsRequestTopic,
    )

    async def ask(broker: Broker, some: list[TopicPartition]) -> Outcome:
        names = dict.fromkeys(at.topic for at in some)
        topics = [DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in names]
        request = DeleteShareGroupOffsetsRequest(group_id=group, topics=topics)
        answer = await broker.ask(request)
        if answer.error_code:
            code, message = codes.of(answer.error_code), answer.error_message or None
            raise BrokerError(code, group, message, api=request.api_key, group=group)
        rows = {row.topic_name: row for row in answer.responses}
        return {
            at: _outcome(group, at, rows[at.topic].error_code, rows[at.topic].error_message)
            for at in some
            if at.topic in rows
        }

    return await _each(coordinators, group, sorted(partitions), ask, patience)


def _outcome(group: str, at: TopicPartition, code: int, message: str | None = None) -> bool | KcliError:
    if not code:
        return True
    about = f"{group}: {at.topic} [{at.partition}]"
    return BrokerError(
        codes.of(code), about, message or None, api=OffsetCommitRequest.api_key, group=group, topic=at.topic
    )


def _read(group: str, answer: OffsetCommitResponse | OffsetDeleteResponse) -> Outcome:
    return {
        at: _outcome(group, at, part.error_code)
        for topic in answer.topics
        for part in topic.partitions
        for at in [TopicPartition(topic.name, part.partition_index)]
    }


async def _each(
    coordinators: Coordinators, group: str, partitions: list[TopicPartition], ask: Ask, patience: float
) -> Outcome:
    unsure: set[TopicPartition] = set()

    async def careful(broker: Broker, some: list[TopicPartition]) -> Outcome:
        try:
            answers = await ask(broker, some)
        except (ConnectError, DeadlineExceeded) as error:
            if error.sent:
                unsure.update(some)
            raise
        except DecodeError:
            unsure.update(some)
            raise
        unsure.update(at for at, answer in answers.items() if _in_doubt(answer))
        return answers

    done = await gather(partitions, _OneGroup(coordinators, group), careful, patience=patience, most=MOST)
    return {
        at: _unknown(group, at, result) if at in unsure and result is not True else result
        for at, result in done.items()
    }


class _OneGroup:
    """Locates all partitions at their group's coordinator."""

    def __init__(self, coordinators: Coordinators, group: str) -> None:
        self._coordinators, self._group = coordinators, group

    async def locate(
        self, partitions: list[TopicPartition]
    ) -> tuple[list[tuple[Broker, list[TopicPartition]]], dict[TopicPartition, KcliError]]:
        places, lost = await self._coordinators.locate([self._group])
        if lost:
            return [], dict.fromkeys(partitions, lost[self._group])
        return [(broker, partitions) for broker, _ in places], {}

    def forget(self, at: TopicPartition) -> None:
        self._coordinators.forget(self._group)


def _in_doubt(answer: object) -> bool:
    """The coordinator wrote it, but does not know whether the write persists."""
    return isinstance(answer, BrokerError) and answer.code is codes.REQUEST_TIMED_OUT


def _unknown(group: str, at: TopicPartition, error: object) -> UnknownOutcome:
    return UnknownOutcome(
        f"{group}: {at.topic} [{at.partition}]: it is unknown whether the offset was changed ({error})"
    ).hinted("committed", group=group)


async def committed_offsets(
    coordinators: Coordinators, groups: Iterable[str], *, stable: bool = False, patience: float = PATIENCE
) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
    """Return all committed offsets of each group: one request per coordinator (KIP-709), or one per group before Kafka
    3.0.

    A group that does not exist has no commits, which is not an error. `stable` waits for transactions that are about to
    commit offsets (KIP-447); brokers before Kafka 2.5 cannot.
    """
    cluster = coordinators.cluster

    async def ask(
        broker: Broker, some: list[str]
    ) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
        highest = (await broker.versions()).get(OFFSET_FETCH, (0, 0))[1]
        if highest < MANY_GROUPS_SINCE:
            return await _one_by_one(broker, some, stable and highest >= STABLE_SINCE)
        asked = [OffsetFetchRequestGroup(group_id=group, topics=None) for group in some]
        answer = await broker.ask(OffsetFetchRequest(groups=asked, require_stable=stable))
        ids = {t.topic_id for row in answer.groups for t in row.topics if not t.name and t.topic_id != NO_ID}
        names = await topic_names(cluster, ids)
        offsets: dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError] = {}
        for row in answer.groups:
            if row.error_code:
                offsets[row.group_id] = _refused(row.error_code, row.group_id)
                continue
            here = offsets[row.group_id] = {}
            for topic in row.topics:
                name = topic.name or names.get(topic.topic_id) or f"(topic id {topic.topic_id.hex()})"
                for part in topic.partitions:
                    here[TopicPartition(name, part.partition_index)] = _committed(part, name)
        return offsets

    return await coordinators.ask(groups, ask, patience=patience)


async def _one_by_one(
    broker: Broker, groups: list[str], stable: bool
) -> dict[str, dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError]:
    async def read(group: str) -> dict[TopicPartition, OffsetAndMetadata | KcliError] | KcliError:
        answer = await broker.ask(OffsetFetchRequest(group_id=group, topics=None, require_stable=stable))
        if answer.error_code:
            return _refused(answer.error_code, group)
        return {
            TopicPartition(topic.name, part.partition_index): _committed(part, topic.name)
            for topic in answer.topics
            for part in topic.partitions
        }

    return dict(zip(groups, await asyncio.gather(*(read(group) for group in groups)), strict=True))


def _refused(code: int, group: str) -> BrokerError:
    return BrokerError(codes.of(code), group, api=OFFSET_FETCH, group=group)


def _committed(
    part: OffsetFetchResponsePartition | OffsetFetchResponsePartitions, topic: str
) -> OffsetAndMetadata | KcliError:
    if part.error_code:
        return BrokerError(
            codes.of(part.error_code), f"{topic} [{part.partition_index}]", api=OFFSET_FETCH, topic=topic
        )
    epoch = part.committed_leader_epoch
    return OffsetAndMetadata(offset=part.committed_offset, leader_epoch=epoch, metadata=part.metadata or "")


async def topic_names(cluster: Cluster, ids: set[bytes]) -> dict[bytes, str]:
    """Return the names of topic ids (KIP-516): from the cache, the rest from one Metadata request, which also returns
    their leaders. Unknown ids are omitted."""
    names = {topic_id: name for topic_id in ids if (name := cluster.topic_name(topic_id))}
    missing = ids - names.keys()
    if missing:
        await cluster.learn(missing)
        names |= {topic_id: name for topic_id in missing if (name := cluster.topic_name(topic_id))}
    return names

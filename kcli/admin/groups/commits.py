"""Commit and delete offsets as a non-member (generation -1), and set where share groups start (KIP-932); accepted only
by groups without members (E43).

Every partition has its own outcome. A commit is idempotent, so it is sent again while a retry may help. If the last
request has no response the outcome is unknown, and is reported as unknown (D22).
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE, gather
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, DecodeError, KcliError, UnknownOutcome
from kcli.model import TopicPartition
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from kcli.asking.coordinators import Coordinators
    from kcli.model import Broker, OffsetAndMetadata
    from kcli.proto.messages.offset_commit import OffsetCommitResponse
    from kcli.proto.messages.offset_delete import OffsetDeleteResponse

    Outcome = dict[TopicPartition, bool | KcliError]
    Ask = Callable[[Broker, list[TopicPartition]], Awaitable[Outcome]]

BY_NAME = 9  # from version 10 on it is topic ids only
MOST = 10_000
"""Partitions of a request."""


async def write_commits(
    coordinators: Coordinators,
    group: str,
    commits: Mapping[TopicPartition, OffsetAndMetadata],
    *,
    patience: float = PATIENCE,
) -> Outcome:
    """Commit these positions; an unknown group is created by the commit. True on success. Errors: UNKNOWN_MEMBER_ID (or
    that of a member epoch) if the group has members, UnknownOutcome without a response. `patience` is in seconds."""

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
    """Delete committed offsets. Errors: GROUP_SUBSCRIBED_TO_TOPIC if a member reads the topic (KIP-496), else as
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
    """Set the offsets at which a share group starts; it forgets what was acknowledged after them. Errors:
    NON_EMPTY_GROUP if the group has members, else as `write_commits`."""
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
    """Have a share group forget all it knows of the topics of these partitions. Errors as `write_starts`."""
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
    """All partitions live at their group's coordinator."""

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
    """The coordinator wrote it and does not know whether that lasts."""
    return isinstance(answer, BrokerError) and answer.code is codes.REQUEST_TIMED_OUT


def _unknown(group: str, at: TopicPartition, error: object) -> UnknownOutcome:
    return UnknownOutcome(
        f"{group}: {at.topic} [{at.partition}]: it is unknown whether the offset was changed ({error})"
    ).hinted("committed", group=group)

"""Commits a group's offsets as part of a transaction: consume, transform, produce, exactly once (KIP-98, KIP-447)."""

from __future__ import annotations

from kcli import codes
from kcli.model import Group, OffsetAndMetadata
from kcli.proto.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from kcli.codes import ErrorCode
    from kcli.model import Cluster, GroupMetadata, TopicPartition
    from kcli.producer.transactions.requests import Coordination, TransactionalIdentity
    from kcli.proto.messages.txn_offset_commit import TxnOffsetCommitResponse

    class Position(Protocol):
        """The next offset to read, the leader epoch of the last record read (-1: unknown), and free-form metadata."""

        @property
        def offset(self) -> int: ...
        @property
        def leader_epoch(self) -> int: ...
        @property
        def metadata(self) -> str | None: ...


async def commit_offsets(
    coordination: Coordination,
    identity: TransactionalIdentity,
    offsets: Mapping[TopicPartition, Position | int],
    group: GroupMetadata,
    *,
    v2: bool,
) -> None:
    """Commit the offsets, pending the transaction.

    In v1 the group is first announced to the transaction's coordinator. Raises like `Coordination.ask`. A group that
    has rebalanced rejects them (ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, FENCED_INSTANCE_ID), so two
    members can never both commit what they read.
    """
    if not v2:
        from kcli.proto.messages.add_offsets_to_txn import AddOffsetsToTxnRequest

        await coordination.ask(
            AddOffsetsToTxnRequest(
                transactional_id=coordination.key.name,
                producer_id=identity.producer_id,
                producer_epoch=identity.epoch,
                group_id=group.group,
            ),
            lambda response: codes.of(response.error_code),
            coordination.about,
        )
    request = TxnOffsetCommitRequest(
        transactional_id=coordination.key.name,
        group_id=group.group,
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
        generation_id_or_member_epoch=group.generation,
        member_id=group.member_id,
        group_instance_id=group.instance_id,
        topics=_topics(offsets),
    )
    await _know_ids(coordination.cluster, request)
    without_ids = any(topic.topic_id == NO_ID for topic in request.topics)
    stale = False

    def code_of(answer: TxnOffsetCommitResponse) -> ErrorCode:
        nonlocal stale
        code = _first_error(answer)
        stale = code is codes.UNKNOWN_TOPIC_ID
        return code

    async def prepare() -> None:
        if stale:  # the topic was recreated, or this broker does not know it yet
            await _know_ids(coordination.cluster, request, again=True)

    await coordination.ask(
        request,
        code_of,
        f"group {group.group}",
        of=Group(group.group),
        topics={at.topic for at in offsets},
        max_version=4 if not v2 else 5 if without_ids else None,
        prepare=prepare,
    )


async def _know_ids(cluster: Cluster, request: TxnOffsetCommitRequest, *, again: bool = False) -> None:
    """Set the ids of the request's topics, which version 6 uses instead of names (KIP-1319)."""
    names = [topic.name for topic in request.topics if again or cluster.topic_id(topic.name) == NO_ID]
    if names:
        await cluster.refresh(names)
    for topic in request.topics:
        topic.topic_id = cluster.topic_id(topic.name)


def _topics(offsets: Mapping[TopicPartition, Position | int]) -> list[TxnOffsetCommitRequestTopic]:
    """Return the offsets in the form of the request; a plain number is the next offset to read."""
    topics: dict[str, TxnOffsetCommitRequestTopic] = {}
    for at, given in sorted(offsets.items(), key=lambda item: item[0]):
        position = OffsetAndMetadata(given) if isinstance(given, int) else given
        topic = topics.get(at.topic) or topics.setdefault(at.topic, TxnOffsetCommitRequestTopic(name=at.topic))
        topic.partitions.append(
            TxnOffsetCommitRequestPartition(
                partition_index=at.partition,
                committed_offset=position.offset,
                committed_leader_epoch=position.leader_epoch,
                committed_metadata=position.metadata,
            )
        )
    return list(topics.values())


def _first_error(answer: TxnOffsetCommitResponse) -> ErrorCode:
    errors = (codes.of(part.error_code) for topic in answer.topics for part in topic.partitions if part.error_code)
    return next(errors, codes.NONE)

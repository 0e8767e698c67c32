"""How far a copy is, kept as the offsets of a group without members in the source's cluster.

Nobody has to join for that: the offsets are of one copy, and a second process under the same name is refused nothing,
so it is told by its name whose they are.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.admin.coordinators import Coordinators
from kcli.admin.gather import good
from kcli.admin.offsets import committed_offsets
from kcli.errors import BrokerError, ConnectError, KcliError
from kcli.model import Group
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.consumer.bounds import OffsetAndEpoch
    from kcli.model import Cluster, TopicPartition

BY_NAME = 9  # from version 10 on it is topic ids only
PATIENCE = 15.0  # seconds for a coordinator that moves


class Positions:
    """The stored offsets of one group name."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._cluster = cluster

    async def read(self) -> dict[TopicPartition, int]:
        """What is stored; empty for a group that does not exist. Offsets that a transaction is about to commit are
        waited for. Raises KcliError."""
        found = (await committed_offsets(Coordinators(self._cluster), [self.group], stable=True))[self.group]
        if isinstance(found, KcliError):
            raise found
        for answer in found.values():
            if isinstance(answer, KcliError):
                raise answer
        return {at: where.offset for at, where in good(found).items() if where.offset >= 0}

    async def write(self, offsets: Mapping[TopicPartition, OffsetAndEpoch]) -> None:
        """Store them. Whatever passes is tried again for a while. Raises KcliError; a group that has members refuses
        (UNKNOWN_MEMBER_ID), because the offsets are theirs then."""
        if not offsets:
            return
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for at, to in sorted(offsets.items()):
            topic = topics.get(at.topic) or topics.setdefault(at.topic, OffsetCommitRequestTopic(name=at.topic))
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=at.partition,
                    committed_offset=to.offset,
                    committed_leader_epoch=to.leader_epoch,
                    committed_metadata=to.metadata or "",
                )
            )
        request = OffsetCommitRequest(
            group_id=self.group, generation_id_or_member_epoch=-1, member_id="", topics=list(topics.values())
        )
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + PATIENCE, 0.1
        while True:
            try:
                await self._once(request)
                return
            except (BrokerError, ConnectError) as problem:
                passing = isinstance(problem, ConnectError) or problem.code.retriable
                if not passing or loop.time() + pause > until:
                    raise
                if isinstance(problem, BrokerError) and problem.code.forget == "coordinator":
                    self._cluster.coordinator_moved(Group(self.group))
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)

    async def _once(self, request: OffsetCommitRequest) -> None:
        broker = await self._cluster.coordinator(Group(self.group))
        try:
            answer = await broker.ask(request, max_version=BY_NAME)
        except ConnectError:
            self._cluster.coordinator_moved(Group(self.group))
            raise
        for topic in answer.topics:
            for part in topic.partitions:
                if part.error_code:
                    code = codes.of(part.error_code)
                    text = None
                    if code is codes.UNKNOWN_MEMBER_ID:
                        text = "the group has members: its offsets are theirs; choose another --group"
                    raise BrokerError(code, f"group {self.group}", text)

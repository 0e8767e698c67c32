"""The progress of a copy, stored as offsets of a group without members in the source's cluster.

No member has to join: the offsets belong to one copy. A second process with the same name is not refused, so choose a
name that identifies the owner.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcli import codes
from kcli.admin.groups.commits import committed_offsets, write_commits
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

FINISHED = "finished"  # metadata of such an offset
PATIENCE = 15.0  # seconds for a coordinator that moves


class Positions:
    """The stored offsets of one group name."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._coordinators = Coordinators(cluster)

    async def read(self, *, finished: bool = True, stable: bool = True) -> dict[TopicPartition, int]:
        """Return the stored positions; empty for a group that does not exist. Without `finished`, positions stored by
        `finish` are omitted. With `stable`, it waits for offsets that a transaction is about to commit. Raises
        KcliError."""
        commits = await self.commits(stable=stable)
        return {at: where.offset for at, where in commits.items() if finished or where.metadata != FINISHED}

    async def commits(self, *, stable: bool = True) -> dict[TopicPartition, OffsetAndMetadata]:
        """Like `read`, with the metadata."""
        commits = (await committed_offsets(self._coordinators, [self.group], stable=stable))[self.group]
        if isinstance(commits, KcliError):
            raise commits
        for answer in commits.values():
            if isinstance(answer, KcliError):
                raise answer
        return {at: where for at, where in good(commits).items() if where.offset >= 0}

    async def finish(self, ends: Mapping[TopicPartition, int]) -> None:
        """Mark a copy as complete, so that one whose start is counted from the end starts again the next time instead
        of resuming here. Raises KcliError."""
        await self.read()  # otherwise a transaction with late markers would overwrite it
        await self.write({at: OffsetAndMetadata(end, -1, FINISHED) for at, end in ends.items()})

    async def write(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Store the positions, retrying temporary errors for a while. Raises KcliError, including UnknownOutcome; a
        group with members refuses (UNKNOWN_MEMBER_ID), because the offsets are then theirs."""
        if not offsets:
            return
        done = await write_commits(self._coordinators, self.group, offsets, patience=PATIENCE)
        for problem in bad(done).values():
            if isinstance(problem, BrokerError) and problem.code is codes.UNKNOWN_MEMBER_ID:
                text = "the group has members, which own its offsets"
                raise BrokerError(problem.code, f"group {self.group}", text).hinted("other-group")
            raise problem

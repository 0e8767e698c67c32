"""How far a copy is, kept as the offsets of a group without members in the source's cluster.

No member has to join for that: the offsets belong to one copy, and a second process under the same name is not refused,
so the name tells the owner.
"""

from __future__ import annotations

from collections.abc import Mapping

from kcli import codes
from kcli.admin.groups.commits import committed_offsets, write_commits
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

FINISHED = "finished"  # the metadata of such an offset
PATIENCE = 15.0  # seconds for a coordinator that moves


class Positions:
    """The stored offsets of one group name."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.group = group
        self._coordinators = Coordinators(cluster)

    async def read(self, *, finished: bool = True, stable: bool = True) -> dict[TopicPartition, int]:
        """What is stored; empty for a group that does not exist. Without `finished`, positions that `finish`
        stored are not returned. With `stable`, offsets that a transaction is about to commit are waited for. Raises
        KcliError."""
        commits = await self.commits(stable=stable)
        return {at: where.offset for at, where in commits.items() if finished or where.metadata != FINISHED}

    async def commits(self, *, stable: bool = True) -> dict[TopicPartition, OffsetAndMetadata]:
        """As `read`, with the metadata."""
        commits = (await committed_offsets(self._coordinators, [self.group], stable=stable))[self.group]
        if isinstance(commits, KcliError):
            raise commits
        for answer in commits.values():
            if isinstance(answer, KcliError):
                raise answer
        return {at: where for at, where in good(commits).items() if where.offset >= 0}

    async def finish(self, ends: Mapping[TopicPartition, int]) -> None:
        """Store that a copy is whole: one whose start is counted from the end starts again the next time, and does not
        resume here. Raises KcliError."""
        await self.read()  # else a transaction whose markers are late would write over it
        await self.write({at: OffsetAndMetadata(end, -1, FINISHED) for at, end in ends.items()})

    async def write(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Store them. Whatever passes is tried again for a while. Raises KcliError, UnknownOutcome among them; a group
        that has members refuses (UNKNOWN_MEMBER_ID), because the offsets are theirs then."""
        if not offsets:
            return
        done = await write_commits(self._coordinators, self.group, offsets, patience=PATIENCE)
        for problem in bad(done).values():
            if isinstance(problem, BrokerError) and problem.code is codes.UNKNOWN_MEMBER_ID:
                text = "the group has members: its offsets are theirs"
                raise BrokerError(problem.code, f"group {self.group}", text).hinted("other-group")
            raise problem

"""The rebalance of a classic group: everyone joins again, the leader assigns, and who is silent for too long is gone
(KIP-62, 134)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.sandbox.groups.roster import COMPLETING, DEAD, EMPTY, PREPARING, STABLE, Roster

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.groups.member import Member


class Rebalance(Roster):
    """`delay` is how long, in seconds, the first rebalance of an empty group waits for more members."""

    def __init__(self, name: str, delay: float) -> None:
        super().__init__(name)
        self._delay = delay
        self._deadline: asyncio.TimerHandle | None = None  # of the join phase, then of the sync phase
        self._first_wait = False

    def prepare(self) -> None:
        """Start a rebalance: everyone must join again."""
        for member in self.members.values():
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_result((codes.REBALANCE_IN_PROGRESS, b""))
            if member.syncing is not None:
                member.syncing = None
                self.beat(member)
        self._first_wait = self.state == EMPTY
        self.state = PREPARING
        longest = max((member.rebalance_timeout for member in self.members.values()), default=0.0)
        self._set_deadline(self._delay if self._first_wait else longest, self._time_is_up)
        self._look_complete()

    def _set_deadline(self, seconds: float, then: object) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, then)  # type: ignore[arg-type]

    def _look_complete(self) -> None:
        """All known members have joined, and nobody was sent away to come back with an id."""
        if self.state != PREPARING or self._first_wait or self._pending:
            return
        if all(member.joining is not None for member in self.members.values()):
            self._complete_join()

    def _time_is_up(self) -> None:
        if self.state == PREPARING:
            self._first_wait = False
            self._complete_join()

    def _complete_join(self) -> None:
        for member in [m for m in self.members.values() if m.joining is None and m.instance_id is None]:
            self._discard(member)
        joined = [member for member in self.members.values() if member.joining is not None]
        if not joined:
            if self.members:  # static members that are away: wait on
                self._set_deadline(max(m.rebalance_timeout for m in self.members.values()), self._time_is_up)
            else:
                self._become_empty()
            return
        if self.leader not in self.members or self.members[self.leader].joining is None:
            self.leader = joined[0].id
        self.generation += 1
        self.protocol = self._vote()
        self.state = COMPLETING
        for member in joined:
            waiting, member.joining = member.joining, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result(self._told(member))
        self._set_deadline(max(m.rebalance_timeout for m in self.members.values()), self._sync_time_is_up)

    def _sync_time_is_up(self) -> None:
        """Members that joined and never synced are gone."""
        if self.state != COMPLETING:
            return
        for member in [m for m in self.members.values() if m.syncing is None]:
            self._discard(member)
        self._after_loss()

    def beat(self, member: Member) -> None:
        """The member lives: its session starts anew."""
        member.stop_timer()
        if not member.waits:
            loop = asyncio.get_running_loop()
            member.timer = loop.call_later(member.session_timeout, self._silent, member)

    def _silent(self, member: Member) -> None:
        if self.members.get(member.id) is member and not member.waits:
            self.remove(member)

    def remove(self, member: Member) -> None:
        self._discard(member)
        self._after_loss()

    def _discard(self, member: Member) -> None:
        self.members.pop(member.id, None)
        member.stop_timer()
        if member.instance_id is not None and self._static.get(member.instance_id) == member.id:
            del self._static[member.instance_id]
        if self.leader == member.id:
            self.leader = next(iter(self.members), None)
        self._refuse(member, codes.UNKNOWN_MEMBER_ID)

    def _after_loss(self) -> None:
        if self.state in (STABLE, COMPLETING):
            if self.members:
                self.prepare()
            else:
                self.generation += 1
                self._become_empty()
        elif self.state == PREPARING:
            self._look_complete()

    def _become_empty(self) -> None:
        self.state = EMPTY
        self.protocol = self.leader = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _forget_pending(self, member_id: str) -> None:
        self._pending.pop(member_id, None)
        self._look_complete()

    def close(self) -> None:
        """Stop all timers and answer whoever waits."""
        self.state = DEAD
        for member in self.members.values():
            member.stop_timer()
            self._refuse(member, codes.COORDINATOR_NOT_AVAILABLE)
        for timer in self._pending.values():
            timer.cancel()
        if self._deadline is not None:
            self._deadline.cancel()

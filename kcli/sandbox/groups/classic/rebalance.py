"""The rebalance of a classic group: all members join again, the leader assigns, and silent members are removed
(KIP-62, 134).

Empty → PreparingRebalance (members join) → CompletingRebalance (the leader assigns) → Stable; Dead once closed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcli import codes
from kcli.sandbox.groups.classic.member import Member
from kcli.sandbox.groups.classic.roster import Roster
from kcli.sandbox.groups.states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE


class Rebalance:
    """The state of the group whose members are in `roster`, and its timers. `delay` is how long, in seconds, the first
    rebalance of an empty group waits for more members."""

    def __init__(self, roster: Roster, delay: float) -> None:
        self.state = EMPTY
        self._roster = roster
        self._delay = delay
        self._deadline: asyncio.TimerHandle | None = None  # of the join phase, then of the sync phase
        self._first_wait = False
        self._invited: dict[str, asyncio.TimerHandle] = {}  # ids given out with MEMBER_ID_REQUIRED (KIP-394)

    # -- the join phase -----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Start a rebalance: everyone must join again."""
        members = self._roster.members.values()
        for member in members:
            if member.syncing is not None and not member.syncing.done():
                member.syncing.set_result((codes.REBALANCE_IN_PROGRESS, b""))
            if member.syncing is not None:
                member.syncing = None
                self.beat(member)
        self._first_wait = self.state == EMPTY
        self.state = PREPARING
        longest = max((member.rebalance_timeout for member in members), default=0.0)
        self._set_deadline(self._delay if self._first_wait else longest, self._join_time_is_up)
        self.look_complete()

    def invite(self, member_id: str, seconds: float) -> None:
        """The rebalance waits `seconds` for a new member, which was sent away to come back with this id."""
        self._invited[member_id] = asyncio.get_running_loop().call_later(seconds, self._forget_invited, member_id)

    def was_invited(self, member_id: str) -> bool:
        """Whether the id was given out; it no longer is."""
        timer = self._invited.pop(member_id, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def _forget_invited(self, member_id: str) -> None:
        self._invited.pop(member_id, None)
        self.look_complete()

    def look_complete(self) -> None:
        """End the join phase if all known members have joined, and all invited ones have come."""
        if self.state != PREPARING or self._first_wait or self._invited:
            return
        if all(member.joining is not None for member in self._roster.members.values()):
            self._complete_join()

    def _join_time_is_up(self) -> None:
        if self.state == PREPARING:
            self._first_wait = False
            self._complete_join()

    def _complete_join(self) -> None:
        roster = self._roster
        for member in [m for m in roster.members.values() if m.joining is None and m.instance_id is None]:
            roster.discard(member)
        joined = [member for member in roster.members.values() if member.joining is not None]
        if not joined:
            if roster.members:  # static members that are away: wait on
                self._set_deadline(self._longest_timeout(), self._join_time_is_up)
            else:
                self._become_empty()
            return
        roster.next_generation()
        self.state = COMPLETING
        for member in joined:
            waiting, member.joining = member.joining, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result(roster.join_response(member))
        self._set_deadline(self._longest_timeout(), self._sync_time_is_up)

    # -- the sync phase -----------------------------------------------------------------------------------------------

    def hand_out(self, assignments: dict[str, bytes]) -> None:
        """The leader has assigned: the group is stable."""
        self.state = STABLE
        for member in self._roster.members.values():
            member.assignment = assignments.get(member.id, b"")
            waiting, member.syncing = member.syncing, None
            self.beat(member)
            if waiting is not None and not waiting.done():
                waiting.set_result((codes.NONE, member.assignment))

    def _sync_time_is_up(self) -> None:
        """Remove members that joined and never synced."""
        if self.state != COMPLETING:
            return
        for member in [m for m in self._roster.members.values() if m.syncing is None]:
            self._roster.discard(member)
        self._after_loss()

    # -- members that stay, and members that go -----------------------------------------------------------------------

    def beat(self, member: Member) -> None:
        """A heartbeat of a member: its session starts again."""
        member.stop_timer()
        if not member.waits:
            loop = asyncio.get_running_loop()
            member.timer = loop.call_later(member.session_timeout, self._session_ended, member)

    def _session_ended(self, member: Member) -> None:
        if self._roster.members.get(member.id) is member and not member.waits:
            self.remove(member)

    def remove(self, member: Member) -> None:
        """The member is gone, and the others rebalance."""
        self._roster.discard(member)
        self._after_loss()

    def _after_loss(self) -> None:
        if self.state in (STABLE, COMPLETING):
            if self._roster.members:
                self.prepare()
            else:
                self._roster.generation += 1
                self._become_empty()
        elif self.state == PREPARING:
            self.look_complete()

    def _become_empty(self) -> None:
        self.state = EMPTY
        self._roster.protocol = self._roster.leader = None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    # -- time ---------------------------------------------------------------------------------------------------------

    def _longest_timeout(self) -> float:
        return max(member.rebalance_timeout for member in self._roster.members.values())

    def _set_deadline(self, seconds: float, then: Callable[[], None]) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, then)

    def close(self) -> None:
        """Stop all timers and answer all members that wait."""
        self.state = DEAD
        for member in self._roster.members.values():
            member.stop_timer()
            member.refuse(codes.COORDINATOR_NOT_AVAILABLE)
        for timer in self._invited.values():
            timer.cancel()
        if self._deadline is not None:
            self._deadline.cancel()

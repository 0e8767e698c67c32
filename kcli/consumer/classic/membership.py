"""State machine of a classic member: takes responses and the time, returns what to do next. No I/O.

    OUT → JOINING → SYNCING → STABLE → (rejoin) JOINING …      AWAY: no poll in time, left until the next poll

`generation` is -1 without a membership: partitions owned until then are lost, not revoked.
"""

from __future__ import annotations

from kcli import codes
from kcli.consumer.group.states import (
    AGAIN,
    AWAY,
    CLOSED,
    FAILED,
    FATAL,
    FIND,
    JOINING,
    LOST,
    OUT,
    PROCEED,
    REJOIN,
    RESET,
    RETRY,
    STABLE,
    SYNCING,
    Identity,
    judge,
)
from kcli.errors import BrokerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.settings import GroupSettings

JOIN_GROUP = 11  # SyncGroup and Heartbeat require the same permission


class Membership:
    """The state of one member. Times are in seconds of any monotonic clock."""

    def __init__(self, settings: GroupSettings, now: float) -> None:
        self._settings = settings
        self.state = OUT
        self.member_id = ""
        self.generation = -1
        self.reason: str | None = "joining"  # why a (re)join is needed
        self.error: BaseException | None = None
        self._next_heartbeat = now
        self._session_end = now + settings.session_timeout
        self._poll_end = now + settings.max_poll_interval

    @property
    def identity(self) -> Identity:
        return Identity(self.generation, self.member_id)

    @property
    def reader(self) -> None:
        """The identity for fetching offsets: none."""

    @property
    def wants_join(self) -> bool:
        return self.state == OUT or (self.state == STABLE and self.reason is not None)

    @property
    def rejoining(self) -> bool:
        """Whether a rebalance is known and its assignment has not arrived yet."""
        return self.state in (OUT, JOINING, SYNCING) or self.reason is not None

    # -- user's calls ---

    def polled(self, now: float) -> None:
        """The user polled: the member is alive, and joins again if it had left because of max.poll.interval."""
        self._poll_end = now + self._settings.max_poll_interval
        if self.state == AWAY:
            self.state, self.reason = OUT, "polled again"

    def ask_rejoin(self, reason: str) -> None:
        """Request a rebalance after the current one, if any. The first reason is kept."""
        if self.state not in (FAILED, CLOSED):
            self.reason = self.reason or reason

    def fail(self, error: BaseException) -> None:
        """End with an error from outside."""
        if self.state != CLOSED:
            self.state, self.generation, self.error = FAILED, -1, error

    def close(self) -> None:
        """End: later responses change nothing."""
        if self.state != FAILED:
            self.state = CLOSED

    # -- joining ---

    def start_join(self) -> None:
        """A JoinGroup is sent; while the coordinator holds it, no heartbeats are needed."""
        self.state, self.reason = JOINING, None

    def joined(self, number: int, generation: int, member_id: str, now: float) -> str:
        """Handle the error `number` of JoinGroup."""
        if self.state != JOINING:
            return PROCEED
        code = codes.of(number)
        step = judge("join", code)
        if step == PROCEED:
            self.state = SYNCING
            self.generation, self.member_id = generation, member_id
            self._alive(now)
            return PROCEED
        if step == AGAIN:
            self.member_id = member_id
            return AGAIN
        return self._apply(step, code)

    def synced(self, number: int, now: float) -> str:
        """Handle the error `number` of SyncGroup."""
        if self.state != SYNCING:
            return PROCEED
        code = codes.of(number)
        step = judge("sync", code)
        if step == PROCEED:
            self.state = STABLE
            self._alive(now)
            return PROCEED
        if step in (REJOIN, RETRY, FIND):  # the assignment of this generation will not arrive
            self.state, self.reason = OUT, code.name
            return step
        return self._apply(step, code)

    def interrupted(self, reason: str) -> None:
        """A join or sync got no response: start over with the same member id and generation."""
        if self.state in (JOINING, SYNCING):
            self.state, self.reason = OUT, reason

    # -- heartbeats and offsets ---

    def heartbeat(self, number: int, asked: Identity, now: float) -> str:
        """Handle the error `number` of a heartbeat."""
        if asked != self.identity or self.state not in (STABLE, SYNCING):
            return PROCEED
        code = codes.of(number)
        step = judge("heartbeat", code)
        if step in (PROCEED, REJOIN):  # in both cases the coordinator knows this member
            self._alive(now)
            if step == REJOIN and self.state == STABLE:
                self.ask_rejoin("a rebalance is in progress")
            return PROCEED
        return self._apply(step, code)

    def committed(self, number: int, asked: Identity) -> str:
        """Handle the error `number` of a partition in an OffsetCommit. A commit that coincides with a rebalance never
        starts another one."""
        code = codes.of(number)
        step = judge("commit", code)
        if asked == self.identity and self.state == STABLE:
            if step == REJOIN:
                self.ask_rejoin("a commit met a rebalance")
            elif step in (LOST, RESET, FATAL):
                self._apply(step, code)
        return step

    @staticmethod
    def fetched(number: int, asked: Identity | None) -> str:
        """Handle the error `number` of an OffsetFetch."""
        return judge("commit", codes.of(number))

    def heartbeat_sent(self, now: float) -> None:
        self._next_heartbeat = now + self._settings.heartbeat_interval

    def heartbeat_failed(self, now: float, pause: float) -> None:
        """A heartbeat got no response: the next one is sent sooner, while the session timeout keeps running."""
        self._next_heartbeat = min(self._next_heartbeat, now + pause)

    def tick(self, now: float) -> str | None:
        """Return what is due: "heartbeat", "expired" (the session timed out: all partitions are lost), "away" (no poll
        in time: leave), "silent", or None."""
        if self.state == STABLE and now >= self._poll_end:
            self.state, self.generation = AWAY, -1
            self.reason = None
            if self._settings.instance_id is None:
                return "away"
            return "silent"  # a static member just stops; the others learn of it when its session ends
        if self.generation >= 0 and self.state in (STABLE, SYNCING, OUT) and now >= self._session_end:
            self._drop("the session expired", forget_id=False)
            return "expired"
        if self.state in (STABLE, SYNCING) and now >= self._next_heartbeat:
            return "heartbeat"
        return None

    def deadline(self) -> float | None:
        """When `tick` next has something due."""
        if self.state == STABLE:
            return min(self._next_heartbeat, self._session_end, self._poll_end)
        if self.state == SYNCING:
            return min(self._next_heartbeat, self._session_end)
        return self._session_end if self.state == OUT and self.generation >= 0 else None

    # -- inside ---

    def _alive(self, now: float) -> None:
        self._next_heartbeat = now + self._settings.heartbeat_interval
        self._session_end = now + self._settings.session_timeout

    def _drop(self, reason: str, *, forget_id: bool) -> None:
        self.state, self.generation, self.reason = OUT, -1, reason
        if forget_id:
            self.member_id = ""

    def _apply(self, step: str, code: ErrorCode) -> str:
        if step in (LOST, RESET):
            self._drop(code.name, forget_id=step == RESET)
        elif step == FATAL:
            self.state, self.generation = FAILED, -1
            self.error = BrokerError(code, self._settings.group, api=JOIN_GROUP, group=self._settings.group)
        elif self.state == JOINING:
            self.state, self.reason = OUT, code.name
        return step

"""A classic member's life as a state machine: answers and the time go in, what to do next comes out. No I/O.

    OUT → JOINING → SYNCING → STABLE → (rejoin) JOINING …      AWAY: not polled in time, left until polled again
`generation` is -1 when the membership is gone: whatever was owned then is lost, not revoked (E53).
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

JOIN_GROUP = 11  # SyncGroup and Heartbeat take the same right


class Membership:
    """One member. Times are seconds of any clock that only goes forward."""

    def __init__(self, settings: GroupSettings, now: float) -> None:
        self._settings = settings
        self.state = OUT
        self.member_id = ""
        self.generation = -1
        self.reason: str | None = "joining"  # why a (re)join is wanted
        self.error: BaseException | None = None
        self._next_heartbeat = now
        self._session_end = now + settings.session_timeout
        self._poll_end = now + settings.max_poll_interval

    @property
    def identity(self) -> Identity:
        return Identity(self.generation, self.member_id)

    @property
    def reader(self) -> None:
        """The identity for reading offsets: none."""

    @property
    def wants_join(self) -> bool:
        return self.state == OUT or (self.state == STABLE and self.reason is not None)

    @property
    def rejoining(self) -> bool:
        """True from the moment a rebalance is known until its assignment is there."""
        return self.state in (OUT, JOINING, SYNCING) or self.reason is not None

    # -- what the user does ---

    def polled(self, now: float) -> None:
        """The user took records: the member is alive, and comes back if it had left for not being so (E47)."""
        self._poll_end = now + self._settings.max_poll_interval
        if self.state == AWAY:
            self.state, self.reason = OUT, "polled again"

    def ask_rejoin(self, reason: str) -> None:
        """Rebalance when the present one, if any, is over. The first reason stays."""
        if self.state not in (FAILED, CLOSED):
            self.reason = self.reason or reason

    def fail(self, error: BaseException) -> None:
        """The end, for a reason from outside."""
        if self.state != CLOSED:
            self.state, self.generation, self.error = FAILED, -1, error

    def close(self) -> None:
        """Nothing that comes in later changes anything."""
        if self.state != FAILED:
            self.state = CLOSED

    # -- joining ---

    def start_join(self) -> None:
        """A JoinGroup goes out: the coordinator keeps us alive without heartbeats while it holds it."""
        self.state, self.reason = JOINING, None

    def joined(self, number: int, generation: int, member_id: str, now: float) -> str:
        """JoinGroup was answered with error `number`."""
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
        """SyncGroup was answered with error `number`."""
        if self.state != SYNCING:
            return PROCEED
        code = codes.of(number)
        step = judge("sync", code)
        if step == PROCEED:
            self.state = STABLE
            self._alive(now)
            return PROCEED
        if step in (REJOIN, RETRY, FIND):  # the assignment of this generation will not come
            self.state, self.reason = OUT, code.name
            return step
        return self._apply(step, code)

    def interrupted(self, reason: str) -> None:
        """A join or sync was not answered: it starts over, with the same member id and generation."""
        if self.state in (JOINING, SYNCING):
            self.state, self.reason = OUT, reason

    # -- staying ---

    def heartbeat(self, number: int, asked: Identity, now: float) -> str:
        """A heartbeat was answered with error `number`."""
        if asked != self.identity or self.state not in (STABLE, SYNCING):
            return PROCEED
        code = codes.of(number)
        step = judge("heartbeat", code)
        if step in (PROCEED, REJOIN):  # either way the coordinator knows us (E46)
            self._alive(now)
            if step == REJOIN and self.state == STABLE:
                self.ask_rejoin("a rebalance is in progress")
            return PROCEED
        return self._apply(step, code)

    def committed(self, number: int, asked: Identity) -> str:
        """A partition of an OffsetCommit was answered with error `number`. A commit that meets the group's own
        rebalance half-way never starts another one (E52)."""
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
        """An OffsetFetch was answered with error `number`."""
        return judge("commit", codes.of(number))

    def heartbeat_sent(self, now: float) -> None:
        self._next_heartbeat = now + self._settings.heartbeat_interval

    def heartbeat_failed(self, now: float, pause: float) -> None:
        """No answer: the next one comes sooner, the session's time runs on."""
        self._next_heartbeat = min(self._next_heartbeat, now + pause)

    def tick(self, now: float) -> str | None:
        """What time demands: "heartbeat", "expired" (the session is over: all is lost), "away" (the user did not
        poll: leave), or nothing."""
        if self.state == STABLE and now >= self._poll_end:
            self.state, self.generation = AWAY, -1
            self.reason = None
            if self._settings.instance_id is None:
                return "away"
            return "silent"  # a static member just stops; the session's end will tell the others (E48)
        if self.generation >= 0 and self.state in (STABLE, SYNCING, OUT) and now >= self._session_end:
            self._drop("the session expired", forget_id=False)
            return "expired"
        if self.state in (STABLE, SYNCING) and now >= self._next_heartbeat:
            return "heartbeat"
        return None

    def deadline(self) -> float | None:
        """When `tick` has something to say next."""
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

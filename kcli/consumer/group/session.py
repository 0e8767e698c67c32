"""A running group member: the parts that all kinds of membership share.

One task changes the owned partitions, and only it calls callbacks; one sends heartbeats independently; one commits
periodically. A task that fails ends the session.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod

from kcli import codes
from kcli.backoff import LEAST, Floor
from kcli.consumer.group.coordinator import Coordinator
from kcli.consumer.group.states import AWAY, JOINING, STABLE, SYNCING
from kcli.errors import BrokerError, Closed, KcliError
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, TimerHandle
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from kcli.consumer.group.assigned import Holdings, Positions
    from kcli.consumer.group.commit import Member, Offsets
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
    from kcli.settings import GroupSettings

LOG = Log("consumer.group")
STALE = frozenset(
    {
        "REBALANCE_IN_PROGRESS",
        "ILLEGAL_GENERATION",
        "UNKNOWN_MEMBER_ID",
        "STALE_MEMBER_EPOCH",
        "FENCED_MEMBER_EPOCH",
    }
)
OVER = {
    "away": "no poll within max.poll.interval.ms: the member leaves until the next poll",
    "silent": "no poll within max.poll.interval.ms: the member sends no heartbeats until the next poll",
    "expired": "the session expired: no heartbeat was answered within session.timeout.ms",
}
OVERDUE = 1.0
"""Seconds by which a heartbeat may be late before it is clear that the whole process was stopped."""
PULSE = 0.25
"""Seconds between checks that the loop runs while a heartbeat is in flight."""


def overtaken(error: KcliError) -> bool:
    """Whether a commit was refused because the group has continued without this member or past this generation."""
    return isinstance(error, BrokerError) and error.code.name in STALE


class Session(ABC):
    """A membership from `start` to `close`. Times are in seconds.

    `on_failed` is called once if the session ends by itself, `on_settled` after each rebalance with its duration,
    `on_trusted` when the coordinator has responded after the process was stopped. Subclasses set `_member`, `_offsets`
    and `_share`.
    """

    _member: Member
    _offsets: Offsets
    _share: Holdings

    def __init__(
        self,
        cluster: Cluster,
        settings: GroupSettings,
        positions: Positions,
        *,
        request_timeout: float,
        retry_backoff: float,
        retry_backoff_max: float,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._positions = positions
        self._loop = asyncio.get_running_loop()
        self._coordinator = Coordinator(
            cluster,
            settings.group,
            request_timeout=request_timeout,
            retry_backoff=retry_backoff,
            retry_backoff_max=retry_backoff_max,
        )
        self._changed = asyncio.Event()  # for the rebalancing task
        self._timers = asyncio.Event()  # for the heartbeat task
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        self._floor = Floor(LEAST)  # between heartbeats
        self._standstill = Standstill(self._loop)
        self.failed: BaseException | None = None
        self.on_failed: Callable[[BaseException], None] | None = None
        self.on_settled: Callable[[float], None] | None = None
        self.on_trusted: Callable[[], None] | None = None
        self.alive: Callable[[], bool] | None = None  # whether the program took records without a poll
        self._simple = False  # only commits, for manually assigned partitions
        self._rebalancing_since: float | None = None

    def _rebalance_begins(self) -> None:
        if self._rebalancing_since is None:
            self._rebalancing_since = self._loop.time()

    def _rebalance_is_over(self) -> None:
        if self._rebalancing_since is not None and self.on_settled is not None:
            self.on_settled(self._loop.time() - self._rebalancing_since)
        self._rebalancing_since = None

    # -- implemented by each kind ---

    @abstractmethod
    def _subscribe(self, wanted: Sequence[str] | str) -> None:
        """Set the subscription. Raises UsageError."""

    @abstractmethod
    def _work(self) -> dict[str, Callable[[], Awaitable[None]]]:
        """Return the tasks by name; one is "rebalance"."""

    @abstractmethod
    async def _beat(self) -> bool:
        """Send a heartbeat and handle the response. Returns False if the coordinator did not respond."""

    @abstractmethod
    async def _leave(self, reason: str) -> None:
        """Tell the coordinator."""

    # -- heartbeats ---

    async def _heartbeat(self) -> None:
        """Sleep until the next deadline of the membership, or until something changes it."""
        while True:
            self._timers.clear()
            try:
                async with asyncio.timeout_at(self._member.deadline()):
                    await self._timers.wait()
            except TimeoutError:
                pass  # a deadline has passed
            self._standstill.check(self._member.deadline())
            if self.alive is not None and self.alive() and self._member.state != AWAY:
                self._member.polled(self._loop.time())
            due = self._member.tick(self._loop.time())
            if due not in (None, "heartbeat"):
                LOG.warning("%s: %s", self._settings.group, OVER.get(due, due))
            if due == "heartbeat":
                while await self._beat_once():
                    LOG.info("%s: the process stood still: another heartbeat follows", self._settings.group)
            elif due == "away":
                self._wake()
                await self._leave("no poll within max.poll.interval")
            if due not in (None, "heartbeat"):
                self._standstill.over()
            if due is not None:
                self._wake()

    async def _beat_once(self) -> bool:
        """Return True if the process was stopped meanwhile, so that another heartbeat is sent at once."""
        await asyncio.sleep(self._floor.wait(self._loop.time()))
        self._standstill.check(self._member.deadline())  # the process may have been stopped during this wait, too
        self._standstill.sent()
        answered, doubted = False, self._standstill.unsure
        try:
            answered = await self._beat()
        finally:
            again = self._standstill.ended(answered)
        if doubted and not self._standstill.unsure and self.on_trusted is not None:
            self.on_trusted()
        return again and self._member.generation >= 0

    # -- state ---

    @property
    def member_id(self) -> str:
        return self._member.member_id

    @property
    def generation(self) -> int:
        """-1 while there is no membership."""
        return self._member.generation

    @property
    def rejoining(self) -> bool:
        """Whether a rebalance is known and its assignment has not arrived yet."""
        return self._member.rejoining

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that may be read now, without those being revoked and those lost but not yet reported. After a
        stop of the process it is empty until the coordinator has responded."""
        if self.failed is not None or self._standstill.unsure or self._member.generation < 0:
            return frozenset()
        return self._share.owned

    @property
    def patience(self) -> float | None:
        """Seconds left to give up the partitions being revoked: 0.0 if they are lost, None if there are none."""
        return self._share.patience

    @property
    def commit_error(self) -> KcliError | None:
        """The error of the last automatic commit."""
        return self._share.commit_error

    def check(self) -> None:
        """Raise the error that ended the session, if it ended."""
        if self.failed is not None:
            raise self.failed
        if self._closed:
            raise Closed(f"{self._settings.group}: the group session was closed")

    # -- user's calls ---

    async def start(self, wanted: Sequence[str] | str) -> None:
        """Subscribe to topics, or to all that fully match a regular expression; a second call changes the subscription.

        Returns at once; the assignment is passed to the callbacks. Raises UsageError for an invalid expression.
        """
        self.check()
        self._subscribe(wanted)
        if "rebalance" not in self._tasks:
            self._simple = False
            self._member.polled(self._loop.time())
            for name, work in self._work().items():
                self._spawn(name, work)
            if self._settings.commits_by_itself and "commit" not in self._tasks:
                self._spawn("commit", self._commit_regularly)
        self._wake()

    def keep_committing(self) -> None:
        """Commit processed records of manually assigned partitions: without a membership, like Kafka's own clients do
        for a group without members."""
        if self._settings.commits_by_itself and not self._tasks:
            self._simple = True
            self._spawn("commit", self._commit_regularly)

    def polled(self) -> None:
        """The user is alive: call this whenever records are requested. Raises the error that ended the session."""
        self.check()
        away = self._member.state == AWAY
        self._standstill.check(self._member.deadline())
        self._member.polled(self._loop.time())
        if away:
            self._wake()

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], *, timeout: float | None = None
    ) -> None:
        """Commit the next offsets to read; returns when the coordinator has stored them.

        `timeout` None means the rebalance timeout, or the rest of a current revocation. Raises BrokerError
        (ILLEGAL_GENERATION for a partition that is not owned; REBALANCE_IN_PROGRESS: try again after the rebalance),
        DeadlineExceeded, ConnectError; `sent` of each means that the commit may have been executed.
        """
        self.check()
        if not offsets:
            return
        deadline = self._deadline(timeout)
        if timeout is None and self._share.deadline is not None:
            deadline = min(deadline, self._share.deadline)
        await self._offsets.write(offsets, deadline, self._check_of(offsets))

    async def committed(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Return the group's committed offsets, None for a partition without one; never a guess. Raises like
        `commit`."""
        self.check()
        return await self._offsets.read(partitions, self._deadline(timeout))

    async def close(self, timeout: float = 30.0) -> None:
        """Commit (if automatic), give up all partitions and leave (unless static), within `timeout`. Raises the error
        of the last commit."""
        if self._closed:
            return
        self._closed = True
        deadline = self._loop.time() + timeout
        await self._end("watch", "commit")
        self._share.hurry()
        try:
            async with asyncio.timeout_at(deadline):
                async with self._share.quiet:  # a running callback may finish
                    await self._end("rebalance")
                    self._share.commit_error = None
                    if self.failed is None:
                        await self._give_up_all()
                    else:
                        await self._share.lose()
                if not self._simple:
                    await self._leave("the consumer is being closed")
        except TimeoutError:
            pass  # the deadline is kept; the session timeout tells the others
        finally:
            self._member.close()
            await self._end("rebalance", "heartbeat")
        if self._share.commit_error is not None:
            raise self._share.commit_error

    async def _give_up_all(self) -> None:
        if self._simple:
            await self._commit(self._new(None))
        elif self._member.generation < 0:
            await self._share.lose()
        else:
            await self._share.revoke(self._share.owned, settle=False)

    async def _commit_regularly(self) -> None:
        """Commit what was returned and processed. An explicit commit in progress goes first."""
        while True:
            await asyncio.sleep(max(self._settings.auto_commit_interval, LEAST))
            stable = self._simple or (self._member.state == STABLE and not self._member.rejoining)
            if stable and not self._offsets.busy:
                await self._commit(self._new(None if self._simple else set(self._share.owned)))

    def _new(self, partitions: set[TopicPartition] | None) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the positions that are done and not yet committed."""
        written = self._offsets.written
        offsets = self._positions.to_commit(partitions)
        return {at: offset for at, offset in offsets.items() if written.get(at) != offset}

    async def _commit(self, offsets: dict[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit periodically. A failure is reported and followed by the next commit, unless the group refuses it."""
        if not offsets:
            return
        try:
            await self._offsets.write(
                offsets, self._deadline(self._settings.auto_commit_interval), self._check_of(offsets)
            )
            self._share.commit_error = None
        except KcliError as error:
            LOG.warning("%s: a commit failed: %s", self._settings.group, error)
            self._share.commit_error = error  # the next one has the same offsets or later ones
            if isinstance(error, BrokerError) and not error.retriable and not overtaken(error):
                raise

    # -- inside ---

    def _check_of(self, offsets: Iterable[TopicPartition]) -> Callable[[Iterable[TopicPartition]], None] | None:
        """Return a function that refuses a commit before each attempt.

        A retry may come after a partition was revoked and assigned again: its next owner, or this member, has restarted
        at the last commit, and an old position must not overwrite that.
        """
        if "rebalance" not in self._tasks:
            return None
        times = {at: self._share.times.get(at) for at in offsets}

        def check(left: Iterable[TopicPartition]) -> None:
            self._check_owned(left)
            for at in left:
                if self._share.times.get(at) != times[at]:
                    raise self._not_ours(at, "was taken from this member of %s meanwhile")

        return check

    def _check_owned(self, offsets: Iterable[TopicPartition]) -> None:
        if self._member.generation < 0 and self._share.owned:
            raise BrokerError(
                codes.REBALANCE_IN_PROGRESS,
                self._settings.group,
                "this member must rejoin; nothing was committed",
            )
        # pending ones, too: a commit without membership could overwrite another member's
        lost = self._member.generation < 0
        for at in offsets:
            if lost or (at not in self._share.owned and at not in self._share.pending):
                raise self._not_ours(at, "not assigned to this member of %s now")

    def _not_ours(self, at: TopicPartition, why: str) -> BrokerError:
        text = f"{why % self._settings.group}; nothing was committed"
        return BrokerError(codes.ILLEGAL_GENERATION, f"{at.topic}-{at.partition}", text)

    def _deadline(self, timeout: float | None) -> float:
        return self._loop.time() + (self._settings.rebalance_timeout if timeout is None else timeout)

    def _wake(self) -> None:
        self._changed.set()
        self._timers.set()

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self._tasks[name] = asyncio.create_task(self._guard(work), name=f"kcli group {self._settings.group}: {name}")

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a task whose end ends the session."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, no caller may wait forever
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self.failed is not None or self._closed:
            return
        self.failed = error
        LOG.warning("%s: the membership ended: %s", self._settings.group, error)
        joining = self._member.state in (JOINING, SYNCING)
        self._member.fail(error)
        me = asyncio.current_task()
        for name, task in list(self._tasks.items()):
            if name == "rebalance" and (task is me or (joining and not self._share.quiet.locked())):
                self._spawn("rebalance", lambda ended=task: self._lose_after(ended))  # type: ignore[misc]
            elif name == "rebalance":
                continue  # it still has to report what was lost
            if task is not me:
                task.cancel()
        self._wake()
        if self.on_failed is not None:
            self.on_failed(error)

    async def _lose_after(self, ended: asyncio.Task[None]) -> None:
        """Report partitions that a cooperative member still owns when the rebalancing task ends in the middle of a
        join."""
        await asyncio.wait({ended})
        async with self._share.quiet:
            await self._share.lose()

    async def _end(self, *names: str) -> None:
        tasks = [task for name in names if (task := self._tasks.get(name)) is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class Standstill:
    """Detects that the event loop did not run, for example because the process was stopped.

    `unsure` from then on until the coordinator has answered a heartbeat sent later: the response to a heartbeat in
    flight may have been written before the stop.
    """

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._pulse: TimerHandle | None = None  # while a heartbeat is in flight
        self._alive = 0.0  # when the loop last ran, tracked only then
        self._stopped_under_way = False
        self.unsure = False

    def check(self, due: float | None) -> None:
        """Call this before a poll and before a heartbeat, so that the first of them notices a stop. `due` is when the
        next heartbeat has to be sent: None without one, 0 for at once."""
        if self._pulse is not None:
            if self._loop.time() - self._alive > PULSE + OVERDUE:
                self.unsure = self._stopped_under_way = True
        elif due is not None and due > 0 and self._loop.time() - due > OVERDUE:
            self.unsure = True

    def sent(self) -> None:
        """A heartbeat was sent."""
        self._stopped_under_way = False
        self._beat()

    def ended(self, answered: bool) -> bool:
        """The heartbeat was answered, or not. Returns True if the response may be older than a stop: send another
        heartbeat."""
        self.check(None)
        self.close()
        if answered and not self._stopped_under_way:
            self.unsure = False
        return answered and self.unsure

    def over(self) -> None:
        """The membership ended, and with it the doubt."""
        self.unsure = False

    def close(self) -> None:
        """Stop the timers."""
        if self._pulse is not None:
            self._pulse.cancel()
            self._pulse = None

    def _beat(self) -> None:
        if self._pulse is not None:
            self.check(None)
        self._alive = self._loop.time()
        self._pulse = self._loop.call_later(PULSE, self._beat)

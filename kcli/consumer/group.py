"""A member of a classic consumer group, running: the tasks around the membership's state machine.

One task rebalances and is the only one that calls back; one sends heartbeats, whatever the others do (E46); one watches
the topics; one commits from time to time. A task that dies takes the session with it (B29).
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.consumer.commit import Offsets
from kcli.consumer.coordinator import Coordinator, transient
from kcli.consumer.interest import Interest
from kcli.consumer.membership import AWAY, FAILED, FATAL, FIND, JOINING, PROCEED, RETRY, STABLE, SYNCING, Membership
from kcli.consumer.rebalance import Rebalance
from kcli.errors import BrokerError, Closed, KcliError
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from kcli.consumer.bounds import OffsetAndEpoch
    from kcli.consumer.rebalance import Callbacks, Positions
    from kcli.model import Cluster, TopicPartition
    from kcli.settings import GroupSettings

LEAVE_GROUP = 13
STALE = frozenset({"REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"})
FIRST_WATCH = 1.0  # seconds, doubling: how often topics that do not exist yet are looked for


class GroupSession:
    """Joins on `start`, keeps the membership, leaves on `close`. Times are seconds; the `request_timeout` is of one
    request, JoinGroup and SyncGroup have their own. `on_failed` is called once when the session ends by itself."""

    def __init__(
        self, cluster: Cluster, settings: GroupSettings, callbacks: Callbacks, positions: Positions, *,
        request_timeout: float = 30.0, retry_backoff: float = 0.1, retry_backoff_max: float = 1.0,
        metadata_max_age: float = 300.0,
    ) -> None:  # fmt: skip
        self._cluster = cluster
        self._settings = settings
        self._positions = positions
        self._loop = asyncio.get_running_loop()
        self._coordinator = Coordinator(
            cluster, settings.group, request_timeout=request_timeout, retry_backoff=retry_backoff,
            retry_backoff_max=retry_backoff_max,
        )  # fmt: skip
        self._backoff = retry_backoff
        self._metadata_max_age = metadata_max_age
        self._member = Membership(settings, self._loop.time())
        self._offsets = Offsets(cluster, self._coordinator, self._member, settings.instance_id, self._wake)
        self._share = Rebalance(
            self._member, self._coordinator, self._offsets, settings, callbacks, positions, self._loop.time, self._wake
        )
        self._interest: Interest | None = None
        self._changed = asyncio.Event()  # for the rebalancing task
        self._timers = asyncio.Event()  # for the heartbeat task
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        self.failed: BaseException | None = None
        self.on_failed: Callable[[BaseException], None] | None = None

    # -- what is ---

    @property
    def member_id(self) -> str:
        return self._member.member_id

    @property
    def generation(self) -> int:
        """-1 while there is no membership."""
        return self._member.generation

    @property
    def rejoining(self) -> bool:
        """True from the moment a rebalance is known until its assignment is there."""
        return self._member.rejoining

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """What may be read now; partitions about to be revoked are not in it any more (E52)."""
        return frozenset() if self.failed is not None else self._share.owned

    @property
    def commit_error(self) -> KcliError | None:
        """Why the last automatic commit did not succeed."""
        return self._share.commit_error

    def check(self) -> None:
        """Raises what ended the session, if something did."""
        if self.failed is not None:
            raise self.failed
        if self._closed:
            raise Closed(f"{self._settings.group}: the group session was closed")

    # -- what the user does ---

    async def start(self, wanted: Sequence[str] | str) -> None:
        """Subscribe to topics, or to all that match a regular expression whole; again: change the subscription.
        Returns at once, the assignment comes by callback. Raises UsageError for a bad expression."""
        self.check()
        self._interest = Interest(self._cluster, wanted)
        self._member.ask_rejoin("the subscription changed")
        if not self._tasks:
            self._member.polled(self._loop.time())
            self._spawn("rebalance", self._rebalance)
            self._spawn("heartbeat", self._heartbeat)
            self._spawn("watch", self._watch)
            if self._settings.auto_commit:
                self._spawn("commit", self._commit_regularly)
        self._wake()

    def polled(self) -> None:
        """The user is alive (E47): to be called whenever records are asked for. Raises what ended the session."""
        self.check()
        away = self._member.state == AWAY
        self._member.polled(self._loop.time())
        if away:
            self._wake()

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndEpoch], *, timeout: float | None = None) -> None:
        """Commit the next offsets to read; returns when the coordinator has them. `timeout` None is the rebalance
        timeout. Raises BrokerError (ILLEGAL_GENERATION for a partition that is not ours now, REBALANCE_IN_PROGRESS:
        try again after the rebalance), DeadlineExceeded, ConnectError."""
        self.check()
        if not offsets:
            return
        await self._offsets.write(offsets, self._deadline(timeout), self._check_owned if self._tasks else None)

    async def committed(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """The group's committed offsets, None where there is none; never a guess (E19). Raises as `commit`."""
        self.check()
        return await self._offsets.read(partitions, self._deadline(timeout))

    async def close(self, timeout: float = 30.0) -> None:
        """Commit (if automatic), give all up, leave (unless static, E48), within `timeout`. Raises what kept the
        last commit from succeeding."""
        if self._closed:
            return
        self._closed = True
        deadline = self._loop.time() + timeout
        await self._end("watch", "commit")
        self._share.hurry()
        try:
            async with asyncio.timeout_at(deadline):
                async with self._share.quiet:  # a callback that runs may finish
                    await self._end("rebalance")
                    self._share.commit_error = None
                    if self.failed is None:
                        await self._give_up_all()
                    else:
                        await self._share.lose()
                await self._leave("the consumer is being closed")
        except TimeoutError:
            pass  # E44: the deadline is kept; the session's timeout tells the others
        finally:
            self._member.close()
            await self._end("rebalance", "heartbeat")
        if self._share.commit_error is not None:
            raise self._share.commit_error

    # -- rebalancing ---

    async def _rebalance(self) -> None:
        attempt = 0
        while True:
            await self._until_needed()
            assert self._interest is not None
            async with self._share.quiet:
                if self._member.state in (AWAY, FAILED):
                    await self._share.lose()
                    if self._member.error is not None:
                        raise self._member.error
                    continue
                await self._share.give_up(self._interest)
            if not self._member.wants_join:
                continue
            step = await self._try_join(self._interest)
            self._timers.set()
            if step == FIND:
                self._coordinator.moved()
            if step in (FIND, RETRY) or (step not in (PROCEED, FATAL) and attempt):
                await self._coordinator.pause(attempt)
            attempt = 0 if step == PROCEED else attempt + 1

    async def _until_needed(self) -> None:
        """Level-triggered: the flag is cleared before the state is read (A3.09)."""
        while True:
            self._changed.clear()
            member = self._member
            if member.wants_join or member.state == FAILED or (member.state == AWAY and self._share.owned):
                return
            await self._changed.wait()

    async def _try_join(self, interest: Interest) -> str:
        try:
            return await self._share.join(interest)
        except KcliError as error:
            if not transient(error):
                raise
            return FIND

    async def _give_up_all(self) -> None:
        if self._member.generation < 0:
            await self._share.lose()
        else:
            await self._share.revoke(self._share.owned, settle=False)

    async def _leave(self, reason: str) -> None:
        member, settings = self._member, self._settings
        if not member.member_id or settings.instance_id is not None or member.state == FAILED:
            return
        name = member.member_id
        if self._closed:
            member.close()  # heartbeats that are answered later mean nothing
        else:
            member.member_id = ""

        def build(version: int) -> LeaveGroupRequest:
            if version < 3:
                return LeaveGroupRequest(group_id=settings.group, member_id=name)
            one = MemberIdentity(member_id=name, reason=reason)
            return LeaveGroupRequest(group_id=settings.group, members=[one])

        for attempt in range(3):
            try:
                answer = await self._coordinator.ask_version(build, LEAVE_GROUP, timeout=5.0)
            except KcliError as error:
                if not transient(error):
                    raise
            else:
                if codes.of(answer.error_code).name not in ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"):
                    return
                self._coordinator.moved()
            await self._coordinator.pause(attempt)

    # -- staying alive ---

    async def _heartbeat(self) -> None:
        while True:
            self._timers.clear()
            deadline = self._member.deadline()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._timers.wait()
            except TimeoutError:
                pass  # a deadline of the membership came
            due = self._member.tick(self._loop.time())
            if due == "heartbeat":
                await self._beat()
            elif due == "away":
                self._wake()
                await self._leave("no poll within max.poll.interval")
            if due is not None:
                self._wake()

    async def _beat(self) -> None:
        member = self._member
        asked = member.identity
        member.heartbeat_sent(self._loop.time())
        request = HeartbeatRequest(
            group_id=self._settings.group, generation_id=asked.generation, member_id=asked.member_id,
            group_instance_id=self._settings.instance_id,
        )  # fmt: skip
        patience = min(self._coordinator.request_timeout, self._settings.session_timeout / 3)
        try:
            async with asyncio.timeout(patience):
                answer = await self._coordinator.ask(request, timeout=patience)
        except TimeoutError:
            self._coordinator.moved()
            member.heartbeat_failed(self._loop.time(), self._backoff)
            return
        except KcliError as error:
            if not transient(error):
                raise
            member.heartbeat_failed(self._loop.time(), self._backoff)
            return
        step = member.heartbeat(answer.error_code, asked, self._loop.time())
        if step == FIND:
            self._coordinator.moved()
        if step in (FIND, RETRY):
            member.heartbeat_failed(self._loop.time(), self._backoff)

    # -- looking ---

    async def _watch(self) -> None:
        """Join again when what the assignment was made from has changed (E49, E54)."""
        pause = FIRST_WATCH
        while True:
            await asyncio.sleep(min(pause, self._metadata_max_age))
            pause = min(pause * 2, self._metadata_max_age)
            if self._member.state != STABLE or self._interest is None:
                pause = FIRST_WATCH
                continue
            try:
                reason = await self._difference(self._interest)
            except KcliError as error:
                if not transient(error):
                    raise
                continue
            if reason:
                self._member.ask_rejoin(reason)
                self._wake()
                pause = FIRST_WATCH

    async def _difference(self, interest: Interest) -> str | None:
        generation = self._member.generation
        reason = None
        if interest.by_pattern and await interest.look() != self._share.joined_topics:
            reason = "other topics match the subscription"
        elif self._share.watched is not None:
            seen = await interest.layout(self._share.watched_topics, with_racks=self._share.racks_matter)
            if seen != self._share.watched:
                reason = "the topics' partitions changed"
        return reason if generation == self._member.generation else None

    async def _commit_regularly(self) -> None:
        """What was delivered and done (E38). A commit by hand under way goes first (E42)."""
        while True:
            await asyncio.sleep(self._settings.auto_commit_interval)
            if self._member.state != STABLE or self._member.rejoining or self._offsets.busy:
                continue
            offsets = self._positions.to_commit(set(self._share.owned))
            written = self._offsets.written
            new = {at: offset for at, offset in offsets.items() if written.get(at) != offset}
            if not new:
                continue
            try:
                await self._offsets.write(new, self._deadline(self._settings.auto_commit_interval))
                self._share.commit_error = None
            except KcliError as error:
                self._share.commit_error = error  # the next one has the same offsets or later ones
                if isinstance(error, BrokerError) and not transient(error) and error.code.name not in STALE:
                    raise

    # -- inside ---

    def _check_owned(self, offsets: Iterable[TopicPartition]) -> None:
        if self._member.generation < 0 and self._share.owned:
            raise BrokerError(
                codes.REBALANCE_IN_PROGRESS,
                self._settings.group,
                "this member has to join again, nothing was committed",
            )
        for at in offsets:
            if at not in self._share.owned and at not in self._share.pending:
                raise BrokerError(
                    codes.ILLEGAL_GENERATION, f"{at.topic}-{at.partition}",
                    f"not assigned to this member of {self._settings.group} now, nothing was committed",
                )  # fmt: skip

    def _deadline(self, timeout: float | None) -> float:
        return self._loop.time() + (self._settings.rebalance_timeout if timeout is None else timeout)

    def _wake(self) -> None:
        self._changed.set()
        self._timers.set()

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self._tasks[name] = asyncio.create_task(self._guard(work), name=f"kcli group {self._settings.group}: {name}")

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """A task that ends, ends the session."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever (B29)
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        if self.failed is not None or self._closed:
            return
        self.failed = error
        joining = self._member.state in (JOINING, SYNCING)
        self._member.fail(error)
        me = asyncio.current_task()
        for name, task in list(self._tasks.items()):
            if name == "rebalance" and (task is me or (joining and not self._share.quiet.locked())):
                self._spawn("rebalance", lambda ended=task: self._lose_after(ended))  # type: ignore[misc]
            elif name == "rebalance":
                continue  # it has yet to tell what was lost
            if task is not me:
                task.cancel()
        self._wake()
        if self.on_failed is not None:
            self.on_failed(error)

    async def _lose_after(self, ended: asyncio.Task[None]) -> None:
        """The rebalancing task ends in the middle of a join: a cooperative member still owns something."""
        await asyncio.wait({ended})
        async with self._share.quiet:
            await self._share.lose()

    async def _end(self, *names: str) -> None:
        tasks = [task for name in names if (task := self._tasks.get(name)) is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

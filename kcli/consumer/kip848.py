"""A running member of a KIP-848 consumer group (`group.protocol=consumer`): the coordinator assigns, the member
reconciles.

One task sends heartbeats and never waits for anything else; one gives up and takes partitions.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Floor
from kcli.consumer.group.assigned import Holdings
from kcli.consumer.group.commit import Offsets
from kcli.consumer.group.session import Session
from kcli.consumer.group.states import (
    ANSWERS,
    AWAY,
    CLOSED,
    FAILED,
    FATAL,
    FIND,
    FIRST_INTERVAL,
    JOIN,
    LEAVE,
    LEAVE_STATIC,
    LOST,
    OUT,
    PROCEED,
    RAISE,
    RESET,
    RETRY,
    STABLE,
    Identity,
    new_member_id,
)
from kcli.errors import BrokerError, KcliError, UnsupportedVersion, UsageError
from kcli.model import TopicPartition
from kcli.proto.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.settings import GroupSettings
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Any

    from kcli.codes import ErrorCode
    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.model import Cluster
    from kcli.proto.messages.consumer_group_heartbeat import (
        Assignment,
        ConsumerGroupHeartbeatResponse,
    )
    from kcli.settings import GroupSettings

    Place = tuple[bytes, int]  # topic id, partition
    Report = dict[str, Any]  # fields of the request


# State machine of a KIP-848 member: sends heartbeats, takes responses and the time. No I/O.
#
#     OUT → (heartbeat with epoch 0) → STABLE → fenced: OUT again      AWAY: no poll in time, left until the next poll
#
# The coordinator assigns: `target` is what we should own, `held` what we own; the difference is reconciled and then
# reported. Partitions held when the membership ends are lost, not revoked, and joining waits until that was reported.


_HEARTBEAT = {
    "COORDINATOR_LOAD_IN_PROGRESS": RETRY,
    "COORDINATOR_NOT_AVAILABLE": FIND,
    "NOT_COORDINATOR": FIND,
    "FENCED_MEMBER_EPOCH": LOST,
    "UNKNOWN_MEMBER_ID": LOST,
}
_OFFSETS = ANSWERS["commit"] | {"STALE_MEMBER_EPOCH": RETRY, "FENCED_MEMBER_EPOCH": LOST}


class ConsumerMembership:
    """The state of one member. Times are in seconds of any monotonic clock."""

    def __init__(self, settings: GroupSettings, now: float) -> None:
        self._settings = settings
        self.state = OUT
        self.member_id = new_member_id()  # kept for the life of the process
        self.generation = -1  # the member epoch; -1 while there is no membership
        self.target: frozenset[Place] = frozenset()
        self.held: frozenset[Place] = frozenset()
        self.error: BaseException | None = None
        self.interval = FIRST_INTERVAL
        self._topics: list[str] = []
        self._pattern: str | None = None
        self._known: Report | None = None  # what the coordinator acknowledged; None: report everything
        self._owed = False  # an assignment has to be acknowledged, even if it changes nothing
        self._next_heartbeat = now
        self._poll_end = now + settings.max_poll_interval

    @property
    def identity(self) -> Identity:
        return Identity(self.generation, self.member_id)

    @property
    def reader(self) -> Identity | None:
        """The identity for fetching offsets; None without a membership."""
        return self.identity if self.generation >= 0 else None

    @property
    def rejoining(self) -> bool:
        """Whether the owned partitions differ from the coordinator's target."""
        return self.state == OUT or self.held != self.target

    @property
    def reported(self) -> bool:
        """Whether the coordinator acknowledged the owned partitions."""
        return self._known is not None and self._known["topic_partitions"] == self.held

    # -- user's calls ---

    def subscribe(self, wanted: Sequence[str] | str, now: float) -> None:
        """Subscribe to topics, or to those that match a pattern of the coordinator (RE2)."""
        if isinstance(wanted, str):
            self._topics, self._pattern = [], wanted
        else:
            self._topics, self._pattern = sorted(set(wanted)), None
        self._next_heartbeat = now

    @property
    def by_pattern(self) -> bool:
        return self._pattern is not None

    def polled(self, now: float) -> None:
        """The user polled: the member is alive, and joins again if it had left because of max.poll.interval."""
        self._poll_end = now + self._settings.max_poll_interval
        if self.state == AWAY:
            self.state, self._next_heartbeat = OUT, now

    def hold(self, places: Iterable[Place], now: float) -> None:
        """These partitions are owned now; the next heartbeat reports them at once."""
        self.held = frozenset(places)
        self._next_heartbeat = now

    def fail(self, error: BaseException) -> None:
        """End with an error from outside."""
        if self.state != CLOSED:
            self.state, self.generation, self.error = FAILED, -1, error

    def close(self) -> None:
        """End: later responses change nothing."""
        if self.state != FAILED:
            self.state = CLOSED

    # -- heartbeats ---

    def report(self) -> Report:
        """Return all fields of a full heartbeat. A joining member owns nothing."""
        return {
            "rebalance_timeout_ms": round(self._settings.rebalance_timeout * 1000),
            "rack_id": self._settings.rack or None,
            "subscribed_topic_names": self._topics,
            "subscribed_topic_regex": self._pattern,
            "server_assignor": self._settings.remote_assignor,
            "topic_partitions": self.held if self.state == STABLE else frozenset(),
        }

    def request(self, report: Report) -> ConsumerGroupHeartbeatRequest:
        """Return the next heartbeat: the whole report, or the changes since the last acknowledged one."""
        known = self._known or {}
        fields = {name: value for name, value in report.items() if name not in known or known[name] != value}
        if known and "subscribed_topic_regex" in fields:
            fields["subscribed_topic_regex"] = self._pattern or ""  # null would mean unchanged
        if self._owed and self.held == self.target:
            fields["topic_partitions"], self._owed = report["topic_partitions"], False
        if "topic_partitions" in fields:
            fields["topic_partitions"] = _grouped(fields["topic_partitions"])
        epoch = self.generation if self.state == STABLE else JOIN
        return self._identified(epoch, **fields)

    def farewell(self) -> ConsumerGroupHeartbeatRequest:
        """Return the last heartbeat; a static member announces that it will return."""
        return self._identified(LEAVE if self._settings.instance_id is None else LEAVE_STATIC)

    def _identified(self, epoch: int, **fields: Any) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            group_id=self._settings.group,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=self._settings.instance_id,
            **fields,
        )

    def sent(self, now: float) -> None:
        """A heartbeat was sent."""
        self._next_heartbeat = now + self.interval

    def unanswered(self, now: float, pause: float) -> None:
        """There was no response, or a useless one: send a full heartbeat after `pause`."""
        self._known = None
        self._next_heartbeat = now + pause

    def answered(
        self, answer: ConsumerGroupHeartbeatResponse, asked: Identity, report: Report, now: float, pause: float
    ) -> str:
        """Handle a response to a heartbeat with these fields. `pause` is the wait before a full heartbeat, if one is
        needed. Returns the next step."""
        if asked != self.identity or self.state not in (OUT, STABLE):
            return PROCEED
        code = codes.of(answer.error_code)
        if code:
            return self._refused(code, answer.error_message, now, pause)
        self.state, self._known = STABLE, report
        self.member_id = answer.member_id or self.member_id
        self.generation = answer.member_epoch
        self.interval = answer.heartbeat_interval_ms / 1000 or self.interval
        self._next_heartbeat = now if self.report() != report else now + self.interval
        if answer.assignment is not None:  # null: no change; empty: nothing
            self.target, self._owed = _flat(answer.assignment), True
            if self.held == self.target:
                self._next_heartbeat = now
        return PROCEED

    def _refused(self, code: ErrorCode, message: str | None, now: float, pause: float) -> str:
        step = _HEARTBEAT.get(code.name) or (RETRY if code.retriable else FATAL)
        if step == LOST:
            wait = pause if self.state == OUT else 0.0  # a fenced member joins again at once, but not endlessly
            self._drop(now + wait)
        elif step == FATAL:
            self.state, self.generation = FAILED, -1
            group = self._settings.group
            self.error = BrokerError(
                code, group, message or None, api=ConsumerGroupHeartbeatRequest.api_key, group=group
            )
        else:
            self.unanswered(now, pause)
        return step

    # -- offsets ---

    def committed(self, number: int, asked: Identity) -> str:
        """Handle the error `number` of a partition in an OffsetCommit."""
        return self._about_offsets(number, asked, otherwise=RAISE)

    def fetched(self, number: int, asked: Identity | None) -> str:
        """Handle the error `number` of an OffsetFetch. A client that is no longer a member repeats it without an
        identity."""
        step = self._about_offsets(number, asked, otherwise=RAISE)
        return RETRY if step == LOST and asked is not None else step

    def _about_offsets(self, number: int, asked: Identity | None, *, otherwise: str) -> str:
        code = codes.of(number)
        if not code:
            return PROCEED
        step = _OFFSETS.get(code.name) or (RETRY if code.retriable else otherwise)
        step = LOST if step == RESET else step
        if asked == self.identity and self.state == STABLE:
            if code is codes.STALE_MEMBER_EPOCH:
                self._next_heartbeat = 0.0  # its response has the new epoch
            elif step == LOST:
                self._drop(0.0)
            elif step == FATAL:
                self.state, self.generation, group = FAILED, -1, self._settings.group
                self.error = BrokerError(code, group, api=ConsumerGroupHeartbeatRequest.api_key, group=group)
        if code is codes.STALE_MEMBER_EPOCH and self.generation < 0 and asked is not None:
            return LOST if asked.generation < 0 or self.state != OUT else RETRY
        return step

    # -- time ---

    def tick(self, now: float) -> str | None:
        """Return what is due: "heartbeat", "away" (no poll in time: leave), or None."""
        if self.state == STABLE and now >= self._poll_end:
            self.state = AWAY
            self.generation, self.target, self._known = -1, frozenset(), None
            return "away"
        due = self.state == STABLE or (self.state == OUT and not self.held)
        return "heartbeat" if due and now >= self._next_heartbeat else None

    def deadline(self) -> float | None:
        """When `tick` next has something due."""
        if self.state == STABLE:
            return min(self._next_heartbeat, self._poll_end)
        return self._next_heartbeat if self.state == OUT and not self.held else None

    def _drop(self, again: float) -> None:
        self.state, self.generation, self.target, self._known = OUT, -1, frozenset(), None
        self._next_heartbeat = again


def _grouped(places: Iterable[Place]) -> list[TopicPartitions]:
    topics: dict[bytes, list[int]] = {}
    for topic_id, partition in sorted(places):
        topics.setdefault(topic_id, []).append(partition)
    return [TopicPartitions(topic_id=topic_id, partitions=numbers) for topic_id, numbers in topics.items()]


def _flat(assignment: Assignment) -> frozenset[Place]:
    return frozenset(
        (bytes(topic.topic_id), partition) for topic in assignment.topic_partitions for partition in topic.partitions
    )


LOG = Log("consumer.group")
HEARTBEAT = 68


class ConsumerGroupSession(Session):
    """A session of a KIP-848 member."""

    _member: ConsumerMembership
    _share: Reconciliation

    def __init__(
        self,
        cluster: Cluster,
        settings: GroupSettings,
        callbacks: Callbacks,
        positions: Positions,
        *,
        request_timeout: float = 30.0,
        retry_backoff: float = 0.1,
        retry_backoff_max: float = 1.0,
    ) -> None:
        super().__init__(
            cluster,
            settings,
            positions,
            request_timeout=request_timeout,
            retry_backoff=retry_backoff,
            retry_backoff_max=retry_backoff_max,
        )
        self._pauses = self._coordinator.pauses()  # between failed heartbeats
        self._member = ConsumerMembership(settings, self._loop.time())
        self._offsets = Offsets(cluster, self._coordinator, self._member, settings.instance_id, self._wake)
        self._share = Reconciliation(
            cluster, self._member, self._offsets, settings, callbacks, positions, self._loop.time
        )
        self._floor = Floor()  # the coordinator sets the interval

    def _subscribe(self, wanted: Sequence[str] | str) -> None:
        self._member.subscribe(wanted, self._loop.time())

    def _work(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {"rebalance": self._reconcile, "heartbeat": self._heartbeat}

    # -- reconciling ---

    async def _reconcile(self) -> None:
        pauses = self._coordinator.pauses()
        while True:
            self._changed.clear()  # cleared before the state is read, so that no change is missed
            if self._share.needed:
                self._rebalance_begins()
                done = await self._step()
                self._timers.set()
                if done:
                    self._rebalance_is_over()
                    pauses.reset()
                else:
                    await pauses.pause()
            elif self._member.state == FAILED:
                assert self._member.error is not None
                raise self._member.error
            else:
                await self._changed.wait()

    async def _step(self) -> bool:
        try:
            async with self._share.quiet:
                return await self._share.step()
        except KcliError as error:
            if not error.retriable:
                raise
            return False

    # -- heartbeats ---

    async def _beat(self) -> bool:
        member = self._member
        asked, report = member.identity, member.report()
        request = member.request(report)
        member.sent(self._loop.time())
        try:
            answer = await self._coordinator.ask_version(lambda newest: self._sayable(request, newest), HEARTBEAT)
        except UnsupportedVersion as error:
            raise self._too_old() from error
        except KcliError as error:
            if not error.retriable:
                raise
            LOG.warning("%s: a heartbeat was not answered: %s", self._settings.group, error)
            member.unanswered(self._loop.time(), self._pauses.next())
            return False
        if codes.of(answer.error_code) is codes.UNSUPPORTED_VERSION:
            raise self._too_old()
        step = member.answered(answer, asked, report, self._loop.time(), self._pauses.next())
        if member.generation != asked.generation:
            LOG.info("%s: member %s in epoch %d", self._settings.group, member.member_id, member.generation)
        if step == PROCEED:
            self._pauses.reset()
        elif step == FIND:
            self._coordinator.moved()
        return step == PROCEED

    def _sayable(self, request: ConsumerGroupHeartbeatRequest, newest: int) -> ConsumerGroupHeartbeatRequest:
        if self._member.by_pattern and newest < 1:
            raise UsageError(
                f"{self._settings.group}: this broker's KIP-848 does not support topic patterns; name the topics, "
                "or use group.protocol=classic"
            )
        return request

    def _too_old(self) -> UnsupportedVersion:
        return UnsupportedVersion(
            f"{self._settings.group}: this broker does not support KIP-848 (ConsumerGroupHeartbeat), or it is "
            "disabled; use group.protocol=classic"
        )

    async def _leave(self, reason: str) -> None:
        """Send a last heartbeat if the coordinator may know this member, after all partitions were given up."""
        member = self._member
        if not self._tasks or member.state == FAILED:
            return
        request = member.farewell()
        if member.state != AWAY:
            member.close()  # later heartbeat responses are ignored
        try:
            await self._coordinator.leave(lambda _: request, HEARTBEAT, lambda answer: answer.error_code)
        except KcliError:
            return  # the coordinator notices after the session timeout


# Reconciles the owned partitions with the coordinator's target: revoke, report, then add (KIP-848).
#
# The target contains topic ids. An unknown id is looked up, and its partitions are added when its name is known: the
# coordinator is right, even about topics that are not in the metadata yet.
class Reconciliation(Holdings):
    """The partitions that a KIP-848 member owns, by the topic names that the user knows."""

    _member: ConsumerMembership

    def __init__(
        self,
        cluster: Cluster,
        member: ConsumerMembership,
        offsets: Offsets,
        settings: GroupSettings,
        callbacks: Callbacks,
        positions: Positions,
        now: Callable[[], float],
    ) -> None:
        super().__init__(member, offsets, settings, callbacks, positions, now)
        self._cluster = cluster
        # owned partitions by id, because a name may get another id meanwhile
        self._places: dict[Place, TopicPartition] = {}

    @property
    def needed(self) -> bool:
        """Whether there is something to do now."""
        member = self._member
        if member.generation < 0:
            return bool(member.held)
        return bool(member.held - member.target) or (member.reported and member.held != member.target)

    async def step(self) -> bool:
        """Take one step towards the target. Returns False if some topics have no known name yet: try again later."""
        member = self._member
        if member.generation < 0:
            await self.lose()
            return True
        surplus = member.held - member.target
        if surplus:
            epoch_held = member.held
            await self.revoke(frozenset(self._places[place] for place in surplus))
            self._hold(epoch_held - surplus)
            return True
        wanted = member.target - member.held
        named = await self._named(wanted)
        if member.generation < 0 or member.state != STABLE or not wanted <= member.target:
            return True  # the target changed while names were looked up
        if named:
            await self._add(named)
        return len(named) == len(wanted)

    async def lose(self) -> None:
        """Report partitions that may already have another owner; only then does the member join again."""
        await super().lose()
        self._hold(frozenset())

    async def _add(self, named: dict[Place, TopicPartition]) -> None:
        added = frozenset(named.values())
        self._places.update(named)
        self._hold(self._member.held | named.keys())
        await self.take(added)

    def _hold(self, places: frozenset[Place]) -> None:
        self._places = {place: at for place, at in self._places.items() if place in places}
        self._member.hold(places, self._now())

    async def _named(self, wanted: Iterable[Place]) -> dict[Place, TopicPartition]:
        """Return the partitions whose topic names are known. Raises the errors of requests to the cluster."""
        ids = {topic_id for topic_id, _ in wanted}
        names = {topic_id: name for topic_id in ids if (name := self._cluster.topic_name(topic_id))}
        unknown = sorted(ids - names.keys())
        if unknown:
            broker = await self._cluster.anyone()
            asked = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in unknown]
            answer = await ask_broker(broker, MetadataRequest(topics=asked, allow_auto_topic_creation=False))
            names |= {bytes(row.topic_id): row.name for row in answer.topics if row.name and not row.error_code}
            topics = sorted(names[topic_id] for topic_id in unknown if topic_id in names)
            if topics:
                await self._cluster.refresh(topics)
        return {place: TopicPartition(names[place[0]], place[1]) for place in wanted if place[0] in names}

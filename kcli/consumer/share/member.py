"""A running member of a share group: one task sends heartbeats, one looks up names of assigned topics."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Floor
from kcli.consumer.group.coordinator import Coordinator
from kcli.consumer.group.states import (
    CLOSED,
    FAILED,
    FATAL,
    FIND,
    FIRST_INTERVAL,
    JOIN,
    LEAVE,
    LOST,
    OUT,
    PROCEED,
    RETRY,
    STABLE,
    new_member_id,
)
from kcli.errors import BrokerError, KcliError, UnsupportedVersion
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from kcli.codes import ErrorCode
    from kcli.consumer.share.settings import ShareSettings
    from kcli.model import Cluster
    from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
    from kcli.settings import ConsumerSettings

    Place = tuple[bytes, int]  # topic id, partition

LEAVE_WITHIN = 10.0  # seconds, including the look-up of the coordinator
SHARE_HEARTBEAT = 76
FIRST_LOOK = 0.2
"""Seconds: a member without partitions asks again soon, then less and less often. A new group's partitions are set up
only after its first member joined, and arrive with the next heartbeat."""

_ANSWERS = {
    "COORDINATOR_LOAD_IN_PROGRESS": RETRY,
    "COORDINATOR_NOT_AVAILABLE": FIND,
    "NOT_COORDINATOR": FIND,
    "FENCED_MEMBER_EPOCH": LOST,
    "UNKNOWN_MEMBER_ID": LOST,
}


class ShareMember:
    """`assigned` are the partitions to fetch from; `changed` is called when they change, and at the end."""

    def __init__(
        self, cluster: Cluster, settings: ConsumerSettings, share: ShareSettings, changed: Callable[[], None]
    ) -> None:
        self._cluster = cluster
        self._loop = asyncio.get_running_loop()
        self._group = share.group
        self._changed = changed
        self._coordinator = Coordinator(
            cluster,
            share.group,
            request_timeout=settings.request_timeout,
            retry_backoff=settings.retry_backoff,
            retry_backoff_max=settings.retry_backoff_max,
        )
        self._member = ShareMembership(share.group, share.rack, self._loop.time())
        self._timer = asyncio.Event()
        self._target_changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._pauses = self._coordinator.pauses()  # between failed heartbeats
        self._floor = Floor()  # between two heartbeats, whatever interval the coordinator sets
        self._heard = False  # an assignment arrived, even if empty
        self.assigned: dict[Place, TopicPartition] = {}
        self.failed: BaseException | None = None

    @property
    def member_id(self) -> str:
        return self._member.member_id

    @property
    def epoch(self) -> int:
        """-1 while there is no membership."""
        return self._member.epoch

    @property
    def settled(self) -> bool:
        """Whether an assignment arrived and all its topic names are known."""
        return self._heard and self._member.state == STABLE and self.assigned.keys() == self._member.target

    async def start(self, topics: Sequence[str]) -> None:
        """Subscribe; a second call changes the subscription."""
        self._member.subscribe(topics, self._loop.time())
        self._timer.set()
        if not self._tasks:
            self._tasks = [
                self._loop.create_task(self._guard(work), name=f"kcli share group {self._group}: {name}")
                for name, work in (("heartbeat", self._heartbeat), ("names", self._name))
            ]

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run a task whose end ends the membership."""
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - whatever it is, no caller may wait for ever
            if self.failed is None:
                self.failed = error
                self._member.fail(error)
                self._timer.set()
                self._changed()

    # -- heartbeats -------------------------------------------------------------------------------------------------

    async def _heartbeat(self) -> None:
        while True:
            self._timer.clear()
            member = self._member
            if member.state == FAILED:
                assert member.error is not None
                raise member.error
            try:
                async with asyncio.timeout_at(member.next_heartbeat):
                    await self._timer.wait()
            except TimeoutError:
                await asyncio.sleep(self._floor.wait(self._loop.time()))
                await self._beat()

    async def _beat(self) -> None:
        member = self._member
        request = member.request()
        before = member.target
        member.sent(self._loop.time())
        try:
            answer = await self._coordinator.ask(request)
        except UnsupportedVersion as error:
            raise await self._has_none() from error
        except KcliError as error:
            if not error.retriable:
                raise
            member.unanswered(self._loop.time(), self._pauses.next())
            return
        if codes.of(answer.error_code) is codes.UNSUPPORTED_VERSION:
            raise await self._has_none()
        step = member.answered(answer, request, self._loop.time(), self._pauses.next())
        if step == PROCEED:
            self._pauses.reset()
            self._heard = self._heard or answer.assignment is not None
        elif step == FIND:
            self._coordinator.moved()
        if member.target != before or not self._heard or member.state == OUT:
            self._target_changed.set()

    async def _has_none(self) -> UnsupportedVersion:
        """Return the error for a broker without share groups, or with share groups disabled."""
        broker = await self._cluster.anyone()
        if (await broker.versions()).get(SHARE_HEARTBEAT, (0, 0))[1] < 1:  # 0 was the early access of 4.0
            return UnsupportedVersion(
                f"{self._group}: this broker does not support share groups (KIP-932). They are enabled by default "
                "from Apache Kafka 4.2 on; in 4.1, `kafka-features.sh upgrade --feature share.version=1` enables them"
            )
        return UnsupportedVersion(
            f"{self._group}: share groups are disabled on this cluster; "
            "`kafka-features.sh --bootstrap-server … upgrade --feature share.version=1` enables them"
        )

    # -- names ------------------------------------------------------------------------------------------------------

    async def _name(self) -> None:
        """Look up the names of unknown topic ids until they are known."""
        pauses = self._coordinator.pauses()
        while True:
            self._target_changed.clear()  # cleared before the state is read, so that no change is missed
            if self.assigned.keys() == self._member.target:
                pauses.reset()
                await self._target_changed.wait()
                continue
            try:
                await self._look_up()
            except KcliError as error:
                if not error.retriable:
                    raise
            if self.assigned.keys() != self._member.target:
                await pauses.pause()

    async def _look_up(self) -> None:
        target = self._member.target
        self._take(target)  # topics with known names may be read already
        unknown = sorted({topic_id for topic_id, _ in target - self.assigned.keys()})
        if not unknown:
            return
        broker = await self._cluster.anyone()
        asked = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in unknown]
        answer = await ask_broker(broker, MetadataRequest(topics=asked, allow_auto_topic_creation=False))
        names = {bytes(row.topic_id): row.name for row in answer.topics if row.name and not row.error_code}
        if names:
            await self._cluster.refresh(sorted(names.values()))
        self._take(self._member.target, names)

    def _take(self, target: frozenset[Place], names: dict[bytes, str] | None = None) -> None:
        places = {}
        for place in target:
            name = (names or {}).get(place[0]) or self._cluster.topic_name(place[0])
            if place in self.assigned:
                places[place] = self.assigned[place]
            elif name is not None:
                places[place] = TopicPartition(name, place[1])
        if places.keys() != self.assigned.keys():
            self.assigned = places
            self._changed()

    # -- the end ----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Leave the group if the coordinator may know this member."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        known = bool(tasks) and self._member.state != FAILED
        self._member.close()
        if known:
            try:
                async with asyncio.timeout(LEAVE_WITHIN):
                    farewell = self._member.farewell()
                    await self._coordinator.leave(lambda _: farewell, SHARE_HEARTBEAT, lambda answer: answer.error_code)
            except (KcliError, TimeoutError):
                return  # the coordinator notices after the session timeout


# State machine of a share group member: takes responses and the time, returns what to do next. No I/O.
#
#     OUT → (epoch 0 answered) STABLE → (fenced) OUT …
#
# Nothing has to be revoked first: several members may have the same partition, and acquired records stay acquired.
class ShareMembership:
    """The state of one member. Times are in seconds of any monotonic clock. `target` is the coordinator's
    assignment."""

    def __init__(self, group: str, rack: str, now: float) -> None:
        self._group = group
        self._rack = rack
        self.state = OUT
        self.member_id = new_member_id()  # kept for the life of the process, because records are acquired under it
        self.epoch = -1
        self.target: frozenset[Place] = frozenset()
        self.error: BaseException | None = None
        self.interval = FIRST_INTERVAL
        self.next_heartbeat = now
        self._looks = 0  # heartbeats answered without partitions
        self._topics: list[str] = []
        self._known: list[str] | None = None  # topics that the coordinator knows we subscribe to; None: send all

    def subscribe(self, topics: Iterable[str], now: float) -> None:
        """Subscribe to these topics only; sent at once."""
        self._topics = sorted(set(topics))
        self.next_heartbeat = now

    def request(self) -> ShareGroupHeartbeatRequest:
        """Return the next heartbeat: everything, or the changes since the last acknowledged one."""
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self.member_id, member_epoch=self.epoch if self.state == STABLE else JOIN
        )
        if self._known is None:
            request.rack_id = self._rack or None
        if self._known != self._topics:
            request.subscribed_topic_names = self._topics
        return request

    def farewell(self) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(group_id=self._group, member_id=self.member_id, member_epoch=LEAVE)

    def sent(self, now: float) -> None:
        self.next_heartbeat = now + self.interval

    def unanswered(self, now: float, pause: float) -> None:
        """There was no response, or a useless one: send a full heartbeat after `pause`."""
        self._known = None
        self.next_heartbeat = now + pause

    def answered(
        self, answer: ShareGroupHeartbeatResponse, request: ShareGroupHeartbeatRequest, now: float, pause: float
    ) -> str:
        """Handle a response to a heartbeat. Returns PROCEED, RETRY, FIND, LOST or FATAL."""
        if self.state not in (OUT, STABLE) or request.member_epoch != (self.epoch if self.state == STABLE else JOIN):
            return PROCEED  # a response to an earlier identity
        code = codes.of(answer.error_code)
        if code:
            return self._refused(code, answer.error_message, now, pause)
        self.state = STABLE
        self.member_id = answer.member_id or self.member_id
        self.epoch = answer.member_epoch
        if request.subscribed_topic_names is not None:
            self._known = request.subscribed_topic_names
        self.interval = answer.heartbeat_interval_ms / 1000 or self.interval
        if answer.assignment is not None:  # null: no change; empty: nothing
            self.target = frozenset(
                (bytes(topic.topic_id), partition)
                for topic in answer.assignment.topic_partitions
                for partition in topic.partitions
            )
        self._looks = 0 if self.target else self._looks + 1
        soon = FIRST_LOOK * 2.0 ** min(self._looks - 1, 20) if self._looks else self.interval
        self.next_heartbeat = now if self._known != self._topics else now + min(soon, self.interval)
        return PROCEED

    def _refused(self, code: ErrorCode, message: str | None, now: float, pause: float) -> str:
        step = _ANSWERS.get(code.name) or (RETRY if code.retriable else FATAL)
        if step == LOST:
            wait = pause if self.state == OUT else 0.0  # a fenced member joins again at once, but not endlessly
            self.state, self.epoch, self.target, self._known = OUT, -1, frozenset(), None
            self.next_heartbeat = now + wait
        elif step == FATAL:
            self.fail(
                BrokerError(
                    code, self._group, message or None, api=ShareGroupHeartbeatRequest.api_key, group=self._group
                )
            )
        else:
            self.unanswered(now, pause)
        return step

    def fail(self, error: BaseException) -> None:
        if self.state != CLOSED:
            self.state, self.epoch, self.target, self.error = FAILED, -1, frozenset(), error

    def close(self) -> None:
        """End: later responses change nothing."""
        if self.state != FAILED:
            self.state = CLOSED

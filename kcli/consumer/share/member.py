"""A member of a share group, running: one task sends heartbeats, one finds names for what the coordinator gives."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Floor
from kcli.consumer.group.coordinator import Coordinator
from kcli.consumer.group.states import FAILED, FIND, OUT, PROCEED, STABLE
from kcli.consumer.share.membership import ShareMembership
from kcli.errors import KcliError, UnsupportedVersion
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kcli.consumer.share.membership import Place
    from kcli.consumer.share.settings import ShareSettings
    from kcli.model import Cluster
    from kcli.settings import ConsumerSettings

LEAVE_WITHIN = 10.0  # seconds, looking for the coordinator included
SHARE_HEARTBEAT = 76


class ShareMember:
    """`assigned` is what records may be fetched from now; `changed` is called when it changed, and at the end."""

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
        self._pauses = self._coordinator.pauses()  # between heartbeats that fail
        self._floor = Floor()  # between two heartbeats, however often the coordinator wants them
        self._heard = False  # an assignment came, if only an empty one
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
        """Whether the coordinator said what it gives, and all of that has a name."""
        return self._heard and self._member.state == STABLE and self.assigned.keys() == self._member.target

    async def start(self, topics: Sequence[str]) -> None:
        """Subscribe; again: change the subscription."""
        self._member.subscribe(topics, self._loop.time())
        self._timer.set()
        if not self._tasks:
            self._tasks = [
                self._loop.create_task(self._guard(work), name=f"kcli share group {self._group}: {name}")
                for name, work in (("heartbeat", self._heartbeat), ("names", self._name))
            ]

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """A task that ends, ends the membership (B29)."""
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
        """The sentence for a broker without share groups, or one where they are switched off (E63)."""
        broker = await self._cluster.anyone()
        if (await broker.versions()).get(SHARE_HEARTBEAT, (0, 0))[1] < 1:  # 0 was the early access of 4.0
            return UnsupportedVersion(
                f"{self._group}: this broker has no share groups (KIP-932): they are in Apache Kafka 4.1, where "
                "`kafka-features.sh upgrade --feature share.version=1` switches them on, and on by default from 4.2"
            )
        return UnsupportedVersion(
            f"{self._group}: share groups are switched off at this cluster; "
            "`kafka-features.sh --bootstrap-server … upgrade --feature share.version=1` switches them on"
        )

    # -- names ------------------------------------------------------------------------------------------------------

    async def _name(self) -> None:
        """Topics come by id: look up an unknown one until it has a name (E57)."""
        pauses = self._coordinator.pauses()
        while True:
            self._target_changed.clear()  # level-triggered: cleared before the state is read
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
        self._take(target)  # what has a name may be read already
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
        """Leave the group, if the coordinator may know us."""
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
                return  # the coordinator knows it after the session timeout

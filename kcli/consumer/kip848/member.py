"""A member of a KIP-848 consumer group, running (`group.protocol=consumer`): the coordinator assigns, we reconcile.

One task sends heartbeats and never waits for anything else (E58); one gives up and takes partitions.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Floor
from kcli.consumer.group.assigned import Holdings
from kcli.consumer.group.commit import Offsets
from kcli.consumer.group.session import Session
from kcli.consumer.group.states import AWAY, FAILED, FIND, PROCEED, STABLE
from kcli.consumer.kip848.membership import ConsumerMembership
from kcli.errors import KcliError, UnsupportedVersion, UsageError
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.settings import GroupSettings
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.consumer.kip848.membership import Place
    from kcli.model import Cluster
    from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

LOG = Log("consumer.group")
HEARTBEAT = 68


class ConsumerGroupSession(Session):
    """A member by KIP-848."""

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
        self._pauses = self._coordinator.pauses()  # between heartbeats that fail
        self._member = ConsumerMembership(settings, self._loop.time())
        self._offsets = Offsets(cluster, self._coordinator, self._member, settings.instance_id, self._wake)
        self._share = Reconciliation(
            cluster, self._member, self._offsets, settings, callbacks, positions, self._loop.time
        )
        self._floor = Floor()  # here the coordinator sets the interval

    def _subscribe(self, wanted: Sequence[str] | str) -> None:
        self._member.subscribe(wanted, self._loop.time())

    def _work(self) -> dict[str, Callable[[], Awaitable[None]]]:
        return {"rebalance": self._reconcile, "heartbeat": self._heartbeat}

    # -- reconciling ---

    async def _reconcile(self) -> None:
        pauses = self._coordinator.pauses()
        while True:
            self._changed.clear()  # level-triggered: cleared before the state is read (A3.09)
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
                f"{self._settings.group}: this broker's KIP-848 has no patterns of topics; "
                "name them, or take group.protocol=classic"
            )
        return request

    def _too_old(self) -> UnsupportedVersion:
        return UnsupportedVersion(
            f"{self._settings.group}: this broker has no KIP-848 (ConsumerGroupHeartbeat), or it is switched off; "
            "take group.protocol=classic"
        )

    async def _leave(self, reason: str) -> None:
        """One heartbeat more, if the coordinator may know us; after what was owned is given up (E58)."""
        member = self._member
        if not self._tasks or member.state == FAILED:
            return
        request = member.farewell()
        if member.state != AWAY:
            member.close()  # heartbeats that are answered later mean nothing
        try:
            await self._coordinator.leave(lambda _: request, HEARTBEAT, lambda answer: answer.error_code)
        except KcliError:
            return  # the coordinator knows it after the session timeout


# Make the coordinator's target the owned partitions: revoke, report it, then add (KIP-848, E58).
#
# Topics come by id. An unknown id is looked up, and its partitions are added when it has a name (E57): the coordinator
# is right, also about topics that the metadata does not have yet.
class Reconciliation(Holdings):
    """What a KIP-848 member owns, under the names its user knows."""

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
        self._places: dict[Place, TopicPartition] = {}  # of what is owned: a name may get another id meanwhile

    @property
    def needed(self) -> bool:
        """Whether there is something to do now."""
        member = self._member
        if member.generation < 0:
            return bool(member.held)
        return bool(member.held - member.target) or (member.reported and member.held != member.target)

    async def step(self) -> bool:
        """One step towards the target. False when topics are still without a name: try again later."""
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
            return True  # the coordinator changed its mind while names were looked up
        if named:
            await self._add(named)
        return len(named) == len(wanted)

    async def lose(self) -> None:
        """Report what others may own by now; only then the member joins again."""
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
        """The partitions whose topics have a name. Raises what the way to the cluster raises."""
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

"""Make the coordinator's target the owned partitions: revoke, report it, then add (KIP-848, E58).

Topics come by id. An unknown id is looked up, and its partitions are added when it has a name (E57): the coordinator is
right, also about topics that the metadata does not have yet.
"""

from __future__ import annotations

from kcli.asking.ask import ask_broker
from kcli.consumer.group.assigned import Holdings
from kcli.consumer.group.states import STABLE
from kcli.model import TopicPartition
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.consumer.group.assigned import Callbacks, Positions
    from kcli.consumer.group.commit import Offsets
    from kcli.consumer.kip848.membership import ConsumerMembership, Place
    from kcli.model import Cluster
    from kcli.settings import GroupSettings


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

"""The cluster: finds leaders, coordinators and the broker to ask. Nothing is requested before it is needed."""

from __future__ import annotations

import asyncio
from time import monotonic

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.cluster.metadata import Metadata, first_of
from kcli.cluster.pool import Pool
from kcli.errors import BrokerError, ConnectError, KcliError
from kcli.model import Group, Node
from kcli.proto.schema import NO_ID
from kcli.tasks import retrieve, share
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence

    from kcli.cluster.topology import Topology
    from kcli.model import Broker, BrokerConnection, Connect, TopicPartition, Transaction
    from kcli.proto.messages.metadata import MetadataResponse
    from kcli.settings import ClientSettings

    Key = Group | Transaction

JOIN_GROUP, INIT_PRODUCER_ID = 11, 22


LOG = Log("cluster")
METADATA = 3
SECOND_LOOK = 0.4  # seconds in which another broker may know a topic that this one does not
GRACE = 1.0  # seconds in which an unknown topic may still appear
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"})


class Coordinators:
    """Caches coordinators. `anyone` returns a broker to ask."""

    def __init__(self, anyone: Callable[[], Awaitable[Broker]], metadata: Metadata, settings: ClientSettings) -> None:
        self._anyone = anyone
        self._metadata = metadata
        self._settings = settings
        self._known: dict[tuple[int, str], Node] = {}
        self._finding: dict[tuple[int, str], asyncio.Task[Node]] = {}

    async def of(self, key: Key) -> Node:
        """Return the coordinator of `key`. Raises BrokerError, ConnectError, DeadlineExceeded."""
        of = kind_and_name(key)
        if of in self._known:
            return self._known[of]
        task = self._finding.get(of)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._find(*of), name=f"find coordinator of {key.name}")
            self._finding[of] = task
            task.add_done_callback(retrieve)
            task.add_done_callback(lambda _: self._finding.pop(of, None))
        return await share(task)

    def moved(self, key: Key) -> None:
        """Discard the cached coordinator."""
        if self._known.pop(kind_and_name(key), None) is not None:
            LOG.info("%s: the coordinator is looked up again", key.name)

    async def _find(self, kind: int, name: str) -> Node:
        async def once() -> Node:
            return await find_coordinator(await self._anyone(), name, kind)

        settings = self._settings
        until = asyncio.get_running_loop().time() + settings.deadline
        coordinator = await retry(once, Backoff(settings.retry_backoff, settings.retry_backoff_max), until)
        node = self._known[kind, name] = self._metadata.topology.meet(coordinator)
        LOG.info("%s: broker %d at %s:%d coordinates", name, *node[:3])
        return node

    async def close(self) -> None:
        """End look-ups in progress. Idempotent."""
        tasks = list(self._finding.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def kind_and_name(key: Key) -> tuple[int, str]:
    """Return the key type and name for FindCoordinator. A group and a transactional id of the same name are different
    keys, although they are equal as tuples."""
    return 0 if isinstance(key, Group) else 1, key.name


async def find_coordinator(broker: Broker, key: str, kind: int) -> Node:
    """Return the coordinator of `key`; `kind` is 0 for a group, 1 for a transactional id. Raises BrokerError
    (COORDINATOR_NOT_AVAILABLE while there is none)."""
    from kcli.cluster.find_coordinators import find_coordinators  # many commands need no coordinator

    about = f"{'group' if kind == 0 else 'transactional id'} {key}"
    row = (await find_coordinators(broker, [key], kind)).get(key)
    if isinstance(row, KcliError):
        raise row
    code = codes.COORDINATOR_NOT_AVAILABLE if row is None else codes.of(row.error_code)
    if row is None or code:
        # FindCoordinator requires DESCRIBE; the members and producers that send it need more than that
        api = JOIN_GROUP if kind == 0 else INIT_PRODUCER_ID
        raise BrokerError(code, about, api=api, group=key, transactional_id=key)
    return Node(row.node_id, row.host, row.port, None)


class NetworkCluster:
    """See `model.Cluster`."""

    def __init__(self, connect: Connect, settings: ClientSettings) -> None:
        self._settings = settings
        self._pool = Pool(connect, settings.bootstrap)
        self._metadata = Metadata(self._pool, settings)
        self._coordinators = Coordinators(self.anyone, self._metadata, settings)
        self._leaderless: dict[TopicPartition, tuple[float, float]] = {}  # first and last look-up without a leader

    @property
    def topology(self) -> Topology:
        """The current metadata."""
        return self._metadata.topology

    # -- leaders ----------------------------------------------------------------------------------------------------

    async def leader(self, at: TopicPartition) -> Broker:
        """See `model.Cluster.leader`. Waits for a leaderless partition until the deadline, for an unknown one only
        briefly; `refresh` paces the requests."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while True:
            known = self.topology.partition(at)
            if known is not None and at not in self._metadata.stale and known.leader in self.topology.nodes:
                self._metadata.refresh_if_old()
                return self._pool.broker(self.topology.nodes[known.leader])
            await self.refresh([at.topic])
            if self.has_leader(at):
                continue
            error = self._why(at)
            patience = GRACE if error is codes.UNKNOWN_TOPIC_OR_PARTITION else self._settings.deadline
            if not error.retriable or loop.time() - begin > patience:
                raise BrokerError(error, f"{at.topic}[{at.partition}]", api=METADATA, topic=at.topic)

    def _why(self, at: TopicPartition) -> codes.ErrorCode:
        topic = self.topology.topics.get(at.topic)
        if topic is None:
            return codes.UNKNOWN_TOPIC_OR_PARTITION
        known = topic.partitions.get(at.partition)
        if known is None:
            return topic.error or codes.UNKNOWN_TOPIC_OR_PARTITION
        return known.error or codes.LEADER_NOT_AVAILABLE

    def leader_moved(
        self, at: TopicPartition, leader_id: int = -1, leader_epoch: int = -1, endpoint: Node | None = None
    ) -> None:
        """See `model.Cluster.leader_moved`."""
        if self.topology.hint(at, leader_id, leader_epoch, endpoint):
            LOG.info("%s[%d]: broker %d leads now, in epoch %d", *at, leader_id, leader_epoch)
            self._metadata.trust(at)
            self._metadata.refresh_soon()
        else:
            LOG.debug("%s[%d]: the leader is looked up again", *at)
            self._metadata.distrust(at)

    def leader_epoch(self, at: TopicPartition) -> int:
        known = self._metadata.topology.partition(at)  # this is called for 100,000 partitions at a time
        return known.epoch if known is not None else -1

    def leader_id(self, at: TopicPartition) -> int:
        known = self._metadata.topology.partition(at)
        if known is not None and known.leader >= 0 and at not in self._metadata.stale:
            return known.leader
        now = monotonic()
        self._leaderless[at] = self._leaderless.get(at, (now, now))[0], now
        return -1

    def leaders_version(self) -> int:
        return self._metadata.topology.version

    def has_leader(self, at: TopicPartition) -> bool:
        return self.leader_id(at) in self.topology.nodes

    def leaderless(self) -> dict[TopicPartition, float]:
        """See `model.Cluster.leaderless`."""
        nodes, stale = self.topology.nodes, self._metadata.stale
        for at in list(self._leaderless):
            known = self.topology.partition(at)
            if known is not None and known.leader in nodes and at not in stale:
                del self._leaderless[at]
        return {at: last - first for at, (first, last) in self._leaderless.items()}

    # -- coordinators -----------------------------------------------------------------------------------------------

    async def coordinator(self, of: Group | Transaction) -> Broker:
        """See `model.Cluster.coordinator`. Concurrent look-ups of a key share one request."""
        node = await self._coordinators.of(of)
        return self._pool.broker(self.topology.nodes.get(node.id, node))  # metadata may have a newer address

    def coordinator_moved(self, of: Group | Transaction) -> None:
        self._coordinators.moved(of)

    # -- brokers ----------------------------------------------------------------------------------------------------

    async def anyone(self) -> Broker:
        """Return the broker that is best to ask now: a reachable one, if there is one.

        Of controllers it is the active one, because the others answer NOT_CONTROLLER to most requests.
        """
        await self._metadata.know()
        if self._settings.controllers:
            return await self._active()
        try:
            return await self._reachable()
        except ConnectError as error:
            if not error.retriable:
                raise
            await self.refresh([])  # no known broker is reachable: the seeds may know others
            return await self._reachable()

    async def _active(self) -> Broker:
        """Return the active controller, connected. After it failed, waits for the next one up to the deadline. Raises
        ConnectError, BrokerError."""
        settings, again = self._settings, False

        async def once() -> Broker:
            nonlocal again
            if again:
                await self.refresh([])
            again = True
            node = self.topology.nodes.get(self.topology.controller_id)
            if node is None:
                raise BrokerError(codes.NOT_CONTROLLER, "controllers", "no controller is active at the moment")
            broker = self._pool.broker(node)
            await broker.reach()
            return broker

        until = asyncio.get_running_loop().time() + settings.deadline
        return await retry(once, Backoff(settings.retry_backoff, settings.retry_backoff_max), until)

    async def _reachable(self) -> BrokerConnection:
        """Return a reachable broker. Brokers that do not respond are tried concurrently, so a dead address delays no
        other."""
        candidates = self._pool.candidates(list(self.topology.nodes.values()))
        if candidates and candidates[0].connected:
            return candidates[0]
        reasons: dict[BrokerConnection, KcliError] = {}
        seconds = self._settings.connect_timeout
        try:
            async with asyncio.timeout(seconds):
                reached = await first_of(candidates, _reach, reasons, seconds)
        except TimeoutError:
            slow = ", ".join(str(broker.node_id) for broker in candidates if broker not in reasons)
            reached = None
            if slow:
                raise ConnectError(f"could not connect to broker {slow} within {seconds:.1f} s") from None
        if reached is not None:
            return reached[1]
        raise next(reversed(reasons.values()), None) or ConnectError("the cluster has no brokers")

    async def controller(self) -> Broker:
        """Return the controller that the brokers report. In KRaft any broker forwards to it (KIP-590), so an
        unreachable one need not be waited for."""
        await self._metadata.know()
        node = self.topology.nodes.get(self.topology.controller_id)
        if node is None or self._settings.controllers:
            return await self.anyone()
        broker = self._pool.broker(node)
        return await self.anyone() if broker.backing_off else broker

    async def node(self, node_id: int) -> Broker:
        await self._metadata.know()
        if node_id not in self.topology.nodes:
            await self.refresh([])
        if node_id not in self.topology.nodes:
            if self._settings.controllers:
                return await self.anyone()  # a broker: the active controller changes its configs
            raise BrokerError(codes.BROKER_NOT_AVAILABLE, f"broker {node_id}")
        return self._pool.broker(self.topology.nodes[node_id])

    def known_node(self, node_id: int) -> Broker | None:
        """See `model.Cluster.known_node`."""
        node = self._metadata.topology.nodes.get(node_id)
        return None if node is None else self._pool.broker(node)

    async def nodes(self) -> Sequence[Node]:
        await self._metadata.know()
        return sorted(self.topology.nodes.values())

    def failing(self) -> dict[int, tuple[float, float, KcliError]]:
        """See `model.Cluster.failing`."""
        return self._pool.failing(self.topology.nodes)

    def silencing(self) -> dict[int, float]:
        """See `model.Cluster.silencing`."""
        return self._pool.silencing()

    # -- topics -----------------------------------------------------------------------------------------------------

    async def partitions(self, topic: str) -> Sequence[int]:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        while True:
            known = self.topology.topics.get(topic)
            if known is None or not known.partitions or known.error:
                await self.refresh([topic])
                known = self.topology.topics.get(topic)
            if known is not None and known.partitions:
                return sorted(known.partitions)
            error = known.error if known is not None and known.error else codes.UNKNOWN_TOPIC_OR_PARTITION
            waiting = error is codes.LEADER_NOT_AVAILABLE or self._settings.auto_create_topics
            patience = self._settings.deadline if waiting and error.retriable else self._second_look(error)
            if loop.time() - begin >= patience:
                raise BrokerError(error, topic, api=METADATA, topic=topic)

    def _second_look(self, error: codes.ErrorCode) -> float:
        """Return for how many seconds to look again after an error: one broker of many may not know a topic yet,
        because it was just created or the broker just restarted. A single broker is believed."""
        return SECOND_LOOK if error is codes.UNKNOWN_TOPIC_OR_PARTITION and len(self.topology.nodes) > 1 else 0.0

    async def topics(self) -> dict[str, Sequence[int]]:
        """See `model.Cluster.topics`. Always sends a request."""
        present = await self.metadata()
        return {t.name: sorted(p.partition_index for p in t.partitions) for t in present.topics if t.name is not None}

    async def metadata(self) -> MetadataResponse:
        """See `model.Cluster.metadata`."""
        return (await self._metadata.ask_everything(None))[0]

    def is_internal(self, topic: str) -> bool:
        known = self.topology.topics.get(topic)
        return known.internal if known is not None else topic in INTERNAL

    def topic_id(self, topic: str) -> bytes:
        known = self._metadata.topology.topics.get(topic)
        return known.id if known is not None else NO_ID

    def topic_name(self, topic_id: bytes) -> str | None:
        return self.topology.name_of(topic_id)

    async def learn(self, topic_ids: Collection[bytes]) -> None:
        """See `model.Cluster.learn`."""
        await self._metadata.learn(topic_ids)

    # -- metadata ---------------------------------------------------------------------------------------------------

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        """See `model.Cluster.refresh`."""
        await self._metadata.refresh(topics)

    async def close(self) -> None:
        """Close every broker and end what is in progress. Idempotent."""
        closing = self._pool.close()
        await asyncio.gather(self._metadata.close(), self._coordinators.close(), closing)


async def _reach(broker: BrokerConnection) -> None:
    await broker.reach()

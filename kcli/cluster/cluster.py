"""The cluster: metadata by need, one refresh at a time, coordinators cached by key, rebootstrap when all is lost."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.cluster.pool import Pool, unreachable
from kcli.cluster.topology import Topology
from kcli.errors import AuthError, BrokerError, Closed, ConnectError, DeadlineExceeded, KcliError
from kcli.model import Group, Node
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Broker, Connect, TopicPartition, Transaction
    from kcli.proto.messages.metadata import MetadataResponse
    from kcli.settings import ClientSettings

GRACE = 1.0  # seconds in which a topic nobody knows may still turn up (C19)


class NetworkCluster:
    """See `model.Cluster`."""

    def __init__(self, connect: Connect, settings: ClientSettings) -> None:
        self._settings = settings
        self._pool = Pool(connect, settings.bootstrap)
        self.topology = Topology()
        self._coordinators: dict[Group | Transaction, Node] = {}
        self._finding: dict[Group | Transaction, asyncio.Task[Node]] = {}
        self._refreshing: dict[frozenset[str], asyncio.Task[None]] = {}
        self._wanted: set[str] = set()  # topics somebody asked for
        self._known_at = -1e9
        self._stale: set[TopicPartition] = set()

    # -- leaders ----------------------------------------------------------------------------------------------------

    async def leader(self, at: TopicPartition) -> Broker:
        """See `model.Cluster.leader`. Leaderless is waited out up to the deadline, unknown only for a moment."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.deadline
        grace = loop.time() + GRACE
        backoff = self._settings.retry_backoff
        while True:
            known = self.topology.partition(at)
            if known is not None and at not in self._stale and known.leader in self.topology.nodes:
                self._refresh_if_old()
                return self._pool.broker(self.topology.nodes[known.leader])
            await self.refresh([at.topic])
            known = self.topology.partition(at)
            if known is not None and known.leader in self.topology.nodes:
                continue
            error = self._why(at)
            limit = grace if error is codes.UNKNOWN_TOPIC_OR_PARTITION else deadline
            if not error.retriable or loop.time() + backoff > limit:
                raise BrokerError(error, f"{at.topic}[{at.partition}]")
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, self._settings.retry_backoff_max)

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
            self._stale.discard(at)
        else:
            self._stale.add(at)

    def leader_epoch(self, at: TopicPartition) -> int:
        known = self.topology.partition(at)
        return known.epoch if known is not None else -1

    def leader_id(self, at: TopicPartition) -> int:
        known = self.topology.partition(at)
        return known.leader if known is not None and at not in self._stale else -1

    def has_leader(self, at: TopicPartition) -> bool:
        return self.leader_id(at) in self.topology.nodes

    # -- coordinators -----------------------------------------------------------------------------------------------

    async def coordinator(self, of: Group | Transaction) -> Broker:
        """See `model.Cluster.coordinator`. Concurrent look-ups of one key share one request (C15)."""
        node = self._coordinators.get(of)
        if node is None:
            task = self._finding.get(of)
            if task is None:
                task = asyncio.get_running_loop().create_task(self._find(of), name=f"find coordinator of {of.name}")
                self._finding[of] = task
                task.add_done_callback(lambda _: self._finding.pop(of, None))
            node = await asyncio.shield(task)
        return self._pool.broker(node)

    def coordinator_moved(self, of: Group | Transaction) -> None:
        self._coordinators.pop(of, None)

    async def _find(self, of: Group | Transaction) -> Node:
        from kcli.cluster.coordinators import find_coordinator

        kind = 0 if isinstance(of, Group) else 1
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.deadline
        backoff = self._settings.retry_backoff
        while True:
            try:
                node = await find_coordinator(await self.anyone(), of.name, kind)
                self._coordinators[of] = node
                self.topology.nodes.setdefault(node.id, node)
                return node
            except (BrokerError, ConnectError) as problem:
                final = isinstance(problem, AuthError) or (
                    isinstance(problem, BrokerError) and not problem.code.retriable
                )
                if final or loop.time() + backoff > deadline:
                    raise
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, self._settings.retry_backoff_max)

    # -- brokers ----------------------------------------------------------------------------------------------------

    async def anyone(self) -> Broker:
        """The broker that is best asked now."""
        await self._know()
        return self._pool.candidates(list(self.topology.nodes.values()))[0]

    async def controller(self) -> Broker:
        """The controller as the brokers name it; in KRaft any broker forwards to it (KIP-590)."""
        await self._know()
        node = self.topology.nodes.get(self.topology.controller_id)
        return self._pool.broker(node) if node is not None else await self.anyone()

    async def node(self, node_id: int) -> Broker:
        await self._know()
        if node_id not in self.topology.nodes:
            await self.refresh([])
        if node_id not in self.topology.nodes:
            raise BrokerError(codes.BROKER_NOT_AVAILABLE, f"broker {node_id}")
        return self._pool.broker(self.topology.nodes[node_id])

    async def nodes(self) -> Sequence[Node]:
        await self._know()
        return sorted(self.topology.nodes.values())

    async def _know(self) -> None:
        if not self.topology.nodes:
            await self.refresh([])

    # -- topics -----------------------------------------------------------------------------------------------------

    async def partitions(self, topic: str) -> Sequence[int]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.deadline
        backoff = self._settings.retry_backoff
        while True:
            known = self.topology.topics.get(topic)
            if known is None or not known.partitions or known.error:
                await self.refresh([topic])
                known = self.topology.topics.get(topic)
            if known is not None and known.partitions:
                return sorted(known.partitions)
            error = known.error if known is not None and known.error else codes.UNKNOWN_TOPIC_OR_PARTITION
            waiting = error is codes.LEADER_NOT_AVAILABLE or self._settings.auto_create_topics
            if not (waiting and error.retriable) or loop.time() + backoff > deadline:
                raise BrokerError(error, topic)
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, self._settings.retry_backoff_max)

    async def topics(self) -> dict[str, Sequence[int]]:
        """See `model.Cluster.topics`. Always asks."""
        present = await self._ask_metadata(None)
        return {t.name: sorted(p.partition_index for p in t.partitions) for t in present.topics if t.name is not None}

    def is_internal(self, topic: str) -> bool:
        known = self.topology.topics.get(topic)
        return known.internal if known is not None else topic.startswith("__")

    def topic_id(self, topic: str) -> bytes:
        known = self.topology.topics.get(topic)
        return known.id if known is not None else NO_ID

    def topic_name(self, topic_id: bytes) -> str | None:
        return self.topology.name_of(topic_id)

    # -- metadata ---------------------------------------------------------------------------------------------------

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        """See `model.Cluster.refresh`. One refresh of the same topics at a time; the waits between them grow (C4)."""
        if topics:
            self._wanted.update(topics)
        key = frozenset(self._wanted) if topics is None or topics else frozenset()
        task = self._refreshing.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._refresh(sorted(key)), name="refresh metadata")
            self._refreshing[key] = task
            task.add_done_callback(lambda done: self._refreshed(key, done))
        await asyncio.shield(task)

    def _refreshed(self, key: frozenset[str], task: asyncio.Task[None]) -> None:
        self._refreshing.pop(key, None)
        if not task.cancelled():
            task.exception()  # its waiters have it; with none left, the next look-up asks again

    async def _refresh(self, topics: list[str]) -> None:
        await self._ask_metadata(topics)
        self._stale = {at for at in self._stale if at.topic not in topics}
        self._known_at = asyncio.get_running_loop().time()

    def _refresh_if_old(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() - self._known_at > self._settings.metadata_max_age and not self._refreshing:
            self._known_at = loop.time()
            key = frozenset(self._wanted)
            task = loop.create_task(self._refresh(sorted(key)), name="refresh old metadata")
            self._refreshing[key] = task
            task.add_done_callback(lambda done: self._refreshed(key, done))

    async def _ask_metadata(self, topics: list[str] | None) -> MetadataResponse:
        """Ask until somebody answers or the deadline is over; known brokers first, then the seeds (C16)."""
        request = MetadataRequest(
            topics=None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
            allow_auto_topic_creation=self._settings.auto_create_topics,
        )
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.deadline
        backoff = self._settings.retry_backoff
        reasons: dict[str, KcliError] = {}
        while True:
            for broker in self._who_to_ask():
                try:
                    left = max(0.1, deadline - loop.time())
                    async with asyncio.timeout(left):
                        answer = await broker.ask(request, timeout=min(left, self._settings.request_timeout))
                except TimeoutError:
                    reasons[repr(broker)] = DeadlineExceeded(f"{_name(broker)} did not answer in time")
                    continue
                except AuthError:
                    raise
                except (ConnectError, DeadlineExceeded, Closed) as problem:
                    reasons[repr(broker)] = problem
                    continue
                return await self._take(answer)
            if loop.time() + backoff > deadline or not self.topology.nodes:
                raise self._unreachable(reasons)
            await asyncio.sleep(backoff)
            backoff = min(backoff * 2, self._settings.retry_backoff_max)

    def _who_to_ask(self) -> list[Broker]:
        known = self._pool.candidates(list(self.topology.nodes.values()))
        return known + [self._pool.seed(address) for address in self._pool.seeds]

    async def _take(self, answer: MetadataResponse) -> MetadataResponse:
        self.topology.update(answer, reliable_epochs=True)
        if answer.brokers:
            await self._pool.retire()
        return answer

    def _unreachable(self, reasons: dict[str, KcliError]) -> KcliError:
        problem = unreachable(reasons, self._pool.seeds)
        if self.topology.nodes and isinstance(problem, ConnectError) and not isinstance(problem, AuthError):
            advertised = ", ".join(f"broker {n.id} advertises {n.host}:{n.port}" for n in self.topology.nodes.values())
            seeds = ", ".join(f"{host}:{port}" for host, port in self._pool.seeds)
            return ConnectError(f"{problem}\n  (bootstrap {seeds} had answered; {advertised})")
        return problem

    async def close(self) -> None:
        """Close every broker and end what is under way. Idempotent."""
        tasks = [*self._refreshing.values(), *self._finding.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pool.close()


def _name(broker: Broker) -> str:
    return getattr(broker, "name", None) or f"broker {broker.node_id}"

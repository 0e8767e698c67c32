"""A Kafka in memory and a clock that jumps: whole outages in milliseconds, the same every time.

`World` is a `Cluster`; its nodes append as a leader does (sequences per producer and partition, the last five batches
remembered) and complain when the client breaks the rules: more than five in flight, two batches of a partition in one
request, the same sequence with other bytes, data for a partition that was never theirs.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError, ConnectError
from kcli.model import Node, TopicPartition
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.batches.queue import after
from kcli.producer.producer import Producer
from kcli.proto.batch import Batch, read_batches
from kcli.proto.messages.init_producer_id import InitProducerIdResponse
from kcli.proto.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from kcli.settings import ProducerSettings
from kcli.tasks import DaemonThread, shielded

if TYPE_CHECKING:
    from kcli.model import Posted, Reply

ANSWERS = "answers of a broker"

MOST_TURNS = 1_000_000
CREEP = 1e-10  # seconds a turn takes: a timer may ring a clock's tick too early, and then time has to go on


class JumpingSelector(selectors.DefaultSelector):
    """Nothing to do until a timer: the clock jumps there, unless a thread is at work, which takes no time. With no
    timer either, somebody waits for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.turns = 0
        self.threads: set[asyncio.Future[Any]] = set()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            self.now += CREEP
            self.turns += 1
            assert self.turns < MOST_TURNS, "the loop spins"
            return ready
        if self.threads:
            end = time.monotonic() + 30
            while not (ready := super().select(30)):  # `make late` holds back what was found, and returns without it
                assert time.monotonic() < end, "a thread does not end"
            return ready
        assert timeout is not None, "everybody waits and nothing will ever happen"
        self.now += timeout
        return []


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.jumping = JumpingSelector()
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.now

    def watch(self, at_work: asyncio.Future[Any]) -> asyncio.Future[Any]:
        """No time passes until a thread has done that."""
        self.jumping.threads.add(at_work)
        at_work.add_done_callback(self.jumping.threads.discard)
        return at_work


def play(scene: Coroutine[Any, Any, None]) -> None:
    """Run a scene on jumping time. No task may be left, and nothing may have gone wrong unseen."""
    unseen: list[dict[str, Any]] = []
    loop = JumpingLoop()
    loop.set_exception_handler(lambda _, context: unseen.append(context))
    do = DaemonThread.do
    patch = pytest.MonkeyPatch()
    patch.setattr(DaemonThread, "do", lambda thread, *work: loop.watch(do(thread, *work)))
    try:
        loop.run_until_complete(scene)
        left = asyncio.all_tasks(loop)
        answers = {task for task in left if task.get_name() == ANSWERS}  # no test waits for these any more
        loop.run_until_complete(cancelled(answers))
        assert left == answers, f"left running: {left - answers}"
    finally:
        patch.undo()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    assert not unseen, unseen


async def cancelled(tasks: set[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def now() -> float:
    return asyncio.get_running_loop().time()


Act = Callable[["Log", Batch], "PartitionProduceResponse | None"]


class Log:
    """A partition: its records, what is known of its producers, and the answers ordered for the next batches."""

    def __init__(self, at: TopicPartition, leader: int) -> None:
        self.at = at
        self.leader: int = leader
        self.epoch = 0
        self.records: list[bytes | None] = []
        self.producers: dict[int, tuple[int, int, deque[tuple[int, int, int]]]] = {}
        self.script: deque[ErrorCode | Act] = deque()
        self.limit = 1 << 40
        self.forgotten: dict[int, int] = {}  # producer id to the last epoch of it that is not known any more
        self.seen: list[Batch] = []
        self.bytes_of: dict[tuple[int, int, int, int], bytes] = {}

    def answer(self, code: ErrorCode = codes.NONE, base: int = -1) -> PartitionProduceResponse:
        return PartitionProduceResponse(index=self.at.partition, error_code=code.number, base_offset=base)

    def take(self, data: bytes) -> PartitionProduceResponse | None:
        """Do as ordered, else append."""
        (batch,) = read_batches(data)
        self.seen.append(batch)
        if batch.producer_id >= 0:
            stamp = (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.count)
            assert self.bytes_of.setdefault(stamp, data) == data, "a retry is not byte-identical (D19)"
        order = self.script.popleft() if self.script else None
        if isinstance(order, ErrorCode):
            return self.answer(order)
        return order(self, batch) if order is not None else self.append(batch, len(data))

    def append(self, batch: Batch, size: int = 0) -> PartitionProduceResponse:
        if size > self.limit:
            return self.answer(codes.MESSAGE_TOO_LARGE)
        if batch.producer_id >= 0:
            if self.forgotten.get(batch.producer_id, -1) >= batch.producer_epoch:
                return self.answer(codes.UNKNOWN_PRODUCER_ID)
            found = self.producers.get(batch.producer_id)
            first, count = batch.base_sequence, batch.count
            epoch, expected, recent = found or (batch.producer_epoch, first, deque(maxlen=5))
            if batch.producer_epoch < epoch:
                return self.answer(codes.INVALID_PRODUCER_EPOCH)
            if batch.producer_epoch > epoch:
                expected, recent = 0, deque(maxlen=5)
            for sequence, length, base in recent:
                if (sequence, length) == (first, count):
                    return self.answer(codes.NONE, base)
            if first != expected:
                return self.answer(codes.OUT_OF_ORDER_SEQUENCE_NUMBER)
            recent.append((first, count, len(self.records)))
            self.producers[batch.producer_id] = (batch.producer_epoch, after(first, count), recent)
        base = len(self.records)
        self.records += [record.value for record in batch]
        return self.answer(codes.NONE, base)

    def forget(self) -> None:
        """Lose what is known of the producers: retention took their last records."""
        self.forgotten |= {producer_id: epoch for producer_id, (epoch, _, _) in self.producers.items()}
        self.producers.clear()


def post(broker: Any, requests: Sequence[Posted], timeout: float, after: Callable[[], None] | None) -> int:
    """`Broker.post` of a fake: the requests are asked in their order, in tasks of the broker's, not the client's."""
    for request, reply, cap in requests:
        asked = broker.ask(request, timeout=timeout, max_version=cap)
        task = asyncio.get_running_loop().create_task(asked, name=ANSWERS)
        task.add_done_callback(functools.partial(tell, reply, after))
    return len(requests)


def tell(reply: Reply, after: Callable[[], None] | None, task: asyncio.Task[Any]) -> None:
    problem = None if task.cancelled() else task.exception()
    if task.cancelled() or reply.done():
        return
    if problem is not None:
        reply.set_exception(problem)
    else:
        reply.set_result(task.result())
    if after is not None:
        after()


class FakeBroker:
    """One node. `before` may wait, raise (the request is lost) or return; `then` the same after the append."""

    def __init__(self, world: World, node_id: int) -> None:
        self.world = world
        self.node_id = node_id
        self.up = True
        self.in_flight = 0
        self.requests: list[ProduceRequest] = []
        self.capped: list[int | None] = []
        self.before: Callable[[], Awaitable[None]] | None = None
        self.then: Callable[[], Awaitable[None]] | None = None
        self.change: Callable[[ProduceResponse], None] = lambda response: None
        self._turn = asyncio.Lock()
        self._last: asyncio.Future[None] | None = None

    async def ask(self, request: Any, **options: Any) -> Any:
        if not isinstance(request, ProduceRequest):
            return await self.world.give_id()
        return await self._produce(request, options.get("max_version"))

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        return post(self, requests, timeout, after)

    async def tell(self, request: ProduceRequest, *, max_version: int | None = None) -> None:
        await self._produce(request, max_version)

    async def _produce(self, request: ProduceRequest, cap: int | None) -> ProduceResponse:
        if not self.up:
            raise ConnectError(f"broker {self.node_id} is down")
        self.requests.append(request)
        self.capped.append(cap)
        self.in_flight += 1
        assert self.in_flight <= self.world.max_in_flight, "too many in flight (B7)"
        previous, mine = self._last, asyncio.get_running_loop().create_future()
        self._last = mine
        try:
            if previous is not None:
                await shielded(previous)  # a broker works on one request of a connection at a time
            await asyncio.sleep(self.world.latency)
            if self.before is not None:
                await self.before()
            response = self._append(request)
            if self.then is not None:
                await self.then()
            return response
        finally:
            self.in_flight -= 1
            mine.set_result(None)

    def _append(self, request: ProduceRequest) -> ProduceResponse:
        if not self.up:
            raise ConnectError("the connection broke", sent=True)
        response = ProduceResponse()
        for topic in request.topic_data:
            told = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id)
            partitions = [part.index for part in topic.partition_data]
            assert len(partitions) == len(set(partitions)), "two batches of a partition in one request (D9)"
            for part in topic.partition_data:
                log = self.world.logs[TopicPartition(topic.name, part.index)]
                assert part.records is not None
                if topic.topic_id not in (bytes(16), self.world.topic_id(topic.name)):
                    answer: PartitionProduceResponse | None = log.answer(codes.UNKNOWN_TOPIC_ID)
                elif log.leader != self.node_id:
                    answer = self._not_leader(log, response)
                else:
                    answer = log.take(bytes(part.records))
                if answer is not None:
                    told.partition_responses.append(answer)
            response.responses.append(told)
        self.change(response)
        return response

    def _not_leader(self, log: Log, response: ProduceResponse) -> PartitionProduceResponse:
        answer = log.answer(codes.NOT_LEADER_OR_FOLLOWER)
        if self.world.hints:
            answer.current_leader = LeaderIdAndEpoch(leader_id=log.leader, leader_epoch=log.epoch)
            response.node_endpoints.append(NodeEndpoint(node_id=log.leader, host="h", port=log.leader, rack=None))
        return answer


class World:
    """A cluster of nodes 0, 1, … with topics; the client's cached view changes only by refresh and hint."""

    def __init__(self, topics: dict[str, int] | None = None, nodes: int = 3, latency: float = 0.001) -> None:
        self.nodes_by_id = {number: FakeBroker(self, number) for number in range(nodes)}
        self.logs: dict[TopicPartition, Log] = {}
        for topic, count in (topics or {"t": 1}).items():
            self.add_partitions(topic, count)
        self.latency = latency
        self.max_in_flight = 5
        self.hints = False
        self.hidden: set[str] = set()
        self.refreshes = 0
        self.ids = 100
        self.asked_ids = 0
        self.epoch_given = 0
        self.id_errors: deque[ErrorCode | Exception] = deque()
        self.with_ids = True
        self.cached: dict[TopicPartition, int] = {}
        self.hopeless: Exception | None = None
        self.lives = 1  # how often the topics were created
        self.past: list[Log] = []  # the logs of earlier lives

    def add_partitions(self, topic: str, count: int) -> None:
        for partition in range(count):
            at = TopicPartition(topic, partition)
            self.logs.setdefault(at, Log(at, partition % len(self.nodes_by_id)))

    def log(self, partition: int = 0, topic: str = "t") -> Log:
        return self.logs[TopicPartition(topic, partition)]

    def broker(self, partition: int = 0) -> FakeBroker:
        return self.nodes_by_id[self.log(partition).leader]

    def move(self, partition: int, to: int) -> None:
        log = self.log(partition)
        log.leader, log.epoch = to, log.epoch + 1

    async def give_id(self) -> InitProducerIdResponse:
        self.asked_ids += 1
        await asyncio.sleep(self.latency)
        if self.id_errors:
            problem = self.id_errors.popleft()
            if isinstance(problem, Exception):
                raise problem
            return InitProducerIdResponse(error_code=problem.number)
        self.ids += 1
        return InitProducerIdResponse(producer_id=self.ids, producer_epoch=self.epoch_given)

    # -- model.Cluster ----------------------------------------------------------------------------------------------

    def leader_id(self, at: TopicPartition) -> int:
        return self.cached.get(at, -1)

    def leaders_version(self) -> int:
        """Another one when a leader moves, as that of the client's own metadata."""
        return hash(tuple(self.cached.items()))

    def has_leader(self, at: TopicPartition) -> bool:
        return self.leader_id(at) >= 0

    def leader_moved(
        self, at: TopicPartition, leader_id: int = -1, leader_epoch: int = -1, endpoint: Node | None = None
    ) -> None:
        if leader_id >= 0 and endpoint is not None:
            self.cached[at] = leader_id
        else:
            self.cached.pop(at, None)

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        self.refreshes += 1
        await asyncio.sleep(self.latency)
        if self.hopeless is not None:
            raise self.hopeless
        for at, log in self.logs.items():
            if topics and at.topic in topics and at.topic not in self.hidden:
                self.cached[at] = log.leader

    async def partitions(self, topic: str) -> Sequence[int]:
        found = sorted(at.partition for at in self.cached if at.topic == topic)
        if not found:
            await self.refresh([topic])
            found = sorted(at.partition for at in self.cached if at.topic == topic)
        if not found:
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION, topic)
        return sorted(at.partition for at in self.logs if at.topic == topic and at in self.cached)

    def topic_id(self, topic: str) -> bytes:
        return (topic.encode() + b"%d" % self.lives).ljust(16, b".") if self.with_ids else bytes(16)

    def recreate(self) -> None:
        """Every topic is deleted and made again: same names, other ids, empty logs."""
        self.lives += 1
        for at, log in self.logs.items():
            self.past.append(log)
            self.logs[at] = Log(at, log.leader)

    async def node(self, node_id: int) -> FakeBroker:
        return self.nodes_by_id[node_id]

    def known_node(self, node_id: int) -> FakeBroker:
        return self.nodes_by_id[node_id]

    async def anyone(self) -> FakeBroker:
        return self.nodes_by_id[0]


SHORT: dict[str, Any] = {"delivery_timeout": 20.0, "request_timeout": 5.0, "linger": 0.005}


def producing(world: World, outcomes: list[BatchOutcome] | None = None, **changes: Any) -> Producer:
    """A producer on that world."""
    producer = Producer(world, ProducerSettings(**(SHORT | changes)))  # type: ignore[arg-type]
    if outcomes is not None:
        producer.on_batch = outcomes.append
    world.max_in_flight = changes.get("max_in_flight", 5)
    return producer


def balanced(producer: Producer) -> None:
    """All is settled and given back."""
    counts, engine = producer.counts, producer._engine
    assert counts.accepted == counts.acked + counts.failed + counts.unknown, counts
    assert (engine.budget.bytes, engine.budget.records, engine.budget.waiting) == (0, 0, 0)
    assert not engine.accumulator.incomplete
    assert not engine.accumulator.active


async def send_batches(producer: Producer, count: int, partition: int = 0, first: int = 0) -> list[asyncio.Future[Any]]:
    """Batches of one record each: everything is closed after every send."""
    sent = []
    for number in range(first, first + count):
        sent.append(await producer.send("t", b"%d" % number, partition=partition))
        producer._engine.accumulator.close_all()
    return sent

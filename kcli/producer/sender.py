"""The sender: one task per leader drains what may go, a second settles the answers in the order of sending.

Level-triggered: each turn looks at everything anew, so no wake-up can be lost. At most `max_in_flight` requests per
leader; at most one batch per partition and `max_request_size` bytes in a request (D9).
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli import codes
from kcli.errors import KcliError
from kcli.producer import exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.model import Cluster, TopicPartition
    from kcli.producer.accumulator import Accumulator
    from kcli.producer.batch import ProducerBatch
    from kcli.producer.queue import PartitionQueue
    from kcli.producer.returns import Returns
    from kcli.producer.sequence import Identity
    from kcli.producer.transaction import Transactions
    from kcli.proto.messages.produce import ProduceRequest, ProduceResponse
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]
    Exchange = asyncio.Task[tuple[ProduceRequest, ProduceResponse | None]]

GRACE = 5.0  # a broker may take its whole timeout_ms, and then it still has to answer


class LeaderSender:
    """Sends to one node. `returns` takes what comes back; `on_sent` is called when a request has left."""

    def __init__(
        self, node_id: int, cluster: Cluster, accumulator: Accumulator, identity: Identity,
        settings: ProducerSettings, returns: Returns, on_sent: Callable[[], None],
        transactions: Transactions | None = None,
    ) -> None:  # fmt: skip
        self.node_id = node_id
        self._cluster = cluster
        self._accumulator = accumulator
        self._identity = identity
        self._settings = settings
        self._returns = returns
        self._on_sent = on_sent
        self._transactions = transactions
        self._wake = asyncio.Event()
        self._slots = asyncio.Semaphore(settings.max_in_flight)
        self._outstanding: deque[tuple[Sent, Exchange]] = deque()
        self._answered = asyncio.Event()
        self._served: TopicPartition | None = None  # the last partition of the last request

    def wake(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        """Drain and settle until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._settle_in_order(), name=f"settle answers of node {self.node_id}")
            await self._drain()

    # -- sending ----------------------------------------------------------------------------------------------------

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._slots.acquire()
            while True:
                self._wake.clear()
                ready, later = self._ready(loop.time())
                if ready:
                    break
                await self._sleep(None if later is None else later - loop.time())
            self._send(ready)

    async def _sleep(self, seconds: float | None) -> None:
        if seconds is None:
            await self._wake.wait()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _ready(self, now: float) -> tuple[Sent, float | None]:
        """What goes into the next request, or when to look again. It begins after the partition that came last in
        the request before, so that all have their turn (A4.23)."""
        if self._identity.missing:
            return [], None
        settings, later = self._settings, None
        ready: Sent = []
        size = 0
        for queue in self._mine():
            batch = queue.sendable(now, self.node_id, ordered=settings.max_in_flight == 1)
            if batch is None:
                if queue.waiting and queue.waiting[0].not_before > now:
                    later = min(later or 1e18, queue.waiting[0].not_before)
                continue
            if self._transactions is not None and not self._transactions.admits(queue.at):
                continue
            if ready and size + batch.size > settings.max_request_size:
                break
            size += batch.size
            ready.append((queue, batch))
        return ready, later

    def _mine(self) -> list[PartitionQueue]:
        """The partitions this node leads, in turn."""
        mine = [q for q in self._accumulator.active.values() if self._cluster.leader_id(q.at) == self.node_id]
        for place, queue in enumerate(mine):
            if queue.at == self._served:
                return mine[place + 1 :] + mine[: place + 1]
        return mine

    def _send(self, ready: Sent) -> None:
        for queue, batch in ready:
            if self._identity.producer_id >= 0:
                queue.stamp(batch, self._identity)
            queue.send(batch, self.node_id)
            if self._transactions is not None:
                self._transactions.sent(queue.at)
            self._served = queue.at
        task = asyncio.get_running_loop().create_task(self._exchange([batch for _, batch in ready]))
        self._outstanding.append((ready, task))
        self._answered.set()
        self._on_sent()

    async def _exchange(self, batches: list[ProducerBatch]) -> tuple[ProduceRequest, ProduceResponse | None]:
        most = None if self._transactions is None else self._transactions.produce_cap
        request, cap = exchange.build(batches, self._cluster, self._settings, most)
        broker = await self._cluster.node(self.node_id)
        if self._settings.acks == 0:
            await broker.tell(request, max_version=cap)
            return request, None
        return request, await broker.ask(request, timeout=self._settings.request_timeout + GRACE, max_version=cap)

    # -- settling ---------------------------------------------------------------------------------------------------

    async def _settle_in_order(self) -> None:
        """Promises are kept in the order of sending, whatever failed first (A1.14, A1.15)."""
        while True:
            while not self._outstanding:
                self._answered.clear()
                await self._answered.wait()
            sent, task = self._outstanding[0]
            await asyncio.wait([task])
            self._outstanding.popleft()
            self._slots.release()
            self._finish(sent, task)
            self._wake.set()

    def _finish(self, sent: Sent, task: Exchange) -> None:
        if task.cancelled():
            return  # the producer is being closed, and settles what is left by itself
        problem = task.exception()
        if isinstance(problem, KcliError):
            for queue, batch in sent:
                self._returns.lost(queue, batch, problem)
            return
        if problem is not None:
            raise problem
        request, response = task.result()
        answers = exchange.read(response, request) if response is not None else {}
        nothing = exchange.missing() if response is not None else exchange.Answer(codes.NONE)
        for queue, batch in sent:
            self._returns.answered(queue, batch, answers.get((batch.at.topic, batch.at.partition), nothing))

    def abandon(self) -> list[Exchange]:
        """The producer was closed: end what is on the wire. Returns the tasks that are ending."""
        for _, task in self._outstanding:
            task.cancel()
        return [task for _, task in self._outstanding]

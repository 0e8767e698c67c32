"""The sender: one task per leader drains what may go, a second settles the answers in the order of sending.

Level-triggered: each turn looks at everything anew, so no wake-up can be lost. At most `max_in_flight` requests per
leader; at most one batch per partition and `max_request_size` bytes in a request (D9).
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli import codes
from kcli.errors import ConnectError, DeadlineExceeded, KcliError
from kcli.producer import exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.model import Cluster
    from kcli.producer.accumulator import Accumulator
    from kcli.producer.batch import ProducerBatch
    from kcli.producer.queue import PartitionQueue
    from kcli.producer.sequence import Identity
    from kcli.proto.messages.produce import ProduceResponse
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]
    Settle = Callable[[PartitionQueue, ProducerBatch, exchange.Answer], None]
    Lost = Callable[[PartitionQueue, ProducerBatch, KcliError, bool], None]

GRACE = 5.0  # a broker may take its whole timeout_ms, and then it still has to answer


class LeaderSender:
    """Sends to one node. `settle` takes an answer, `lost` an exchange without one."""

    def __init__(
        self, node_id: int, cluster: Cluster, accumulator: Accumulator, identity: Identity,
        settings: ProducerSettings, settle: Settle, lost: Lost,
    ) -> None:  # fmt: skip
        self.node_id = node_id
        self._cluster = cluster
        self._accumulator = accumulator
        self._identity = identity
        self._settings = settings
        self._settle = settle
        self._lost = lost
        self._wake = asyncio.Event()
        self._slots = asyncio.Semaphore(settings.max_in_flight)
        self._outstanding: deque[tuple[Sent, asyncio.Task[ProduceResponse | None]]] = deque()
        self._answered = asyncio.Event()
        self._turn = 0

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
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _ready(self, now: float) -> tuple[Sent, float | None]:
        """What goes into the next request, or when to look again. The partition to begin with rotates (A4.23)."""
        if self._identity.missing:
            return [], None
        ordered = self._settings.max_in_flight == 1
        mine = [q for q in self._accumulator.active.values() if self._cluster.leader_id(q.at) == self.node_id]
        ready: Sent = []
        size = 0
        later: float | None = None
        start = self._turn % len(mine) if mine else 0
        for queue in mine[start:] + mine[:start]:
            batch = queue.sendable(now, ordered=ordered)
            if batch is None:
                if queue.waiting and queue.waiting[0].not_before > now:
                    later = min(later or 1e18, queue.waiting[0].not_before)
                continue
            if ready and size + batch.size > self._settings.max_request_size:
                break
            size += batch.size
            ready.append((queue, batch))
        self._turn += 1
        return ready, later

    def _send(self, ready: Sent) -> None:
        for queue, batch in ready:
            if self._identity.producer_id >= 0:
                queue.stamp(batch, self._identity)
            queue.send(batch)
        task = asyncio.get_running_loop().create_task(self._exchange([batch for _, batch in ready]))
        self._outstanding.append((ready, task))
        self._answered.set()

    async def _exchange(self, batches: list[ProducerBatch]) -> ProduceResponse | None:
        request, cap = exchange.build(batches, self._cluster, self._settings)
        broker = await self._cluster.node(self.node_id)
        if self._settings.acks == 0:
            await broker.tell(request, max_version=cap)
            return None
        return await broker.ask(request, timeout=self._settings.request_timeout + GRACE, max_version=cap)

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

    def _finish(self, sent: Sent, task: asyncio.Task[ProduceResponse | None]) -> None:
        if task.cancelled():
            return  # the producer is being closed, and settles what is left by itself
        problem = task.exception()
        if isinstance(problem, KcliError):
            may_have_arrived = isinstance(problem, ConnectError | DeadlineExceeded) and problem.sent
            for queue, batch in sent:
                self._lost(queue, batch, problem, may_have_arrived)
            return
        if problem is not None:
            raise problem
        response = task.result()
        answers = exchange.read(response, self._cluster) if response is not None else {}
        for queue, batch in sent:
            if response is None:
                self._settle(queue, batch, exchange.Answer(codes.NONE))
            else:
                self._settle(queue, batch, answers.get((batch.at.topic, batch.at.partition)) or exchange.missing())

    def abandon(self) -> None:
        """The producer was closed: end what is on the wire."""
        for _, task in self._outstanding:
            task.cancel()

"""The sender: one task per leader sends its batches; the responses are settled in the order of sending.

The task exists only while its leader has something to do: no task when idle, and none for a leader without partitions
(A1.13, A5.11). Level-triggered: each turn reads the whole state, so no wake-up can be lost. At most `max_in_flight`
requests per leader.
"""

from __future__ import annotations

import asyncio
from collections import deque

from kcli import codes
from kcli.errors import BrokerError, Closed, ConnectError, DecodeError, KcliError
from kcli.producer.batches.answer import Answer
from kcli.producer.engine import produce_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.model import Cluster
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.batches.sequence import Identity
    from kcli.producer.engine.draining import Draining
    from kcli.producer.engine.responses import Returns
    from kcli.producer.transactions.transaction import Transactions
    from kcli.proto.messages.produce import ProduceRequest, ProduceResponse
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]
    Exchange = asyncio.Task[tuple[ProduceRequest, ProduceResponse | None]]

GRACE = 5.0  # a broker may take its whole timeout_ms, and then it still has to answer


class LeaderSender:
    """Sends what `draining` has for one node. `returns` takes the responses; `on_sent` is called when a request has
    left, `on_rested` when a wait is over: what this node waited with may be another one's by now."""

    def __init__(
        self,
        draining: Draining,
        cluster: Cluster,
        identity: Identity,
        settings: ProducerSettings,
        returns: Returns,
        on_sent: Callable[[], None],
        on_rested: Callable[[], None],
        transactions: Transactions | None = None,
    ) -> None:
        self.node_id = draining.node_id
        self._cluster = cluster
        self._draining = draining
        self._identity = identity
        self._settings = settings
        self._returns = returns
        self._on_sent = on_sent
        self._on_rested = on_rested
        self._transactions = transactions
        self._wake = asyncio.Event()
        self._outstanding: deque[tuple[Sent, Exchange]] = deque()
        self._broken: BaseException | None = None  # what an answer broke in us: ends the task, and with it the producer

    def wake(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        """Send until no batch of this leader waits and nothing is on the wire. When cancelled, it cancels the requests
        on the wire; the ledger settles their batches."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                self._wake.clear()
                if self._broken is not None:
                    raise self._broken
                ready, later = self._ready(loop.time())
                if ready:
                    self._send(ready)
                elif self._outstanding or self._draining.needed(loop.time()):
                    await self._sleep(None if later is None else later - loop.time())
                else:
                    return
        finally:
            if self._outstanding:
                await self._abandon()

    async def _abandon(self) -> None:
        exchanges = [task for _, task in self._outstanding]
        for task in exchanges:
            task.cancel()
        await asyncio.gather(*exchanges, return_exceptions=True)

    # -- sending ----------------------------------------------------------------------------------------------------

    async def _sleep(self, seconds: float | None) -> None:
        if seconds is None:
            await self._wake.wait()
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            self._on_rested()

    def _ready(self, now: float) -> tuple[Sent, float | None]:
        """What goes into the next request, or when to look again."""
        if self._identity.missing or len(self._outstanding) >= self._settings.max_in_flight:
            return [], None
        return self._draining.ready(now)

    def _send(self, ready: Sent) -> None:
        for queue, batch in ready:
            if self._identity.producer_id >= 0:
                queue.stamp(batch, self._identity)
            self._returns.sending(batch)
            queue.send(batch, self.node_id)
            if self._transactions is not None:
                self._transactions.sent(queue.at)
            self._draining.sent(queue)
        # the topic ids are those of this moment: an exchange that begins later may know of another topic by then
        most = None if self._transactions is None else self._transactions.produce_cap
        request, cap = produce_request.build([batch for _, batch in ready], self._cluster, self._settings, most)
        task = asyncio.get_running_loop().create_task(self._exchange(request, cap))
        self._outstanding.append((ready, task))
        task.add_done_callback(self._settle_in_order)
        if self._transactions is not None:
            self._transactions.travels(task)
        self._on_sent()

    async def _exchange(
        self, request: ProduceRequest, cap: int | None
    ) -> tuple[ProduceRequest, ProduceResponse | None]:
        """The request, and the answer unless acks=0. Raises KcliError: a connection that was closed or spoke nonsense
        is lost, and so is a broker that left the cluster, for its partitions will have another leader."""
        try:
            broker = await self._cluster.node(self.node_id)
            if self._settings.acks == 0:
                await broker.tell(request, max_version=cap)
                return request, None
            timeout = self._settings.request_timeout + GRACE
            return request, await broker.ask(request, timeout=timeout, max_version=cap)
        except (Closed, DecodeError) as problem:
            raise ConnectError(str(problem), sent=True) from problem
        except BrokerError as problem:
            if problem.code is codes.BROKER_NOT_AVAILABLE:
                raise ConnectError(str(problem)) from problem
            raise

    # -- settling ---------------------------------------------------------------------------------------------------

    def _settle_in_order(self, _: Exchange) -> None:
        """Promises are kept in the order of sending, whatever failed first (A1.14, A1.15): an answer that overtook
        others waits for them."""
        try:
            while self._outstanding and self._outstanding[0][1].done():
                self._finish(*self._outstanding[0])
                self._outstanding.popleft()
        except Exception as problem:  # noqa: BLE001 - raised again by the task
            self._broken = problem
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
        answers = produce_request.read(response, request) if response is not None else {}
        nothing = produce_request.missing() if response is not None else Answer(codes.NONE)
        for queue, batch in sent:
            self._returns.answered(queue, batch, answers.get((batch.at.topic, batch.at.partition), nothing))

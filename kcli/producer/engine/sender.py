"""The sender: sends the batches of one leader and settles the responses in the order of sending.

A sender runs only while its leader has something to do; idle senders use no task. A turn is one callback that writes
all requests that may be sent, in one piece; when responses arrive, it runs in the step that read them. Each turn checks
the whole state, so no wake-up can be lost. At most `max_in_flight` requests per leader.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque

from kcli import codes
from kcli.errors import BrokerError, Closed, ConnectError, DecodeError, KcliError
from kcli.producer.batches.batch import Answer
from kcli.producer.engine import produce_request
from kcli.proto.one_batch import OneBatchRequest
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.model import Cluster
    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import Identity, PartitionQueue
    from kcli.producer.engine.draining import Draining
    from kcli.producer.engine.responses import Returns
    from kcli.producer.transactions.transaction import Transactions
    from kcli.proto.messages.produce import ProduceRequest, ProduceResponse
    from kcli.settings import ProducerSettings

    Sent = list[tuple[PartitionQueue, ProducerBatch]]

GRACE = 5.0  # seconds: a broker may take all of timeout_ms and then still has to respond
NEAR = 0.0005  # seconds: for a response this close it is worth waiting, to write the next requests in one piece
SMALL = 16 * 1024  # bytes: of larger batches, writing is the smaller part of the cost


class LeaderSender:
    """Sends the batches that `draining` chooses for one node. `returns` handles the responses. `on_rested` is called
    after a pause, because the leader may have changed meanwhile; `on_end` when nothing is left to do, with the error
    that broke the sender, if any."""

    def __init__(
        self,
        draining: Draining,
        cluster: Cluster,
        identity: Identity,
        settings: ProducerSettings,
        returns: Returns,
        on_rested: Callable[[], None],
        on_end: Callable[[int, BaseException | None], None],
        transactions: Transactions | None = None,
    ) -> None:
        self.node_id = draining.node_id
        self._cluster = cluster
        self._draining = draining
        self._identity = identity
        self._settings = settings
        self._returns = returns
        self._on_rested = on_rested
        self._on_end = on_end
        self._transactions = transactions
        self.loop: asyncio.AbstractEventLoop
        """Set by the engine."""
        self._outstanding: deque[Exchange] = deque()
        self._asking = 0  # exchanges with a running task: later requests have to wait for them
        self.awake = False  # a turn is scheduled
        self.unseen = False  # more happened since it was scheduled
        self.on_unseen: Callable[[], None]
        """Called when a turn begins and when the sender ends, if something was `unseen`. Set by the engine."""
        self._ended = False
        self._alarm: asyncio.TimerHandle | None = None
        self._answered = -math.inf  # when the request of the last response was written

    def begin(self) -> None:
        """Start again, because the leader has something to do."""
        self._ended = self.awake = False

    def wake(self) -> None:
        """Schedule a turn."""
        if not self.awake:
            self.awake = True
            self.loop.call_soon(self._turn)

    def stop(self) -> list[asyncio.Task[ProduceResponse | None]]:
        """Stop sending. The ledger settles the batches on the wire. Returns the tasks still to wait for."""
        self._ended = True
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if not self._outstanding:
            return []
        for exchange in self._outstanding:
            exchange.give_up()
        return [exchange.task for exchange in self._outstanding if exchange.task is not None]

    # -- sending ----------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        if self._ended or not self.awake:
            return  # responses arrived first and ran the scheduled turn
        self.awake = False
        try:
            if self.unseen:
                self._report_unseen()
            later = self._send_all()
            if self._outstanding or self._draining.needed(self.loop.time()):
                if later is not None:
                    self._wake_at(later)
            else:
                self._end(None)
        except Exception as problem:  # noqa: BLE001 - it ends the producer
            self._end(problem)

    def _report_unseen(self) -> None:
        self.unseen = False
        self.on_unseen()

    def _end(self, problem: BaseException | None) -> None:
        if self.unseen:
            self._report_unseen()
        self._ended = True
        if self._outstanding or self._alarm is not None:
            self.stop()
        self._on_end(self.node_id, problem)

    def _wake_at(self, at: float) -> None:
        if self._alarm is None or at < self._alarm.when():
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self.loop.call_at(at, self._rested)

    def _rested(self) -> None:
        self._alarm = None
        self._on_rested()

    def _send_all(self) -> float | None:
        """Send every request that may be sent; return when to look again, if known."""
        if self._identity.producer_id < 0 and self._identity.missing:
            return None
        now, draining, later = self.loop.time(), self._draining, None
        leaving: list[Exchange] = []
        free = self._settings.max_in_flight - len(self._outstanding)
        alone = draining.alone() if free > 0 else None
        if alone is not None:
            if alone.waiting and self._waits_for_more_room(alone):
                return None
            later = self._one_by_one(alone, now, leaving)
        else:
            for _ in range(free):
                ready, later = draining.ready(now)
                if not ready:
                    break
                leaving.append(self._leaves(ready, now))
        if leaving:
            self._write(leaving, self._needed_together(alone) if alone is not None else 1)
        return later

    def _one_by_one(self, queue: PartitionQueue, now: float, leaving: list[Exchange]) -> float | None:
        """Put the batches of a node's only partition into `leaving`, one per request; return when to look again.

        Like `_leaves`, but checks once what is the same for all of them. The caller has checked that there is room on
        the wire.
        """
        topic_id, transactions = self._cluster.topic_id(queue.at.topic), self._transactions
        cap = produce_request.cap(None if transactions is None else transactions.produce_cap, by_id=topic_id != NO_ID)
        draining, returns, outstanding, settings = self._draining, self._returns, self._outstanding, self._settings
        node_id, most, identity = self.node_id, settings.max_in_flight, self._identity
        options = settings.acks, int(settings.request_timeout * 1000), settings.transactional_id
        queue.belongs_to(topic_id)
        while len(outstanding) < most and (queue.waiting or (queue.open is not None and draining.has_ripe(queue, now))):
            if queue.waiting and transactions is None:
                batch = queue.sendable(now, node_id, ordered=most == 1)
            else:
                batch = draining.of_one(queue, now)
            if batch is None:
                rested = queue.rested_at()
                return rested if rested > now else None
            if identity.producer_id >= 0:
                queue.stamp(batch, identity)
            if not batch.sent:
                returns.waited.add(now - batch.created)
            queue.send(batch, node_id)
            if transactions is not None:
                transactions.sent(queue.at)
            assert batch.sealed is not None
            request = OneBatchRequest(batch.at, topic_id, batch.sealed.data, *options)
            exchange = Exchange([(queue, batch)], request, cap, now)
            outstanding.append(exchange)
            leaving.append(exchange)
        return None

    def _waits_for_more_room(self, alone: PartitionQueue) -> bool:
        """Whether the next small batches should wait to be written together: more than half of the allowed requests are
        in flight, and the next response is due soon, because its request was written just after the one answered last.

        That response starts the next turn. Each write costs a wake-up in two processes.
        """
        outstanding, most = self._outstanding, self._settings.max_in_flight
        return (
            2 * len(outstanding) > most
            and 2 * len(alone.waiting) >= most
            and outstanding[0].since < self._answered + NEAR
            and alone.waiting[0].size <= SMALL
        )

    def _leaves(self, ready: Sent, now: float) -> Exchange:
        for queue, batch in ready:
            if self._identity.producer_id >= 0:
                queue.stamp(batch, self._identity)
            if not batch.sent:
                self._returns.waited.add(now - batch.created)
            queue.send(batch, self.node_id)
            if self._transactions is not None:
                self._transactions.sent(queue.at)
            self._draining.sent(queue)
        # the current topic ids: an exchange that begins later may see a recreated topic
        most = None if self._transactions is None else self._transactions.produce_cap
        request, cap = produce_request.build([batch for _, batch in ready], self._cluster, self._settings, most)
        exchange = Exchange(ready, request, cap, now)
        self._outstanding.append(exchange)
        return exchange

    def _write(self, leaving: list[Exchange], enough: int) -> None:
        """Write the requests at once if the connection is open and accepts them; otherwise a task sends them. Their
        order is kept either way."""
        at_once = 0
        if not self._asking and self._settings.acks and self._transactions is None:
            at_once = self._post(leaving, enough)
        for exchange in leaving[at_once:]:
            task = self.loop.create_task(self._ask(exchange))
            self._asking += 1
            task.add_done_callback(self._asked)
            exchange.asked_by(task, self._settle)
            if self._transactions is not None:
                self._transactions.travels(task)

    def _needed_together(self, alone: PartitionQueue) -> int:
        """Number of responses needed before the next requests are written; they are read in one piece."""
        if not alone.waiting or not self._waits_for_more_room(alone):
            return 1
        return len(self._outstanding) - self._settings.max_in_flight // 2

    def _post(self, leaving: list[Exchange], enough: int) -> int:
        try:
            broker = self._cluster.known_node(self.node_id)
        except KcliError:
            return 0  # the client is closing
        if broker is None:
            return 0
        posted = [(exchange.request, exchange, exchange.cap) for exchange in leaving]
        return broker.post(posted, timeout=self._settings.request_timeout + GRACE, after=self._settle, enough=enough)

    def _asked(self, _: object) -> None:
        self._asking -= 1

    async def _ask(self, exchange: Exchange) -> ProduceResponse | None:
        """Return the response, or None with acks=0."""
        broker = await self._cluster.node(self.node_id)
        if self._settings.acks == 0:
            await broker.tell(exchange.request, max_version=exchange.cap)
            return None
        timeout = self._settings.request_timeout + GRACE
        return await broker.ask(exchange.request, timeout=timeout, max_version=exchange.cap)

    # -- settling ---------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Handle the responses and errors that arrived. If all is well, the next requests are written in the
        same step."""
        if self._ended:
            return
        self.awake = True  # whatever happens here is handled in the turn that follows
        try:
            self._write_before_settling()
            well = not self._outstanding or self._settle_in_order()
            if self._outstanding or (self._draining.has_more_than(0) and self._draining.mine()):
                self._turn() if well else self.loop.call_soon(self._turn)
            elif not self._ended:
                self._end(None)  # that was the last one; no further turn is needed
        except Exception as problem:  # noqa: BLE001 - it ends the producer
            self._end(problem)

    def _write_before_settling(self) -> None:
        """Write the next requests before settling the stored batches, the usual case: the broker works on them in the
        meantime, and its next responses are there when settling is done."""
        outstanding, stored = self._outstanding, []
        while self._transactions is None and outstanding:
            exchange = outstanding[0]
            if exchange.response is None or len(exchange.sent) != 1:
                break
            told = produce_request.stored_alone(exchange.response, exchange.request)
            if told is None:
                break
            outstanding.popleft()
            self._answered = exchange.since
            stored.append((exchange.sent[0], told))
        if stored:
            try:
                if self._draining.has_more_than(len(stored)):
                    self._send_all()
            finally:
                now = self.loop.time()
                for (queue, batch), told in stored:
                    self._returns.stored(queue, batch, told.base_offset, told.log_append_time_ms, now)

    def _settle_in_order(self) -> bool:
        """Settle in the order of sending, whatever failed first: a response that overtook others waits for them.
        Returns whether every request got a response."""
        well = True
        outstanding = self._outstanding
        while outstanding and (first := outstanding[0]).over and not self._ended:
            well = well and first.problem is None
            self._answered = first.since
            self._finish(first)
            outstanding.popleft()
        return well

    def _finish(self, exchange: Exchange) -> None:
        if exchange.problem is not None:
            problem = lost(exchange.problem)
            for queue, batch in exchange.sent:
                self._returns.lost(queue, batch, problem)
            return
        response = exchange.response
        answers = produce_request.read(response, exchange.request) if response is not None else {}
        nothing = produce_request.missing() if self._settings.acks else Answer(codes.NONE)
        for queue, batch in exchange.sent:
            self._returns.answered(queue, batch, answers.get((batch.at.topic, batch.at.partition), nothing))


def lost(problem: BaseException) -> KcliError:
    """Return the error for a request that raised `problem`.

    A connection that was closed or violated the protocol counts as lost, and so does a broker that left the cluster,
    because its partitions will get a new leader. Raises anything that is not a KcliError.
    """
    if isinstance(problem, Closed | DecodeError):
        broken = ConnectError(str(problem), sent=True)
    elif isinstance(problem, BrokerError) and problem.code is codes.BROKER_NOT_AVAILABLE:
        broken = ConnectError(str(problem))
    elif isinstance(problem, KcliError):
        return problem
    else:
        raise problem
    broken.__cause__ = problem
    return broken


class Exchange:
    """A request and its response. `cap` is the highest version of the request, `since` when it was written. `response`
    is None after an error and with acks=0. `task` sends the request if that has to wait."""

    __slots__ = ("cap", "over", "problem", "request", "response", "sent", "since", "task")

    def __init__(self, sent: Sent, request: ProduceRequest, cap: int | None, since: float) -> None:
        self.sent = sent
        self.request = request
        self.cap = cap
        self.since = since
        self.over = False
        self.response: ProduceResponse | None = None
        self.problem: BaseException | None = None
        self.task: asyncio.Task[ProduceResponse | None] | None = None

    def done(self) -> bool:
        return self.over

    def set_result(self, answer: Any, /) -> None:
        self.response = answer
        self.over = True

    def set_exception(self, problem: Any, /) -> None:
        self.problem = problem
        self.over = True

    def asked_by(self, task: asyncio.Task[ProduceResponse | None], on_over: Callable[[], None]) -> None:
        """Take the task's result as the response. `on_over` is called once, when there is a response or an error."""
        self.task = task
        task.add_done_callback(self._asked)
        task.add_done_callback(lambda _: on_over())

    def _asked(self, task: asyncio.Task[ProduceResponse | None]) -> None:
        if task.cancelled():
            if not self.over:  # not by `give_up`: the program cancels all its tasks, and the request may have been sent
                self.set_exception(ConnectError("the request was cancelled", sent=True))
        elif (problem := task.exception()) is not None:
            self.set_exception(problem)
        else:
            self.set_result(task.result())

    def give_up(self) -> None:
        """Stop waiting for the response: the producer is closing and settles the rest itself."""
        self.over = True
        if self.task is not None:
            self.task.cancel()

"""The sender: sends the batches of one leader; the responses are settled in the order of sending.

A sender exists only while its leader has something to do: nothing is there when idle, and nothing for a leader without
partitions (A1.13, A5.11). It is no task: a turn is one callback, in which all requests are written that may go, in one
piece. Behind responses it is part of the step that read them. Level-triggered: each turn reads the whole state, so no
wake-up can be lost. At most `max_in_flight` requests per leader.
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

GRACE = 5.0  # a broker may take its whole timeout_ms, and then it still has to answer
NEAR = 0.0005  # seconds: a response that comes so soon is worth waiting for, to write what is next in one piece
SMALL = 16 * 1024  # bytes of a batch up to which that is so: of a larger one the write is the lesser part


class LeaderSender:
    """Sends what `draining` has for one node. `returns` takes the responses. `on_rested` is called when a wait is over:
    what this node waited with may be another one's by now; `on_end` when nothing is left to do, and with what broke the
    sender, if anything did."""

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
        """The engine gives its own."""
        self._outstanding: deque[Exchange] = deque()
        self._asking = 0  # exchanges whose task is not over: what comes after them has to wait its turn like them
        self.awake = False  # a turn is ordered
        self.unseen = False  # more happened since it was
        self.on_unseen: Callable[[], None]
        """Called as a turn begins and at the end, if something was `unseen`. The engine gives it."""
        self._ended = False
        self._alarm: asyncio.TimerHandle | None = None
        self._answered = -math.inf  # when the request was written that was answered last

    def begin(self) -> None:
        """Its leader has something to do again."""
        self._ended = self.awake = False

    def wake(self) -> None:
        """Have a turn soon."""
        if not self.awake:
            self.awake = True
            self.loop.call_soon(self._turn)

    def stop(self) -> list[asyncio.Task[ProduceResponse | None]]:
        """Give up. The ledger settles the batches on the wire; what is left to wait for."""
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
            return  # responses came first, and had the turn that was ordered
        self.awake = False
        try:
            if self.unseen:
                self._report_unseen()
            later = self._send_all()
            if self._outstanding or self._draining.needed(self.loop.time()):
                if later is not None:
                    self._look_again(later)
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

    def _look_again(self, at: float) -> None:
        if self._alarm is None or at < self._alarm.when():
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm = self.loop.call_at(at, self._rested)

    def _rested(self) -> None:
        self._alarm = None
        self._on_rested()

    def _send_all(self) -> float | None:
        """Send every request that may go; when to look again, if that is known."""
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
        """What may go of a partition that is alone goes into `leaving`, each batch a request; when to look again. As
        `_leaves`, with what is the same for all of them found out once. There is room on the wire."""
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
        """Whether the next small batches leave later, in one piece: while more than half of the requests that may be on
        the wire are there, and the next response comes soon, because what it answers was written hardly later than
        what was answered last. The response makes the next turn. Each write costs two processes a wake-up."""
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
        # the topic ids are those of this moment: an exchange that begins later may know of another topic by then
        most = None if self._transactions is None else self._transactions.produce_cap
        request, cap = produce_request.build([batch for _, batch in ready], self._cluster, self._settings, most)
        exchange = Exchange(ready, request, cap, now)
        self._outstanding.append(exchange)
        return exchange

    def _write(self, leaving: list[Exchange], enough: int) -> None:
        """Write the requests at once, if the connection is there and takes them; a task asks where something has to be
        waited for. They leave in their order either way."""
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
        """How many responses have to be there before the next requests are written: they are read in one piece."""
        if not alone.waiting or not self._waits_for_more_room(alone):
            return 1
        return len(self._outstanding) - self._settings.max_in_flight // 2

    def _post(self, leaving: list[Exchange], enough: int) -> int:
        try:
            broker = self._cluster.known_node(self.node_id)
        except KcliError:
            return 0  # the client is being closed
        if broker is None:
            return 0
        posted = [(exchange.request, exchange, exchange.cap) for exchange in leaving]
        return broker.post(posted, timeout=self._settings.request_timeout + GRACE, after=self._settle, enough=enough)

    def _asked(self, _: object) -> None:
        self._asking -= 1

    async def _ask(self, exchange: Exchange) -> ProduceResponse | None:
        """The response, unless acks=0."""
        broker = await self._cluster.node(self.node_id)
        if self._settings.acks == 0:
            await broker.tell(exchange.request, max_version=exchange.cap)
            return None
        timeout = self._settings.request_timeout + GRACE
        return await broker.ask(exchange.request, timeout=timeout, max_version=exchange.cap)

    # -- settling ---------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Responses are there, or errors. Where all is well the next requests are written in the same step."""
        if self._ended:
            return
        self.awake = True  # whatever happens here is looked at in the turn that follows
        try:
            self._write_before_settling()
            well = not self._outstanding or self._settle_in_order()
            if self._outstanding or (self._draining.has_more_than(0) and self._draining.mine()):
                self._turn() if well else self.loop.call_soon(self._turn)
            elif not self._ended:
                self._end(None)  # the last one: no turn for that
        except Exception as problem:  # noqa: BLE001 - it ends the producer
            self._end(problem)

    def _write_before_settling(self) -> None:
        """Batches that are stored, as most are, make room on the wire: what is next is written first. The broker works
        on that while they are settled here, and its next responses are there when this is done."""
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
        """Promises are kept in the order of sending, whatever failed first (A1.14, A1.15): an answer that overtook
        others waits for them. Whether each got a response."""
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
    """What became of a request that raised this. A connection that was closed or spoke nonsense is lost, and so is a
    broker that left the cluster, for its partitions will have another leader. Raises what is no KcliError."""
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
    """`cap` is the highest version of the request, which leaves at `since`. `response` is None after an error and with
    acks=0. `task`: what asks, where that has to wait for something."""

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
        """The task's result is the response; `on_over` is called once, when it is there or an error."""
        self.task = task
        task.add_done_callback(self._asked)
        task.add_done_callback(lambda _: on_over())

    def _asked(self, task: asyncio.Task[ProduceResponse | None]) -> None:
        if task.cancelled():
            if not self.over:  # not by `give_up`: the program cancels all tasks, and the request may have left
                self.set_exception(ConnectError("the request was cancelled", sent=True))
        elif (problem := task.exception()) is not None:
            self.set_exception(problem)
        else:
            self.set_result(task.result())

    def give_up(self) -> None:
        """The response is not wanted any more: the producer is being closed, and settles what is left by itself."""
        self.over = True
        if self.task is not None:
            self.task.cancel()

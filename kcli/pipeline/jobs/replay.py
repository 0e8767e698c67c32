"""Replays records at their original pace: each when it is due, never before, in the order of its partition; all
partitions follow one clock.

Spark is not used: a task per partition would occupy a core while waiting. Due records are passed to the producer in one
piece, so a very fast pace is processed in batches.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from time import time
from typing import TYPE_CHECKING, Any

from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.producer.producer import BatchOutcome, Producer
from kcli.values import Frozen, Value, field

if TYPE_CHECKING:
    from kcli.producer.intake.send_records import Row

MOST = 5000
"""Records that are passed on in one piece."""
ROOM = 20_000
"""Waiting records of a partition at which it is paused."""
TURN = 0.05
"""Seconds between checks for new records and for a request to stop."""


class Pace(Frozen):
    """`speed` is the number of original seconds per second; 0 is unlimited. Silences longer than `longest` (original
    seconds) are shortened to it."""

    speed: float = 1.0
    longest: float | None = None


class Sent(Value):
    """What was replayed. `late` is the largest delay of a record in seconds; `clock` the current original time (ms)."""

    records: int = 0
    bytes: int = 0
    acked: int = 0
    failed: int = 0
    unknown: int = 0
    late: float = 0.0
    behind: float = 0.0
    clock: int = -1
    first: int = -1
    skipped: float = 0.0
    reached: dict[TopicPartition, int] = field(factory=dict)


class _Waiting:
    """Records of a partition that are not due yet; `last` is the time of the previous one, because timestamps may run
    backwards."""

    __slots__ = ("done", "last", "rows")

    def __init__(self) -> None:
        self.rows: deque[tuple[int, int, Any]] = deque()
        self.last = -1
        self.done = False


class Replay:
    """With `place` False, partitions are chosen anew; `now` gives records the time of sending."""

    def __init__(
        self, consumer: Consumer, producer: Producer, topic: str, pace: Pace, *, place: bool = True, now: bool = False
    ) -> None:
        self._consumer = consumer
        self._producer = producer
        self._topic = topic
        self._pace = pace
        self._place = place
        self._now = now
        self._waiting: dict[TopicPartition, _Waiting] = {}
        self._ends: dict[TopicPartition, int] = {}
        self._began = 0.0
        self._removed = 0.0  # ms of silence that was skipped
        self.sent = Sent()
        self.problem: KcliError | None = None
        self.on_progress: Callable[[], None] | None = None
        producer.on_batch = self._settled

    def _settled(self, outcome: BatchOutcome) -> None:
        sent = self.sent
        if outcome.error is None:
            sent.acked += outcome.count
            return
        if outcome.unknown:
            sent.unknown += outcome.count
        else:
            sent.failed += outcome.count
        self.problem = self.problem or outcome.error

    async def everything(self, span: dict[TopicPartition, tuple[int, int]], stop: Any) -> None:
        """Replay the ranges. Returns early if asked to stop (`stop.asked`). Raises KcliError; records already passed on
        are acknowledged at the end."""
        self._waiting = {at: _Waiting() for at, (start, end) in span.items() if start < end}
        self._ends = {at: end for at, (_, end) in span.items()}
        self._consumer.assign({at: start for at, (start, end) in span.items() if start < end})
        self._consumer.stop_at({at: self._ends[at] for at in self._waiting})
        self.sent.reached |= {at: start for at, (start, _) in span.items()}
        while not stop.asked and self.problem is None:
            if await self._fill(stop):
                await self._due()
            elif all(queue.done and not queue.rows for queue in self._waiting.values()):
                break
            if self.on_progress is not None:
                self.on_progress()
        await self._producer.flush()
        if self.problem is not None:
            raise self.problem

    # -- reading ahead ----------------------------------------------------------------------------------------------

    async def _fill(self, stop: Any) -> bool:
        """Read until every unfinished partition has a record here, because only then is it known which one is next."""
        while True:
            hungry = [queue for queue in self._waiting.values() if not queue.rows and not queue.done]
            room = any(len(queue.rows) < ROOM // 2 and not queue.done for queue in self._waiting.values())
            if hungry or room:
                got = await stop.unless(self._consumer.poll(1.0 if hungry else 0.0))
                for fetched in got or ():
                    self._take(fetched)
                self._hold_back()
            if self._consumer.finished:
                for queue in self._waiting.values():
                    queue.done = True
            if stop.asked:
                return False
            if not any(not queue.rows and not queue.done for queue in self._waiting.values()):
                return any(queue.rows for queue in self._waiting.values())

    def _take(self, fetched: Fetched) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        waiting = self._waiting[at]
        for damaged in fetched.skipped:
            raise damaged
        for batch in fetched.batches:
            for record in batch:
                waiting.last = max(waiting.last, record.timestamp)
                waiting.rows.append((waiting.last, record.offset, record))
        if fetched.error is not None:
            raise fetched.error
        if fetched.next_offset >= self._ends[at]:
            waiting.done = True

    def _hold_back(self) -> None:
        """Pause partitions that are ahead, and resume those with half of their room free again."""
        paused = self._consumer.paused
        for at, queue in self._waiting.items():
            if at in paused and len(queue.rows) * 2 <= ROOM:
                self._consumer.resume(at)
            elif at not in paused and len(queue.rows) >= ROOM and at in self._consumer.assignment:
                self._consumer.pause(at)

    # -- sending ----------------------------------------------------------------------------------------------------

    async def _due(self) -> None:
        """Pass on due records, at most MOST; wait if none is due."""
        heads = [
            (queue.rows[0][0], number, queue, at)
            for number, (at, queue) in enumerate(self._waiting.items())
            if queue.rows
        ]
        heapq.heapify(heads)
        clock = asyncio.get_running_loop().time
        if self.sent.first < 0:
            self._began, self.sent.first, self.sent.clock = clock(), heads[0][0], heads[0][0]
        wait = self._until(heads[0][0]) - clock()
        if wait > 0:
            await asyncio.sleep(min(wait, TURN))
            self.sent.behind = 0.0
            if wait > TURN:
                return
        self.sent.behind = max(-wait, 0.0)
        rows: list[Row] = []
        moment = clock()
        while heads and len(rows) < MOST:
            due, number, queue, at = heads[0]
            instant = self._until(due)
            if instant > moment:
                break
            self.sent.late = max(self.sent.late, moment - instant) if self._pace.speed else 0.0
            self.sent.clock = due
            _, offset, record = queue.rows.popleft()
            rows.append(self._row(at, record))
            self.sent.reached[at] = offset + 1
            if queue.rows:
                heapq.heapreplace(heads, (queue.rows[0][0], number, queue, at))
            else:
                heapq.heappop(heads)
                if not queue.done:
                    break  # the next record of this partition is not here yet
        await self._producer.send_records(self._topic, rows)
        self.sent.records += len(rows)

    def _until(self, due: int) -> float:
        """Return when a record of this time is due, in loop time."""
        pace, sent = self._pace, self.sent
        if not pace.speed:
            return 0.0
        if pace.longest is not None and due - sent.clock > pace.longest * 1000:
            silence = due - sent.clock - pace.longest * 1000
            self._removed += silence
            sent.skipped += silence / 1000
            sent.clock = int(due - pace.longest * 1000)
        return self._began + (due - sent.first - self._removed) / 1000 / pace.speed

    def _row(self, at: TopicPartition, record: Any) -> Row:
        self.sent.bytes += len(record.key or b"") + len(record.value or b"")
        stamp = int(time() * 1000) if self._now or record.timestamp < 0 else record.timestamp
        return at.partition if self._place else None, stamp, record.key, record.value, record.headers

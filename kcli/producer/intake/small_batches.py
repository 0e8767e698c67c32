"""Lines in batches of a few records (batch.num.messages): each is whole as soon as it is cut, and none is ever open."""

from __future__ import annotations

from kcli.proto.batch import RESERVED, seal
from kcli.proto.core import Builder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.producer.batches.queue import PartitionQueue
    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.lines import LineBlock
    from kcli.proto.batch import SealedBatch
    from kcli.settings import ProducerSettings

FEW = 16  # records of a batch


class SmallBatches:
    """`check` raises when nothing may be sent now. `used`: batches are small, and as they are when they are sealed."""

    def __init__(self, engine: Engine, settings: ProducerSettings, check: Callable[[], None]) -> None:
        self._engine = engine
        self._check = check
        self._records = settings.batch_records
        self._max_block = settings.max_block
        self._transactional = settings.transactional_id is not None
        self.used = settings.compression == "none" and self._records <= min(FEW, settings.buffer_records)

    async def send(self, queue: PartitionQueue, block: LineBlock, stamp: int) -> int:
        """Send what makes whole batches, from the block's start on; where the rest begins. Raises as
        `Producer.send_lines`."""
        engine, records, at = self._engine, self._records, block.start
        budget, pacing = engine.budget, engine.pacing
        while at < block.end:
            room = min(10 * (block.end - at), engine.accumulator.sizing.limit(block.topic))
            if not budget.take_now(room, records):
                await budget.take(room, records, self._max_block)
            grown = added = 0
            try:
                self._check()
                if queue.open is not None:
                    break  # it is filled first
                most = min(pacing.room(queue), 1 + (budget.max_records - budget.records) // records)
                whole, grown, at = self._cut(block, at, stamp, room, most)
                added = len(whole) * records
            finally:
                budget.give(room - grown, records - added)
            if not whole:
                break
            engine.ledger.counts.accepted += added
            engine.accumulator.add_whole(queue, whole, engine.loop.time())
            if at < block.end and pacing.runs_ahead(queue):
                await pacing.pause(queue)
        return at

    def _cut(self, block: LineBlock, at: int, stamp: int, room: int, most: int) -> tuple[list[SealedBatch], int, int]:
        """As many as `most` whole batches with `room` bytes of records; those bytes; where the next line begins."""
        chunk, end, delimiter, empty_is_null = block.chunk, block.end, block.delimiter, block.empty_is_null
        records, transactional, builder = self._records, self._transactional, Builder()
        whole: list[SealedBatch] = []
        grown = 0
        for _ in range(most):
            stop = builder.append_lines(chunk, at, end, delimiter, stamp, room - grown, records, empty_is_null)
            if builder.count < records or grown + builder.size > room:
                break
            sealed = seal(builder.take(), records, stamp, stamp, transactional=transactional)
            whole.append(sealed)
            grown += sealed.size - RESERVED
            at = stop
        return whole, grown, at

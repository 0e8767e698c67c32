"""Forwards encoded batches unchanged, in order with all other records; outcomes are reported per batch, not per
record."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.forward import resealed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.producer.engine.engine import Engine
    from kcli.producer.intake.placement import Placement
    from kcli.proto.batch import Batch
    from kcli.settings import ProducerSettings


class Forward:
    """`check` raises if nothing may be sent now."""

    def __init__(
        self, engine: Engine, placement: Placement, settings: ProducerSettings, check: Callable[[], None]
    ) -> None:
        self._engine = engine
        self._placement = placement
        self._settings = settings
        self._check = check

    async def send(self, topic: str, partition: int, batch: Batch) -> None:
        """See `Producer.send_batch`."""
        self._check()
        sealed = resealed(batch, transactional=self._settings.transactional_id is not None)
        if sealed.count == 1 and sealed.size > self._settings.max_request_size:
            raise BrokerError(codes.MESSAGE_TOO_LARGE, topic, self._settings.too_large(sealed.size))
        engine = self._engine
        ticket = engine.enter()
        try:
            if self._placement.known(topic, partition) is None:
                await self._placement.look_up(topic, partition)
            await engine.budget.take(sealed.size, sealed.count, self._settings.max_block)
            try:
                self._check()
            except BaseException:
                engine.budget.give(sealed.size, sealed.count)
                raise
            queue = engine.accumulator.queue(topic, partition)
            engine.accumulator.add_sealed(queue, sealed, asyncio.get_running_loop().time())
            engine.ledger.counts.accepted += sealed.count
            if engine.pacing.runs_ahead(queue):
                await engine.pacing.pause(queue)
        finally:
            engine.leave(ticket)

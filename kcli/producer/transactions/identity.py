"""A transactional producer's id and epoch: from the coordinator, which fences the former producer (KIP-98)."""

from __future__ import annotations

from kcli import codes
from kcli.errors import KcliError
from kcli.producer.batches.sequence import Identity
from kcli.proto.messages.init_producer_id import InitProducerIdRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.transactions.requests import Coordination
    from kcli.settings import ProducerSettings


class TransactionalIdentity(Identity):
    """The epoch is bumped by the coordinator only, between transactions."""

    def __init__(self, coordination: Coordination, settings: ProducerSettings) -> None:
        super().__init__(coordination.cluster, settings)
        self._coordination = coordination

    async def obtain(self) -> None:
        """Get an id, unless there is one. Ends a transaction that an earlier producer of this transactional id left
        open. Raises as `Coordination.ask`."""
        async with self._lock:
            if self.missing:
                await self._initialise(-1, -1)

    async def renew(self) -> None:
        """The next epoch of the same id, because a sequence was lost (KIP-360). Raises as `Coordination.ask`."""
        async with self._lock:
            await self._initialise(self.producer_id, self.epoch)

    def become(self, producer_id: int, epoch: int) -> None:
        """What the answer to EndTxn said comes next (KIP-890)."""
        self.producer_id, self.epoch = producer_id, epoch

    def bump(self) -> None:
        raise AssertionError("the epoch of a transactional producer is the coordinator's to bump")

    async def _initialise(self, producer_id: int, epoch: int) -> None:
        answer = await self._coordination.ask(
            InitProducerIdRequest(
                transactional_id=self._settings.transactional_id,
                transaction_timeout_ms=int(self._settings.transaction_timeout * 1000),
                producer_id=producer_id,
                producer_epoch=epoch,
            ),
            lambda response: codes.of(response.error_code),
            self._coordination.about,
        )
        if answer.producer_id < 0 or answer.producer_epoch < 0:
            raise KcliError(f"{self._coordination.about}: the coordinator gave no producer id, and no error either")
        self.become(answer.producer_id, answer.producer_epoch)

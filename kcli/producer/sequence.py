"""The producer's identity: id and epoch from the cluster, bumped when a sequence was lost (KIP-360)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff
from kcli.errors import AuthError, BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.proto.messages.init_producer_id import InitProducerIdRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster
    from kcli.settings import ProducerSettings

LAST_EPOCH = 32767
NO_ID = "the broker gives no producer id, and no error either; enable.idempotence=false needs none"


class Identity:
    """Id -1 until it is needed, and for a producer that is not idempotent."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._lock = asyncio.Lock()
        self.producer_id = -1
        self.epoch = -1
        self.unreachable: ConnectError | None = None  # why nobody could be asked for one, last time

    @property
    def missing(self) -> bool:
        """An idempotent producer without its id."""
        return self._settings.idempotence and self.producer_id < 0

    async def obtain(self) -> None:
        """Ask the cluster for an id; whatever passes is retried until the delivery timeout.
        Raises BrokerError (not authorised), AuthError, UnsupportedVersion, ConnectError, DeadlineExceeded,
        KcliError (an answer without an id)."""
        async with self._lock:
            if not self.missing:
                return
            loop = asyncio.get_running_loop()
            deadline = loop.time() + self._settings.delivery_timeout
            backoff = Backoff(self._settings.retry_backoff, self._settings.retry_backoff_max)
            while True:
                try:
                    broker = await self._cluster.anyone()
                    answer = await broker.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
                    code = codes.of(answer.error_code)
                    if not code and answer.producer_id >= 0 and answer.producer_epoch >= 0:
                        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
                        self.unreachable = None
                        return
                    problem: Exception = BrokerError(code, "idempotent producer") if code else KcliError(NO_ID)
                    final = bool(code) and not code.retriable
                except AuthError:
                    raise
                except (ConnectError, DeadlineExceeded) as raised:
                    problem, final = raised, False
                    self.unreachable = raised if isinstance(raised, ConnectError) else None
                pause = backoff.next()
                if final or loop.time() + pause > deadline:
                    raise problem
                await asyncio.sleep(pause)

    def bump(self) -> None:
        """The next epoch; after the last one a new id has to be obtained."""
        if self.epoch >= LAST_EPOCH:
            self.producer_id = self.epoch = -1
        else:
            self.epoch += 1

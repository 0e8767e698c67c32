"""The producer's identity: id and epoch from the cluster, bumped when a sequence was lost (KIP-360)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff, retry
from kcli.errors import BrokerError, ConnectError, DeadlineExceeded, KcliError
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster
    from kcli.settings import ProducerSettings

LOG = Log("producer")
LAST_EPOCH = 32767


class NoProducerId(KcliError):
    """An answer with neither an id nor an error, which another broker may give."""

    retriable = True

    def __init__(self) -> None:
        super().__init__("the broker gives no producer id, and no error either; enable.idempotence=false needs none")


class Identity:
    """Id -1 until it is needed, and for a producer that is not idempotent."""

    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._lock = asyncio.Lock()
        self.producer_id = -1
        self.epoch = -1
        self.unreachable: ConnectError | None = None  # why no broker could be asked for one, last time

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
            settings = self._settings
            until = asyncio.get_running_loop().time() + settings.delivery_timeout
            await retry(self._ask, Backoff(settings.retry_backoff, settings.retry_backoff_max), until)

    async def _ask(self) -> None:
        try:
            broker = await self._cluster.anyone()
            answer = await broker.ask(InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0))
        except (ConnectError, DeadlineExceeded) as problem:
            if problem.retriable:
                self.unreachable = problem if isinstance(problem, ConnectError) else None
            raise
        code = codes.of(answer.error_code)
        if code:
            raise BrokerError(code, "producer id", api=InitProducerIdRequest.api_key)
        if answer.producer_id < 0 or answer.producer_epoch < 0:
            raise NoProducerId
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.unreachable = None
        LOG.info("producer id %d, epoch %d", self.producer_id, self.epoch)

    def bump(self) -> None:
        """The next epoch; after the last one a new id has to be obtained."""
        if self.epoch >= LAST_EPOCH:
            self.producer_id = self.epoch = -1
        else:
            self.epoch += 1
        LOG.info("producer id %d, epoch %d: a sequence was lost", self.producer_id, self.epoch)

"""Sealing in threads: large batches are compressed while the loop continues; the codecs release the GIL."""

from __future__ import annotations

from kcli.errors import KcliError
from kcli.tasks import DaemonThread

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from kcli.producer.batches.batch import ProducerBatch
    from kcli.settings import ProducerSettings

THREADS = 2


class Sealers:
    """`done` is called in the loop with the batch, and with what went wrong, if anything did."""

    def __init__(self, settings: ProducerSettings, done: Callable[[ProducerBatch, KcliError | None], None]) -> None:
        self._settings = settings
        self._done = done
        self._threads: DaemonThread | None = None
        self._under_way: dict[asyncio.Future[None], None] = {}

    def seal(self, batch: ProducerBatch) -> None:
        """Close the batch in a thread."""
        if self._threads is None:
            self._threads = DaemonThread("kcli-seal", THREADS)
        future = self._threads.do(batch.close, self._settings)
        batch.sealing = True
        self._under_way[future] = None
        future.add_done_callback(lambda done: self._sealed(batch, done))

    def _sealed(self, batch: ProducerBatch, done: asyncio.Future[None]) -> None:
        del self._under_way[done]
        batch.sealing = False
        problem = None if done.cancelled() else done.exception()
        if problem is not None and not isinstance(problem, KcliError):
            problem = KcliError(f"a batch could not be sealed: {problem!r}")
        self._done(batch, problem)

    def stop(self) -> None:
        """End the threads after what they have begun, without waiting; what they have not begun stays open."""
        for future in list(self._under_way):
            future.cancel()
        if self._threads is not None:
            self._threads.stop()
            self._threads = None

"""Sealing in threads: large batches are compressed while the loop continues; the codecs release the GIL."""

from __future__ import annotations

import asyncio

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import ThreadPoolExecutor

    from kcli.producer.batches.batch import ProducerBatch
    from kcli.settings import ProducerSettings

THREADS = 2


class Sealers:
    """`done` is called in the loop with the batch, and with what went wrong, if anything did."""

    def __init__(self, settings: ProducerSettings, done: Callable[[ProducerBatch, KcliError | None], None]) -> None:
        self._settings = settings
        self._done = done
        self._threads: ThreadPoolExecutor | None = None

    def seal(self, batch: ProducerBatch) -> None:
        """Close the batch in a thread."""
        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor

            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="kcli-seal")
        batch.sealing = True
        future = asyncio.get_running_loop().run_in_executor(self._threads, batch.close, self._settings)
        future.add_done_callback(lambda done: self._sealed(batch, done))

    def _sealed(self, batch: ProducerBatch, done: asyncio.Future[None]) -> None:
        batch.sealing = False
        problem = None if done.cancelled() else done.exception()
        if problem is not None and not isinstance(problem, KcliError):
            problem = KcliError(f"a batch could not be sealed: {problem!r}")
        self._done(batch, problem)

    def stop(self) -> None:
        """End the threads; what they have not begun stays open."""
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None

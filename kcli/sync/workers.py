"""The synchronous counterpart of `Workers`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.consumer.workers import PlainWork, Workers
    from kcli.sync.consumer import SyncConsumer


class SyncWorkers:
    """Process a group's partitions in parallel with a plain function.

    `work(fetched, stop)` is called in a thread with the records fetched from one partition. The guarantees are those of
    `Workers`.

        with kafka.consumer(group="billing") as consumer:
            workers = SyncWorkers(consumer, work)
            signal.signal(signal.SIGTERM, lambda *_: workers.stop())
            workers.run(["orders"])
    """

    def __init__(
        self,
        consumer: SyncConsumer,
        work: PlainWork,
        *,
        size: int = 8,
        commit_interval: float = 5.0,
        threads: int = 32,
    ) -> None:
        from kcli.consumer.workers import Workers

        self._consumer = consumer
        self._workers: Workers = Workers(
            consumer.as_async, work, size=size, commit_interval=commit_interval, threads=threads
        )

    def run(self, topics: Sequence[str] | str) -> None:
        """Join the group and process records until `stop` is called, or until `work` or the consumer raises. Ctrl-C
        ends it, too: it waits for running calls and commits processed records."""
        self._consumer.run(self._workers.run(topics))

    def stop(self) -> None:
        """Make `run` finish: queued records are still processed and committed. Safe to call from any thread and from
        signal handlers."""
        self._workers.stop()

"""`Workers` without async."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.consumer.workers import PlainWork, Workers
    from kcli.sync.consumer import SyncConsumer


class SyncWorkers:
    """`work(fetched, stop)` is a plain function, called in a thread with what was fetched of one partition: as
    `Workers`, with the same promises.

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
        """Join the group and work until `stop`, or until a call of `work` or the consumer raises. Ctrl-C ends it, too:
        what is done is committed, and the calls under way are waited for."""
        self._consumer.run(self._workers.run(topics))

    def stop(self) -> None:
        """Have `run` end: queued records are still processed and committed. Any thread and a signal's handler may call
        it."""
        self._workers.stop()

"""`--metrics FILE` and `--prometheus [HOST]:PORT` of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import time
from typing import TYPE_CHECKING, TextIO

from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.output.messages import complain
from kcli.errors import UsageError
from kcli.paths import private
from kcli.pipeline.progress import Progress

if TYPE_CHECKING:
    from kcli.cli.commands.pipeline.session.job import Job, Outcome
    from kcli.pipeline.jobs.work import Action, Stream, StreamState
    from kcli.pipeline.metrics.stream_metrics import Batch


class Metrics:
    """What a run reports of itself; nothing unless its line asks for it."""

    def __init__(self, pipeline: str, job: Job, out: TextIO | None) -> None:
        from kcli.pipeline.metrics.stream_metrics import Totals

        self._job = job
        self._out = out
        self._begun = time()
        self._totals = Totals(pipeline, self._begun)
        self.page = self._totals.page(Progress(), None)

    def at(self, seen: Progress, look: StreamState | None, work: Action | Stream) -> None:
        """The figures now, and the batches that ended since."""
        from kcli.pipeline.metrics.stream_metrics import batch_of

        for progress in work.ended():
            self._add(batch_of(progress, self._job.written.get(progress["batchId"]), time()))
        self.page = self._totals.page(seen, look)

    def end(self, seen: Progress, outcome: Outcome) -> None:
        """A batch ended, which is all of the run."""
        from kcli.pipeline.metrics.stream_metrics import Batch

        now, rows, written = time(), max(outcome.records, 0) or seen.whole.rows, self._job.written.get(-1)
        seconds = round(now - self._begun, 3)
        batch = Batch(time=now, rows=rows, bad=outcome.bad, seconds=seconds, rate=round(rows / max(seconds, 0.001), 1))
        batch.unknown = outcome.unknown
        batch.bytes = outcome.bytes if outcome.bytes >= 0 else None
        if written is not None:
            batch.files, batch.commit_seconds = written.files, written.commit
        self._add(batch)

    def _add(self, batch: Batch) -> None:
        self._totals.add(batch)
        if self._out is not None:
            from json import dumps

            self._out.write(dumps(batch.line(self._totals.pipeline), ensure_ascii=False, separators=(",", ":")) + "\n")
            self._out.flush()


@contextmanager
def metrics_of(frame: Frame, job: Job, pipeline: str) -> Iterator[Metrics | None]:
    """Open the file and listen. Raises UsageError where one of it cannot be done."""
    path, address = frame.options.metrics, frame.prometheus
    if path is None and address is None:
        yield None
        return
    with ExitStack() as open_now:
        metrics = Metrics(pipeline, job, None if path is None else open_now.enter_context(_opened(path)))
        if address is not None:
            url = open_now.enter_context(_served(*address, metrics))
            if not frame.quiet:
                complain(f"metrics at {url}")
        yield metrics


def _opened(path: str) -> TextIO:
    try:
        return open(path, "a", encoding="utf-8", opener=private)
    except OSError as problem:
        raise UsageError(f"--metrics {path}: cannot be written ({problem.strerror})") from problem


@contextmanager
def _served(host: str, port: int, metrics: Metrics) -> Iterator[str]:
    """The page by HTTP, from a thread; where it is."""
    from kcli.metrics.server import listening
    from kcli.sync.loop_thread import LoopThread

    thread = LoopThread()
    try:
        server = listening(host, port, lambda: metrics.page)
        yield thread.run(server.__aenter__())
        thread.run(server.__aexit__(None, None, None))
    finally:
        thread.close()

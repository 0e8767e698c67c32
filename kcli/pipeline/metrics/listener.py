"""Metrics of the queries of your own program, like those of `kcli pipeline --metrics` and `--prometheus`.

    listener = MetricsListener("lake.ndjson", prometheus=":9309")
    spark.streams.addListener(listener)

It covers every query of the session, whatever its sink; files and commit times of a table are unknown to it. It does
not work with Spark Connect, whose server would run it. `kcli pipeline` itself asks Spark for the progress of its query,
which is available at once when the query ends, and also with Connect.
"""

from __future__ import annotations

import json
import threading
from contextlib import AbstractAsyncContextManager
from time import time
from typing import TYPE_CHECKING

from pyspark.sql.streaming.listener import StreamingQueryListener

from kcli.metrics.server import address, listening
from kcli.paths import private
from kcli.pipeline.jobs.work import rows_of
from kcli.pipeline.metrics.stream_metrics import Batch, Totals, batch_of, page_of
from kcli.sync.loop_thread import LoopThread

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import (
        QueryIdleEvent,
        QueryProgressEvent,
        QueryStartedEvent,
        QueryTerminatedEvent,
    )


class MetricsListener(StreamingQueryListener):
    """`path` gets a JSON line for each batch with records; `prometheus` is [HOST]:PORT of a page, whose URL is `url`. A
    query is identified by its name, or else by its id. `close` ends both. Raises UsageError for an address that cannot
    be bound, OSError for a file that cannot be written."""

    def __init__(self, path: str | None = None, *, prometheus: str | None = None) -> None:
        self._lock = threading.Lock()
        self._queries: dict[str, tuple[Totals, Batch | None]] = {}
        self._out = None if path is None else open(path, "a", encoding="utf-8", opener=private)  # noqa: SIM115
        self._loop: LoopThread | None = None
        self._server: AbstractAsyncContextManager[str]
        self.url = ""
        if prometheus is not None:
            self._serve(prometheus)

    def _serve(self, where: str) -> None:
        host, port = address(where)
        loop = LoopThread()
        try:
            self._server = listening(host, port, self.page)
            self.url = loop.run(self._server.__aenter__())
            self._loop = loop
        finally:
            if self._loop is None:
                loop.close()

    def page(self) -> str:
        """Return the Prometheus page as of the last batches."""
        with self._lock:
            known = {name: _figures(totals, last) for name, (totals, last) in self._queries.items()}
        return page_of(known)

    def close(self) -> None:
        """Close the file and the page."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.run(self._server.__aexit__(None, None, None))
            loop.close()
        if self._out is not None:
            self._out.close()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        with self._lock:
            self._queries.setdefault(_named(event), (Totals(_named(event), time()), None))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        progress = event.progress
        if not rows_of(progress):
            return
        batch, name = batch_of(progress, None, time()), _named(progress)
        with self._lock:
            totals, _ = self._queries.setdefault(name, (Totals(name, time()), None))
            totals.add(batch)
            self._queries[name] = totals, batch
            if self._out is not None:
                self._out.write(json.dumps(batch.line(name), ensure_ascii=False, separators=(",", ":")) + "\n")
                self._out.flush()

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        """Do nothing: there is no news."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        """Do nothing: its last figures are kept."""


def _named(query: QueryStartedEvent | object) -> str:
    return str(getattr(query, "name", None) or getattr(query, "id"))  # noqa: B009


def _figures(totals: Totals, last: Batch | None) -> dict[str, float]:
    return totals.figures(0.0, -1) if last is None else totals.figures(last.rate, -1 if last.lag is None else last.lag)

"""Records that did not fit their format (onBad), sent to a topic by the task that reads them.

A task is done when the topic has acknowledged all of its range, so a batch is complete only with them. A task that runs
again sends them again: the headers say which record one was.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.pipeline.background import Background
from kcli.pipeline.connection import Sealed
from kcli.pipeline.kept_client import client_of
from kcli.pipeline.source.ranges import Range
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.producer import Producer

if TYPE_CHECKING:
    import pyarrow as pa

HEADERS = ("kcli.topic", "kcli.partition", "kcli.offset", "kcli.timestamp", "kcli.reason")
"""Of each record, as text; the timestamp in ms since 1970."""


class NotKept(KcliError):
    """A bad record that the topic did not acknowledge."""


class Undone(Exception):
    """Ends a client that was not used to the end: none is kept whose block raised."""


class Sent:
    """The bad records of one range, with key and value as they were: `add` them, then `settle`, or `undo` where the
    range was not read to its end."""

    def __init__(self, topic: str, sealed: Sealed, wanted: Range) -> None:
        self._topic = topic
        self._sealed = sealed
        self._range = wanted
        self._open = ExitStack()
        self._kafka: Background | None = None
        self._producer: Producer
        self._wrong: list[BatchOutcome] = []

    def add(
        self, offsets: pa.Array, times: pa.Array, keys: pa.Array, values: pa.Array, reasons: Mapping[int, str]
    ) -> None:
        """The rows of `reasons`, out of the raw columns of a batch. Raises what the client raises."""
        kafka = self._opened()
        place = (self._range.topic.encode(), b"%d" % self._range.partition)
        rows = []
        for row in sorted(reasons):
            about = (*place, b"%d" % offsets[row].as_py(), b"%d" % (times[row].value // 1000), reasons[row].encode())
            headers = tuple(zip(HEADERS, about, strict=True))
            rows.append((None, None, keys[row].as_py(), values[row].as_py(), headers))
        kafka.run(self._producer.send_records(self._topic, rows))

    def _opened(self) -> Background:
        """The client, taken for the first bad record of the range."""
        if self._kafka is None:
            kafka = self._open.enter_context(client_of(self._sealed))
            self._producer = kafka.client.producer(self._sealed.producer.for_command(max_block_given=False))
            self._producer.on_batch = self._settled
            kafka.run(self._producer.start())
            self._open.callback(lambda: kafka.run(self._producer.close(0)))
            self._kafka = kafka
        return self._kafka

    def _settled(self, outcome: BatchOutcome) -> None:
        if outcome.error is not None:
            self._wrong.append(outcome)

    def settle(self) -> None:
        """Wait until all are acknowledged. Raises NotKept where one is not, and what the client raises."""
        if self._kafka is None:
            return
        self._kafka.run(self._producer.flush())
        if self._wrong:
            first, at = self._wrong[0], f"{self._range.topic}[{self._range.partition}]"
            raise NotKept(f"bad records of {at} are not in quarantine: {first.topic}[{first.partition}]: {first.error}")
        self._kafka = None
        self._open.close()

    def undo(self) -> None:
        """Close the client. What was sent stays sent."""
        self._kafka = None
        with suppress(Undone), self._open:
            raise Undone

"""Records that did not fit their format, kept whole: a Parquet file for each range that has any.

A file is named by its range, and gets the name when the range has been read to its end: a repeated task, or a batch
repeated after a crash, leaves one file with each record once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from kcli.errors import KcliError
from kcli.pipeline.connection import Sealed
from kcli.pipeline.kept_client import Background, client_of
from kcli.pipeline.source.ranges import Range
from kcli.producer.batches.batch import BatchOutcome
from kcli.producer.producer import Producer

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetWriter

NEEDS = frozenset({"key", "value", "offset", "timestamp"})
"""Columns that have to be fetched for it."""
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("reason", pa.string()),
    ]
)
HEADERS = ("kcli.topic", "kcli.partition", "kcli.offset", "kcli.timestamp", "kcli.reason")
"""For each record, as text; the timestamp is in ms since 1970."""


class Kept:
    """The bad records of one range: `add` them, then `settle`, or `undo` if the range was not read to its end."""

    def __init__(self, folder: str, wanted: Range) -> None:
        self._range = wanted
        name = f"{wanted.topic}-{wanted.partition:05}-{wanted.start:020}-{wanted.end:020}.parquet"
        self._file = Path(folder, name)
        self._part = Path(folder, f".{name}.{uuid4().hex}")
        self._writer: ParquetWriter | None = None

    def add(
        self, offsets: pa.Array, times: pa.Array, keys: pa.Array, values: pa.Array, reasons: Mapping[int, str]
    ) -> None:
        """Add the rows of `reasons` from the raw columns of a batch."""
        from pyarrow import parquet

        rows = pa.array(sorted(reasons), pa.int64())
        count = len(rows)
        columns = [
            pa.repeat(pa.scalar(self._range.topic, pa.string()), count),
            pa.repeat(pa.scalar(self._range.partition, pa.int32()), count),
            *(column.take(rows) for column in (offsets, times, keys, values)),
            pa.array([reasons[row] for row in sorted(reasons)], pa.string()),
        ]
        if self._writer is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet.ParquetWriter(self._part, SCHEMA, compression="zstd")
        self._writer.write_batch(pa.record_batch(columns, schema=SCHEMA))

    def settle(self) -> None:
        """Give the file its name, and delete what an earlier attempt wrote for the range."""
        if self._writer is None:
            self._file.unlink(missing_ok=True)
            return
        self._writer.close()
        self._writer = None
        os.replace(self._part, self._file)

    def undo(self) -> None:
        """Delete what an unfinished attempt wrote."""
        if self._writer is not None:
            self._writer.close()
            self._part.unlink(missing_ok=True)


# Records that did not fit their format (onBad), sent to a topic by the task that reads them.
#
# A task finishes when the topic has acknowledged them, so a batch is complete only with them. A repeated task sends
# them again: the headers identify the original record.
class NotKept(KcliError):
    """The topic did not acknowledge a bad record."""


class Undone(Exception):
    """Ends a client that was not used to the end: a client whose block raised is not kept."""


class Sent:
    """The bad records of one range, with unchanged key and value: `add` them, then `settle`, or `undo` if the range was
    not read to its end."""

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
        """Add the rows of `reasons` from the raw columns of a batch. Raises the client's errors."""
        kafka = self._opened()
        place = (self._range.topic.encode(), b"%d" % self._range.partition)
        rows = []
        for row in sorted(reasons):
            about = (*place, b"%d" % offsets[row].as_py(), b"%d" % (times[row].value // 1000), reasons[row].encode())
            headers = tuple(zip(HEADERS, about, strict=True))
            rows.append((None, None, keys[row].as_py(), values[row].as_py(), headers))
        kafka.run(self._producer.send_records(self._topic, rows))

    def _opened(self) -> Background:
        """Return the client, opened for the first bad record of the range."""
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
        """Wait until all are acknowledged. Raises NotKept otherwise, and the client's errors."""
        if self._kafka is None:
            return
        self._kafka.run(self._producer.flush())
        if self._wrong:
            first, at = self._wrong[0], f"{self._range.topic}[{self._range.partition}]"
            raise NotKept(f"bad records of {at} are not in quarantine: {first.topic}[{first.partition}]: {first.error}")
        self._kafka = None
        self._open.close()

    def undo(self) -> None:
        """Close the client. What was sent remains sent."""
        self._kafka = None
        with suppress(Undone), self._open:
            raise Undone

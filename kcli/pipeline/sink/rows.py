"""Converts Arrow rows to the producer's input: a chunk of bytes and the place of each key and value in it.

Rows with headers are sent one by one; all others by the batch.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kcli.errors import UsageError
from kcli.pipeline.options import WriteOptions
from kcli.producer.producer import Producer
from kcli.proto.columns import Lines

if TYPE_CHECKING:
    import numpy.typing as npt

Send = Callable[[Producer], Coroutine[Any, Any, None]]


def sends_of(batch: pa.RecordBatch, options: WriteOptions) -> Iterator[Send]:
    """Yield what to do with a producer so that it accepts the rows, in order within a topic."""
    if not batch.num_rows:
        return
    for topic, part in _by_topic(batch, options.topic):
        names = part.schema.names
        if "headers" in names and part.column("headers").null_count < part.num_rows:
            yield _one_by_one(topic, part, options)
        else:
            yield _all_at_once(topic, part, options)


def _by_topic(batch: pa.RecordBatch, topic: str) -> Iterator[tuple[str, pa.RecordBatch]]:
    if topic:
        yield topic, batch
        return
    column = batch.column("topic")
    if column.null_count:
        raise UsageError("a row has no topic: its column topic is null, and the option topic is not set")
    names = pc.unique(column).to_pylist()
    for name in names:
        yield name, batch if len(names) == 1 else batch.filter(pc.equal(column, name))


def _all_at_once(topic: str, part: pa.RecordBatch, options: WriteOptions) -> Send:
    chunk, lines = lines_of(part)
    places = _integers(part, "partition", "i", -1)
    times = _times(part, options)

    def send(producer: Producer) -> Coroutine[Any, Any, None]:
        return producer.send_columns(topic, chunk, lines, places, times)

    return send


def lines_of(part: pa.RecordBatch) -> tuple[Any, Lines]:
    """Return the chunk with its keys and values. Without keys the chunk is the values' own buffer."""
    values, value_starts, value_lengths = spans_of(part.column("value"))
    if "key" not in part.schema.names or part.column("key").null_count == part.num_rows:
        rows = part.num_rows
        return values, Lines(
            array("i", bytes(4 * rows)), _array(np.full(rows, -1, np.int32)), value_starts, value_lengths, 0
        )
    keys, key_starts, key_lengths = spans_of(part.column("key"))
    if len(keys) + len(values) > 2**31 - 1:
        raise UsageError("an Arrow batch of more than 2 GiB; lower spark.sql.execution.arrow.maxRecordsPerBatch")
    behind = np.frombuffer(value_starts, np.int32) + np.int32(len(keys))
    return b"".join((keys, values)), Lines(key_starts, key_lengths, _array(behind), value_lengths, 0)


def spans_of(column: pa.Array) -> tuple[memoryview, array[int], array[int]]:
    """Return a binary or string column's bytes, and the start and length of each cell (-1: null)."""
    if pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.binary())
    rows = len(column)
    _, ends, data = column.buffers()
    places = np.frombuffer(ends, np.int32, rows + 1, column.offset * 4)
    first, last = int(places[0]), int(places[-1])
    lengths = np.diff(places)
    if column.null_count:
        lengths = np.where(column.is_valid().to_numpy(zero_copy_only=False), lengths, np.int32(-1))
    text = memoryview(data).cast("B")[first:last] if data is not None else memoryview(b"")
    return text, _array(places[:-1] - np.int32(first)), _array(lengths)


def _integers(part: pa.RecordBatch, name: str, code: str, null: int) -> array[int] | None:
    if name not in part.schema.names or part.column(name).null_count == part.num_rows:
        return None
    filled = pc.fill_null(part.column(name), null).to_numpy(zero_copy_only=False)
    return array(code, np.ascontiguousarray(filled).tobytes())


def _times(part: pa.RecordBatch, options: WriteOptions) -> array[int] | None:
    """Return the timestamps in ms; None for the time of sending."""
    if not options.keep_timestamp:
        return None
    times = part.column("timestamp")
    if times.null_count:
        raise UsageError("a row has no timestamp, but keepTimestamp=true requires one")
    return _array(pc.floor_temporal(times, unit="millisecond").cast(pa.int64()).to_numpy() // 1000)


def _array(numbers: npt.NDArray[Any]) -> array[int]:
    return array("i" if numbers.dtype == np.int32 else "q", np.ascontiguousarray(numbers).tobytes())


def _one_by_one(topic: str, part: pa.RecordBatch, options: WriteOptions) -> Send:
    names = part.schema.names
    empty = [None] * part.num_rows
    columns = [
        part.column(name).to_pylist() if name in names else empty for name in ("partition", "key", "value", "headers")
    ]
    times = _times(part, options) or empty
    rows = [
        (
            partition,
            time,
            _bytes(key),
            _bytes(value),
            _headers(headers),
        )
        for time, partition, key, value, headers in zip(times, *columns, strict=True)
    ]

    def send(producer: Producer) -> Coroutine[Any, Any, None]:
        return producer.send_records(topic, rows)

    return send


def _headers(cell: list[Any] | None) -> list[tuple[str, bytes | None]]:
    """Return a record's headers. Kafka does not allow headers without a name. Raises UsageError."""
    found = []
    for one in cell or ():
        if one is None or one["key"] is None:
            raise UsageError("a row has a header whose key is null")
        found.append((one["key"], one["value"]))
    return found


def _bytes(cell: str | bytes | None) -> bytes | None:
    return cell.encode() if isinstance(cell, str) else cell

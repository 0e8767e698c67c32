"""Record batches: `seal` closes a built batch, `read_batches` reads those of a broker.

A batch stays encoded until its records are needed; then the record core creates all of them in one pass. Its window
[first, stop) has the offsets for the reader: a batch may begin before the requested position, and end after the limit.
"""

from __future__ import annotations

from struct import Struct

from kcli.errors import DecodeError, EncodeError
from kcli.proto import core
from kcli.proto.columns import Columns, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable, Iterator
    from typing import Any

    from kcli.proto.buffer import Buffer

    Convert = Callable[[Any], bytes]
    Program = tuple[bytes | tuple[str, Convert | None], ...]

__all__ = [
    "CODECS",
    "MAX_DECOMPRESSED",
    "Batch",
    "Columns",
    "CorruptBatch",
    "Record",
    "SealedBatch",
    "read_batches",
    "seal",
]

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_NUMBERS = {name: number for number, name in enumerate(CODECS)}
MAX_DECOMPRESSED = 64 * 1024 * 1024
RESERVED = 61
LONG = Struct(">q")
_HEADER_FIELDS = tuple(name for name in dir(core.Header) if not name.startswith("_"))


class CorruptBatch(DecodeError):
    """A batch that cannot be read. `good` are the batches before it; `next_offset` is the first offset after it, for a
    reader that skips it: by its header, or one offset further if the header is broken, too."""

    def __init__(
        self, message: str, base_offset: int = -1, good: list[Batch] | None = None, next_offset: int = -1
    ) -> None:
        super().__init__(f"the batch at offset {base_offset} is corrupt: {message}")
        self.base_offset = base_offset
        self.good = good or []
        self.next_offset = next_offset if next_offset > base_offset else base_offset + 1


class SealedBatch:
    """A batch ready for a ProduceRequest. `size` is its bytes on the wire, `raw_size` those before compression."""

    __slots__ = ("_data", "_stamped", "base_timestamp", "codec", "count", "max_timestamp", "raw_size", "size")

    def __init__(
        self, data: bytearray, count: int, codec: str, base_timestamp: int, max_timestamp: int, raw_size: int
    ) -> None:
        self._data = data
        self._stamped = False
        self.count = count
        self.codec = codec
        self.base_timestamp = base_timestamp
        self.max_timestamp = max_timestamp
        self.size = len(data)
        self.raw_size = raw_size

    @property
    def data(self) -> bytearray:
        """Header and body. The reader must not change it."""
        if not self._stamped:
            self.stamp(-1, -1, -1)
        return self._data

    def stamp(self, producer_id: int, epoch: int, base_sequence: int) -> None:
        """Write the producer's identity (-1 for none) and the CRC. The same identity gives the same bytes."""
        core.write_stamp(self._data, producer_id, epoch, base_sequence)
        self._stamped = True


def seal(
    section: bytearray,
    count: int,
    base_timestamp: int,
    max_timestamp: int,
    *,
    codec: str = "none",
    level: int | None = None,
    transactional: bool = False,
) -> SealedBatch:
    """Close the result of `Builder.take`: 61 reserved bytes and the records. Can run in any thread.

    An uncompressed section is not copied. A section that a reader would take for a decompression bomb stays
    uncompressed. Raises EncodeError for an unknown codec or level.
    """
    if codec not in _NUMBERS:
        raise EncodeError(f"unknown codec {codec}; known: {', '.join(CODECS)}")
    raw_size = len(section)
    data = section
    if codec != "none":
        from kcli.proto.compression import believable, compress

        with memoryview(section) as view, view[RESERVED:] as body:
            data = bytearray(RESERVED)
            data += compress(codec, body, level)
        if raw_size > believable(len(data)):  # readers would refuse to decompress it
            data, codec = section, "none"
    attributes = _NUMBERS[codec] | (16 if transactional else 0)
    core.write_header(data, attributes, count, base_timestamp, max_timestamp)
    return SealedBatch(data, count, codec, base_timestamp, max_timestamp, raw_size)


class Batch(core.Header):
    """A batch as sent by a broker. Offsets are absolute, timestamps in ms; `first` and `stop` may be set to narrow what
    the reader sees. Methods that decode records raise CorruptBatch, and then have written nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Batch {self.base_offset}..{self.last_offset}, {self.count} records, {self.codec}>"

    @property
    def codec(self) -> str:
        """The codec of its records."""
        number = self.attributes & 7
        return CODECS[number] if number < len(CODECS) else f"codec {number}"

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 32)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & 16)

    @property
    def timestamp_type(self) -> str:
        """ "create", or "append" if the broker set the timestamps."""
        return "append" if self.attributes & 8 else "create"

    @property
    def control_type(self) -> int:
        """Type of a control batch: 0 abort, 1 commit, others are internal to brokers; -1 without a marker."""
        if not self.is_control:
            return -1
        first, stop = self.first, self.stop
        self.first, self.stop = self.base_offset, self.last_offset + 1
        try:
            for record in self:
                if record.key is not None and len(record.key) >= 4:
                    return int.from_bytes(record.key[2:4], "big", signed=True)
        finally:
            self.first, self.stop = first, stop
        return -1

    @property
    def visible(self) -> int:
        """Number of records in the window, from the header if no offset is missing, else by decoding."""
        first, stop = max(self.first, self.base_offset), min(self.stop, self.last_offset + 1)
        if first >= stop or not self.count:
            return 0
        if self.count == self.last_offset - self.base_offset + 1:
            return stop - first
        if first == self.base_offset and stop == self.last_offset + 1:
            return self.count
        return self._decoded(core.count_visible)  # type: ignore[no-any-return]

    def columns(self) -> Columns:
        """Return the window's records as columns."""
        return self._decoded(core.read_columns)  # type: ignore[no-any-return]

    def gather(self, into: core.Gather) -> int:
        """Add the window's records to a collection; return their number."""
        return self._decoded(into.add)  # type: ignore[no-any-return]

    def may_contain(self, text: bytes) -> bool:
        """Whether the bytes occur anywhere in its records section; False means in no key, value or header."""
        return self._decoded(core.contains, text)  # type: ignore[no-any-return]

    def check(self) -> None:
        """Raise CorruptBatch if its records cannot be read, without creating them."""
        self._decoded(core.count_visible)

    def picked(self, offsets: array[int]) -> Batch:
        """Return a batch of only the records at these offsets, which ascend and are in the window. The others are
        missing, as after compaction; the window is unchanged, and the size is proportional."""
        section, count = self._decoded(core.pick, offsets)
        batch = Batch()
        for name in _HEADER_FIELDS:
            setattr(batch, name, getattr(self, name))
        batch.data, batch.body_start, batch.body_end = section, 0, len(section)
        batch.count, batch.packed = count, False
        batch.size = self.size * len(section) // max(self.body_end - self.body_start, 1)
        return batch

    def within(self, start: int, stop: int) -> Batch | None:
        """Return a batch of the records with a timestamp in [start, stop), in ms: this one if all match, None if none
        does. It stays compressed."""
        if self.max_timestamp < start:
            return None
        if self.attributes & 8:  # the broker gave all records the same time
            return self if self.max_timestamp < stop else None
        plain = self.window(self.first, self.stop) if self.compressed else self
        offsets = plain._decoded(core.timed, start, stop)
        if len(offsets) == self.visible:
            return self
        return plain.picked(offsets) if offsets else None

    def window(self, first: int, stop: int) -> Batch:
        """Return the same batch with another window [first, stop)."""
        batch = Batch()
        for name in _HEADER_FIELDS:
            setattr(batch, name, getattr(self, name))
        batch.first, batch.stop = first, stop
        return batch

    def __iter__(self) -> Iterator[Record]:
        return self._decoded(core.read_records)  # type: ignore[no-any-return]

    def give_to(self, messages: core.Messages, topic: str, partition: int) -> None:
        """Open this batch as the next one of a stream of messages."""
        self._decoded(messages.open, topic, partition)

    def write_values(self, out: bytearray, delimiter: bytes, limit: int = -1, null: bytes = b"") -> tuple[int, int]:
        """Append each value and the delimiter to `out`. Returns the number of records written (at most `limit` unless
        negative) and the next offset: the window's end, or the offset after the last record if the limit left any."""
        return self._decoded(core.write_values, out, delimiter, limit, null)  # type: ignore[no-any-return]

    def write_format(
        self, out: bytearray, program: Program, topic: bytes, partition: int, limit: int = -1
    ) -> tuple[int, int]:
        """Append each record as `program` specifies: literals, and (token, converter or None). Returns like
        write_values."""
        for item in program:
            if type(item) is tuple and item[1] is not None:
                return self._write_converted(out, program, topic, partition, limit)
        return self._decoded(core.write_format, out, program, topic, partition, limit)  # type: ignore[no-any-return]

    def write_json(self, out: bytearray, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        """Append each record as a byte-exact line of JSON. Returns like write_values."""
        return self._decoded(core.write_json, out, topic, partition, limit)  # type: ignore[no-any-return]

    def write_readable(self, out: bytearray, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        """Append each record as a line of JSON for reading: JSON keys and values appear as JSON. Returns like
        write_values."""
        return self._decoded(core.write_readable, out, topic, partition, limit, None, None)  # type: ignore[no-any-return]

    def _decoded(self, read: Callable[..., Any], *arguments: Any) -> Any:
        """Apply a function of the core to the uncompressed section."""
        try:
            if self.packed:
                self._unpack()
            return read(self, *arguments)
        except DecodeError as error:
            if isinstance(error, CorruptBatch):
                raise
            raise CorruptBatch(str(error), self.base_offset, None, self.last_offset + 1) from None

    @property
    def compressed(self) -> bool:
        """Whether its records must be decompressed before they can be read."""
        return bool(self.packed and self.attributes & 7 and self.magic == 2 and self.body_end > self.body_start)

    def unpack(self, most: int | None = None) -> bool:
        """Decompress its records before they are read, in any thread. Returns False without doing so if they are larger
        than `most` bytes. Raises CorruptBatch."""
        try:
            if self.packed:
                self._unpack(most)
        except DecodeError as error:
            from kcli.proto.compression import TooLarge

            if most is not None and isinstance(error, TooLarge):
                return False
            raise CorruptBatch(str(error), self.base_offset, None, self.last_offset + 1) from None
        return True

    def _unpack(self, most: int | None = None) -> None:
        if self.compressed:
            from kcli.proto.compression import decompress

            bound = self.max_decompressed if most is None else min(most, self.max_decompressed)
            with memoryview(self.data) as view, view[self.body_start : self.body_end] as body:
                plain = decompress(self.codec, body, bound)
            self.data, self.body_start, self.body_end = plain, 0, len(plain)
        if self.count * 7 > self.body_end - self.body_start:
            raise DecodeError(f"a count of {self.count} records in {self.body_end - self.body_start} bytes")
        self.packed = False

    def _write_converted(
        self, out: bytearray, program: Program, topic: bytes, partition: int, limit: int
    ) -> tuple[int, int]:
        """The slow path of write_format, for programs with converters."""
        from kcli.proto.plain.format import SHOW_RECORD

        lines: list[bytes] = []
        after = max(self.first, self.base_offset)
        for record in self:
            if len(lines) == limit:
                break
            parts = []
            for item in program:
                if isinstance(item, bytes):
                    parts.append(item)
                else:
                    value, shown = SHOW_RECORD[item[0]](record, topic, partition)
                    parts.append(shown(value) if item[1] is None else item[1](value))
            lines.append(b"".join(parts))
            after = record.offset + 1
        else:
            after = min(self.stop, self.last_offset + 1)
        out += b"".join(lines)
        return len(lines), after


def read_batches(records: Buffer, *, check_crcs: bool = True, max_decompressed: int = MAX_DECOMPRESSED) -> list[Batch]:
    """Return the batches of a fetch response, with v0 and v1 message sets converted to v2. A truncated end is ignored.
    Raises CorruptBatch, whose `.good` are the batches before the bad one."""
    batches: list[Batch] = []
    at, size = 0, len(records)
    while True:
        at, wrong = core.scan(records, at, check_crcs, Batch, batches)
        if wrong is None and size - at >= 17 and records[at + 16] != 2:
            from kcli.proto.legacy import read_messages

            try:
                at, end = read_messages(records, at, check_crcs, max_decompressed, Batch, batches)
            except DecodeError as error:
                wrong, at = str(error), getattr(error, "at", at)
            else:
                if end:
                    break
        elif wrong is None:
            break
        if wrong is not None:
            raise _corrupt(records, at, wrong, batches)
    if max_decompressed != MAX_DECOMPRESSED:
        for batch in batches:
            batch.max_decompressed = max_decompressed
    return batches


def _corrupt(records: Buffer, at: int, wrong: str, good: list[Batch]) -> CorruptBatch:
    (base,) = LONG.unpack_from(records, at)
    after = base + 1
    if records[at + 16] == 2 and len(records) - at >= RESERVED:
        after += max(int.from_bytes(records[at + 23 : at + 27], "big", signed=True), 0)
    return CorruptBatch(wrong, base, good, after)

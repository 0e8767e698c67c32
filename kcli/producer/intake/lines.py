"""A block of lines, as a caller hands it over."""

from __future__ import annotations

from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from kcli.producer.intake.send_records import Row
    from kcli.proto.buffer import Buffer
    from kcli.proto.columns import Lines

    class LineOptions(TypedDict, total=False):
        """The fields of a `LineBlock` that have a default."""

        delimiter: int
        key_delimiter: bytes | None
        key: bytes | None
        partition: int | None
        timestamp: int | None
        empty_is_null: bool


class LineBlock(Value):
    """Whole lines of chunk[start:end], each a record for `topic`: a value, or key and value around `key_delimiter`, or
    a value under the fixed `key`. `delimiter` is a byte, `timestamp` in milliseconds (None: now); without `partition`
    the partitioner chooses. With `empty_is_null` an empty key or value is null."""

    topic: str = ""
    chunk: Buffer = b""
    start: int = 0
    end: int = 0
    delimiter: int = 10
    key_delimiter: bytes | None = None
    key: bytes | None = None
    partition: int | None = None
    timestamp: int | None = None
    empty_is_null: bool = False


def rows_of(block: LineBlock, lines: Lines) -> list[Row]:
    """The lines of a block as rows, for interceptors, which see each record."""
    view = memoryview(block.chunk)
    key, partition, timestamp = block.key, block.partition, block.timestamp

    def cut(start: int, length: int) -> bytes | None:
        return bytes(view[start : start + length]) if length >= 0 else None

    return [
        (partition, timestamp, key if key is not None else cut(key_at, key_size), cut(value_at, value_size), ())
        for key_at, key_size, value_at, value_size in zip(
            lines.key_starts, lines.key_lengths, lines.value_starts, lines.value_lengths, strict=True
        )
    ]

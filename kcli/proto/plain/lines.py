"""Splits a chunk into lines, and finds the partition of each key."""

from __future__ import annotations

from array import array

from kcli.proto.columns import Lines
from kcli.proto.murmur2 import partition_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.buffer import Buffer


def split_lines(
    chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes | None, empty_is_null: bool = False
) -> Lines:
    """Return the whole lines of chunk[start:end]. A key is the text before the first `key_delimiter`; a line without
    one has a null key. With `empty_is_null` empty keys and values are null."""
    text = bytes(memoryview(chunk)[start:end])
    cut = bytes((delimiter,))
    key_starts, key_lengths, value_starts, value_lengths = [], [], [], []
    wide = len(key_delimiter or b"")
    at = start
    values = text.split(cut)
    values.pop()
    for line in values:
        split = line.find(key_delimiter) if key_delimiter else -1
        size = len(line)
        key_starts.append(at)
        if split < 0:
            key_lengths.append(-1)
            value_starts.append(at)
        else:
            key_lengths.append(split if split or not empty_is_null else -1)
            value_starts.append(at + split + wide)
            size -= split + wide
        value_lengths.append(size if size or not empty_is_null else -1)
        at += len(line) + 1
    keys = array("i", key_starts), array("i", key_lengths)
    return Lines(*keys, array("i", value_starts), array("i", value_lengths), at)


def unkeyed(chunk: Buffer, start: int, end: int, delimiter: int, key_delimiter: bytes) -> int:
    """Return where the first whole line of chunk[start:end] without a `key_delimiter` begins, `end` if each has one."""
    at, cut = start, bytes((delimiter,))
    for line in bytes(memoryview(chunk)[start:end]).split(cut)[:-1]:
        if key_delimiter not in line:
            return at
        at += len(line) + 1
    return end


def partition_keys(chunk: Buffer, lines: Lines, partition_count: int) -> array[int]:
    """Return each row's partition by its key, as in Java, -1 for a null key."""
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    data = bytes(chunk)
    known = Partitions(partition_count)
    starts = lines.key_starts
    return array(
        "i",
        [known[data[at : at + size]] if size >= 0 else -1 for at, size in zip(starts, lines.key_lengths)],
    )


class Partitions(dict[bytes, int]):
    """A cache of partitions by key."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __missing__(self, key: bytes) -> int:
        made = self[key] = partition_of(key, self.count)
        return made

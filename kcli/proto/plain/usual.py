"""Records of the usual shape: no headers, no null value, a length of two bytes, an elapsed time and a key length of
one. Such a record is not walked: where its fields are follows from its length, and is compared with its bytes. What is
taken so is what a walk would find."""

from __future__ import annotations

from kcli.proto.plain.deltas import DELTAS, count_to
from kcli.proto.varint import encode_varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.proto.plain.walk import Header

    Places = tuple[bytes, int, int, int]

ENOUGH = 64
"""Records of a batch from which the tables save more than they cost."""
NULL_KEY = 1
_WIDTHS = (64, 8192, 1 << 17)
"""Offset deltas below these take one, two, three bytes."""


def is_plain(h: Header) -> bool:
    """Whether all of the batch is wanted, and no timestamp of an elapsed time of one byte can be wrong."""
    return (
        not h.attributes & 8 and abs(h.base_timestamp) < 1 << 62 and h.first <= h.base_offset and h.stop > h.last_offset
    )


class Shapes(dict[bytes, dict[int, "Places"]]):
    """The first four bytes of a record to its shapes, for offset deltas of one size."""

    def __init__(self, delta_size: int) -> None:
        super().__init__()
        self.delta_size = delta_size

    def __missing__(self, head: bytes) -> dict[int, Places]:
        shape = self[head] = Shape(head, self.delta_size)
        return shape


class Shape(dict[int, "Places"]):
    """The first byte of a record's key length to: the bytes of its value length, where they start, where the value
    starts, and where it ends, counted from the record's start. An end of 0 says that no such record exists."""

    def __init__(self, head: bytes, delta_size: int) -> None:
        super().__init__()
        length = head[0] & 127 | head[1] << 7 if len(head) == 4 else 0
        usual = length and head[0] > 127 and head[1] < 128 and head[3] < 128 and not length & 1
        self.end = 2 + (length >> 1) - 1 if usual else 0
        self.key = 4 + delta_size + 1

    def __missing__(self, byte: int) -> Places:
        made = b"", 0, 0, 0
        if byte == NULL_KEY or (byte < 128 and not byte & 1):
            at = self.key + (0 if byte == NULL_KEY else byte >> 1)
            for size in (1, 2, 3):
                value = self.end - at - size
                written = encode_varint(max(value, 0))
                if value >= 0 and len(written) == size:
                    made = written, at, at + size, self.end
        self[byte] = made
        return made


def _stretches(h: Header) -> Iterator[tuple[list[bytes], int, Shapes]]:
    """Offset deltas of one size: their bytes, how far from a record's start its key length is, and the shapes."""
    n, most = 0, min(h.count, h.last_offset - h.base_offset + 1, _WIDTHS[-1])
    while n < most:
        some = min(next(bound for bound in _WIDTHS if n < bound), most)
        count_to(some)
        delta_size = len(DELTAS[n])
        yield DELTAS[n:some], 4 + delta_size, Shapes(delta_size)
        n = some


def usual_values(h: Header, data: bytes, values: list[bytes]) -> int:
    """Values of the records of usual shape in front of the first other one. Returns where that starts."""
    add = values.append
    at = 0
    try:
        for widths, key, shapes in _stretches(h):
            for width in widths:
                written, before, start, end = shapes[data[at : at + 4]][data[at + key]]
                start += at
                end += at
                if end == at or data[at + 4 : at + key] != width or data[before + at : start] != written or data[end]:
                    return at
                add(data[start:end])
                at = end + 1
    except IndexError:
        return at  # a record at the end that is shorter than the bytes of its delta suggest: the walk reads it
    return at


class Usual:
    """The columns of the records of usual shape in front of the first other one, which starts at `at`. `heads` are
    the first four bytes of each: the last of them is its elapsed time. `keys` is None where all keys are null; a
    record of the other kind ends the columns, too."""

    __slots__ = ("at", "heads", "keys", "values")

    def __init__(self, h: Header, data: bytes) -> None:
        self.heads: list[bytes] = []
        self.keys: list[bytes] | None = None
        self.values: list[bytes] = []
        self.at = 0
        if h.count < ENOUGH or not is_plain(h):
            return
        try:
            if data[5] == NULL_KEY:
                self._read(h, data)
            else:
                self.keys = []
                self._read_keyed(h, data, self.keys)
        except IndexError:
            return  # the data ends too early: the walk from here on raises the error

    def _read(self, h: Header, data: bytes) -> None:
        add_head, add = self.heads.append, self.values.append
        at = 0
        for widths, key, shapes in _stretches(h):
            for width in widths:
                head = data[at : at + 4]
                written, before, start, end = shapes[head][NULL_KEY]
                start += at
                end += at
                if (
                    end == at
                    or data[at + 4 : at + key + 1] != width + b"\x01"
                    or data[before + at : start] != written
                    or data[end]
                ):
                    return
                add_head(head)
                add(data[start:end])
                self.at = at = end + 1

    def _read_keyed(self, h: Header, data: bytes, keys: list[bytes]) -> None:
        add_head, add_key, add = self.heads.append, keys.append, self.values.append
        at = 0
        for widths, key, shapes in _stretches(h):
            for width in widths:
                head = data[at : at + 4]
                byte = data[at + key]
                written, before, start, end = shapes[head][byte]
                before += at
                start += at
                end += at
                if (
                    byte == NULL_KEY
                    or end == at
                    or data[at + 4 : at + key] != width
                    or data[before:start] != written
                    or data[end]
                ):
                    return
                add_head(head)
                add_key(data[at + key + 1 : before])
                add(data[start:end])
                self.at = at = end + 1

    def stamps(self, h: Header) -> dict[bytes, int]:
        """The timestamp, in ms, of the records that have a head, by each head there is."""
        return {head: h.base_timestamp + ((head[3] >> 1) ^ -(head[3] & 1)) for head in set(self.heads)}

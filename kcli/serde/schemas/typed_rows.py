"""The schema with which each key or value of a batch was decoded, because conditions compare by its types."""

from __future__ import annotations

from array import array

from kcli.serde.schemas.payloads import AS_IT_IS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.proto.columns import Columns
    from kcli.serde.schemas.readers import Source


class TypedRows:
    """`which` are the indexes in `sources` of a batch's keys or values. The columns are those before decoding."""

    def __init__(
        self, kind: str, columns: Columns, which: array[int], skips: array[int], sources: Sequence[Source]
    ) -> None:
        self._kind, self._columns, self._which, self._skips, self._sources = kind, columns, which, skips, sources
        self._used: dict[int, Source] | None = None

    @property
    def used(self) -> dict[int, Source]:
        """The sources of the batch's records, by number."""
        if self._used is None:
            self._used = {number: self._sources[number] for number in {*self._which} if number != AS_IT_IS}
        return self._used

    def hides(self, text: bytes) -> bool:
        """Whether a field may have a value with this text that its JSON omits."""
        return any(text in hidden for source in self.used.values() for hidden in source.hidden)

    def rows(self, offsets: Sequence[int]) -> list[tuple[int, int]]:
        """Return the row of each record, and the number of its source; AS_IT_IS for a record that was not decoded."""
        which, all_offsets = self._which, self._columns.offsets
        if len(offsets) == len(all_offsets):
            return list(enumerate(which))
        row_of = {offset: row for row, offset in enumerate(all_offsets)}
        return [(row := row_of[offset], which[row]) for offset in offsets]

    def message(self, row: int) -> str:
        """Return the Protobuf message of a decoded key or value."""
        keys = self._kind == "key"
        start = (self._columns.key_starts if keys else self._columns.value_starts)[row]
        length = (self._columns.key_lengths if keys else self._columns.value_lengths)[row]
        messages = self._sources[self._which[row]].messages
        return messages.name(self._columns.data, start + self._skips[row], start + length)


def typed_rows(
    kind: str,
    columns: Columns,
    which: array[int],
    skips: array[int],
    sources: Sequence[Source],
    faults: Sequence[tuple[int, str]],
) -> TypedRows:
    """Return the types of what was read; rows with `faults` were not."""
    if faults:
        which = array("i", which)
        for row, _ in faults:
            which[row] = AS_IT_IS
    return TypedRows(kind, columns, which, skips, sources)

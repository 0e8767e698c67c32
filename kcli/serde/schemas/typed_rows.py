"""By which schema each key or value of a batch was decoded: conditions compare by its types."""

from __future__ import annotations

from array import array

from kcli.schemas import PROTOBUF
from kcli.serde.schemas.payloads import AS_IT_IS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.proto.columns import Columns
    from kcli.serde.schemas.readers import Source


class TypedRows:
    """`which` are the numbers of the `sources` of a batch's keys or values. The columns are those before it was
    decoded."""

    def __init__(
        self, kind: str, columns: Columns, which: array[int], skips: array[int], sources: Sequence[Source]
    ) -> None:
        self._kind, self._columns, self._which, self._skips, self._sources = kind, columns, which, skips, sources
        self._rows: dict[int, int] | None = None

    def hides(self, text: bytes) -> bool:
        """Whether a field may have a value with this text that its JSON does not show."""
        sources = [self._sources[number] for number in {*self._which} if number != AS_IT_IS]
        return any(text in hidden for source in sources for hidden in source.hidden)

    def sources(self, offsets: Iterable[int]) -> list[tuple[Source | None, str]]:
        """The source of each record, None for one that was not decoded, and its message of Protobuf."""
        if self._rows is None:
            self._rows = {offset: row for row, offset in enumerate(self._columns.offsets)}
        rows = map(self._rows.__getitem__, offsets)
        if not any(self._sources[number].schema.kind == PROTOBUF for number in {*self._which} if number != AS_IT_IS):
            known = [*((source, "") for source in self._sources), (None, "")]  # AS_IT_IS is the number of the last
            return [known[self._which[row]] for row in rows]
        return [self._source(row) for row in rows]

    def _source(self, row: int) -> tuple[Source | None, str]:
        number = self._which[row]
        source = None if number == AS_IT_IS else self._sources[number]
        if source is None or source.schema.kind != PROTOBUF:
            return source, ""
        keys = self._kind == "key"
        start = (self._columns.key_starts if keys else self._columns.value_starts)[row]
        length = (self._columns.key_lengths if keys else self._columns.value_lengths)[row]
        return source, source.messages.name(self._columns.data, start + self._skips[row], start + length)


def typed_rows(
    kind: str,
    columns: Columns,
    which: array[int],
    skips: array[int],
    sources: Sequence[Source],
    faults: Sequence[tuple[int, str]],
) -> TypedRows:
    """The types of what was read; rows with `faults` were not."""
    if faults:
        which = array("i", which)
        for row, _ in faults:
            which[row] = AS_IT_IS
    return TypedRows(kind, columns, which, skips, sources)

"""What a search for a time could not decode, each value counted once though the search reads it again."""

from __future__ import annotations

from kcli.serde.undecoded import Undecoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kcli.proto.columns import Columns
    from kcli.proto.spans import Spans
    from kcli.serde.schemas.decoder import FieldDecoder
    from kcli.serde.schemas.labels import Labels
    from kcli.serde.schemas.typed_rows import TypedRows


class Searched:
    """Values that a search reads: parts of a batch come again, from an earlier offset or a later one, and what could
    not be decoded is counted once."""

    def __init__(self, field: FieldDecoder) -> None:
        self.kind = field.kind
        self.labels: Labels | None = None
        self.plain: Collection[int] = ()
        self.typed: TypedRows | None = None
        self._field = field
        self._most: dict[tuple[str, int, int], Undecoded] = {}

    @property
    def unknown(self) -> int:
        return self._field.unknown

    @property
    def undecoded(self) -> Undecoded:
        whole = Undecoded()
        for _, part in sorted(self._most.items()):
            whole.reasons += part.reasons
            whole.first = whole.first or part.first
        return whole

    async def decode(self, columns: Columns, topic: str, partition: int) -> Spans | None:
        self._field.undecoded = part = Undecoded()
        spans = await self._field.decode(columns, topic, partition)
        if part.total:  # a batch is read up to its end: the part that begins first has all of the others
            batch = topic, partition, columns.offsets[-1]
            self._most[batch] = max(part, self._most.get(batch, part), key=lambda each: each.total)
        return spans

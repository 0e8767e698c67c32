"""The tokens of -f that name a record's schema."""

from __future__ import annotations

from kcli.serde.schemas.decoded_batch import DecodedBatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.proto.batch import Batch


class SchemaTokens:
    """The tokens of -f that name the schema of a key or a value, by its offset in `batch`, the batch that is printed
    now."""

    def __init__(self, *, terminal: bool) -> None:
        self.batch: Batch | None = None
        self._terminal = terminal

    def token(self, kind: str, modifier: str) -> Callable[[int], bytes]:
        """What prints the schema's name, or its id, of the record at an offset; nothing for what was not decoded."""

        def shown(offset: int) -> bytes:
            labels = self.batch.labels.get(kind, {}) if isinstance(self.batch, DecodedBatch) else {}
            label = labels.get(offset)
            if label is None:
                return b""
            data = (label.id if modifier == "schema-id" else label.name).encode("utf-8", "surrogateescape")
            if not self._terminal:
                return data
            from kcli.text.escape import visible_bytes

            return visible_bytes(data)

        return shown

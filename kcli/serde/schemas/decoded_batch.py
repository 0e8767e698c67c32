"""A batch with decoded keys or values, and the stored batch: filters, templates and lines see the decoded one;
byte-exact lines (--envelope) are written from the stored one."""

from __future__ import annotations

from kcli.proto import core
from kcli.proto.batch import Batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection, Mapping

    from kcli.proto.spans import Spans
    from kcli.serde.schemas.labels import Label
    from kcli.serde.schemas.typed_rows import TypedRows

_FIELDS = tuple(name for name in dir(core.Header) if not name.startswith("_"))


class DecodedBatch(Batch):
    """Like the batch `stored`, with other keys or values and a separate window."""

    __slots__ = ("labels", "plain_keys", "schemas", "stored", "typed")

    stored: Batch
    labels: dict[str, dict[int, Label | None]]
    """Labels of the keys and of the values that were decoded, by offset, None if a format without a schema decoded it;
    empty if no line names schemas."""
    schemas: dict[str, dict[int, bytes]] | None
    """The labels as shown in lines; None before the first line."""
    plain_keys: Collection[int] | None
    """Offsets of the records whose key is as stored; None if all are."""
    typed: Mapping[str, TypedRows]
    """The types of the keys and of the values that a schema decoded."""

    def picked(self, offsets: array[int]) -> DecodedBatch:
        return _with(super().picked(offsets), self.stored.picked(offsets), self)

    def window(self, first: int, stop: int) -> DecodedBatch:
        return _with(super().window(first, stop), self.stored, self)

    def write_json(self, out: bytearray, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        return self.stored.window(self.first, self.stop).write_json(out, topic, partition, limit)

    def write_readable(self, out: bytearray, topic: str, partition: int, limit: int = -1) -> tuple[int, int]:
        if self.schemas is None:  # once for all windows, because lines may be printed one by one
            self.schemas = {kind: _shown(kind, rows) for kind, rows in self.labels.items()}
        return self._decoded(  # type: ignore[no-any-return]
            core.write_readable, out, topic, partition, limit, self.schemas.get("key"), self.schemas.get("value")
        )


def _shown(kind: str, rows: dict[int, Label | None]) -> dict[int, bytes]:
    """Return the text about each row's schema; a few labels cover all rows."""
    labels = dict(zip(map(id, rows.values()), rows.values(), strict=True))
    field = f',"{kind}_schema":'.encode()
    texts = {at: b"" if label is None else field + label.json for at, label in labels.items()}
    return dict(zip(rows, map(texts.__getitem__, map(id, rows.values())), strict=True))


def stored(batch: Batch) -> Batch:
    """Return the same records as stored."""
    return batch.stored.window(batch.first, batch.stop) if isinstance(batch, DecodedBatch) else batch


def plain_keys(batch: Batch) -> Collection[int] | None:
    """Return the offsets of the records whose key is as stored; None if all are."""
    return batch.plain_keys if isinstance(batch, DecodedBatch) else None


def replaced(batch: Batch, keys: Spans | None, values: Spans | None) -> DecodedBatch:
    """Return the window's records with the keys and values of these columns; None leaves them unchanged."""
    section, count = core.replace_fields(batch, keys, values)
    decoded = _with(batch, batch)
    decoded.plain_keys = None if keys is None else ()
    decoded.data, decoded.body_start, decoded.body_end = section, 0, len(section)
    decoded.count, decoded.packed = count, False
    return decoded


def typed_rows(batch: Batch) -> Mapping[str, TypedRows]:
    """The types of the keys and values of a batch that a schema decoded."""
    return batch.typed if isinstance(batch, DecodedBatch) else {}


def _with(batch: Batch, stored: Batch, like: DecodedBatch | None = None) -> DecodedBatch:
    decoded = DecodedBatch()
    for name in _FIELDS:
        setattr(decoded, name, getattr(batch, name))
    decoded.stored, decoded.schemas = stored, None
    decoded.labels, decoded.plain_keys, decoded.typed = (
        ({}, None, {}) if like is None else (like.labels, like.plain_keys, like.typed)
    )
    return decoded

"""Keys and values of listed records by the schema registry. Imported where a registry is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.payloads import cells_of
from kcli.serde.schemas.readers import reader_of
from kcli.serde.schemas.single import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.consumer.consumer import Decode
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.tui.tail import Seen


class ListDecoder:
    """Decodes the records of one page. What is not decoded is shown as it is stored."""

    def __init__(self) -> None:
        self._fields: list[FieldDecoder] = []

    async def decoded(self, records: Sequence[Seen], registry: OpenRegistry) -> list[tuple[bytes | None, bytes | None]]:
        """The key and value of each record to show; a registry that does not answer leaves them as they are."""
        if not self._fields:
            self._fields = fields_of(registry)
        columns = columns_of([(record.key, record.value, record.headers) for record in records])
        keys, values = [await field.decode(columns, "", 0) for field in self._fields]
        return list(
            zip(
                [record.key for record in records] if keys is None else cells_of(keys),
                [record.value for record in records] if values is None else cells_of(values),
                strict=True,
            )
        )


def fields_of(registry: OpenRegistry) -> list[FieldDecoder]:
    return [FieldDecoder(kind, registry.schemas, reader_of()) for kind in ("key", "value")]


async def batches(registry: OpenRegistry) -> Decode:
    """What decodes batches before a filter looks at them."""
    return SchemaDecoder(fields_of(registry)).batch

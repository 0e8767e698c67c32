"""Decodes single keys and values with the schemas that their frames or headers name."""

from __future__ import annotations

from array import array
from collections import namedtuple

from kcli.proto.columns import Columns
from kcli.proto.plain.headers import encode_headers
from kcli.proto.varint import encode_varint
from kcli.serde.schemas.decoder import FieldDecoder
from kcli.serde.schemas.payloads import cells_of
from kcli.serde.schemas.readers import reader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NamedTuple

    from kcli.proto.columns import Headers
    from kcli.schemas import Schema, Schemas

    Row = tuple[bytes | None, bytes | None, Headers]
    """A key, a value, and headers."""

    class Single(NamedTuple):
        """The JSON, None if it is not decoded: then `reason` is why, "" if no schema is named. `schema` is the one
        found."""

        json: bytes | None
        schema: Schema | None
        reason: str
else:
    Single = namedtuple("Single", "json schema reason")


async def decode_one(kind: str, data: bytes, headers: Headers, schemas: Schemas) -> Single:
    """`kind` is key or value. A failing registry is a reason, never an error."""
    field = FieldDecoder(kind, schemas, reader_of())
    row = (data, None, headers) if kind == "key" else (None, data, headers)
    column = await field.decode(columns_of([row]), "", 0)
    reason = next(iter(field.undecoded.reasons), "")
    schema = field.first
    if column is None or reason:
        return Single(None, schema, reason)
    return Single(next(cells_of(column)), schema, "")


def one_row(data: bytes, headers: Headers = ()) -> Columns:
    """Return a record without a key, with the data as value."""
    return columns_of([(None, data, headers)])


def columns_of(rows: Sequence[Row]) -> Columns:
    """Return records with these keys, values and headers, as a batch."""
    data = bytearray()
    numbers: dict[str, list[int]] = {name: [] for name in ("keys", "key_sizes", "values", "sizes", "headers", "counts")}
    for key, value, headers in rows:
        for cell, starts, sizes in ((key, "keys", "key_sizes"), (value, "values", "sizes")):
            numbers[starts].append(len(data))
            numbers[sizes].append(-1 if cell is None else len(cell))
            data += cell or b""
        numbers["headers"].append(len(data))
        numbers["counts"].append(len(headers))
        data += encode_headers(headers)[len(encode_varint(len(headers))) :]
    places = array("q", range(len(rows)))
    return Columns(bytes(data), places, places, *(array("i", column) for column in numbers.values()))

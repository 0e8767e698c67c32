"""One key or value by the schema that its frame or its headers name."""

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
    from typing import NamedTuple

    from kcli.proto.columns import Headers
    from kcli.schemas import Schema, Schemas
    from kcli.serde.schemas.readers import Reader, References

    class Single(NamedTuple):
        """The JSON, None where it is not decoded: then `reason` says why, "" where no schema is named. `schema` is the
        one that was found."""

        json: bytes | None
        schema: Schema | None
        reason: str
else:
    Single = namedtuple("Single", "json schema reason")


async def decode_one(kind: str, data: bytes, headers: Headers, schemas: Schemas) -> Single:
    """`kind` is key or value. A registry that fails is a reason, never an error."""
    found: list[Schema] = []
    make = reader_of()

    def kept(schema: Schema, referred: References) -> Reader:
        found.append(schema)
        return make(schema, referred)

    field = FieldDecoder(kind, schemas, kept)
    column = await field.decode(one_row(data, headers), "", 0)
    reason = next(iter(field.undecoded.reasons), "")
    schema = found[0] if found else None
    if column is None or reason:
        return Single(None, schema, reason)
    return Single(next(cells_of(column)), schema, "")


def one_row(data: bytes, headers: Headers = ()) -> Columns:
    """A record without a key, whose value it is."""
    count = len(encode_varint(len(headers)))
    zero, none = array("i", [0]), array("i", [-1])
    moment = array("q", [0])
    whole = data + encode_headers(headers)[count:]
    starts, counts = array("i", [len(data)]), array("i", [len(headers)])
    return Columns(whole, moment, moment, zero, none, zero, array("i", [len(data)]), starts, counts)

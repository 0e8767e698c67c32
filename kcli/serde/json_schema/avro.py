"""Avro in the specification's JSON, which Apicurio's serializer can write, shown like all Avro."""

from __future__ import annotations

from kcli.proto.plain.avro_texts import text
from kcli.serde.avro.exact import read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.write import AvroWriter
from kcli.serde.schemas.payloads import PayloadReader, Unreadable, read_one

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.serde.schemas.readers import Reader


class LatinReader(PayloadReader):
    """Shows payloads of a schema of only "bytes" in the specification's JSON: one character per byte."""

    def json(self, data: bytes) -> bytes:
        return text(data.decode("latin-1").encode())


class SpecifiedReader(PayloadReader):
    """`reader` is that of the schema's binary payloads. Raises SchemaRefused."""

    def __init__(self, schema: str, imported: Iterable[str], reader: Reader) -> None:
        self._writer = AvroWriter(parse(schema, list(imported)), specified=True)
        self._reader = reader

    def json(self, data: bytes) -> bytes:
        try:
            payload = self._writer.write(read_json(str(data, "utf-8")))
        except ValueError as problem:
            raise Unreadable(f"it is not the JSON of its schema: {problem}") from None
        return read_one(self._reader, payload)

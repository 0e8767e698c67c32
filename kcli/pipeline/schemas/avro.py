"""Avro records as typed columns, straight from the record core."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import pyarrow as pa

from kcli.pipeline.formats.avro_arrow import AvroColumns
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.proto.core import AvroReader
from kcli.serde.avro.columns.columns import Column, columns_of
from kcli.serde.avro.columns.program import column_reader
from kcli.serde.avro.exact import read_json
from kcli.serde.avro.parse import parse
from kcli.serde.avro.types import Type
from kcli.serde.avro.write import AvroWriter


def avro_column(known: Known) -> Column:
    """The column of an Avro schema. Raises SchemaRefused."""
    return columns_of(_parsed(known))


def _parsed(known: Known) -> Type:
    return parse(known.schema.text, [text for _, text in known.referred])


class AvroField(RegisteredField):
    """Keys or values in Avro."""

    def __init__(self, sealed: SealedSchemas) -> None:
        super().__init__(sealed)
        self._reader = _parsed(sealed.reader)
        self._columns = AvroColumns(columns_of(self._reader))

    def reader_of(self, known: Known, name: bytes) -> AvroReader:
        writer = self._reader if known == self.sealed.reader else _parsed(known)
        return column_reader(writer, self._reader, self._columns.column)

    def writer_of(self, known: Known) -> Callable[[str], bytes]:
        """The specification's JSON encoding."""
        writer = AvroWriter(_parsed(known), specified=True)
        return lambda text: writer.write(read_json(text))

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[AvroReader]) -> Decoded:
        return self._columns.read(cells, skips, which, readers)

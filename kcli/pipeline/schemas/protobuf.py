"""Protobuf records as typed columns: each payload is read with the reader's message, whatever schema wrote it, as
fields are known by their numbers. The writer's schema says which message a payload is.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kcli.pipeline.formats.avro_arrow import arrow_type, spans_of
from kcli.pipeline.schemas.protobuf_values import fitted, message_column
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns.columns import Column
from kcli.serde.protobuf.indexes import read_indexes, read_name
from kcli.serde.protobuf.reader import ProtobufReader, ProtobufSchema
from kcli.serde.protobuf.schema.types import Message, message_at
from kcli.serde.schemas.frames import front
from kcli.serde.schemas.payloads import Unreadable, cells_of
from kcli.serde.schemas.readers import read_rows

MOST_FRONT = 400  # bytes in front of a payload that say which message it is


def protobuf_column(known: Known, message: str) -> Column:
    """The column of a schema's message, "" for its first. Raises SchemaRefused."""
    return message_column(_parsed(known).message(message))


def _parsed(known: Known) -> ProtobufSchema:
    return ProtobufSchema(known.schema.text, [text for _, text in known.referred])


class Fronts:
    """Which messages of a writer's schema payloads are, by what is in front of them. `named` are the message indexes of
    a header: then nothing is in front."""

    def __init__(self, schema: ProtobufSchema, named: bytes) -> None:
        self._schema = schema
        self._named = named

    def message(self, data: bytes) -> tuple[str, int]:
        """The full name of the message, and how many bytes are in front of it. Raises Unreadable, SchemaRefused."""
        name = None if self._named else read_name(data)
        if name is not None:
            return self._schema.message(name).name, data[0] + 1
        path, size = read_indexes(self._named or data)
        found: Message | None = message_at(self._schema.messages, path)
        if found is None:
            raise Unreadable(f"its schema has no message with the indexes {', '.join(map(str, path))}")
        return found.name, 0 if self._named else size


class ProtobufField(RegisteredField):
    """Keys or values in Protobuf."""

    def __init__(self, sealed: SealedSchemas) -> None:
        super().__init__(sealed)
        schema = _parsed(sealed.reader)
        message = schema.message(sealed.message)
        self._name = message.name
        self._reader = ProtobufReader(schema, message)
        self._column = message_column(message)
        self._type = arrow_type(self._column)

    def reader_of(self, known: Known, name: bytes) -> Fronts:
        return Fronts(_parsed(known), name[front(name) :])

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Fronts]) -> Decoded:
        data, starts, lengths = spans_of(cells)
        errors: dict[int, str] = {}
        for row in np.flatnonzero((np.asarray(which) >= 0) & (lengths >= 0)).tolist():
            begin, stop = int(starts[row]) + skips[row], int(starts[row] + lengths[row])
            try:
                name, size = readers[which[row]].message(bytes(data[begin : min(stop, begin + MOST_FRONT)]))
            except (Unreadable, SchemaRefused) as problem:
                errors[row] = str(problem)
                continue
            skips[row] += size
            if name != self._name:
                errors[row] = f"it is a message {name}, and {self.sealed.field}s are read as {self._name}"
        numbers = array("i", [-1 if number < 0 or row in errors else 0 for row, number in enumerate(which)])
        spans, said = read_rows(data, starts, lengths, skips, numbers, [self._reader])
        errors |= dict(said)
        texts = zip(cells_of(spans), numbers, strict=True)
        values = [
            None if text is None or number < 0 or row in errors else json.loads(text)
            for row, (text, number) in enumerate(texts)
        ]
        return pa.array([fitted(self._column, value) for value in values], self._type), errors

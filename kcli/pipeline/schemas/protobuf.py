"""Protobuf records as typed columns: each payload is read with the reader's message, whatever schema wrote it, as
fields are known by their numbers. The writer's schema says which message a payload is.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kcli.pipeline.formats.avro_arrow import arrow_type, spans_of
from kcli.pipeline.schemas.framing.messages import MOST_FRONT, BareMessage, Fronts, parsed
from kcli.pipeline.schemas.protobuf_values import fitted, message_column
from kcli.pipeline.schemas.reading import Decoded, RegisteredField
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.schemas import SchemaRefused
from kcli.serde.avro.columns.columns import Column
from kcli.serde.avro.exact import read_json
from kcli.serde.protobuf.reader import ProtobufReader
from kcli.serde.schemas.payloads import Unreadable, cells_of
from kcli.serde.schemas.readers import read_rows


def protobuf_column(known: Known, message: str) -> Column:
    """The column of a schema's message, "" for its first. Raises SchemaRefused."""
    return message_column(parsed(known).message(message))


Front = Fronts | BareMessage


class ProtobufField(RegisteredField):
    """Keys or values in Protobuf."""

    def __init__(self, sealed: SealedSchemas) -> None:
        super().__init__(sealed)
        schema = parsed(sealed.reader)
        message = schema.message(sealed.message)
        self._name = message.name
        self._reader = ProtobufReader(schema, message)
        self._column = message_column(message)
        self._type = arrow_type(self._column)

    def reader_of(self, known: Known, name: bytes) -> Fronts:
        return Fronts(known, name, self._name)

    def writer_of(self, known: Known) -> Callable[[str], bytes]:
        schema = parsed(known)
        writer = schema.writer(schema.message(self._name))
        return lambda text: writer.write(read_json(text))

    def read(self, cells: pa.Array, skips: array[int], which: array[int], readers: Sequence[Front]) -> Decoded:
        spans = spans_of(cells)
        data, starts, lengths = spans
        errors: dict[int, str] = {}
        behind = array("i", skips)
        for row in np.flatnonzero((np.asarray(which) >= 0) & (lengths >= 0)).tolist():
            begin, stop = int(starts[row]) + skips[row], int(starts[row] + lengths[row])
            try:
                name, size = readers[which[row]].message(bytes(data[begin : min(stop, begin + MOST_FRONT)]))
            except (Unreadable, SchemaRefused) as problem:
                errors[row] = str(problem)
                continue
            behind[row] += size
            if name != self._name:
                errors[row] = self._another(name)
        numbers = array("i", [-1 if number < 0 or row in errors else 0 for row, number in enumerate(which)])
        texts, said = read_rows(data, starts, lengths, behind, numbers, [self._reader])
        errors |= dict(said)
        rows = zip(cells_of(texts), numbers, strict=True)
        shown = [None if n < 0 or row in errors else text for row, (text, n) in enumerate(rows)]
        self._without_indexes(spans, skips, which, readers, shown, errors)
        values = (None if text is None else fitted(self._column, json.loads(text)) for text in shown)
        return pa.array(list(values), self._type), errors

    def _without_indexes(
        self,
        spans: tuple[Any, Any, Any],
        skips: array[int],
        which: array[int],
        readers: Sequence[Front],
        shown: list[bytes | None],
        errors: dict[int, str],
    ) -> None:
        """Rows that are not what the indexes in front of them say may have none: then they are shown, and no errors."""
        data, starts, lengths = spans
        for row in list(errors):
            payload = bytes(data[starts[row] + skips[row] : starts[row] + lengths[row]])
            try:
                name = readers[which[row]].unindexed(payload, chosen=bool(self.sealed.message))
                if name == self._name:
                    shown[row] = self._reader.json(payload)
                    del errors[row]
                elif name:
                    errors[row] = self._another(name)
            except Unreadable as problem:
                errors[row] = str(problem)

    def _another(self, name: str) -> str:
        return f"it is a message {name}, and {self.sealed.field}s are read as {self._name}"

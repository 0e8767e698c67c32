"""Payloads as a record core's columns."""

from __future__ import annotations

import json
from array import array
from types import ModuleType
from typing import Any

from kcli.serde.avro.columns import Column, column_program, columns_of, layout_of
from kcli.serde.avro.parse import parse

Json = Any
Buffers = tuple[int, bytes | None, bytes | None, bytes | None]


def columns(
    core: ModuleType, schema: Json, *payloads: bytes | None, reader: Json = None
) -> tuple[Column, list[Buffers], dict[int, int]]:
    """The column of the reader's schema, the buffers that a core fills, and the number of the fault by row. Raises
    SchemaRefused."""
    writer = parse(json.dumps(schema))
    to = writer if reader is None else parse(json.dumps(reader))
    column = columns_of(to)
    program = core.AvroReader(*column_program(writer, to, column))
    starts, lengths, data = array("i"), array("i"), b""
    for payload in payloads:
        starts.append(len(data))
        lengths.append(-1 if payload is None else len(payload))
        data += payload or b""
    zeros = array("i", [0] * len(payloads))
    # what lies behind the last byte is not ours (see test_records_bounds)
    held = memoryview(array("B", data)[:])
    found, faults = core.avro_columns(layout_of(column), held, starts, lengths, zeros, zeros, [program])
    return column, [(rows, *map(_bytes, buffers)) for rows, *buffers in found], dict(faults)


def _bytes(buffer: Any) -> bytes | None:
    return None if buffer is None else bytes(buffer)

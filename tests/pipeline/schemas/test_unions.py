"""Unions of Avro as columns: what reading makes of them is written again, by the same branches."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.writing import BadRow, FramedField
from kcli.schemas import AVRO, Schema
from tests.each import each
from tests.pipeline.schemas.sealing import frame, read
from tests.serde.avro.samples import schemas, values, written


def record(name: str, /, **fields: Any) -> Any:
    return {"type": "record", "name": name, "fields": [{"name": own, "type": type} for own, type in fields.items()]}


def framing(schema: Any) -> FramedField:
    known = Known(schema=Schema(text=json.dumps(schema), id=7, subject="r", version=1))
    return FramedField(SealedSchemas(reader=known))


def columns(schema: Any, *payloads: bytes) -> pa.Array:
    text = json.dumps(schema)
    made, errors = read("avro", AVRO, text, {7: text}, *[frame(7, payload) for payload in payloads])
    assert errors == {}
    return made


CAT, DOG = record("Cat", name="string"), record("a.Dog", name="string", tags={"type": "map", "values": "long"})
TIME = {"type": "int", "logicalType": "time-millis"}
DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}


@each(
    ("type", "value"),
    [
        (["null", "long", "string"], None),
        (["null", "long", "string"], 5),
        (["string", "null", "long"], "5"),
        (["int", "string"], "x"),
        (["long", {"type": "map", "values": "long"}], {"long": 5}),
        ([CAT, DOG], ("Cat", {"name": "n"})),
        ([CAT, DOG], ("a.Dog", {"name": "n", "tags": {"t": 1}})),
        ([record("R", u=["null", "int", "string"]), "string"], {"u": "deep"}),
        ({"type": "array", "items": ["null", "boolean", "bytes"]}, [None, True, b"\0"]),
        ({"type": "map", "values": ["double", "string"]}, {"a": 0.1, "b": "c"}),
        (["null", {"type": "array", "items": ["string", "long"]}], ["a", 1]),
        (["null", TIME], 77),
        (["string", DURATION], b"\1\0\0\0\2\0\0\0\3\0\0\0"),
        (["float", "double"], 0.1),
    ],
)
def test_what_reading_makes_of_a_union_is_written_by_the_same_branch(type: Any, value: Any) -> None:
    schema = record("Row", it=type)
    if type == ["float", "double"]:
        payload = b"\2" + written("double", value)  # fastavro would take float
    else:
        payload = written(schema, {"it": value})
    (made,) = framing(schema).frames(columns(schema, payload))
    assert made.as_py() == frame(7, payload)


@given(st.data(), schemas())
def test_any_column_of_avro_is_written_as_it_was_read(data: st.DataObject, schema: Any) -> None:
    payload = written(schema, data.draw(values(schema)))
    cells = columns(schema, payload)
    (made,) = framing(schema).frames(cells)
    assert made.as_py() == (frame(7, payload) if cells[0].is_valid else None), "a null row is a tombstone"


def test_a_union_has_one_value() -> None:
    schema = record("Row", it=["long", "string"])
    kind = columns(schema).type
    rows = pa.array([{"it": {"member0": 1, "member1": "x"}}], kind)
    with pytest.raises(BadRow, match="it: member0 and member1 are given, but a union has only one value"):
        framing(schema).frames(rows)
    with pytest.raises(BadRow, match="it: null is none of long, string"):
        framing(schema).frames(pa.array([{"it": {}}], kind))
    wrong = pa.array([{"it": {"member0": "x", "member1": None}}])
    with pytest.raises(BadRow, match=r'it.member0: "x" is not a long|it: "x" is not a long'):
        framing(schema).frames(wrong)


def test_other_columns_take_the_branch_that_fits() -> None:
    schema = record("Row", it=["null", "long", "string"])
    rows = pa.array([{"it": "x"}, {"it": None}])
    assert framing(schema).frames(rows).to_pylist() == [frame(7, b"\4\2x"), frame(7, b"\0")]
    assert framing(schema).frames(pa.array([{"it": 3}])).to_pylist() == [frame(7, b"\2\6")]

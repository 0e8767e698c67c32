"""`valueFormat=json-schema`: the columns are the properties of the schema, the cells those of `valueFormat=json`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from kcli.pipeline.schemas.fields import ddl
from kcli.pipeline.schemas.json_schema import json_column
from kcli.pipeline.schemas.sealed import Known
from kcli.schemas import JSON, Schema, SchemaRefused
from tests.each import each
from tests.pipeline.schemas.sealing import frame, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

ORDER: dict[str, Any] = {
    "title": "Order",
    "type": "object",
    "definitions": {"line": {"type": "object", "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}}},
    "properties": {
        "id": {"type": "integer"},
        "price": {"oneOf": [{"type": "null"}, {"type": "number"}]},
        "lines": {"type": "array", "items": {"$ref": "#/definitions/line"}},
        "tags": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        "paid": {"type": "boolean"},
        "any": {"type": ["string", "integer"]},
        "free": {"type": "object"},
        "state": {"enum": ["NEW", "PAID"]},
    },
}
VALUE = {"id": 7, "price": 1.5, "lines": [{"sku": "a", "n": 2}], "tags": {"x": "y"}, "paid": True, "any": 3,
         "free": {"a": [1]}, "state": "PAID"}  # fmt: skip
ROW = {**VALUE, "tags": [("x", "y")], "any": "3", "free": '{"a":[1]}'}
OTHER = {**ORDER, "title": "Newer"}


def column(schema: Any, **files: Any) -> str:
    referred = tuple((name, json.dumps(one)) for name, one in files.items())
    return ddl(json_column(Known(schema=Schema(kind=JSON, text=json.dumps(schema)), referred=referred)))


def test_records_are_columns_of_the_readers_properties() -> None:
    schemas = {7: json.dumps(ORDER), 8: json.dumps(OTHER)}
    values = [
        frame(7, json.dumps(VALUE).encode()),
        None,
        frame(8, b'{"id": 1}'),
        frame(8, b'{"id": "x", "paid": true}'),
    ]
    made, errors = read("json-schema", JSON, json.dumps(ORDER), schemas, *values, b"{}", frame(7, b"nothing"))
    assert made.to_pylist()[:3] == [ROW, None, dict.fromkeys(ROW) | {"id": 1}]
    assert errors == {
        3: 'field id: "x" is not BIGINT',
        4: "no schema id is in front of it",
        5: "not a JSON object",
    }
    assert column(ORDER) == (
        "STRUCT<`id`: BIGINT, `price`: DOUBLE, `lines`: ARRAY<STRUCT<`sku`: STRING, `n`: BIGINT>>, "
        "`tags`: MAP<STRING, STRING>, `paid`: BOOLEAN, `any`: STRING, `free`: STRING, `state`: STRING>"
    )


@each(
    ("schema", "shown"),
    [
        ({"$ref": "#/definitions/a", "definitions": {"a": {"properties": {"x": {"type": "number"}}}}}, "`x`: DOUBLE"),
        ({"properties": {"x": {"$ref": "other.json#/$defs/y~1z"}}}, "`x`: BIGINT"),
        ({"properties": {"x": {"$ref": "#"}}}, "`x`: STRING"),
        ({"properties": {"x": {"$ref": "none.json"}}}, "`x`: STRING"),
        ({"properties": {"x": True, "y": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
         "`x`: STRING, `y`: STRING"),
        ({"properties": {"x": {"type": "array", "items": [{"type": "string"}]},
                         "y": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}}}},
         "`x`: STRING, `y`: STRING"),
    ],
)  # fmt: skip
def test_references_are_followed_and_what_has_no_one_type_is_text(schema: Any, shown: str) -> None:
    assert column(schema, **{"other.json": {"$defs": {"y/z": {"type": "integer"}}}}) == f"STRUCT<{shown}>"


@each("schema", [{"type": "string"}, {"type": "object"}, True, {"$ref": "#"}])
def test_a_schema_without_properties_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaRefused, match="objects with properties"):
        column(schema)


def test_what_confluents_serializer_wrote_is_read_by_spark(
    spark: SparkSession, topics: Topics, registry: Registry
) -> None:
    topic = topics.make()
    topics.fill(topic, [(0, None, None, registry.json(topic, ORDER, VALUE), ()), (0, None, None, b"{}", ())])
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "valueFormat": "json-schema"}
    given |= {"schemaRegistry": registry.url, "onBad": "null", "columns": "value,valueError"}
    found = spark.read.format("kcli").options(**given).load().selectExpr("value.*", "valueError").collect()
    assert found[0].asDict(True) == {**ROW, "tags": {"x": "y"}, "valueError": None}
    assert found[1].asDict(True) == {**dict.fromkeys(ROW), "valueError": "no schema id is in front of it"}


MIXED = ['"a"', "1", '"1"', "true", '"true"', "1.5", '[1,"a"]', '{"b":"c","d":[null]}', '"\\"q\\" é\\n"', "null"]


def test_what_has_several_types_is_the_json_of_its_value_as_spark_writes_a_variant(spark: SparkSession) -> None:
    from pyspark.sql import functions as f

    several = {"type": ["string", "integer", "null"]}
    schema = {"type": "object", "properties": {"x": several, "xs": {"type": "array", "items": several}, "m": {
        "type": "object", "additionalProperties": several}}}  # fmt: skip
    texts = [f'{{"x":{one},"xs":[{one}],"m":{{"k":{one}}}}}' for one in MIXED]
    made, errors = read("json-schema", JSON, json.dumps(schema), {7: json.dumps(schema)}, *(
        frame(7, text.encode()) for text in texts))  # fmt: skip
    assert errors == {}
    frame_of = spark.createDataFrame([(n, text) for n, text in enumerate(texts)], "n INT, text STRING")
    cell = f.try_variant_get(f.parse_json("text"), "$.x", "variant")
    variants = frame_of.select("n", f.when(~f.is_variant_null(cell), f.to_json(cell)).alias("x")).orderBy("n")
    theirs = [row.x for row in variants.collect()]
    assert theirs[:3] == ['"a"', "1", '"1"']
    rows = made.to_pylist()
    assert [row["x"] for row in rows] == theirs
    assert [row["xs"] for row in rows] == [[one] for one in theirs]
    assert [row["m"] for row in rows] == [[("k", one)] for one in theirs]


@each(
    ("schema", "value", "cell"),
    [
        ({"enum": ["A", "B", None]}, "A", "A"),
        ({"const": "A"}, "A", "A"),
        ({"enum": ["A", 1]}, "A", '"A"'),
        ({"anyOf": [{"type": "string", "format": "uri"}, {"type": "string"}]}, "A", "A"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "A", '"A"'),
        ({}, "A", '"A"'),
        (True, "A", '"A"'),
        ({"type": ["string", "null"]}, "A", "A"),
    ],
)
def test_what_can_be_nothing_but_text_has_no_quotes(schema: Any, value: Any, cell: str) -> None:
    text = json.dumps({"type": "object", "properties": {"x": schema}})
    made, _ = read("json-schema", JSON, text, {7: text}, frame(7, json.dumps({"x": value}).encode()))
    assert made.to_pylist() == [{"x": cell}]

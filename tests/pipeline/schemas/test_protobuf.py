"""`valueFormat=protobuf`: what Google's library wrote is typed columns, by the numbers of fields."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from google.protobuf.json_format import ParseDict

from kcli.pipeline.schemas.fields import ddl
from kcli.pipeline.schemas.protobuf import protobuf_column
from kcli.pipeline.schemas.sealed import Known
from kcli.schemas import PROTOBUF, Schema, SchemaRefused
from tests.pipeline.schemas.sealing import frame, read
from tests.serde.protobuf.samples import type_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

ORDER = """syntax = "proto3"; package shop;
import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
import "google/protobuf/struct.proto";
message Other { int32 n = 1; }
message Order {
  enum State { NEW = 0; PAID = 1; }
  message Line { string sku = 1; int32 count = 2; }
  int64 id = 1; repeated Line lines = 2; State state = 3; map<int32, bytes> raw = 4; uint64 big = 5;
  google.protobuf.Timestamp at = 6; google.protobuf.Int64Value maybe = 7; google.protobuf.Struct more = 8;
  float half = 9; oneof by { string name = 10; uint32 number = 11; } bool paid = 12; double whole = 13;
}"""
SHOWN: dict[str, Any] = {
    "id": str(-(2**60)), "lines": [{"sku": "é", "count": 2}, {}], "state": "PAID", "raw": {"-1": "AAE="},
    "big": str(2**64 - 1), "at": "2026-11-25T01:02:03.000004Z", "maybe": "0", "more": {"x": [1.5, None]},
    "half": 0.5, "number": 2**32 - 1, "paid": True, "whole": "-Infinity",
}  # fmt: skip
ROW = {
    "id": -(2**60),
    "lines": [{"sku": "é", "count": 2}, {"sku": None, "count": None}],
    "state": "PAID",
    "raw": [(-1, b"\0\1")],
    "big": Decimal(2**64 - 1),
    "at": datetime(2026, 11, 25, 1, 2, 3, 4, UTC),
    "maybe": 0,
    "more": '{"x":[1.5,null]}',
    "half": 0.5,
    "name": None,
    "number": 2**32 - 1,
    "paid": True,
    "whole": float("-inf"),
}
EMPTY = dict.fromkeys(ROW) | {"lines": [], "raw": []}
INDEXES = b"\2\2"  # the second message of the file


def payload(shown: Any) -> bytes:
    return bytes(ParseDict(shown, type_of("shop.Order", ORDER)()).SerializeToString())


def test_a_message_is_columns_of_from_protobuf_with_all_their_values() -> None:
    written = [frame(7, INDEXES + payload(SHOWN)), None, frame(7, INDEXES)]
    made, errors = read("protobuf", PROTOBUF, ORDER, {7: ORDER}, *written, message="Order")
    assert errors == {}
    assert made.to_pylist() == [ROW, None, EMPTY]
    column = protobuf_column(Known(schema=Schema(kind=PROTOBUF, text=ORDER)), "shop.Order")
    assert ddl(column) == (
        "STRUCT<`id`: BIGINT, `lines`: ARRAY<STRUCT<`sku`: STRING, `count`: INT>>, `state`: STRING, "
        "`raw`: MAP<INT, BINARY>, `big`: DECIMAL(20,0), `at`: TIMESTAMP, `maybe`: BIGINT, `more`: STRING, "
        "`half`: FLOAT, `name`: STRING, `number`: BIGINT, `paid`: BOOLEAN, `whole`: DOUBLE>"
    )


def test_records_of_another_schema_are_read_by_the_numbers_of_the_readers_fields() -> None:
    newer = 'syntax = "proto3"; package shop; message Order { int64 number = 1; string added = 20; }'
    older = frame(7, INDEXES + payload({"id": "5", "paid": True}))
    made, errors = read("protobuf", PROTOBUF, newer, {7: ORDER, 9: newer}, older, frame(9, b"\0\x08\6"))
    assert errors == {}
    assert made.to_pylist() == [{"number": 5, "added": None}, {"number": 6, "added": None}]


def test_a_bad_record_says_why() -> None:
    whole = payload({"id": "5"})
    values = [
        b"plain",
        frame(7, b"\0\x08\1"),
        frame(7, b"\2\x0e" + whole),
        frame(7, INDEXES + whole[:-1]),
        frame(7, b"\2"),
    ]
    made, errors = read("protobuf", PROTOBUF, ORDER, {7: ORDER}, *values, frame(7, INDEXES + whole), message="Order")
    assert [row is None for row in made.to_pylist()] == [True] * 5 + [False]
    assert errors == {
        0: "no schema id is in front of it",
        1: "it is a message shop.Other, but values are read as shop.Order",
        2: "its schema has no message with the indexes 7",
        3: "the payload ends in the middle of a value",
        4: "the payload ends before its message indexes do",
    }


def test_a_message_that_contains_itself_is_refused() -> None:
    text = 'syntax = "proto3"; message A { repeated B b = 1; } message B { A a = 1; }'
    with pytest.raises(SchemaRefused, match="the message A contains itself"):
        protobuf_column(Known(schema=Schema(kind=PROTOBUF, text=text)), "")


def test_what_confluents_serializer_wrote_is_read_by_spark(
    spark: SparkSession, topics: Topics, registry: Registry
) -> None:
    topic = topics.make()
    value = registry.protobuf(topic, ParseDict(SHOWN, type_of("shop.Order", ORDER)()))
    topics.fill(topic, [(0, None, None, value, ()), (0, None, None, b"bad", ())])
    given = {"kafka.bootstrap.servers": topics.bootstrap, "subscribe": topic, "valueFormat": "protobuf"}
    given |= {"schemaRegistry": registry.url, "readerSchema": "latest#shop.Order", "onBad": "null"}
    frame = spark.read.format("kcli").options(**given).load()
    found = frame.selectExpr("value.id", "value.lines[0].sku AS sku", "value.raw[-1] AS raw", "value.more AS more")
    assert [row.asDict() for row in found.collect()] == [
        {"id": ROW["id"], "sku": "é", "raw": b"\0\1", "more": ROW["more"]},
        {"id": None, "sku": None, "raw": None, "more": None},
    ]


PRESENCE = """syntax = "proto3"; package shop;
message Inner { int32 n = 1; optional int32 maybe = 2; }
message All {
  enum State { NEW = 0; PAID = 1; }
  double a = 1; float b = 2; int32 c = 3; int64 d = 4; uint32 e = 5; uint64 f = 6; sint32 g = 7; fixed64 h = 8;
  bool i = 9; string j = 10; bytes k = 11; State l = 12;
  optional int32 m = 13; optional string n = 14; oneof by { string o = 15; int32 p = 16; }
  repeated int32 q = 17; map<string, int32> r = 18; Inner s = 19; repeated Inner t = 20;
}"""
SENT: list[Any] = [{}, {"m": 0, "o": "", "s": {}, "t": [{}, {"n": 3, "maybe": 0}]}, {"c": 5, "l": "PAID", "i": True}]


def present(message: Any, *, defaults: bool) -> dict[str, Any]:
    """A message of Google's as `from_protobuf` documents it: fields without presence have their default, or null."""
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            found[field.name] = list(value.items())
        elif field.is_repeated:
            found[field.name] = [present(one, defaults=defaults) if field.message_type else one for one in value]
        elif field.has_presence and not message.HasField(field.name):
            found[field.name] = None
        elif field.message_type is not None:
            found[field.name] = present(value, defaults=defaults)
        elif not field.has_presence and not defaults and not value:
            found[field.name] = None
        else:
            found[field.name] = field.enum_type.values_by_number[value].name if field.enum_type else value
    return found


@pytest.mark.parametrize("defaults", [False, True])
def test_fields_without_presence_are_null_or_their_default(defaults: bool) -> None:
    sent = [ParseDict(one, type_of("shop.All", PRESENCE)()) for one in SENT]
    frames = [frame(7, b"\2\2" + bytes(one.SerializeToString())) for one in sent]
    made, errors = read("protobuf", PROTOBUF, PRESENCE, {7: PRESENCE}, *frames, message="All", defaults=defaults)
    assert errors == {}
    assert made.to_pylist() == [present(one, defaults=defaults) for one in sent]

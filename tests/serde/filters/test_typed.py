"""Conditions about decoded values: by the types of their schema, not by the JSON that shows them."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kcli.proto.batch import read_batches
from kcli.schemas import JSON, PROTOBUF, Schema
from kcli.serde.filters import operators
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.operators import Literal, Numeral, equal, less, over, plus, startswith
from kcli.serde.filters.typed import Plans
from kcli.serde.filters.where import Where
from kcli.serde.schemas.bare import BareDecoder
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.readers import reader_of
from tests.each import each
from tests.proto.record_cores import CORES, built
from tests.serde.schemas.test_decoder import Shelf, framed

PROTO = """syntax = "proto3"; package shop; import "google/protobuf/wrappers.proto";
enum State { NEW = 0; PAID = 1; }
message Order {
  int64 id = 1; sint64 user_id = 2; int32 count = 3; bool paid = 4; State state = 5; string note = 6; double part = 7;
  repeated Line lines = 8; repeated fixed64 codes = 9; map<string, int64> totals = 10; optional int32 maybe = 11;
  google.protobuf.Int64Value wrapped = 12; Line line = 13; oneof one { int64 chosen = 14; string other = 15; }
}
message Line { uint64 cents = 1; }
message Second { int64 id = 1; }
"""
FULL = (
    b"\x08\x07\x10\x0d\x18\x03\x20\x01\x28\x01\x32\x02hi\x42\x03\x08\xc8\x01\x4a\x08\x09\0\0\0\0\0\0\0"
    b"\x52\x05\x0a\x01a\x10\x05\x62\x02\x08\x0c\x6a\x02\x08\x04\x70\x06"
)
AVRO = {
    "type": "record",
    "name": "Sale",
    "fields": [
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 30, "scale": 2}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "state", "type": {"type": "enum", "name": "E", "symbols": ["NEW", "PAID"]}},
        {"name": "n", "type": "long"},
    ],
}


async def rows(schema: Schema, condition: str, *payloads: bytes, **options: bool) -> tuple[list[int], list[str]]:
    """The offsets of what a condition keeps, and what it says at the end."""
    decoding = SchemaDecoder([FieldDecoder("value", Shelf({1: schema}), reader_of(**options))])  # type: ignore[arg-type]
    values: list[Any] = [(n, None, framed(1, payload), ()) for n, payload in enumerate(payloads)]
    batch = await decoding.batch(read_batches(built(CORES[-1], values))[0], "t", 0)
    wanted = Filter(where=[Where(condition)], decoded=True)
    kept = wanted.batch(batch, "t", 0)
    count = Filter(where=[Where(condition)], decoded=True).count(batch, "t", 0)
    found = [] if kept is None else [record.offset for record in kept]
    assert len(found) == count
    return found, wanted.said()


@each(
    ("condition", "kept"),
    [
        ("value.id == 7", [0]),
        ("value.id == '7'", [0]),
        ("value.id == 0", [1]),
        ("value.id < 10 and value.id >= 0", [0, 1]),
        ("value.id != 7", [1]),
        ("value.id in [7, 8]", [0]),
        ("value.id + 1 == 8", [0]),
        ("value.user_id == -7", [0]),
        ("value.count == 0", [1]),
        ("value.count <= 3", [0, 1]),
        ("value.paid == false", [1]),
        ("not value.paid", [1]),
        ("value.state == 'NEW'", [1]),
        ("value.state == 'PAID'", [0]),
        ("value.note == ''", [1]),
        ("value.part == 0", [0, 1]),
        ("value.lines[0].cents == 200", [0]),
        ("value.lines[*].cents > 100", [0]),
        ("len(value.lines) == 0", [1]),
        ("value.codes[0] == 9", [0]),
        ("9 in value.codes", [0]),
        ("value.totals.a == 5", [0]),
        ("value.wrapped == 12", [0]),
        ("value.line.cents == 4", [0]),
        ("value.line == null", [1]),
        ("value.maybe == 0", []),
        ("value.maybe == null", [0, 1]),
        ("value.chosen == 3", []),
        ("value.chosen == 6", [0]),
        ("value.other == null", [0, 1]),
        ("matches(value.id, '^7$')", [0]),
    ],
)
async def test_S3_numbers_that_are_shown_as_texts_and_values_that_are_not_shown(
    condition: str, kept: list[int]
) -> None:
    schema = Schema(kind=PROTOBUF, text=PROTO, id=1)
    assert (await rows(schema, condition, b"\0" + FULL, b"\0"))[0] == kept


async def test_the_message_of_each_record_counts_and_the_names_of_camel_case() -> None:
    schema = Schema(kind=PROTOBUF, text=PROTO, id=1)
    assert (await rows(schema, "value.id == 7", b"\2\4\x08\7", b"\0\x08\7", b"\2\4"))[0] == [0, 1]
    assert (await rows(schema, "value.id == 0", b"\2\4\x08\7", b"\0\x08\7", b"\2\4"))[0] == [2]
    assert (await rows(schema, "value.userId == -7", b"\0" + FULL, b"\0", camel=True))[0] == [0]
    assert (await rows(schema, "value.user_id == null", b"\0" + FULL, b"\0", camel=True))[0] == [0, 1]


def sale(cents: int, n: int) -> bytes:
    data = cents.to_bytes(13, "big", signed=True)
    return b"\2" + bytes([26]) + data + b"\0\2" + bytes([n << 1])


HUGE = 10**22 + 1  # cents, more than a double holds


@each(
    ("condition", "kept"),
    [
        ("value.price == 12.5", [0]),
        ("value.price == '12.50'", [0]),
        ("value.price > 12", [0, 1]),
        ("value.price < 12.51", [0, 2]),
        ("value.price == 100000000000000000000.01", [1]),
        ("value.price == 1_00000000000000000000.01", [1]),
        ("value.price in [1, 100000000000000000000.01]", [1]),
        ("value.price > 100000000000000000000.005 and value.price < 1e400", [1]),
        ("value.price > -100000000000000000000.01", [0, 1, 2]),
        ("value.price == 100000000000000000000.02", []),
        ("value.price == 0.1", [2]),
        ("value.price * 2 == 25", [0]),
        ("value.n == 5", [1]),
    ],
)
async def test_decimals_are_compared_exactly(condition: str, kept: list[int]) -> None:
    schema = Schema(text=json.dumps(AVRO), id=1)
    found, _ = await rows(schema, condition, sale(1250, 4), sale(HUGE, 5), sale(10, 6))
    assert found == kept


@each(
    ("condition", "says"),
    [
        ("value.at > 1700000000000", "value.at is a text by its schema, but 1700000000000 is a number"),
        ("value.state == 'GONE'", "value.state is never 'GONE' by its schema; it is one of NEW, PAID"),
        ("value.n == 'x'", "value.n is a number by its schema, but 'x' is a text"),
        ("value.nn == 1", "value.nn is not in any of the first 2 records; did you mean n?"),
    ],
)
async def test_what_can_never_match_is_named(condition: str, says: str) -> None:
    schema = Schema(text=json.dumps(AVRO), id=1)
    assert await rows(schema, condition, sale(1, 1), sale(2, 2)) == ([], [says])
    assert (await rows(schema, f"{condition} or value.n == 1", sale(1, 1)))[1] == []


async def test_only_a_closed_enum_is_never_a_number() -> None:
    unknown = b"\0\x28\5"  # the state 5
    open_enum = Schema(kind=PROTOBUF, text=PROTO, id=1)
    assert await rows(open_enum, "value.state == 5", unknown) == ([0], [])
    assert await rows(open_enum, "value.state == 6", unknown) == ([], [])
    assert (await rows(open_enum, "value.state == 'GONE'", unknown))[1] == [
        "value.state is never 'GONE' by its schema; it is one of NEW, PAID"
    ]
    closed = Schema(kind=PROTOBUF, text='syntax = "proto2"; enum E { A = 0; } message M { optional E e = 1; }', id=1)
    assert (await rows(closed, "value.e == 5", b"\0"))[1] == ["value.e is a text by its schema, but 5 is a number"]


async def test_values_whose_types_are_those_of_their_json_need_no_plans() -> None:
    schemas = {1: Schema(text=json.dumps(AVRO), id=1), 2: Schema(kind=JSON, text="{}", id=2)}
    field = FieldDecoder("value", Shelf(schemas), reader_of())  # type: ignore[arg-type]
    values: list[Any] = [(0, None, framed(1, sale(1, 1)), ()), (1, None, framed(2, b"{}"), ()), (2, None, b"x", ())]
    await SchemaDecoder([field]).batch(read_batches(built(CORES[-1], values))[0], "t", 0)
    assert field.typed is not None
    assert Plans([("n",)], []).of(field.typed, [0, 1, 2]) is None
    plans = Plans([("price",)], []).of(field.typed, [0, 1, 2])
    assert plans is not None
    assert [plan is not None for plan in plans] == [True, False, False]
    assert Plans([("price",)], []).of(field.typed, [1, 2]) == [None, None]


async def test_bare_payloads_have_types_too_and_keys() -> None:
    async def schema_of(_: str) -> tuple[Schema, list[tuple[str, str]]]:
        return Schema(kind=PROTOBUF, text=PROTO, id=1), []

    fields = [BareDecoder(kind, schema_of, reader_of()) for kind in ("key", "value")]
    made: list[Any] = [(0, b"\x08\7", b"\x08\x08", ()), (1, b"\xff", b"\xff", ())]
    batch = await SchemaDecoder(fields).batch(read_batches(built(CORES[-1], made))[0], "t", 0)
    for condition, count in (("key.id == 7", 1), ("value.id == 8 and key.id < 8", 1), ("value.id == 7", 0)):
        assert Filter(where=[Where(condition)], decoded=True).count(batch, "t", 0) == count


def _is_float(text: str) -> bool:
    try:
        return Decimal(text).is_finite() and float(text) is not None
    except (InvalidOperation, ValueError):
        return False


TEXT_OR_DECIMAL = {
    "type": "record",
    "name": "Either",
    "fields": [
        {"name": "x", "type": ["string", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 0}]}
    ],
}


@each(
    ("condition", "kept"),
    [
        ("value.x < 3", []),
        ("value.x >= 3", [2, 3]),
        ("value.x != 3", [0, 1, 2, 3, 4, 5]),
        ("value.x == 10", [3]),
        ("value.x == 'NaN'", [0]),
        ("value.x + 1 == 11", [3]),
        ("value.x == 7", [2]),
    ],
)
async def test_texts_beside_a_decimal_are_numbers_only_where_they_read_as_one(condition: str, kept: list[int]) -> None:
    texts = ("NaN", "sNaN", "007", "10", "1_0", "\u0663")
    payloads = [b"\0" + bytes([2 * len(text.encode())]) + text.encode() for text in texts]
    assert (await rows(Schema(text=json.dumps(TEXT_OR_DECIMAL), id=1), condition, *payloads))[0] == kept


NUMBER_TEXTS = st.from_regex(
    r"[+-]?(0|[0-9_]{1,30}|NaN|sNaN|Infinity)(\.[0-9]{1,9})?(e[+-]?[0-9]{1,30})?", fullmatch=True
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**4000), st.floats(), st.text(max_size=5), NUMBER_TEXTS,
    (NUMBER_TEXTS | st.text(max_size=5)).map(Numeral), NUMBER_TEXTS.filter(_is_float).map(Literal),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
TWO: tuple[Any, ...] = (
    *(operators.equal, operators.differ, less, operators.at_most, operators.more, operators.at_least),
    *(operators.member, operators.no_member, plus, operators.minus, operators.times, over, operators.whole),
    *(operators.rest, startswith, operators.endswith, operators.contains, operators.field),
)
ONE: tuple[Any, ...] = (
    operators.negative,
    operators.lower,
    operators.upper,
    operators.size,
    operators.number,
    operators.each,
)


@given(VALUES, VALUES)
def test_no_operator_fails_for_any_values(left: Any, right: Any) -> None:
    for of_two in TWO:
        for one, other in ((left, right), (operators.each(left), right), (left, operators.each(right))):
            of_two(one, other)
    for of_one in ONE:
        of_one(left)
    assert (left == right) is not (left != right) or left != left


def test_a_numeral_that_is_no_number_equals_itself_alone() -> None:
    assert not equal(Numeral("x"), Numeral("y"))
    assert not equal(Numeral("x"), float("nan"))
    assert equal(Numeral("NaN"), Numeral("NaN"))


def test_numerals_are_numbers_and_texts() -> None:
    two = Numeral("2.50")
    assert equal(two, 2.5)
    assert equal(2.5, two)
    assert equal(two, "2.50")
    assert not equal(two, "2.5")
    assert equal(two, Numeral("2.5"))
    assert not equal(Numeral("1"), True)
    assert less(two, 3)
    assert less(Numeral("9"), Numeral("10"))
    assert not less(Numeral("x"), 3)
    assert plus(Numeral("7"), 1) == 8
    assert over(Numeral("7"), 0) is None
    assert startswith(two, "2.")
    assert Numeral(str(2**53 + 1)) != 2.0**53

"""JSON written as Protobuf: what Google's library writes, byte for byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.serde.avro.exact import BadValue, read_json
from kcli.serde.protobuf.reader import ProtobufSchema
from tests.each import each
from tests.serde.protobuf.samples import EDITION, OLD, ORDER, RANDOM, messages, their_json, type_of

FILES = {"shop.Order": ORDER, "old.shop.Item": OLD, "ed.M": EDITION}
SCHEMAS = {name: ProtobufSchema(text) for name, text in FILES.items()}


def written(name: str, text: str) -> bytes:
    schema = SCHEMAS[name]
    return schema.writer(schema.message(name)).write(read_json(text))


@pytest.mark.slow
@each("name", list(FILES))
@given(st.data())
@RANDOM
def test_googles_json_is_written_as_google_writes_it(name: str, data: st.DataObject) -> None:
    """All that is shown comes back, unknown numbers of open enums too."""
    message = data.draw(messages(name, FILES[name]))
    for camel in (False, True):
        payload = written(name, json.dumps(their_json(message, FILES[name], camel=camel), allow_nan=False))
        again = type_of(name, FILES[name]).FromString(payload)
        assert repr(again) == repr(message)
        if "nan" not in str(message):  # of many bytes, of which JSON keeps one form
            assert sorted(payload) == sorted(message.SerializeToString())  # maps may be in another order


def order(text: str) -> Any:
    return type_of("shop.Order", ORDER).FromString(written("shop.Order", text))


@each(
    ("text", "field", "value"),
    [
        ('{"order_id": 7}', "order_id", 7),
        ('{"orderId": "7"}', "order_id", 7),
        ('{"order_id": 9223372036854775807}', "order_id", 2**63 - 1),
        ('{"i32": 1e2}', "i32", 100),
        ('{"i32": 7.0}', "i32", 7),
        ('{"i32": "-7"}', "i32", -7),
        ('{"s64": -1}', "s64", -1),
        ('{"amount": "NaN"}', "amount", pytest.approx(float("nan"), nan_ok=True)),
        ('{"amount": "1.5"}', "amount", 1.5),
        ('{"amount": 7}', "amount", 7.0),
        ('{"raw": "-_8="}', "raw", b"\xfb\xff"),
        ('{"raw": "+/8"}', "raw", b"\xfb\xff"),
        ('{"state": "PAID"}', "state", 1),
        ('{"state": 1}', "state", 1),
        ('{"state": 99}', "state", 99),
        ('{"who": null}', "who", ""),
        ('{"flags": {"true": "PAID"}}', "flags", {True: 1}),
        ('{"nil": null}', "nil", 0),
    ],
)
def test_forms_that_are_taken(text: str, field: str, value: Any) -> None:
    found = getattr(order(text), field)
    assert (dict(found) if isinstance(value, dict) else found) == value


@each(
    ("name", "text", "says"),
    [
        ("shop.Order", "7", "7 is not a shop.Order"),
        ("shop.Order", '{"order_ID": 7}', "shop.Order has no field order_ID; did you mean order_id"),
        ("shop.Order", '{"order_id": 7, "orderId": 7}', "the field order_id twice"),
        ("shop.Order", '{"i32": 2147483648}', "i32: 2147483648 is not an int32"),
        ("shop.Order", '{"i32": 1.5}', "i32: 1.5 is not an int32"),
        ("shop.Order", '{"i32": 1e999999999}', "is not an int32"),
        ("shop.Order", '{"i32": true}', "true is not an int32"),
        ("shop.Order", '{"u32": -1}', "-1 is not an uint32"),
        ("shop.Order", '{"u32": "１"}', "is not an uint32"),
        ("shop.Order", '{"half": 1e39}', "1e39 is not a float"),
        ("shop.Order", '{"amount": "1e999"}', "is not a double"),
        ("shop.Order", '{"amount": true}', "true is not a double"),
        ("shop.Order", '{"paid": 1}', "1 is not a bool"),
        ("shop.Order", '{"who": 1}', "1 is not a string"),
        ("shop.Order", '{"who": "\\ud800"}', "an unpaired surrogate"),
        ("shop.Order", '{"raw": "?"}', "is not base64"),
        ("shop.Order", '{"state": "LOSST"}', "is none of shop.State: NEW, PAID, DONE, LOST"),
        ("shop.Order", '{"tags": ["a", 1]}', r"tags\[1\]: 1 is not a string"),
        ("shop.Order", '{"tags": "a"}', '"a" is not a list'),
        ("shop.Order", '{"tags": [null]}', r"tags\[0\]: null is not allowed in a list"),
        ("shop.Order", '{"by_id": {"x": {}}}', r'by_id\.x: "x" is not an int64'),
        ("shop.Order", '{"flags": {"yes": 1}}', "neither true nor false"),
        ("shop.Order", '{"person": {"friends": [{"full_name": 1}]}}', r"person\.friends\[0\]\.full_name: 1 is not"),
        ("shop.Order", '{"text": "a", "number": 1}', "text and number are both of choice, which takes one"),
        ("shop.Order", '{"at": "yesterday"}', "is not a time such as"),
        ("shop.Order", '{"at": "2026-02-30T00:00:00Z"}', "is not a time such as"),
        ("shop.Order", '{"took": "1 s"}', "is not a duration such as"),
        ("shop.Order", '{"extra": {"value": ""}}', 'an Any has a "@type"'),
        ("shop.Order", '{"extra": {"@type": "x.y/Z"}}', "no message x.y/Z"),
        ("old.shop.Item", "{}", "the required field name, which is missing"),
        ("old.shop.Item", '{"name": "x", "color": 7}', "7 is none of old.shop.Item.Color: RED, BLUE"),
        ("shop.Order", '{"again":' * 120 + "{}" + "}" * 120, "nested more than 100 deep"),
        ("shop.Order", '{"value":' + "[" * 120 + "]" * 120 + "}", "nested more than 100 deep"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(name: str, text: str, says: str) -> None:
    with pytest.raises(BadValue, match=says):
        written(name, text)


def test_a_time_may_have_a_zone() -> None:
    one, other = order('{"at": "2026-11-24T01:30:00.25+02:00"}'), order('{"at": "2026-11-23T23:30:00.250Z"}')
    assert one == other
    assert one.at.nanos == 250_000_000

"""Conditions in CEL about what is written, by schemas of all three kinds, and beside Confluent's own executor."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.schemas import JSON, PROTOBUF, Schema
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.rules import checks, rules_of
from kcli.serde.schemas.labels import Label
from kcli.serde.schemas.writers import RecordWriter, writer_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.schemas.writers import Write

if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")


AVRO_TEXT = json.dumps({
    "type": "record", "name": "Order", "fields": [
        {"name": "id", "type": "long"},
        {"name": "total", "type": "double"},
        {"name": "mail", "type": ["null", "string"], "default": None},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 0},
        {"name": "mark", "type": "bytes", "default": "a"},
        {"name": "side", "type": {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}, "default": "BUY"},
        {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
        {"name": "more", "type": {"type": "map", "values": "int"}, "default": {}},
    ],
})  # fmt: skip
PROTO_TEXT = """syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
message Order {int64 id = 1; uint32 count = 2; string text = 3; Order inner = 4; google.protobuf.Timestamp at = 5;
 google.protobuf.StringValue word = 6; repeated int32 list = 7; map<string, Order> parts = 8; Side side = 9;
 oneof one {int32 a = 10; string b = 11;} enum Side {BUY = 0; SELL = 1;} double price = 12; bytes raw = 13;}"""


def with_rule(kind: str, text: str, expression: str, /, **more: object) -> Schema:
    rule = {"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": expression, **more}
    rules = json.dumps({"domainRules": [rule]})
    return Schema(kind=kind, text=text, rule_set=rules, subject="orders-value", version=3, id=7)


def writer(schema: Schema, **options: Any) -> Write:
    return writer_of(schema, [], conditions=list(rules_of(schema)), **options)


def problem(schema: Schema, value: object) -> str:
    """Why a value is not written, "" where it is."""
    try:
        writer(schema)(json.dumps(value))
    except BadValue as bad:
        return str(bad)
    return ""


def order(**fields: object) -> dict[str, object]:
    return {"id": 1, "total": 9.5, **fields}


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [
        ("message.total > 0.0", order(), True),
        ("message.total > 0.0", order(total=2), True),  # an int of JSON is a double of the schema
        ("message.total > 0.0", order(total=-1), False),
        ("message.total > 0.0", order(total="NaN"), False),
        ("message.mail == null || message.mail.isEmail()", order(), True),
        ("message.mail == null || message.mail.isEmail()", order(mail="a@b.com"), True),
        ("message.mail == null || message.mail.isEmail()", order(mail="a@b"), True),
        ("message.mail == null || message.mail.isEmail()", order(mail="ab"), False),
        ("message.at == 1000", order(at="1970-01-01T00:00:01.000Z"), True),
        ("message.mark == b'a' && message.side == 'BUY' && size(message.tags) == 0", order(), True),
        ("message.tags.all(t, t.startsWith('x')) && message.more['k'] == 3", order(tags=["xy"], more={"k": 3}), True),
        ("message.tags.exists(t, t.matches('^[0-9]+$'))", order(tags=["a", "12"]), True),
        ("message.id == 2 ; message.total > 100.0", order(), True),
        ("message.id == 2 ; message.total > 100.0", order(id=2), False),
        (" ; message.total > 100.0", order(), False),
        ("now > timestamp('2020-01-01T00:00:00Z')", order(), True),
    ],
)
def test_avro(expression: str, value: dict[str, object], holds: bool) -> None:
    expected = "" if holds else f"refused by the rule r: {expression}"
    assert problem(with_rule("AVRO", AVRO_TEXT, expression), value) == expected


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [
        ("message.id == 1 && message.count == 0u && message.text == '' && message.price == 0.0", {"id": 1}, True),
        ("has(message.text) || has(message.inner) || has(message.a) || has(message.list)", {"id": 1}, False),
        ("message.inner.inner.inner.text == '' && message.word == null && size(message.parts) == 0", {}, True),
        ("has(message.inner) && has(message.inner.id) && !has(message.inner.text)", {"inner": {"id": 3}}, True),
        ("message.at > timestamp('2020-01-01T00:00:00Z')", {"at": "2021-01-01T00:00:00Z"}, True),
        ("message.word == 'x' && message.list.all(n, n > 0)", {"word": "x", "list": [1, 2]}, True),
        ("message.parts['k'].id == 3 && message.side == 1", {"parts": {"k": {"id": 3}}, "side": "SELL"}, True),
        ("message.b == 'q' && !has(message.a) && message.raw == b'a'", {"b": "q", "raw": "YQ=="}, True),
        ("message.price > 1.0", {"price": 1}, False),
    ],
)
def test_protobuf(expression: str, value: dict[str, object], holds: bool) -> None:
    expected = "" if holds else f"refused by the rule r: {expression}"
    assert problem(with_rule(PROTOBUF, PROTO_TEXT, expression), value) == expected


def test_json() -> None:
    schema = with_rule(JSON, "{}", "message.a.b[0] == 1 && message.x == 1.5 && message.c")
    assert not problem(schema, {"a": {"b": [1]}, "x": 1.5, "c": True})
    assert problem(schema, {"a": {"b": [1]}, "x": 1.5, "c": False}).startswith("refused by the rule r: message.a.b")
    assert "cannot be evaluated: overflow" in problem(schema, {"a": 10**20})


def test_indexes_and_frames_are_in_front_of_what_is_checked() -> None:
    schema = with_rule(PROTOBUF, "message A {} message B {optional int32 n = 1;}", "message.n == 3")
    assert writer(schema, message="B")('{"n": 3}') == b"\2\2\x08\3"
    with pytest.raises(BadValue, match="refused by the rule r"):
        writer(schema, message="B")('{"n": 4}')
    again = RecordWriter(Label(schema=schema, message="B"), conditions=list(rules_of(schema)))
    assert again.write('{"n": 3}', None) == b"\0\0\0\0\7\2\2\x08\3"
    with pytest.raises(BadValue, match="refused by the rule r"):
        again.write('{"n": 4}', None)


def test_the_doc_of_a_rule_says_why() -> None:
    schema = with_rule("AVRO", AVRO_TEXT, "message.total > 0.0", doc="a total is positive")
    assert problem(schema, order(total=-1)) == "refused by the rule r: a total is positive"
    assert problem(with_rule("AVRO", AVRO_TEXT, "false", onFailure="NONE"), order()) == ""
    both = with_rule("AVRO", AVRO_TEXT, "false", mode="WRITEREAD", onFailure="ERROR,NONE")
    assert problem(both, order()) == "refused by the rule r: false"
    assert "refused" in problem(with_rule("AVRO", AVRO_TEXT, "false", onFailure="DLQ"), order())


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("message.foo", "the rule r cannot be evaluated: no such member in mapping: 'foo'"),
        ("message.id", "the rule r is neither true nor false: message.id"),
        ("message.mail > 1", "the rule r cannot be evaluated: found no matching overload"),
        ("x == 2", "the rule r cannot be evaluated: undeclared reference to 'x'"),
        ("message.mark.matches('(')", "the rule r cannot be evaluated: ( is not a regular expression: missing )"),
        ("1 / 0 == 1", "the rule r cannot be evaluated: modulus or divide by zero"),
    ],
)
def test_what_cannot_be_evaluated_is_not_written(expression: str, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = problem(with_rule("AVRO", AVRO_TEXT, expression), order(mail="x"))
    assert found.startswith(says)
    assert len(found) < 300
    assert "\n" not in found
    assert capfd.readouterr().err == "", "RE2 logs nothing"


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("message.total >", "the rule r (CEL) of orders-value version 3 is not a valid expression: message.total >"),
        ("decimals.ge(message.total, 1)", "calls ge, which kcli does not have"),
        ("foo(1)", "calls foo, which kcli does not have"),
        ("(" * 5000, "is not a valid expression"),
        ("1 == 1 || " * 2000 + "true", "is longer than 16,384 characters"),
    ],
)
def test_what_is_no_expression_is_refused_before_a_record_is_read(expression: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        writer(with_rule("AVRO", AVRO_TEXT, expression))
    assert says in str(refused.value)
    assert len(str(refused.value)) < 400


def test_an_expression_that_is_nested_too_deeply_refuses_the_record() -> None:
    deep = "(" * 300 + "true" + ")" * 300
    assert problem(with_rule("AVRO", AVRO_TEXT, deep), order()) in (
        "",
        "the rule r cannot be evaluated: it is nested too deeply",
    )


def test_without_the_package_the_line_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "celpy", None)
    with pytest.raises(UsageError, match=r"pip install 'kcli-kafka\[rules\]'"):
        writer(with_rule("AVRO", AVRO_TEXT, "true"))


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a@b.com", True), ("a@b", True), ("a b@c.de", False), ("a@-b.de", False), ("a@b.1", False), ("@b.de", False),
        ("a@" + "b" * 64 + ".de", False), ("a" * 65 + "@b.de", False),
    ],
)  # fmt: skip
def test_addresses(text: str, is_one: bool) -> None:
    found = problem(with_rule("AVRO", AVRO_TEXT, "message.mail.isEmail()"), order(mail=text))
    assert (not found) is is_one


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        ("isIpv4", "10.0.0.1", "10.0.0.256"),
        ("isIpv6", "::1", "10.0.0.1"),
        ("isHostname", "a-1.example.com", "a_1"),
        ("isUuid", "00010203-0405-0607-0809-0a0b0c0d0e0f", "0001"),
        ("isUri", "http://a/b", "a/b"),
        ("isUriRef", "a/b", "#x"),
    ],
)
def test_functions_of_confluents_serializers(function: str, good: str, bad: str) -> None:
    schema = with_rule("AVRO", AVRO_TEXT, f"message.mail.{function}()")
    assert problem(schema, order(mail=good)) == ""
    assert problem(schema, order(mail=bad)).startswith("refused")


def test_only_conditions_for_writing_are_run() -> None:
    def runs(**more: object) -> bool:
        return any(map(checks, rules_of(with_rule("AVRO", AVRO_TEXT, "true", **more))))

    assert runs()
    assert runs(mode="WRITEREAD")
    assert not any(
        (runs(mode="READ"), runs(kind="TRANSFORM"), runs(kind=None), runs(type="CEL_FIELD"), runs(disabled=True))
    )
    for enabled, number in (("ALL", 1), ("CLIENT", 1), (None, 1), ("GATEWAY", 0)):
        rule = {"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE"}
        assert len(list(rules_of(Schema(rule_set=json.dumps({"domainRules": [rule], "enableAt": enabled}))))) == number
    sealed = {"name": "r", "type": "ENCRYPT", "mode": "WRITE"}
    assert list(rules_of(Schema(rule_set=json.dumps({"domainRules": [sealed], "enableAt": "GATEWAY"}))))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("message.total > 5.0", order()),
        ("message.total > 10.0", order()),
        ("message.id + 1 == 2 && message.side == 'BUY'", order(side="BUY")),
        ("message.id == 2 ; message.total > 100.0", order(id=2)),
        ("message.id == 3 ; message.total > 100.0", order(id=2)),
        ("size(message.tags) == 2 && message.tags[1] == 'b'", order(tags=["a", "b"])),
        ("message.mail.isEmail()", order(mail="me@example.com")),
        ("message.mail.isEmail()", order(mail="me.example.com")),
        ("message.mail.matches('^m.*m$')", order(mail="me@example.com")),
        ("message.mail.isHostname()", order(mail="1.2.3.4")),
        ("has(message.mail)", order(mail=None)),
        ("has(message.other)", order()),
        ("message.more.k == 1 ? true : message.id > 0", order(more={"k": 2})),
        ("message.nothing > 3", order()),
    ],
)
def test_confluents_executor_says_the_same(expression: str, value: dict[str, object]) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode
    from confluent_kafka.schema_registry import Schema as Theirs
    from confluent_kafka.schema_registry.rules.cel.cel_executor import CelExecutor
    from confluent_kafka.schema_registry.serde import RuleContext

    rule = Rule("r", "", RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, expression, None, None, False)
    schema = Theirs(AVRO_TEXT, "AVRO")
    executor: Any = CelExecutor
    context = RuleContext(None, None, None, schema, "s", RuleMode.WRITE, rule, 0, [rule], None, None)  # type: ignore[arg-type]
    try:
        expected = bool(executor().transform(context, value))
    except Exception:  # noqa: BLE001 - whatever it raises, its serializer refuses the value
        expected = False
    assert (problem(with_rule("AVRO", AVRO_TEXT, expression), value) == "") is expected


def test_a_condition_leaves_the_limit_of_recursion_as_it_is() -> None:
    """kcli's readers know by it what is nested too deeply."""
    from kcli.serde.rules.functions import environment

    before = sys.getrecursionlimit()
    environment()
    assert sys.getrecursionlimit() == before

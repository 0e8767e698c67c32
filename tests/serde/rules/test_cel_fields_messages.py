"""Rules about fields of Protobuf that are written, by tags, beside Confluent's own serializer."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from typing import Any

import pytest

from kcli.schemas import PROTOBUF, Schema
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.writers import writer_of
from tests.serde.rules.test_cel_fields import rule

if not os.environ.get("CI"):
    pytest.importorskip("celpy", reason="needs the extra `rules`: pip install cel-python")

FIELDS = [
    # name, number, type, label, message or enum, tags
    ("id", 1, "INT64", "", "", "ID"), ("text", 2, "STRING", "", "", "PII"),
    ("maybe", 3, "STRING", "presence", "", "PII"),
    ("list", 4, "STRING", "REPEATED", "", "PII"), ("inner", 5, "MESSAGE", "", ".shop.Order", ""),
    ("many", 6, "MESSAGE", "REPEATED", ".shop.Order", ""),
    ("at", 7, "MESSAGE", "", ".google.protobuf.Timestamp", "AT"),
    ("side", 8, "ENUM", "", ".shop.Side", "PII"), ("raw", 9, "BYTES", "", "", "RAW"),
    ("half", 10, "DOUBLE", "", "", "SUM"),
    ("flag", 11, "BOOL", "", "", "FLAG"), ("small", 12, "UINT32", "", "", "SUM"),
    ("ints", 13, "INT32", "REPEATED", "", "N"),
    ("word", 14, "MESSAGE", "", ".google.protobuf.StringValue", ""),
]  # fmt: skip
VALUE: dict[str, Any] = {
    "id": "7", "text": "a", "list": ["x", "y"], "inner": {"id": "8", "text": "b", "flag": True},
    "many": [{"maybe": "c"}, {}],
    "at": "2021-01-01T00:00:00.123456789Z", "side": "SELL", "raw": "YWI=", "half": 1.5, "flag": True, "small": 3,
    "ints": [1, 2], "word": "w",
}  # fmt: skip
TRANSFORMS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (rule("value + '!'", "PII"), {
        "text": "a!", "list": ["x!", "y!"], "inner": {"id": "8", "text": "b!", "flag": True},
        "many": [{"text": "!", "maybe": "c!"}, {"text": "!"}],
    }),
    (rule("name == 'text' ; fullName + typeName", "PII"), {
        "text": "shop.Order.textSTRING", "inner": {"id": "8", "text": "shop.Order.textSTRING", "flag": True},
        "many": [{"text": "shop.Order.textSTRING", "maybe": "c"}, {"text": "shop.Order.textSTRING"}],
    }),
    (rule("value + b'c'", "RAW"), {
        "raw": "YWJj", "inner": {"id": "8", "text": "b", "flag": True, "raw": "Yw=="},
        "many": [{"maybe": "c", "raw": "Yw=="}, {"raw": "Yw=="}],
    }),
    (rule("typeName == 'LONG' ; timestamp('2022-01-01T00:00:00Z')", "AT"), {"at": "2022-01-01T00:00:00Z"}),
    (rule("value", "AT"), {}),
    (rule("typeName == 'DOUBLE' && value > 0.0 ; 5", "SUM"), {"half": 5.0}),
    (rule("typeName == 'INT' && value > 0u ; 5", "SUM"), {"small": 5}),
    (rule("value * 2", "N"), {"ints": [2, 4]}),
    (rule("fullName == 'google.protobuf.StringValue.value' ; value + '!'"), {"word": "w!"}),
    (rule("value ; false", "FLAG"), {"flag": False, "inner": {"id": "8", "text": "b"}}),
    (rule("name == 'id' && value == 8 ; 0"), {"inner": {"text": "b", "flag": True}}),
    (rule("name == 'text' ; string(message.id)", "PII"), {
        "text": "7", "inner": {"id": "8", "text": "8", "flag": True},
        "many": [{"text": "0", "maybe": "c"}, {"text": "0"}],
    }),
]  # fmt: skip
CONDITIONS = [
    (rule("value < 9", "ID", kind="CONDITION"), ""),
    (rule("value < 8", "ID", kind="CONDITION"), "refused by the rule r (id): value < 8"),
    (rule("value > timestamp('2020-01-01T00:00:00Z')", "AT", kind="CONDITION"), ""),
    (rule("value > timestamp('2022-01-01T00:00:00Z')", "AT", kind="CONDITION", doc="new"),
     "refused by the rule r (at): new"),
    (rule("value > 3", "PII", kind="CONDITION"), "the rule r cannot be evaluated (text): found no matching overload"),
    (rule("value > 3", "PII", kind="CONDITION", onFailure="NONE"), ""),
    (rule("'x'", "SUM"), "the rule r puts into half a value of another type"),
    (rule("1.5", "ID"), "the rule r puts into id a value of another type"),
    (rule("null", "PII"), "the rule r puts into text a value of another type"),
    (rule("[1]", "SUM"), "the rule r (half) gives a value that is none of a field"),
    (rule("typeName == 'INT' ; -1", "SUM"), "inner.small: -1 is not an uint32"),
    (rule("5", "AT"), "the rule r puts into at what is no google.protobuf.Timestamp"),
]  # fmt: skip


def order(package: str = "shop") -> Any:
    """The class of Google's library, whose file is the schema. In the package `bare` it has no bool: in Confluent's
    serializer a condition about anything fails where a bool is false."""
    import confluent_kafka.schema_registry.confluent.meta_pb2 as meta
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2, wrappers_pb2

    assert timestamp_pb2.DESCRIPTOR.name
    assert wrappers_pb2.DESCRIPTOR.name
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name=f"kcli_{package}.proto", package=package, syntax="proto3")
    imports = ("timestamp.proto", "wrappers.proto")
    file.dependency.extend([*(f"google/protobuf/{name}" for name in imports), "confluent/meta.proto"])
    side = file.enum_type.add(name="Side")
    side.value.add(name="BUY", number=0)
    side.value.add(name="SELL", number=1)
    message = file.message_type.add(name="Order")
    for name, number, type, label, of, tag in FIELDS:
        if name == "flag" and package == "bare":
            continue
        given = message.field.add(
            name=name,
            number=number,
            type=types.Type.Value(f"TYPE_{type}"),
            type_name=of.replace("shop", package) or None,
        )
        given.label = types.LABEL_REPEATED if label == "REPEATED" else types.LABEL_OPTIONAL
        if label == "presence":
            message.oneof_decl.add(name=f"_{name}")
            given.oneof_index, given.proto3_optional = 0, True
        if tag:
            given.options.Extensions[meta.field_meta].tags.append(tag)  # type: ignore[attr-defined]
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.Order"))


def with_rules(*rules: dict[str, Any], package: str = "shop") -> Schema:
    text = b64encode(order(package).DESCRIPTOR.file.serialized_pb).decode()
    given = json.dumps({"domainRules": rules})
    return Schema(kind=PROTOBUF, text=text, rule_set=given, subject="t-value", version=1, id=1)


def stored(schema: Schema, value: dict[str, Any] = VALUE) -> bytes:
    return writer_of(schema, [], conditions=conditions_of(schema))(json.dumps(value))


def plain(**changed: Any) -> bytes:
    return writer_of(with_rules(), [])(json.dumps({**VALUE, **changed}))


@pytest.mark.parametrize(("given", "changed"), TRANSFORMS, ids=lambda part: str(part.get("expr", ""))[:20])
def test_a_transform_changes_the_fields_with_its_tags(given: dict[str, Any], changed: dict[str, Any]) -> None:
    assert stored(with_rules(given)) == plain(**changed)


@pytest.mark.parametrize(("given", "says"), CONDITIONS)
def test_what_is_refused(given: dict[str, Any], says: str) -> None:
    if not says:
        assert stored(with_rules(given)) == plain()
        return
    with pytest.raises(BadValue) as refused:
        stored(with_rules(given))
    assert str(refused.value).startswith(says)


def test_a_field_with_presence_that_is_not_set_is_passed_over() -> None:
    given = with_rules(rule("value + '!'", "PII"))
    assert stored(given, {}) == writer_of(given, [])('{"text": "!"}')
    assert stored(given, {"maybe": ""}) == writer_of(given, [])('{"text": "!", "maybe": "!"}')


@pytest.mark.parametrize(
    "given",
    [*(given for given, _ in TRANSFORMS), *(given for given, _ in CONDITIONS)],
    ids=lambda given: str(given["expr"])[:20],
)
@pytest.mark.parametrize("value", [VALUE, {}, {"maybe": "", "inner": {}}])
def test_confluents_serializer_stores_the_same(given: dict[str, Any], value: dict[str, Any]) -> None:
    from confluent_kafka.schema_registry import Rule, RuleKind, RuleMode, RuleSet, SchemaRegistryClient
    from confluent_kafka.schema_registry import Schema as Theirs
    from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
    from confluent_kafka.schema_registry.rules.cel.cel_field_executor import CelFieldExecutor
    from confluent_kafka.serialization import MessageField, SerializationContext
    from google.protobuf import json_format

    CelFieldExecutor.register()  # type: ignore[no-untyped-call]
    kind, tags, failing = RuleKind[given["kind"]], given["tags"] or None, given.get("onFailure")
    one = Rule("r", "", kind, RuleMode.WRITE, "CEL_FIELD", tags, None, given["expr"], None, failing, False)
    package = "bare" if given["kind"] == "CONDITION" else "shop"
    if package == "bare":
        value = json.loads(json.dumps(value).replace(', "flag": true', ""))
    schema, message = with_rules(given, package=package), order(package)
    client = SchemaRegistryClient.new_client({"url": "mock://"})
    client.register_schema("t-value", Theirs(schema.text, "PROTOBUF", [], None, RuleSet(None, [one])))
    conf = {"auto.register.schemas": False, "use.latest.version": True, "use.deprecated.format": False}
    write = ProtobufSerializer(message, client, conf=conf)
    try:
        expected = write(json_format.ParseDict(value, message()), SerializationContext("t", MessageField.VALUE))
    except Exception:  # noqa: BLE001 - whatever it raises, it refuses the value
        expected = None
    try:
        found: bytes | None = stored(schema, value)
    except BadValue:
        found = None
    assert found == (None if expected is None else expected[5:])

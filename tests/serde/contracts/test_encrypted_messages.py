"""Fields of Protobuf that a rule encrypts: tags of Confluent's `field_meta`, in texts and in descriptors."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from kcli.schemas import PROTOBUF, Schema
from kcli.serde.protobuf.reader import ProtobufSchema
from kcli.serde.schemas.readers import indexed, reader_of
from kcli.serde.schemas.writers import writer_of
from tests.serde.contracts.test_encrypted import SECRET, rules, shown

TEXT = """syntax = "proto3"; package shop; import "confluent/meta.proto"; import "google/protobuf/wrappers.proto";
message Left { string mail = 1; }
message Person {
  int64 id = 1 [(confluent.field_meta).tags = "PII"];
  string user_name = 2 [(confluent.field_meta) = { doc: "a", tags: ["OTHER", "PII"] }];
  string note = 3 [deprecated = true, (confluent.field_meta).doc = "PII",
    (.confluent.field_meta) = {params: [{key: "tags" value: "PII"}]}];
  repeated bytes photos = 4 [(.confluent.field_meta).tags = "PII"];
  map<string, string> words = 5 [(confluent.field_meta) = {tags: "PII"}];
  Person friend = 6;
  google.protobuf.StringValue nick = 7;
  oneof way { string phone = 8 [(confluent.field_meta).tags = "PII"]; string post = 9; }
  message Home { string street = 1 [(confluent.field_meta).tags = "PII"]; string town = 2; }
  Home home = 10 [(confluent.field_meta).tags = "PII"];
}"""
VALUE = {
    "id": "7", "user_name": "c2Vj", "note": "n", "photos": ["AAE="], "words": {"a": "c2Vj"},
    "friend": {"user_name": "x", "note": "m"}, "nick": "b", "phone": "c2Vj", "home": {"street": "s", "town": "t"},
}  # fmt: skip
SHOWN = {
    **VALUE, "user_name": SECRET, "photos": [SECRET], "words": {"a": SECRET}, "phone": SECRET,
    "friend": {"user_name": SECRET, "note": "m"}, "home": {"street": SECRET, "town": "t"},
}  # fmt: skip


def schema(text: str = TEXT, metadata: str = "", **rule: object) -> Schema:
    return Schema(kind=PROTOBUF, text=text, rule_set=rules(**rule), metadata=metadata, id=7)


def written(value: object, message: str = "Person", *, framed: bool = True) -> bytes:
    return writer_of(Schema(kind=PROTOBUF, text=TEXT), [], message=message, framed=framed)(json.dumps(value))


async def test_fields_with_a_tag_of_the_rule_are_marked() -> None:
    found, reasons = await shown(schema(), written(VALUE))
    assert (json.loads(found), reasons) == (SHOWN, {})
    plain, _ = await shown(schema(disabled=True), written(VALUE))
    assert json.loads(plain) == VALUE
    camel, _ = await shown(schema(), written(VALUE), camel=True)
    assert json.loads(camel)["userName"] == SECRET


async def test_tags_of_the_metadata_and_rules_without_tags() -> None:
    tags = json.dumps({"tags": {"shop.Person.note": ["PII"], "**.town": ["PII"]}})
    found = json.loads((await shown(schema(metadata=tags), written(VALUE)))[0])
    assert (found["note"], found["home"]["town"], found["friend"]["note"]) == (SECRET, SECRET, SECRET)
    all_texts = json.loads((await shown(schema(tags=None), written(VALUE)))[0])
    assert (all_texts["note"], all_texts["nick"], all_texts["id"]) == (SECRET, "b", "7")


async def test_the_message_is_the_one_that_is_named() -> None:
    """Another message of the file has a field of the same name without a tag; behind a header, Glue's number and
    without indexes the message is found, too."""
    assert await shown(schema(), written({"mail": "x"}, "Left")) == (b'{"mail":"x"}', {})
    reader = indexed(schema(), reader_of()(schema(), []))
    assert reader is not None
    bare = written({"phone": "x"}, framed=False)
    marked = b'{"phone":{"encrypted":"kek1"}}'
    assert reader.message("Person").json(bare) == marked
    assert reader.named(b"\2\2").json(bare) == marked
    number = ["shop.Left", "shop.Person", "shop.Person.Home", "shop.Person.WordsEntry"].index("shop.Person")
    assert reader.numbered().json(bytes([number]) + bare) == marked
    assert reader.message_name(b"\2\2" + bare) == "shop.Person"
    assert (await shown(schema(), bare))[0] == marked, "KafkaJS"


async def test_a_descriptor_has_the_same_tags() -> None:
    from confluent_kafka.schema_registry.confluent import meta_pb2
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="a.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Person")
    for number, name in enumerate(("mail", "note"), 1):
        message.field.add(name=name, number=number, type=9, label=1, json_name=name)
    meta: Any = meta_pb2
    message.field[0].options.Extensions[meta.field_meta].tags.append("PII")
    text = b64encode(file.SerializeToString()).decode()
    assert [field.tags for field in ProtobufSchema(text).message("Person").fields.values()] == [{"PII"}, frozenset()]
    found, _ = await shown(schema(text), b"\0\x0a\1x\x12\1y")
    assert found == b'{"mail":{"encrypted":"kek1"},"note":"y"}'


async def test_a_payload_that_is_not_the_schemas_has_its_reason() -> None:
    payload = written(VALUE)[:-1]
    found, reasons = await shown(schema(), payload)
    assert found.endswith(payload)
    assert reasons == {"the payload ends in the middle of a value": 1}


@pytest.mark.parametrize(
    ("option", "tags"),
    [
        ('(confluent.field_meta).tags = "A", (confluent.field_meta).tags = "B"', {"A", "B"}),
        ("(confluent.field_meta) = {tags: ['A'], doc: \"x\"}", {"A"}),
        ('(confluent.field_meta) = {doc: "x" tags: "A" tags: "B"}', {"A", "B"}),
        ('(confluent.field_meta) = {params: {key: "tags" value: "A"}}', set()),
        ('(confluent.field_metal).tags = "A"', set()),
        ('(other.field_meta).tags = "A"', set()),
        ('json_name = "tags"', set()),
    ],
)
def test_options_of_a_field(option: str, tags: set[str]) -> None:
    text = f'syntax = "proto3"; message P {{ string x = 1 [{option}]; }}'
    assert ProtobufSchema(text).message("P").fields[1].tags == tags

"""Values of schemas whose rules encrypt: what is ciphertext is marked, and the rest is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.schemas import PROTOBUF, Schema
from kcli.serde.avro.parse import parse
from kcli.serde.avro.write import AvroWriter
from kcli.serde.contracts.rules import rules_of
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.frame_ids import FieldFrames
from kcli.serde.schemas.readers import reader_of
from tests.serde.schemas.test_decoder import Shelf, batch_of, framed

PII = ["PII"]
PERSON: dict[str, Any] = {
    "type": "record", "name": "Person", "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long", "confluent:tags": PII},
        {"name": "name", "type": "string", "confluent:tags": PII},
        {"name": "note", "type": "string"},
        {"name": "mail", "type": ["null", "string"], "confluent:tags": ["PII", "OTHER"]},
        {"name": "photos", "type": {"type": "array", "items": "bytes"}, "confluent:tags": PII},
        {"name": "words", "type": {"type": "map", "values": ["int", "string"]}, "confluent:tags": PII},
        {"name": "friend", "type": ["null", "Person"], "confluent:tags": ["OTHER"]},
        {"name": "home", "type": {"type": "record", "name": "Home", "fields": [{"name": "street", "type": "string"}]}},
    ],
}  # fmt: skip
VALUE: dict[str, Any] = {
    "id": 2**53 + 1, "name": "c2VjcmV0", "note": "é", "mail": "c2VjcmV0", "photos": [{"base64": "AAE="}],
    "words": {"a": 1, "b": "c2VjcmV0"}, "friend": None, "home": {"street": "x"},
}  # fmt: skip
SECRET = {"encrypted": "kek1"}
SMALL = 'syntax = "proto3"; message P { string x = 1; }'
SHOWN = {**VALUE, "name": SECRET, "mail": SECRET, "photos": [SECRET], "words": {"a": 1, "b": SECRET}}


def rules(**changed: object) -> str:
    rule = {
        "name": "pii", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": PII,
        "params": {"encrypt.kek.name": "kek1", "encrypt.kms.type": "local-kms"}, **changed,
    }  # fmt: skip
    return json.dumps({"domainRules": [rule]})


def shelf_of(schema: Schema) -> Any:
    return Shelf({7: schema})


async def shown(schema: Schema, payload: bytes, **options: bool) -> tuple[bytes, dict[str, int]]:
    decoding = SchemaDecoder([FieldDecoder("value", shelf_of(schema), reader_of(**options))])
    (record,) = await decoding.batch(batch_of(framed(7, payload)), "t", 0)
    assert record.value is not None
    return record.value, dict(decoding.fields[0].undecoded.reasons)


def written(value: object, schema: object = PERSON) -> bytes:
    return AvroWriter(parse(json.dumps(schema), [])).write(value)


async def test_fields_with_a_tag_of_the_rule_are_marked() -> None:
    value = {**VALUE, "friend": VALUE}
    found, reasons = await shown(Schema(text=json.dumps(PERSON), rule_set=rules(), id=7), written(value))
    assert (json.loads(found), reasons) == ({**SHOWN, "friend": SHOWN}, {})
    plain, _ = await shown(Schema(text=json.dumps(PERSON), rule_set=rules(disabled=True), id=7), written(value))
    assert json.loads(plain) == value
    assert list(json.loads(found)) == list(json.loads(plain))


@pytest.mark.parametrize(
    ("pattern", "marked"),
    [
        ("shop.Person.note", ["note"]),
        ("shop.*.note", ["note"]),
        ("**.note", ["note"]),
        ("shop.Home.stree?", ["home"]),
        ("*.note", []),
        ("shop.Person.not", []),
    ],
)
async def test_tags_of_the_metadata_are_patterns_of_paths(pattern: str, marked: list[str]) -> None:
    bare = {
        **PERSON,
        "fields": [{k: v for k, v in field.items() if k != "confluent:tags"} for field in PERSON["fields"]],
    }
    schema = Schema(text=json.dumps(bare), metadata=json.dumps({"tags": {pattern: PII}}), rule_set=rules(), id=7)
    found = json.loads((await shown(schema, written(VALUE, bare)))[0])
    assert [name for name in VALUE if found[name] != VALUE[name]] == marked
    assert not marked or SECRET in (found["note"], found["home"]["street"])


async def test_a_rule_without_tags_encrypts_each_text_and_names_itself_without_a_key() -> None:
    schema = Schema(text=json.dumps(PERSON), rule_set=rules(tags=None, params={}), id=7)
    found = json.loads((await shown(schema, written(VALUE)))[0])
    assert (found["note"], found["home"], found["id"]) == (
        {"encrypted": "pii"},
        {"street": {"encrypted": "pii"}},
        2**53 + 1,
    )


@pytest.mark.parametrize(
    "schema",
    [
        Schema(text=json.dumps(PERSON), rule_set=rules(type="ENCRYPT_PAYLOAD"), id=7),
        Schema(kind=PROTOBUF, text=SMALL, rule_set=rules(type="ENCRYPT_PAYLOAD"), id=7),
    ],
    ids=["avro", "protobuf"],
)
async def test_whole_values_stay_as_they_are_stored(schema: Schema) -> None:
    payload = b"\0\x0a\1x"
    assert await shown(schema, payload) == (framed(7, payload), {"encrypted: kek1": 1})


async def test_a_payload_that_is_not_the_schemas_has_its_reason() -> None:
    schema = Schema(text=json.dumps(PERSON), rule_set=rules(), id=7)
    payload = written(VALUE)[:-1]
    assert await shown(schema, payload) == (framed(7, payload), {"the payload ends in the middle of a value": 1})


async def test_ids_are_rewritten_in_encrypted_values_too() -> None:
    schema = Schema(kind=PROTOBUF, text=SMALL, rule_set=rules(), id=7)

    async def new_id(kind: str, schema: Schema) -> int:
        return 9

    field = FieldFrames("value", shelf_of(schema), new_id)
    columns = batch_of(framed(7, b"\0\x0a\1x")).columns()
    section = bytearray(columns.data)
    assert await field.patch(columns, section, 0, "t", 0) == 1
    assert framed(9, b"\0\x0a\1x") in bytes(section)


@pytest.mark.parametrize("text", ["[]", "1", '{"domainRules": 1}', '{"domainRules": [1, {"disabled": 1}]}', ""])
def test_rules_of_another_form_are_none(text: str) -> None:
    assert list(rules_of(Schema(rule_set=text))) == []

"""The canonical form and the fingerprint, against fastavro's."""

from __future__ import annotations

import json
from typing import Any

import fastavro.schema
from hypothesis import given

from kcli.serde.avro.canonical import canonical, fingerprint
from kcli.serde.avro.parse import parse
from tests.serde.avro.samples import schemas


@given(schema=schemas())
def test_the_canonical_form_is_the_one_that_fastavro_has(schema: Any) -> None:
    text = canonical(parse(json.dumps(schema)))
    assert text == fastavro.schema.to_parsing_canonical_form(json.loads(json.dumps(schema)))
    theirs = fastavro.schema.fingerprint(text, "CRC-64-AVRO")
    assert fingerprint(text).to_bytes(8, "little").hex() == theirs


def test_attributes_that_readers_do_not_need_are_left_out() -> None:
    text = {"name": "f", "type": {"type": "string", "avro.java.string": "String"}, "default": ""}
    fields = [text, {"name": "r", "type": "R"}]
    schema = {"type": "record", "namespace": "a", "name": "R", "doc": "d", "aliases": ["b.X"], "fields": fields}
    assert canonical(parse(json.dumps(schema))) == (
        '{"name":"a.R","type":"record","fields":[{"name":"f","type":"string"},{"name":"r","type":"a.R"}]}'
    )

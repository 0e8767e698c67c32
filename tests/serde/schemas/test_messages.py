"""Which message each Protobuf payload is: its first bytes are enough for most."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.proto.batch import read_batches
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.where import Where
from kcli.serde.protobuf.reader import IndexedReader, parsed_schema
from kcli.serde.schemas.decoder import FieldDecoder, SchemaDecoder
from kcli.serde.schemas.labels import Labels, Messages
from kcli.serde.schemas.readers import reader_of
from tests.each import each
from tests.proto.record_cores import CORES, built
from tests.serde.schemas.test_decoder import Shelf, framed

TEXT = """syntax = "proto3"; package shop;
message Note { int32 id = 1; message Inner { string text = 1; } }
message Other { string name = 2; }
message ab { string more = 3; }
"""
PROTO = Schema(kind=PROTOBUF, text=TEXT, id=1)
AVRO = Schema(text=json.dumps({"type": "record", "name": "A", "fields": [{"name": "id", "type": "int"}]}), id=2)
BODY = b"\x12\x50" + b"x" * 80


@each(
    ("payload", "message"),
    [
        (b"\0\x08\7", "shop.Note"),
        (b"\2\0\x08\7", "shop.Note"),
        (b"\2\2" + BODY, "shop.Other"),
        (b"\4\0\0\x0a\1a", "shop.Note.Inner"),
        (b"\4\x0a\2ab\x1a\1a", "shop.ab"),  # the name as Apicurio writes it
        (b"\x0c\x0a\x0ashop.Other" + BODY, "shop.Other"),
        (BODY, "shop.Other"),  # no indexes, as KafkaJS writes it
        (b"", "shop.Note"),
    ],
)
def test_the_message_of_a_payload(payload: bytes, message: str) -> None:
    messages = Messages(reader_of()(PROTO, []))
    whole = b"\0\0\0\0\1" + payload + b"\x08\7"
    for _ in range(2):
        assert messages.name(whole, 5, 5 + len(payload)) == message


def test_a_reader_of_one_message_and_one_of_numbers_need_no_payload() -> None:
    reader = IndexedReader(parsed_schema(TEXT))
    assert Messages(reader.message("shop.Other")).name(BODY, 0, len(BODY)) == "shop.Other"
    assert Messages(reader.numbered()).name(b"\2" + BODY, 0, len(BODY) + 1) == "shop.Other"


async def _no_subject(*_: object) -> str:
    return ""


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bytes of which a message's name was asked."""
    looked_at: list[bytes] = []

    def message_name(reader: IndexedReader, data: bytes) -> str:
        looked_at.append(data)
        return named(reader, data)

    named = IndexedReader.message_name
    monkeypatch.setattr(IndexedReader, "message_name", message_name)
    return looked_at


async def test_a_batch_is_labelled_by_the_first_bytes_of_each_message(looked_at: list[bytes]) -> None:
    payloads = [b"\0\x08\7", b"\2\2" + BODY, b"\4\0\0\x0a\1a"]
    values = [framed(1, payload) for payload in payloads * 20] + [framed(2, b"\x0e"), framed(1, b"\0\x08")]
    field = FieldDecoder("value", Shelf({1: PROTO, 2: AVRO}), reader_of())  # type: ignore[arg-type]
    field.labels = Labels("value", None, _no_subject)
    made: list[Any] = [(offset, None, value, ()) for offset, value in enumerate(values)]
    batch = await SchemaDecoder([field]).batch(read_batches(built(CORES[-1], made))[0], "t", 0)
    labels = [label.message for label in field.labels.rows.values() if label is not None]
    assert labels == ["shop.Note", "shop.Other", "shop.Note.Inner"] * 20 + [""]
    assert list(field.labels.rows) == list(range(61)), "the last one was not read"
    assert sorted(looked_at) == [b"\0", b"\2\2", b"\4\0\0"]
    looked_at.clear()
    assert Filter(where=[Where("value.name == ''")], decoded=True).count(batch, "t", 0) == 0
    assert sorted(looked_at) == [b"\0", b"\2\2", b"\4\0\0"]

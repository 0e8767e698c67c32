"""Payloads whose schema the user names, and the message in Buf's header."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.proto.batch import read_batches
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.filters import typed
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.typed import Plan
from kcli.serde.filters.where import Where
from kcli.serde.schemas.bare import BareDecoder
from kcli.serde.schemas.decoder import SchemaDecoder
from kcli.serde.schemas.labels import Labels
from kcli.serde.schemas.readers import Source, reader_of
from tests.proto.record_cores import CORES, built

PROTO = (
    'syntax = "proto3"; package shop; message Other { string a = 1; } message Note { int32 id = 1; string text = 2; }'
)
NOTE = b"\x08\7\x12\2hi"
SHOWN = b'{"id":7,"text":"hi"}'


def header(message: bytes, kind: str = "value") -> tuple[str, bytes | None]:
    return f"buf.registry.{kind}.schema.message", message


async def schema_of(_: str) -> tuple[Schema, list[tuple[str, str]]]:
    return Schema(kind=PROTOBUF, text=PROTO, subject="shop.proto"), []


async def no_subject(*_: object) -> str:
    return ""


async def decoded(rows: list[Any], message: str = "", kind: str = "value") -> tuple[list[bytes | None], BareDecoder]:
    decoder = BareDecoder(kind, schema_of, reader_of(), message)
    decoder.labels = Labels(kind, None, no_subject)
    made = [(0, value if kind == "key" else None, value, tuple(headers)) for value, headers in rows]
    batch = await SchemaDecoder([decoder]).batch(read_batches(built(CORES[-1], made))[0], "t", 0)
    return [getattr(record, kind) for record in batch], decoder


async def test_a_header_names_the_message_of_a_bare_payload() -> None:
    rows: list[Any] = [
        (NOTE, [header(b"shop.Note")]),
        (b"\x0a\1a", []),
        (None, [header(b"shop.Note")]),
        (NOTE, [header(b"shop.Nothing")]),
        (b"\x0a\1b", [header(b"shop.Other")]),
        (NOTE[:-1], [header(b"shop.Note")]),
        (b"\x0a\1c", [header(b"shop.Note", "key")]),
        (NOTE + b"\x18\1", [header(b"shop.Note")]),
    ]
    values, decoder = await decoded(rows)
    assert values == [SHOWN, b'{"a":"a"}', None, NOTE, b'{"a":"b"}', NOTE[:-1], b'{"a":"c"}', SHOWN]
    assert sorted(reason.partition(": ")[2] or reason for reason in decoder.undecoded.reasons) == [
        "it has no message shop.Nothing; did you mean shop.Note or shop.Other?",
        "the payload ends in the middle of a value",
    ]
    assert decoder.undecoded.first == ("t", 0, 3)
    assert decoder.unknown == 1
    assert decoder.labels is not None
    names = {offset: label.message for offset, label in decoder.labels.rows.items() if label is not None}
    assert names == {0: "shop.Note", 1: "shop.Other", 4: "shop.Other", 6: "shop.Other", 7: "shop.Note"}


async def test_the_message_that_the_user_names_comes_before_the_header() -> None:
    values, _ = await decoded([(NOTE, [header(b"shop.Other")])], "shop.Note")
    assert values == [SHOWN]


async def test_conditions_are_planned_once_for_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[str] = []

    def counted(source: Source, message: str, paths: Any) -> Plan | None:
        planned.append(message)
        return plan(source, message, paths)

    plan = typed.planned
    monkeypatch.setattr(typed, "planned", counted)
    decoding = SchemaDecoder([BareDecoder("value", schema_of, reader_of(), "shop.Note")])
    named = SchemaDecoder([BareDecoder("value", schema_of, reader_of())])
    wanted = Filter(where=[Where("value.id == 7")], decoded=True)
    others = Filter(where=[Where("value.id == 7")], decoded=True)
    for offset in range(10):
        batch = read_batches(built(CORES[-1], [(offset, None, NOTE, ())]))[0]
        assert wanted.count(await decoding.batch(batch, "t", 0), "t", 0) == 1
        batch = read_batches(built(CORES[-1], [(offset, None, NOTE, (header(b"shop.Note"),))]))[0]
        assert others.count(await named.batch(batch, "t", 0), "t", 0) == 1
    assert planned == ["shop.Note", "shop.Note"], "once for each filter"


async def test_keys_have_a_header_of_their_own() -> None:
    keys, _ = await decoded([(NOTE, [header(b"shop.Note", "key"), header(b"shop.Other")])], kind="key")
    assert keys == [SHOWN]

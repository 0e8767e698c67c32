"""Records shown by a schema that the user names: what a frame names wrote them, all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.errors import ConnectError, KcliError
from kcli.proto.batch import read_batches
from kcli.schemas import PROTOBUF, Schema
from kcli.serde.schemas.decoder import SchemaDecoder
from kcli.serde.schemas.labels import Labels
from kcli.serde.schemas.named import NamedDecoder
from kcli.serde.schemas.readers import reader_of
from tests.each import each
from tests.proto.record_cores import CORES, built
from tests.serde.schemas.test_decoder import Shelf, framed


def order(*names: str, **defaults: int) -> str:
    fields = [
        {"name": name, "type": "int", **({"default": defaults[name]} if name in defaults else {})} for name in names
    ]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


OLD, NEW = Schema(text=order("paid", "refunded"), id=1), Schema(text=order("refunded", "paid", "tip", tip=5), id=2)
PAID = b"\xc8\1\0"  # 100, 0
FILES = (
    'syntax = "proto3"; package shop; message Left { string a = 1; } message Note { int32 id = 1; string text = 2; }'
)
OTHER = 'syntax = "proto3"; package shop; message Note { int32 id = 1; string body = 2; int32 more = 3; }'
WRITTEN, READ = Schema(kind=PROTOBUF, text=FILES, id=3), Schema(kind=PROTOBUF, text=OTHER, id=4)
NOTE = b"\x08\7\x12\2hi"
SHELF = {1: OLD, 2: NEW, 3: WRITTEN, 4: READ}


async def no_subject(*_: object) -> str:
    return ""


async def decoded(
    named: Schema, *values: Any, shelf: Any = None, message: str = "", **more: bool
) -> tuple[list[bytes | None], NamedDecoder]:
    """Values, or pairs of headers and a value, as they are shown."""

    async def schema_of(_: str) -> tuple[Schema, list[tuple[str, str]]]:
        return named, []

    schemas: Any = shelf or Shelf(SHELF)
    decoder = NamedDecoder("value", schemas, schema_of, reader_of(), message, **more)
    decoder.labels = Labels("value", None, no_subject)
    pairs = [value if isinstance(value, tuple) else ((), value) for value in values]
    made = [(n, None, value, tuple(headers)) for n, (headers, value) in enumerate(pairs)]
    batch = await SchemaDecoder([decoder]).batch(read_batches(built(CORES[-1], made))[0], "t", 0)
    return [record.value for record in batch], decoder


SHOWN = b'{"paid":100,"refunded":0,"tip":5}'


async def test_the_frame_names_the_writers_schema_and_the_user_the_readers() -> None:
    values, decoder = await decoded(NEW, framed(1, PAID), None, framed(2, b"\0\xc8\1\2"), PAID + b"\2")
    assert values == [SHOWN, None, b'{"refunded":0,"paid":100,"tip":1}', b'{"refunded":100,"paid":0,"tip":1}']
    assert not decoder.undecoded.total
    assert decoder.labels is not None
    labels = [label for label in decoder.labels.rows.values() if label is not None]
    assert [label.schema.id for label in labels] == [2, 2, 2], "the JSON is of the reader's schema"
    assert [label.frame for label in labels] == [framed(2, b""), framed(2, b""), b""]


async def test_bytes_that_begin_like_a_frame_by_chance_are_a_record_without_one() -> None:
    six = Schema(text=order(*"abcdef", **dict.fromkeys("abcdef", 0)), id=9)
    for id in (1, 77):  # a schema of the registry that does not read it, and none
        values, decoder = await decoded(six, framed(id, b"\4"), framed(1, PAID[:1]))
        assert values[0] == b'{"a":0,"b":0,"c":0,"d":0,"e":%d,"f":2}' % (-1 if id == 1 else -39)
        assert values[1] == framed(1, PAID[:1])
        assert list(decoder.undecoded.reasons) == ["the payload ends in the middle of a value"]
        assert decoder.undecoded.first == ("t", 0, 1)


async def test_rows_beside_one_that_begins_like_a_frame_by_chance_are_read_once() -> None:
    left_out, cut = framed(3, b"\2\2" + NOTE + b"\x18\1"), framed(3, b"\2\2" + NOTE[:-1])  # left out is the field 3
    values, decoder = await decoded(WRITTEN, left_out, None, cut)
    assert values == [b'{"id":7,"text":"hi"}', None, cut]
    assert decoder.unknown == 1
    six = Schema(text=order(*"abcdef", **dict.fromkeys("abcdef", 0)), id=9)
    values, _ = await decoded(six, framed(1, PAID), None, framed(1, b"\4"), framed(1, PAID))
    whole = b'{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0}'
    assert values == [whole, None, b'{"a":0,"b":0,"c":0,"d":0,"e":-1,"f":2}', whole]


async def test_an_unknown_id_is_the_reason_where_the_named_schema_does_not_read_it_either() -> None:
    values, decoder = await decoded(OLD, framed(77, PAID))
    assert values == [framed(77, PAID)]
    assert list(decoder.undecoded.reasons) == ["there is no schema 77"]


async def test_a_registry_that_is_down_makes_no_frame_a_plain_value() -> None:
    six = Schema(text=order("a", "b", "c", "d", "e", "f"))
    down = Shelf(SHELF, ConnectError("cannot reach it"))
    values, decoder = await decoded(six, framed(1, b"\4"), shelf=down)
    assert values == [framed(1, b"\4")]
    assert list(decoder.undecoded.reasons) == ["cannot reach it"]
    with pytest.raises(KcliError, match="a value's schema cannot be looked up: cannot reach it"):
        await decoded(six, framed(1, b"\4"), shelf=down, must_answer=True)


async def test_a_message_is_the_one_that_its_indexes_name_in_the_writers_file() -> None:
    buf = ((("buf.registry.value.schema.message", b"shop.Note"),), NOTE)
    shelf = Shelf(SHELF)
    shelf.by_message = no_message  # type: ignore[attr-defined]
    values, decoder = await decoded(READ, framed(3, b"\2\2" + NOTE), framed(3, b"\0\x0a\1a"), buf, NOTE, shelf=shelf)
    assert values == [b'{"id":7,"body":"hi"}', framed(3, b"\0\x0a\1a"), *[b'{"id":7,"body":"hi"}'] * 2]
    (reason,) = decoder.undecoded.reasons
    assert "it has no message shop.Left" in reason


async def no_message(message: str, commit: str) -> Schema:
    from kcli.schemas import SchemaNotFound

    raise SchemaNotFound("no folder")


@each(("id", "named", "says"), [(3, OLD, "schema 3 is PROTOBUF, but schema 1 is AVRO"),
                                (1, Schema(text='"int"'), "has int where the writer's has Order")])  # fmt: skip
async def test_a_schema_that_cannot_read_what_was_written_says_why(id: int, named: Schema, says: str) -> None:
    _, decoder = await decoded(named, framed(id, PAID))
    assert says in "".join(decoder.undecoded.reasons)


async def test_a_header_that_names_an_unknown_schema_leaves_the_value_as_it_is() -> None:
    named = ((("__value_schema_id", b"\1" + bytes(16)),), PAID)
    values, decoder = await decoded(OLD, named, PAID)
    assert values == [PAID, b'{"paid":100,"refunded":0}']
    assert decoder.undecoded.total == 1

"""Batches decoded by the schemas that their frames name."""

from __future__ import annotations

from array import array
from typing import Any

import pytest

from kcli.errors import AuthError, ConnectError, KcliError
from kcli.proto.batch import Batch, read_batches
from kcli.schemas import Reference, Schema, SchemaNotFound
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.where import Where
from kcli.serde.schemas.decoder import ABSENT, FRAMES, GUESSES, REASONS, TOO_MANY, FieldDecoder, SchemaDecoder
from kcli.serde.schemas.readers import reader_of
from tests.proto.record_cores import CORES, built

NOTE = '{"type":"record","name":"N","fields":[{"name":"id","type":"int"},{"name":"text","type":"string"}]}'
PAYLOAD = b"\x0e\x04hi"  # 7, "hi"
SHOWN = b'{"id":7,"text":"hi"}'


class Shelf:
    """Schemas by their id; asked for one that it does not have, it says so."""

    def __init__(self, schemas: dict[int, Schema], error: KcliError | None = None) -> None:
        self.held, self.error = schemas, error
        self.asked: list[int] = []
        self.guids: list[str] = []
        self.guid_error: KcliError | None = None

    async def by_id(self, id: int, *, context: str = "", subject: str | None = None) -> Schema:
        self.asked.append(id)
        if self.error is not None:
            raise self.error
        if id not in self.held:
            raise SchemaNotFound(f"there is no schema {id}")
        return self.held[id]

    async def by_guid(self, guid: str) -> Schema:
        self.guids.append(guid)
        found = next((schema for schema in self.held.values() if schema.guid == guid), None)
        if found is None:
            raise self.guid_error or SchemaNotFound(f"there is no schema {guid}")
        return found

    async def references(self, schema: Schema) -> list[tuple[str, Schema]]:
        return [(reference.name, self.held[reference.version]) for reference in schema.references]


def framed(id: int, payload: bytes = PAYLOAD) -> bytes:
    return b"\0" + id.to_bytes(4, "big") + payload


def batch_of(*values: bytes | None, keys: list[bytes | None] | None = None) -> Batch:
    rows = [(1000 + n, None if keys is None else keys[n], value, (("h", b"x"),)) for n, value in enumerate(values)]
    return read_batches(built(CORES[-1], rows))[0]


def decoder(shelf: Any, *kinds: str) -> SchemaDecoder:
    return SchemaDecoder([FieldDecoder(kind, shelf, reader_of()) for kind in kinds or ("value",)])


SHELF = {7: Schema(text=NOTE, id=7), 8: Schema(kind="JSON", text="{}", id=8), 9: Schema(kind="PROTOBUF", text="", id=9)}
PERSON = Schema(kind="PROTOBUF", text='syntax = "proto3"; message P {int32 id = 1; message Q {string text = 2;}}', id=3)


async def test_framed_values_are_decoded_and_all_else_stays() -> None:
    shelf = Shelf(SHELF)
    broken = framed(7, b"\x0e\x04h")
    values = [framed(7), None, b"plain", framed(8, b'{"a":1}'), framed(5), broken, framed(9), b""]
    decoding = decoder(shelf)
    made = await decoding.batch(batch_of(*values), "t", 3)
    assert [record.value for record in made] == [
        SHOWN,
        None,
        b"plain",
        b'{"a":1}',
        values[4],
        values[5],
        values[6],
        b"",
    ]
    assert [record[:2] + record[4:] for record in made] == [record[:2] + record[4:] for record in batch_of(*values)]
    undecoded = decoding.fields[0].undecoded
    assert undecoded.reasons == {
        "there is no schema 5": 1,
        "the payload ends in the middle of a value": 1,
        "the Protobuf schema is not used: it declares no message": 1,
    }
    assert undecoded.first in {("t", 3, 4), ("t", 3, 5), ("t", 3, 6)}
    await decoding.batch(batch_of(framed(7), framed(5)), "t", 3)
    assert sorted(shelf.asked) == [5, 5, 7, 8, 9], "what may come to be is asked for again"


GUID = "00010203-0405-0607-0809-0a0b0c0d0e0f"
BY_GUID = b"\1" + bytes(range(16))


async def test_a_header_or_a_prefix_names_the_schema_by_its_guid() -> None:
    shelf = Shelf({7: Schema(text=NOTE, id=7, guid=GUID), 8: SHELF[8]})
    name, other = "__value_schema_id", "__key_schema_id"
    rows: list[Any] = [
        (PAYLOAD, ((name, BY_GUID),)),
        (BY_GUID + PAYLOAD, ()),
        (PAYLOAD, ((name, b"\0\0\0\0\7"),)),
        (PAYLOAD, ((name, b"?"), (name, BY_GUID))),
        (b'{"a":1}', ((name, b"\0\0\0\0\x08"),)),
        (None, ((name, BY_GUID),)),
        (PAYLOAD, ((other, BY_GUID),)),
        (framed(7), ((name, None),)),
        (b"\1" + b"x" * 16 + PAYLOAD, ()),
    ]
    decoding = decoder(shelf)
    batch = read_batches(built(CORES[-1], [(0, None, value, headers) for value, headers in rows]))[0]
    made = await decoding.batch(batch, "t", 0)
    shown = [SHOWN, SHOWN, SHOWN, SHOWN, b'{"a":1}', None, PAYLOAD, SHOWN, rows[8][0]]
    assert [record.value for record in made] == shown
    assert [record.headers for record in made] == [record.headers for record in batch]
    assert decoding.fields[0].undecoded.reasons == {"there is no schema 78787878-7878-7878-7878-787878787878": 1}


async def test_a_key_has_a_header_of_its_own() -> None:
    shelf = Shelf({7: Schema(text=NOTE, id=7, guid=GUID)})
    headers = (("__key_schema_id", BY_GUID),)
    batch = read_batches(built(CORES[-1], [(0, PAYLOAD, PAYLOAD, headers)]))[0]
    (record,) = await decoder(shelf, "key", "value").batch(batch, "t", 0)
    assert (record.key, record.value) == (SHOWN, PAYLOAD)


async def test_a_registry_without_guids_is_not_asked_for_each_value_that_begins_with_1() -> None:
    shelf = Shelf(SHELF)
    shelf.guid_error = KcliError("the registry does not support this request")
    values = [b"\1" + n.to_bytes(16, "big") for n in range(10 * GUESSES)]
    made = await decoder(shelf).batch(batch_of(*values, framed(7)), "t", 0)
    assert len(shelf.guids) <= GUESSES
    assert [record.value for record in made] == [*values, SHOWN]


async def test_keys_are_decoded_by_themselves() -> None:
    batch = batch_of(framed(7), framed(7), keys=[framed(7), b"k"])
    (first, second) = await decoder(Shelf(SHELF), "key").batch(batch, "t", 0)
    assert (first.key, first.value, second.key) == (SHOWN, framed(7), b"k")
    (first, second) = await decoder(Shelf(SHELF), "key", "value").batch(batch, "t", 0)
    assert (first.key, first.value, second.key) == (SHOWN, SHOWN, b"k")


async def test_envelopes_are_written_from_what_is_stored_also_behind_a_filter() -> None:
    batch = batch_of(framed(7), framed(7, b"\2\2x"), framed(7))
    made = await decoder(Shelf(SHELF)).batch(batch, "t", 0)
    kept = Filter(where=[Where("value.id == 7")]).batch(made, "t", 0)
    assert kept is not None
    lines, envelopes, wanted = bytearray(), bytearray(), bytearray()
    assert kept.write_values(lines, b"\n") == (2, 3)
    assert lines == SHOWN + b"\n" + SHOWN + b"\n"
    assert kept.write_json(envelopes, "t", 0) == (2, 3)
    batch.picked(array("q", [0, 2])).write_json(wanted, "t", 0)
    assert envelopes == wanted
    kept.first = 1
    envelopes.clear()
    assert kept.write_json(envelopes, "t", 0) == (1, 3)


async def test_a_schema_may_use_others() -> None:
    using = Schema(
        text='{"type":"record","name":"U","fields":[{"name":"n","type":"N"}]}', references=(Reference("N", "n", 7),)
    )
    made = await decoder(Shelf({**SHELF, 2: using})).batch(batch_of(framed(2)), "t", 0)
    assert [record.value for record in made] == [b'{"n":' + SHOWN + b"}"]


async def test_a_batch_without_frames_is_the_same_batch() -> None:
    batch = batch_of(b"a", None, b"\x01\0\0\0\7")
    assert await decoder(Shelf(SHELF)).batch(batch, "t", 0) is batch


async def test_whole_numbers_as_keys_are_never_taken_for_frames() -> None:
    numbers: list[bytes | None] = [number.to_bytes(8, "big") for number in range(0, 2**40, 2**33)]
    decoding = decoder(Shelf(SHELF), "key")
    made = await decoding.batch(batch_of(*numbers, keys=numbers), "t", 0)
    assert [record.key for record in made] == numbers


async def test_random_bytes_do_not_ask_the_registry_for_ever() -> None:
    shelf = Shelf(SHELF)
    decoding = decoder(shelf)
    for begin in range(100, 10_000, 100):
        await decoding.batch(batch_of(*(framed(id) for id in range(begin, begin + 100))), "t", 0)
    assert len(shelf.asked) == GUESSES
    assert decoding.fields[0].undecoded.total == 9900


async def test_a_dead_registry_ends_no_run() -> None:
    shelf = Shelf(SHELF, ConnectError("the registry cannot be reached"))
    decoding = decoder(shelf)
    batch = batch_of(framed(7))
    assert await decoding.batch(batch, "t", 0) is batch
    assert decoding.fields[0].undecoded.reasons == {"the registry cannot be reached": 1}
    shelf.error = None
    assert [record.value for record in await decoding.batch(batch, "t", 0)] == [SHOWN], "and it may come back"


@pytest.mark.parametrize("text", ["", "{", '"x"'])
async def test_a_schema_that_is_none_is_a_reason(text: str) -> None:
    decoding = decoder(Shelf({7: Schema(text=text, id=7)}))
    batch = batch_of(framed(7))
    assert await decoding.batch(batch, "t", 0) is batch
    assert "the Avro schema is not used" in next(iter(decoding.fields[0].undecoded.reasons))


INDEXED = {
    b"\0\x08\7": b'{"id":7}',
    b"\2\0\x08\7": b'{"id":7}',
    b"\4\0\0\x12\2hi": b'{"text":"hi"}',
    b"\0": b"{}",
}


async def test_message_indexes_choose_the_message_of_a_protobuf_schema() -> None:
    decoding = decoder(Shelf({**SHELF, 3: PERSON}))
    wrong = [framed(3, b"\2\x0a\x08\7"), framed(3, b"\0\x08"), framed(3, b""), framed(3, b"\x81\1\0")]
    made = await decoding.batch(batch_of(*map(framed, [3] * 4, INDEXED), framed(7), *wrong, None), "t", 0)
    assert [record.value for record in made] == [*INDEXED.values(), SHOWN, *wrong, None]
    assert decoding.fields[0].undecoded.reasons == {
        "its schema has no message with the indexes 5": 1,
        "the payload ends in the middle of a value": 1,
        "it has no message indexes, and P and P.Q read it; #MESSAGE behind the schema says which message it is": 1,
        "its message indexes are not Confluent's": 1,
    }


async def test_a_header_holds_the_indexes_of_a_protobuf_message() -> None:
    name = "__value_schema_id"
    rows: list[Any] = [(b"\x12\2hi", BY_GUID + b"\4\0\0"), (b"\x08\7", BY_GUID + b"\0"), (b"x", BY_GUID + b"\2\x0a")]
    decoding = decoder(Shelf({3: PERSON.replace(guid=GUID)}))
    batch = read_batches(built(CORES[-1], [(0, None, value, ((name, held),)) for value, held in rows]))[0]
    made = await decoding.batch(batch, "t", 0)
    assert [record.value for record in made] == [b'{"text":"hi"}', b'{"id":7}', b"x"]
    assert list(decoding.fields[0].undecoded.reasons) == [
        f"schema {GUID}: its schema has no message with the indexes 5"
    ]


async def test_a_json_schema_takes_json_only() -> None:
    decoding = decoder(Shelf(SHELF))
    values = [framed(8, b'{"a": 1}'), framed(8, b"\0\1\2"), framed(8, b"")]
    made = await decoding.batch(batch_of(*values), "t", 0)
    assert [record.value for record in made] == [b'{"a": 1}', *values[1:]]
    assert decoding.fields[0].undecoded.total == 2


async def test_where_the_answer_decides_a_registry_that_gives_none_ends_the_run() -> None:
    shelf = Shelf(SHELF, ConnectError("the registry cannot be reached"))
    decoding = SchemaDecoder([FieldDecoder("value", shelf, reader_of(), must_answer=True)])  # type: ignore[arg-type]
    with pytest.raises(KcliError, match=r"t\[0\]: a value's schema cannot be looked up: the registry") as ended:
        await decoding.batch(batch_of(framed(7)), "t", 0)
    assert ended.value.exit_code == 5
    shelf.error = None
    made = await decoding.batch(batch_of(framed(7), framed(5)), "t", 0)
    assert [record.value for record in made] == [SHOWN, framed(5)]
    assert decoding.fields[0].undecoded.reasons == {"there is no schema 5": 1}
    shelf.guid_error = KcliError("it does not support this request")
    await decoding.batch(batch_of(b"\1" + bytes(16) + PAYLOAD), "t", 0)
    shelf.guid_error = AuthError("it requires credentials")
    with pytest.raises(KcliError, match="credentials"):
        await decoding.batch(batch_of(b"\1" + bytes(15) + b"\1" + PAYLOAD), "t", 0)


async def test_a_filter_sees_what_comes_after_many_ids_that_are_none_and_memory_has_a_bound() -> None:
    shelf = Shelf(SHELF)
    field = FieldDecoder("value", shelf, reader_of(), every_name=True)  # type: ignore[arg-type]
    decoding = SchemaDecoder([field])
    for begin in range(100, 3100, 100):
        await decoding.batch(batch_of(*(framed(id) for id in range(begin, begin + 100))), "t", 0)
    assert len(field.undecoded.reasons) == REASONS + 1
    assert field.undecoded.reasons[TOO_MANY] == 3000 - REASONS
    assert [record.value for record in await decoding.batch(batch_of(framed(7)), "t", 0)] == [SHOWN]


async def test_ids_that_are_none_stop_later_look_ups_for_a_minute_only(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, now = Shelf(dict(SHELF)), [1000.0]
    monkeypatch.setattr("kcli.serde.schemas.decoder.time.monotonic", lambda: now[0])
    decoding = decoder(shelf)
    await decoding.batch(batch_of(*(framed(id) for id in range(100, 100 + GUESSES))), "t", 0)
    assert (await _shown(decoding, framed(7))) == framed(7)
    now[0] += ABSENT
    assert (await _shown(decoding, framed(7))) == SHOWN


async def _shown(decoding: SchemaDecoder, value: bytes) -> bytes | None:
    (record,) = await decoding.batch(batch_of(value), "t", 0)
    return record.value


def by_chance(number: int) -> bytes:
    """A whole number of eight bytes: its first five are a frame of a schema that the registry may have."""
    return (7 << 24 | number).to_bytes(8, "big")


@pytest.mark.parametrize("size", [1, 100, 130, 300])
async def test_keys_that_mostly_do_not_decode_are_no_frames_after_the_first_hundred(size: int) -> None:
    """The last one would be read: its bytes behind the id are 7, "a"."""
    keys: list[bytes | None] = [by_chance(number) for number in range(FRAMES)]
    keys += [b"\0\0\0\0\7\x0e\2a"] * 200
    decoding = decoder(Shelf({7: Schema(text=NOTE, id=7)}), "key")
    shown: list[bytes | None] = []
    for start in range(0, len(keys), size):
        part = keys[start : start + size]
        made = await decoding.batch(batch_of(*[b""] * len(part), keys=part), "t", 3)
        shown += [record.key for record in made]
    assert shown == keys
    undecoded = decoding.fields[0].undecoded
    assert undecoded.total == FRAMES, "later ones are no failures"
    assert list(undecoded.unframed) == [("t", 3)]
    made = await decoding.batch(batch_of(b"", keys=[b"\0\0\0\0\7\x0e\2a"]), "t", 4)
    assert [record.key for record in made] == [b'{"id":7,"text":"a"}'], "each partition is judged by its own keys"


@pytest.mark.parametrize(("good", "shown"), [(FRAMES // 2 - 1, False), (FRAMES // 2, True)])
async def test_half_of_the_first_hundred_keys_are_enough(good: int, shown: bool) -> None:
    framed_key = framed(7)
    keys: list[bytes | None] = [*[framed_key] * good, *(by_chance(number) for number in range(FRAMES - good))]
    decoding = decoder(Shelf({7: Schema(text=NOTE, id=7)}), "key")
    made = await decoding.batch(batch_of(*[b""] * (FRAMES + 1), keys=[*keys, framed_key]), "t", 0)
    assert [record.key for record in made][-1] == (SHOWN if shown else framed_key)


async def test_filters_see_every_key_that_can_be_decoded_and_values_are_always_frames() -> None:
    shelf, rows = Shelf({7: Schema(text=NOTE, id=7)}), [by_chance(number) for number in range(FRAMES)]
    field = FieldDecoder("key", shelf, reader_of(), every_name=True)  # type: ignore[arg-type]  # a shelf is enough
    made = await SchemaDecoder([field]).batch(batch_of(*[b""] * (FRAMES + 1), keys=[*rows, framed(7)]), "t", 0)
    assert [record.key for record in made][-1] == SHOWN
    made = await decoder(shelf).batch(batch_of(*rows, framed(7)), "t", 0)
    assert [record.value for record in made][-1] == SHOWN

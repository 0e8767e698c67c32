"""`e` on a record whose key or value a schema has written: edited as JSON, stored by the same schema again."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from textual.widgets import Checkbox, Input, TextArea

from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.registry.settings import RegistrySettings
from kcli.sandbox.thread import SandboxThread
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.actions.producing import Draft
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.produce import Produce
from kcli.tui.session import LiveSession
from kcli.tui.tail import Seen, stretch
from kcli.tui.widgets.rows import Rows
from tests.sandbox.registry.asking import ask, register
from tests.tui.conftest import seen, shows, until, visit

pytestmark = pytest.mark.long

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}'
LATER = ORDER[:-2] + ',{"name":"more","type":"string","default":""}]}'
PERSON = 'syntax = "proto3"; message Other { string a = 1; } message Person { string name = 1; int32 age = 2; }'
AGED = '{"type":"object","properties":{"age":{"type":"integer"}},"required":["age"]}'
TWINS = (
    '[{"type":"record","name":"A","fields":[{"name":"x","type":"int"}]},'
    '{"type":"record","name":"B","fields":[{"name":"x","type":"int"}]}]'
)
ORDER_ID, LATER_ID, TEXT_ID, PERSON_ID, AGED_ID, TWINS_ID, GONE_ID = 1, 2, 3, 4, 5, 6, 999
PAYLOAD = b"\x0e\x06h\xc3\xa9"


def frame(id: int) -> bytes:
    return b"\0" + id.to_bytes(4, "big")


FRAME, KEY = frame(ORDER_ID), frame(TEXT_ID) + b"\6ann"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(registry=True) as one:
        schemas = [(ORDER, "AVRO"), (LATER, "AVRO"), ('"string"', "AVRO"), (PERSON, "PROTOBUF"), (AGED, "JSON")]
        for id, (text, kind) in enumerate([*schemas, (TWINS, "AVRO")], 1):
            assert register(one.registry_url, f"own{id}-value", text, schemaType=kind)[1]["id"] == id
        register(one.registry_url, "avro-value", ORDER)
        register(one.registry_url, "avro-value", LATER)
        yield one


def board(sandbox: SandboxThread, registry: str = "", **changes: Any) -> Dashboard:
    named = RegistrySettings(origins=(origin_of(registry or sandbox.registry_url),), disk=False, **changes)
    settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
    option = f" --schema-registry {registry or sandbox.registry_url}"
    return Dashboard(LiveSession(settings, interval=0.5, registry=named, registry_option=option))


async def filled(
    sandbox: SandboxThread, topic: str, value: bytes | None, key: bytes | None = KEY, headers: Any = ()
) -> None:
    """A topic with one record."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic=topic, partitions=1)])
        await wait_for_topics(client.cluster, [topic])
        async with client.producer(ProducerSettings()) as producer:
            await producer.send(topic, value, key=key, headers=headers)
            await producer.flush()


async def edit(pilot: Any, topic: str) -> Produce:
    """The form with the last record of a topic."""
    await visit(pilot, routes.Records((topic,)))
    rows = pilot.app.screen.query_one(Rows)
    await until(pilot, lambda: bool(rows.shown))
    await pilot.press("end", "e")
    await until(pilot, lambda: isinstance(pilot.app.screen, Produce) and bool(pilot.app.screen.query("#headers")))
    form = pilot.app.screen
    assert isinstance(form, Produce)
    return form


async def stored(sandbox: SandboxThread, topic: str, many: int) -> list[Seen]:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        return await stretch(client, {TopicPartition(topic, 0): (0, many)})


def order(id: int) -> bytes:
    return FRAME + bytes([2 * id]) + PAYLOAD[1:]


def guid(sandbox: SandboxThread) -> bytes:
    return UUID(ask(sandbox.registry_url, "GET", f"/schemas/ids/{ORDER_ID}")[1]["guid"]).bytes


async def test_a_record_is_edited_as_json_and_stored_by_its_own_schemas_again(sandbox: SandboxThread) -> None:
    """By the first version, although the topic has a second one; what is not changed has the same bytes."""
    await filled(sandbox, "avro", order(7))
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, "avro")
        await shows(pilot, "fits schema id 1 (AVRO)")
        area = form.query_one("#value", TextArea)
        assert area.text == '{\n  "id": 7,\n  "note": "hé"\n}'
        assert form.query_one("#key", Input).value == '"ann"'
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        area.text = area.text.replace("7", '"x"')
        await shows(pilot, '✖ id: "x" is not a long')
        await pilot.press("ctrl+s")
        await shows(pilot, 'value, by schema id 1 (AVRO): id: "x" is not a long')
        assert form.command.endswith(" --value-schema id:1"), "it is refused there too"
        area.text = area.text.replace('"x"', "8")
        await shows(pilot, '"id": 8')
        assert form.command.endswith(f" --schema-registry {sandbox.registry_url} --key-schema id:3 --value-schema id:1")
        form.query_one("#key", Input).value = '"bob"'
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent")
    found = [(record.key, record.value) for record in await stored(sandbox, "avro", 3)]
    assert found == [(KEY, order(7)), (KEY, order(7)), (frame(TEXT_ID) + b"\6bob", order(8))]


async def test_a_message_of_protobuf_is_edited_and_stays_that_message(sandbox: SandboxThread) -> None:
    front = frame(PERSON_ID) + b"\2\2"
    await filled(sandbox, "people", front + b"\x0a\3ann\x10\7")
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, "people")
        await shows(pilot, "fits schema id 4 (PROTOBUF)")
        area = form.query_one("#value", TextArea)
        area.text = area.text.replace("7", '"many"')
        await shows(pilot, "✖ ")
        await pilot.press("ctrl+s")
        await shows(pilot, "value, by schema id 4 (PROTOBUF): ")
        area.text = area.text.replace('"many"', "8")
        await shows(pilot, '"age": 8')
        assert form.command.endswith(" --value-schema id:4#Person")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
    assert [record.value for record in await stored(sandbox, "people", 2)][1:] == [front + b"\x0a\3ann\x10\x08"]


async def test_json_of_a_schema_keeps_its_spaces_and_has_to_fit(sandbox: SandboxThread) -> None:
    await filled(sandbox, "aged", frame(AGED_ID) + b'{"age": 7, "n": 1.10}', key=None)
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, "aged")
        await shows(pilot, "fits schema id 5 (JSON)")
        area = form.query_one("#value", TextArea)
        assert area.text == '{\n  "age": 7,\n  "n": 1.10\n}'
        area.text = area.text.replace("7", '"old"')
        await shows(pilot, "✖ ")
        await pilot.press("ctrl+s")
        await shows(pilot, "value, by schema id 5 (JSON): ")
        area.text = area.text.replace('"old"', "8")
        await shows(pilot, "fits schema id 5 (JSON)")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
    found = [(record.key, record.value) for record in await stored(sandbox, "aged", 2)]
    assert found[1:] == [(None, frame(AGED_ID) + b'{"age": 8, "n": 1.10}')]


async def test_a_tombstone_stays_one_and_its_key_is_edited(sandbox: SandboxThread) -> None:
    await filled(sandbox, "gone", None)
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, "gone")
        await until(pilot, lambda: form.query_one("#key", Input).value == '"ann"')
        assert form.query_one("#null-value", Checkbox).value
        form.query_one("#key", Input).value = "bob"  # a text is one without quotes too
        await pilot.pause()
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
    found = [(record.key, record.value) for record in await stored(sandbox, "gone", 2)]
    assert found[1:] == [(frame(TEXT_ID) + b"\6bob", None)]


@pytest.mark.parametrize(
    ("topic", "value"),
    [("twins", frame(TWINS_ID) + b"\2\x0e"), ("unfit", frame(AGED_ID) + b'{"age": "seven"}')],
)
async def test_what_is_not_changed_is_sent_as_it_is_stored_though_it_is_not_written_so(
    sandbox: SandboxThread, topic: str, value: bytes
) -> None:
    """A value of two records of a union that fit, and one that its schema forbids."""
    await filled(sandbox, topic, value)
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, topic)
        await shows(pilot, "sent as it is stored; schema id ")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        area = form.query_one("#value", TextArea)
        area.text = area.text.replace('"seven"', "[]").replace("7", "8")
        await shows(pilot, "✖ ")
        await pilot.press("ctrl+s")
        await shows(pilot, "value, by schema id ")
    assert [record.value for record in await stored(sandbox, topic, 2)] == [value, value]


@pytest.mark.parametrize(
    ("topic", "value", "reason"),
    [
        ("locked-unknown", frame(GONE_ID) + PAYLOAD, "999"),
        ("locked-cut", FRAME + PAYLOAD[:2], "the payload ends in the middle of a value"),
        ("locked-header", PAYLOAD, "in another way than Confluent's"),
        ("locked-more", frame(PERSON_ID) + b"\2\2\x10\7\x18\1", "schema id 4 does not have all of its fields"),
        ("locked-guid", b"\1" + bytes(16) + PAYLOAD, "sent as it is stored: "),
        ("locked-empty", frame(GONE_ID), "999"),
    ],
)
async def test_a_value_that_is_not_edited_says_why_and_is_sent_as_it_is_stored(
    sandbox: SandboxThread, topic: str, value: bytes, reason: str
) -> None:
    headers = [("lines", b"a\r\nb\n")]
    if value == PAYLOAD:  # as Azure's serializers have it
        headers.append(("content-type", b"avro/binary+" + guid(sandbox).hex().encode()))
    await filled(sandbox, topic, value, frame(GONE_ID) + b"\xff", headers)
    async with board(sandbox).run_test(size=(160, 40)) as pilot:
        form = await edit(pilot, topic)
        await until(pilot, lambda: "looked up" not in seen(pilot) and "sent as it is stored: " in seen(pilot))
        assert reason in seen(pilot)
        assert all(one.isprintable() for one in form.query_one("#value", TextArea).text)
        await shows(pilot, "the key is sent as it is stored: ")
        await pilot.press(*"typed", "ctrl+s")
        await shows(pilot, "1 sent")
        assert " --input json <<< " in form.command, "a key with a NUL"
        form.query_one("#null-value", Checkbox).value = True
        await pilot.pause()
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent")
    first, *found = await stored(sandbox, topic, 3)
    assert [(record.key, record.value) for record in found] == [(first.key, value), (first.key, None)]
    assert all(record.headers == first.headers for record in found)


@pytest.mark.parametrize("form", ["header", "guid"])
async def test_what_is_changed_has_the_frame_that_it_had(sandbox: SandboxThread, form: str) -> None:
    """A header that names the schema of a bare payload; a GUID in front of it. The command has the bytes."""
    front = b"\1" + guid(sandbox) if form == "guid" else b""
    headers = [("__value_schema_id", FRAME)] if form == "header" else []
    await filled(sandbox, form, front + PAYLOAD, None, headers)
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        dialog = await edit(pilot, form)
        await shows(pilot, "fits schema ")
        area = dialog.query_one("#value", TextArea)
        area.text = area.text.replace("7", "8")
        await shows(pilot, "fits schema ")
        await pilot.pause()
        assert "--value-schema" not in dialog.command
        assert Draft(value=dialog._draft().value)._sent_value == front + b"\x10" + PAYLOAD[1:]
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
    first, found = await stored(sandbox, form, 2)
    assert found.value == front + b"\x10" + PAYLOAD[1:]
    assert found.headers == first.headers


async def test_a_registry_that_does_not_answer_is_a_reason_too(sandbox: SandboxThread) -> None:
    await filled(sandbox, "deaf", order(7))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with board(sandbox, url, read_timeout=0.5, retries=0).run_test(size=(160, 40)) as pilot:
            await edit(pilot, "deaf")
            await until(pilot, lambda: "looked up" not in seen(pilot) and "sent as it is stored: " in seen(pilot))
            await pilot.press("ctrl+s")
            await shows(pilot, "1 sent")
    assert [(record.key, record.value) for record in await stored(sandbox, "deaf", 2)] == [(KEY, order(7))] * 2


async def test_json_beside_a_header_that_names_its_schema_is_edited_as_it_is(sandbox: SandboxThread) -> None:
    await filled(sandbox, "beside", b'{"age":7}', None, [("__value_schema_id", frame(AGED_ID))])
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        form = await edit(pilot, "beside")
        area = form.query_one("#value", TextArea)
        assert not area.read_only
        area.text = area.text.replace("7", "8")
        await pilot.pause()
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
    assert (await stored(sandbox, "beside", 2))[1].value == b'{"age":8}'

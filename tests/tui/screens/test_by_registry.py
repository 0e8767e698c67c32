"""A record's value by the schema registry, on the record's page."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from textual.widgets import Checkbox, Input, TextArea

from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.model import TopicPartition
from kcli.registry.settings import RegistrySettings, origin_of
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.produce import Produce
from kcli.tui.screens.admin.subject import Subject
from kcli.tui.session import LiveSession
from kcli.tui.tail import Seen, stretch
from tests.sandbox.registry.asking import register
from tests.tui.conftest import seen, shows, until, visit

LATER = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"},'
    '{"name":"more","type":"string","default":""}]}'
)
ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}'
PAYLOAD = b"\x0e\x06h\xc3\xa9"


FRAME = b"\0\0\0\0\1"
RECORDS: dict[str, tuple[bytes, list[tuple[str, bytes | None]]]] = {
    "known": (FRAME + PAYLOAD, []),
    "unknown": (b"\0\0\0\x03\xe7" + PAYLOAD, []),
    "cut": (FRAME + PAYLOAD[:2], []),
    "bare": (PAYLOAD, [("other", None), ("__value_schema_id", FRAME)]),
    "plain": (b'{"id": 1}', []),
}
"""A value of a known schema, of an id that is none, cut short, named in a header, without a frame."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(registry=True) as one:
        for subject in ("a-value", "known-value"):
            assert register(one.registry_url, subject, ORDER)[1]["id"] == 1
        assert register(one.registry_url, "later-value", ORDER)[1]["id"] == 1
        assert register(one.registry_url, "later-value", LATER)[1]["id"] == 2
        assert register(one.registry_url, "later-key", '"string"')[1]["id"] == 3
        yield one


def board(sandbox: SandboxThread, registry: str | None = None, **changes: Any) -> Dashboard:
    named = RegistrySettings(origins=(origin_of(registry or sandbox.registry_url),), disk=False, **changes)
    settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
    option = f" --schema-registry {registry or sandbox.registry_url}"
    return Dashboard(LiveSession(settings, interval=0.5, registry=named, registry_option=option))


async def opened(pilot: Any, topic: str) -> str:
    value, headers = RECORDS[topic]
    await visit(pilot, routes.Record(topic, 0, 3, Seen(1, topic, 0, 3, 1700000000000, None, value, headers)))
    return await shows(pilot, "Decoded")


async def test_the_value_is_shown_by_its_schema_and_its_bytes_as_they_are(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await opened(pilot, "known")
        text = await shows(pilot, '"note": "hé"')
        assert '"id": 7' in text
        assert "known-value@1 (id 1, AVRO)" in text, "the topic's subject, of two that have the schema"
        assert "$ kcli consume known -p 0 -o 3 -c 1 --schema-registry" in text
        await pilot.press("slash", *"note", "enter")
        await pilot.pause()
        assert '"id": 7' not in seen(pilot)
        await pilot.press("escape", "3")
        assert "00 00 00 00 01 0e 06 68 c3 a9" in await shows(pilot, "00000000  00")
        await pilot.press("5")
        await shows(pilot, '"type": "record"')
        await pilot.press("enter")
        await shows(pilot, "Subject known-value")
        assert isinstance(pilot.app.screen, Subject)


async def test_a_header_names_the_schema_too(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await opened(pilot, "bare")
        await shows(pilot, '"note": "hé"')


@pytest.mark.parametrize(
    ("topic", "reason"),
    [("unknown", "not decoded: "), ("cut", "not decoded: the payload ends in the middle of a value")],
)
async def test_a_value_that_does_not_decode_says_why(sandbox: SandboxThread, topic: str, reason: str) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await opened(pilot, topic)
        text = await shows(pilot, reason)
        assert "-c 1 -J" in text


async def test_a_value_without_a_frame_is_as_ever(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        text = await opened(pilot, "plain")
        await pilot.app.workers.wait_for_complete()
        text = seen(pilot)
        assert '"id": 1' in text
        assert "not decoded" not in text


async def test_a_dead_registry_costs_one_time_out_and_the_page_lives(sandbox: SandboxThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with board(sandbox, url, read_timeout=0.5, retries=0).run_test(size=(140, 40)) as pilot:
            await opened(pilot, "known")
            await shows(pilot, "not decoded: ")
            await pilot.press("3")
            await shows(pilot, "00000000  00")
            await pilot.press("escape")
            await opened(pilot, "cut")
            begin = asyncio.get_running_loop().time()
            await shows(pilot, "not decoded: ")
            assert asyncio.get_running_loop().time() - begin < 0.4, "the registry is left alone for a while"


LATER_FRAME, KEY = b"\0\0\0\0\2" + PAYLOAD + b"\2x", b"\0\0\0\0\3\6ann"


async def test_the_key_is_decoded_and_the_change_since_the_version_before_shown(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        record = Seen(1, "later", 0, 3, 1700000000000, KEY, LATER_FRAME, [])
        await visit(pilot, routes.Record("later", 0, 3, record))
        await shows(pilot, 'key "ann"')
        await pilot.press("5")
        text = await shows(pilot, "changed since later-value@1, which keeps")
        assert '+ more: string = ""' in text
        await shows(pilot, "the key, by later-key@1 (id 3, AVRO):")


async def test_a_key_that_does_not_decode_says_why(sandbox: SandboxThread) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        record = Seen(1, "known", 0, 3, 1700000000000, KEY[:-1], None, [])
        await visit(pilot, routes.Record("known", 0, 3, record))
        await shows(pilot, "null (a tombstone")
        await pilot.press("5")
        await shows(pilot, "the key is not decoded: ")


async def test_the_list_shows_keys_and_values_by_their_schemas(sandbox: SandboxThread) -> None:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic="later", partitions=1)])
        await wait_for_topics(client.cluster, ["later"])
        async with client.producer(ProducerSettings()) as producer:
            await producer.send("later", LATER_FRAME, key=KEY)
            await producer.send("later", b"\0\0\0\x03\xe7raw", key=b"plain")
            await producer.send("later", None, key=KEY)
            await producer.flush()
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await visit(pilot, routes.Records(("later",)))
        text = await shows(pilot, '{"id":7,"note":"hé","more":"x"}')
        assert text.count('"ann"') == 2
        assert "raw" in text
        assert "plain" in text
        assert "$ kcli tail later --schema-registry" in text


async def test_the_list_is_there_when_the_registry_is_not(sandbox: SandboxThread) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            await create_topics(client.cluster, [NewTopic(topic="alone", partitions=1)])
            await wait_for_topics(client.cluster, ["alone"])
            async with client.producer(ProducerSettings()) as producer:
                await producer.send("alone", LATER_FRAME + b"tail of it", key=b"plain")
                await producer.flush()
        async with board(sandbox, url, read_timeout=0.5, retries=0).run_test(size=(140, 40)) as pilot:
            await visit(pilot, routes.Records(("alone",)))
            await shows(pilot, "plain")
            assert "tail of it" in seen(pilot)


async def test_the_produce_form_checks_the_value_while_it_is_typed_and_sends_it_by_its_schema(
    sandbox: SandboxThread,
) -> None:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic=one, partitions=1) for one in ("a", "none")])
        await wait_for_topics(client.cluster, ["a", "none"])
    async with board(sandbox).run_test(size=(120, 40)) as pilot:
        await visit(pilot, "topics")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        form = pilot.app.screen
        form.query_one("#topic", Input).value = "none"
        form.query_one("#value", TextArea).text = '{"id": "x"}'
        await shows(pilot, "JSON, 1 fields")
        assert not form.query_one("#by-schema").display
        form.query_one("#topic", Input).value = "a"
        await shows(pilot, '✖ id: "x" is not a long')
        await pilot.press("ctrl+s")
        await shows(pilot, 'value, by a-value@1 (AVRO): id: "x" is not a long')
        form.query_one("#value", TextArea).text = '{"id": 7, "note": "h\u00e9"}'
        await shows(pilot, "fits a-value@1 (AVRO)")
        assert isinstance(form, Produce)
        assert form.command.endswith(f" --schema-registry {sandbox.registry_url} --value-schema topic")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent; the last one is in a[0] at offset 0")
        form.query_one("#by-schema", Checkbox).value = False
        form.query_one("#value", TextArea).text = "as text"
        await shows(pilot, "text, 7 bytes")
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent; the last one is in a[0] at offset 1")
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        found = await stretch(client, {TopicPartition("a", 0): (0, 2)})
    assert [record.value for record in found] == [FRAME + PAYLOAD, b"as text"]


async def test_the_record_that_a_stuck_group_reads_next_says_that_it_does_not_decode(sandbox: SandboxThread) -> None:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic="stuck", partitions=1)])
        await wait_for_topics(client.cluster, ["stuck"])
        async with client.producer(ProducerSettings()) as producer:
            await producer.send("stuck", FRAME + PAYLOAD)
            await producer.send("stuck", FRAME + PAYLOAD[:2])
            await producer.flush()
    at = TopicPartition("stuck", 0)
    async with board(sandbox).run_test(size=(180, 40)) as pilot:
        await visit(pilot, routes.Records(("stuck",), around=(at, 1), next_of="billing"))
        await shows(pilot, "✖ its value does not decode: the payload ends in the middle of a value")
    async with board(sandbox).run_test(size=(180, 40)) as pilot:
        await visit(pilot, routes.Records(("stuck",), around=(at, 0), next_of="billing"))
        await shows(pilot, '{"id":7,"note":"hé"}')
        await asyncio.sleep(0.3)
        assert "does not decode" not in seen(pilot)

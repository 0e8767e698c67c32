"""A record's value by the schema registry, on the record's page."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from kcli.registry.settings import RegistrySettings, origin_of
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.screens.admin.subject import Subject
from kcli.tui.session import LiveSession
from kcli.tui.tail import Seen
from tests.sandbox.registry.asking import register
from tests.tui.conftest import seen, shows, visit

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

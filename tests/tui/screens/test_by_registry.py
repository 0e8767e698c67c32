"""Records by the schema registry: their page, lists and their filter, the produce form, stuck groups."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from textual.widgets import Checkbox, Input, TextArea

from kcli.admin.topics.topics import NewTopic, create_topics, describe_topics, wait_for_topics
from kcli.client import Client
from kcli.lag.figures import Lag, Sample, Total
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import BEHIND, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.registry.settings import RegistrySettings
from kcli.sandbox.thread import SandboxThread
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.actions import programs
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.produce import Produce
from kcli.tui.messages import SnapshotArrived
from kcli.tui.screens.admin.subjects import Subject
from kcli.tui.session import LiveSession
from kcli.tui.tail import Seen, stretch
from kcli.tui.trails import Trails
from kcli.tui.widgets.rows import Rows
from tests.sandbox.registry.asking import register
from tests.tui.conftest import seen, shows, until, visit

pytestmark = pytest.mark.long

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
        assert register(one.registry_url, "keyed-key", '"long"')[1]["id"] == 4
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


async def test_the_value_is_shown_by_its_schema_and_its_bytes_as_they_are(
    sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await opened(pilot, "known")
        text = await shows(pilot, '"note": "hé"')
        assert '"id": 7' in text
        in_pager: list[str] = []
        monkeypatch.setattr(programs, "show", lambda app, text, ending: in_pager.append(text))
        await pilot.press("v")
        await until(pilot, lambda: in_pager)
        assert '"id": 7' in in_pager[0], "as the page shows it, not as it is stored"
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
            await shows(pilot, "1 field shown raw: ")


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
        await shows(pilot, "JSON, 1 field")
        assert not form.query_one("#value-by-schema").display
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
        for ticked in (False, True, False):
            form.query_one("#value-by-schema", Checkbox).value = ticked
            await pilot.pause()
            assert form.query_one("#value", TextArea).text.startswith("{"), "a tick of another kind empties nothing"
        form.query_one("#value", TextArea).text = "as text"
        await shows(pilot, "no JSON: Expecting value")
        await pilot.press("ctrl+s")
        await shows(pilot, "Type text to send it as a text:")  # it was JSON before
        await pilot.press(*"text", "enter")
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


def order(id: int) -> bytes:
    return FRAME + bytes([2 * id]) + PAYLOAD[1:]


async def filled(sandbox: SandboxThread, topic: str, values: list[bytes]) -> None:
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        if topic not in await describe_topics(client.cluster):
            await create_topics(client.cluster, [NewTopic(topic=topic, partitions=1)])
            await wait_for_topics(client.cluster, [topic])
        async with client.producer(ProducerSettings()) as producer:
            for value in values:
                await producer.send(topic, value, key=KEY)
            await producer.flush()


async def test_the_filter_of_the_list_sees_decoded_values_and_keys(sandbox: SandboxThread) -> None:
    """Those that are loaded, those that the cluster has beside them, and those that come."""
    await filled(sandbox, "known", [order(7)] + [order(n) for n in range(30, 60)])
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await visit(pilot, routes.Records(("known",)))
        await shows(pilot, '{"id":59,"note":"hé"}')
        rows = pilot.app.screen.query_one(Rows)

        def ids() -> list[int]:
            return [record.value[5] // 2 for record in rows.shown]

        await pilot.press("slash", *"value.id == 45")
        await until(pilot, lambda: ids() == [45])
        assert "found 1" in seen(pilot)
        await pilot.press(*" or value.id in [7, 20]", "enter")
        page: Any = pilot.app.screen
        await until(pilot, lambda: page._tail.filters and ids() == [45])  # the cluster is asked by the filter
        await filled(sandbox, "known", [order(20), order(21)])
        await until(pilot, lambda: ids() == [45, 20])
        assert "$ kcli tail known --where 'value.id == 45 or value.id in [7, 20]' --schema-registry" in seen(pilot)
        stored = [record.value for record in rows.shown]
        assert stored == [order(45), order(20)], "the rows keep what is stored"
        await pilot.press("g")
        await pilot.press("g")  # from the beginning
        await until(pilot, lambda: ids() == [7, 45, 20])  # the filter stays
        await pilot.press("slash", *"key == 'ann' and value.note == 'h\u00e9' and value.id < 10", "enter")
        rows = pilot.app.screen.query_one(Rows)
        await until(pilot, lambda: ids() == [7])


async def test_a_filter_that_only_the_bytes_fit_finds_nothing(sandbox: SandboxThread) -> None:
    await filled(sandbox, "bytes", [order(7), b"\0\0\0\0\1 as it is"])
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await visit(pilot, routes.Records(("bytes",)))
        await shows(pilot, '{"id":7')
        rows = pilot.app.screen.query_one(Rows)
        await pilot.press("slash", *"as it", "enter")
        await until(pilot, lambda: len(rows.shown) == 1)
        await pilot.press("slash", *["backspace"] * 5, *"\\\\A.....\\\\x0e", "enter")
        await until(pilot, lambda: not rows.shown)


async def test_a_field_of_a_decoded_value_is_completed(sandbox: SandboxThread) -> None:
    await filled(sandbox, "fields", [order(7)])
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await visit(pilot, routes.Records(("fields",)))
        await shows(pilot, '{"id":7')
        page: Any = pilot.app.screen
        assert page.completed("value.no") == "value.note"


async def test_the_produce_form_checks_the_key_too(sandbox: SandboxThread) -> None:
    await filled(sandbox, "keyed", [])
    async with board(sandbox).run_test(size=(140, 40)) as pilot:
        await visit(pilot, "topics")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        form = pilot.app.screen
        assert isinstance(form, Produce)
        form.query_one("#topic", Input).value = "keyed"
        form.query_one("#value", TextArea).text = "text"
        await until(pilot, lambda: bool(form.query_one("#key-by-schema").display))
        assert form.problems() == {}, "a null key is none of the schema's"
        form.query_one("#key", Input).value = "ann"
        await shows(pilot, "key, by keyed-key@1 (AVRO): is not JSON")
        assert form.query_one("#key").has_class("wrong")
        form.query_one("#key", Input).value = "-5"
        await until(pilot, lambda: not form.query_one("#key").has_class("wrong"))
        assert form.command.endswith(f"-k -5 --value text --schema-registry {sandbox.registry_url} --key-schema topic")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent; the last one is in keyed[0] at offset 0")
        form.query_one("#key-by-schema", Checkbox).value = False
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent")
    async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
        found = await stretch(client, {TopicPartition("keyed", 0): (0, 2)})
    assert [(record.key, record.value) for record in found] == [(b"\0\0\0\0\4\x09", b"text"), (b"-5", b"text")]


async def test_the_page_of_a_stuck_group_says_that_its_next_record_does_not_decode(sandbox: SandboxThread) -> None:
    await filled(sandbox, "poison", [order(7), FRAME + PAYLOAD[:2], order(8)])

    def standing(committed: int, status: str) -> LagSnapshot:
        sample = Sample(group="g", topic="poison", partition=0, committed=committed, end=3, start=0)
        part = PartitionFigures(lag=Lag(sample=sample, lag=3 - committed), status=status)
        group = GroupStanding(total=Total(group="g", lag=3 - committed, status=status), partitions=[part])
        group.described.group = "g"
        return LagSnapshot(time=1.0, groups=[group])

    async with board(sandbox).run_test(size=(180, 40)) as pilot:
        app: Any = pilot.app
        await visit(pilot, "topics")
        app.session.paused = True  # no other snapshot comes
        await asyncio.sleep(0.6)
        app.post_message(SnapshotArrived(standing(1, STUCK), Trails()))
        await visit(pilot, routes.Group("g"))
        text = await shows(pilot, "poison[0] at 1: its value does not decode")
        assert "the payload ends in the middle of a value" in text
        assert "✖ 1 next record does not decode" in text
        app.post_message(SnapshotArrived(standing(2, STUCK), Trails()))
        await until(pilot, lambda: "does not decode" not in seen(pilot))
        app.post_message(SnapshotArrived(standing(1, BEHIND), Trails()))
        await shows(pilot, "BEHIND")
        await pilot.pause()
        await until(pilot, lambda: not any(one.group == "learn" for one in pilot.app.workers))
        assert "does not decode" not in seen(pilot), "only of what is stuck"


STRATEGIES = {"topic": "kept-value", "record": "Order", "topic-record": "kept-Order"}


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_record_leads_to_the_subject_that_the_strategy_of_the_profile_finds(
    sandbox: SandboxThread, strategy: str
) -> None:
    for subject in STRATEGIES.values():
        assert register(sandbox.registry_url, subject, ORDER)[1]["id"] == 1
    async with board(sandbox, value_strategy=strategy).run_test(size=(140, 40)) as pilot:
        record = Seen(1, "kept", 0, 3, 1700000000000, None, FRAME + PAYLOAD, [])
        await visit(pilot, routes.Record("kept", 0, 3, record))
        await shows(pilot, f"{STRATEGIES[strategy]}@1 (id 1, AVRO)")
        await pilot.press("5", "enter")
        await shows(pilot, f"Subject {STRATEGIES[strategy]}")


async def test_the_produce_form_writes_by_the_subject_that_the_strategy_of_the_profile_finds(
    sandbox: SandboxThread,
) -> None:
    for subject in ("named-value", "named-Order", "named-other-Order"):
        register(sandbox.registry_url, subject, ORDER)
    await filled(sandbox, "named", [])
    async with board(sandbox, value_strategy="topic-record").run_test(size=(140, 40)) as pilot:
        await visit(pilot, "topics")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        form = pilot.app.screen
        assert isinstance(form, Produce)
        form.query_one("#topic", Input).value = "named"
        form.query_one("#value", TextArea).text = '{"id": 7, "note": ""}'
        await shows(pilot, "fits named-Order@1 (AVRO)")
        assert form.command.endswith(" --value-schema topic#Order")
    async with board(sandbox, value_strategy="record").run_test(size=(140, 40)) as pilot:
        await visit(pilot, "topics")
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
        form = pilot.app.screen
        assert isinstance(form, Produce)
        form.query_one("#topic", Input).value = "named"
        form.query_one("#value", TextArea).text = '{"id": 7, "note": ""}'
        await until(pilot, lambda: not any(worker.group == "learn" for worker in pilot.app.workers))
        assert not form.query_one("#value-by-schema").display, "the topic does not say which record it is"

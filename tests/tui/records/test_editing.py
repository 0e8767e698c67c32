"""`e` on a record of JSON: edited in several lines, sent on one line again, and only where it is JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Checkbox, TextArea

from kcli.client import Client
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.settings import ProducerSettings
from kcli.tui.dialogs.produce import Produce
from kcli.tui.records.editing import LARGE, can_be_edited, in_lines, on_one_line
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

VALUES = [
    '{"id": 1, "price": 1.10, "tags": ["a", "b"], "none": {}, "empty": [], "text": "a, b: {c}"}',
    '{"id":1,"price":1.10e5,"nested":{"deep":[[1,2],[3]]},"id":2}',
    '[1, 2.50, "\\u00fc\\n", null, true]',
    '{ "odd" :1 , "spaces":2}',
]


@pytest.mark.parametrize("value", VALUES)
def test_what_is_edited_in_lines_is_on_one_line_as_it_was(value: str) -> None:
    assert can_be_edited(value)
    lines = in_lines(value)
    assert lines.count("\n") > 2
    assert json.loads(lines) == json.loads(value)
    assert on_one_line(lines, value) == value


def test_a_changed_field_changes_nothing_else() -> None:
    for value in VALUES[:2]:
        assert on_one_line(in_lines(value).replace('"id": 1', '"id": 7'), value) == value.replace("1", "7", 1)
    assert on_one_line('{\n  "a": [\n    1,\n    2\n  ]\n}') == '{"a":[1,2]}', "without one before: no spaces"


@pytest.mark.parametrize("value", ["text", "7", '{"a": 1', '{\n "a": 1\n}', "", "[" + "1," * LARGE + "1]"])
def test_other_values_are_edited_as_they_are(value: str) -> None:
    assert not can_be_edited(value)


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def edit(world: World, pilot: Pilot[int], value: str) -> TextArea:
    """Send a value, and open it in the form."""
    async with Client(world.settings()) as client, client.producer(ProducerSettings()) as producer:
        await producer.send("orders", value.encode(), partition=1)
        await producer.flush()
    await visit(pilot, "records orders")
    await shows(pilot, value[:8])
    await pilot.press("end", "e")
    await until(pilot, lambda: isinstance(pilot.app.screen, Produce) and pilot.app.screen.query("#headers"))
    return pilot.app.screen.query_one("#value", TextArea)


async def sent(world: World, pilot: Pilot[int]) -> str:
    """Send what is in the form; the value that is stored."""
    await pilot.press("ctrl+s")
    await shows(pilot, "1 sent")
    return (await values(world))[-1]


async def values(world: World) -> list[str]:
    """The values that were sent to partition 1 after the first hundred."""
    async with Client(world.settings()) as client, client.consumer() as consumer:
        consumer.assign({TopicPartition("orders", 1): Bound("offset", 100)})
        found = [record for one in await consumer.poll(5.0) for batch in one.batches for record in batch]
    return [(record.value or b"").decode() for record in found]


async def test_json_is_edited_in_lines_and_sent_on_one(world: World) -> None:
    value = '{"id": 7, "price": 1.10}'
    async with world.open() as pilot:
        area = await edit(world, pilot, value)
        assert area.text == '{\n  "id": 7,\n  "price": 1.10\n}'
        await shows(pilot, "JSON, 2 fields")
        await shows(pilot, "[x] JSON, sent on one line")
        assert area.show_line_numbers
        area.text = area.text.replace("7", "8")
        text = await shows(pilot, '"id": 8')
        assert f"--value '{value.replace('7', '8')}'" in " ".join(text.split())
        assert await sent(world, pilot) == value.replace("7", "8")


async def test_json_that_is_broken_is_not_sent_and_comes_back_as_it_was_valid(world: World) -> None:
    async with world.open() as pilot:
        area = await edit(world, pilot, '{"id": 7, "price": 1.10}')
        area.text = area.text.replace("7", "9")
        await pilot.pause()
        valid = area.text
        area.text = valid.replace(",", "")
        await shows(
            pilot, "✖ no JSON: Expecting ',' delimiter (line 3, column 3) (ctrl+r restores the last valid value)"
        )
        await pilot.press("ctrl+s")
        await until(pilot, lambda: area.cursor_location == (2, 2))
        assert "sent;" not in seen(pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: area.text == valid)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: area.text != valid)
        await pilot.press("ctrl+r")
        assert json.loads(await sent(world, pilot)) == {"id": 9, "price": 1.1}


async def test_broken_json_is_sent_only_after_a_word_was_typed(world: World) -> None:
    """Also without the tick, where the first letter is gone, and where nothing is left."""
    async with world.open(size=(140, 40)) as pilot:
        area = await edit(world, pilot, '{"id": 7}')
        pilot.app.screen.query_one("#one-line", Checkbox).value = False
        for broken in ('{\n  "id": \n}', '\n  "id": 7\n}', "", '{"id": NaN}'):
            area.text = broken
            await shows(pilot, "✖ no JSON")
            await pilot.press("ctrl+s")
            await shows(pilot, "Type text to send it as a text:")
            await pilot.press("ctrl+s", "ctrl+s", "enter")
            await shows(pilot, "nothing was sent: '' is not text")
            area.text = broken + " "
            await until(pilot, lambda: "Type text" not in seen(pilot))
        assert await values(world) == ['{"id": 7}']
        area.text = '{\n  "id": \n}'
        await shows(pilot, "✖ no JSON")
        await pilot.press("ctrl+s")
        await shows(pilot, "Type text")
        await pilot.press(*"text", "enter")
        await shows(pilot, "1 sent")
        assert (await values(world))[-1] == '{\n  "id": \n}'


async def test_a_protected_profile_wants_its_name_for_broken_json(world: World) -> None:
    async with world.open(size=(140, 40), guard="protected", profile="prod") as pilot:
        area = await edit(world, pilot, '{"id": 7}')
        area.text = '"id": 7}'
        await shows(pilot, "✖ no JSON")
        await pilot.press("ctrl+s")
        await shows(pilot, "Type prod to send it as a text:")
        await pilot.press(*"text", "enter")
        await shows(pilot, "nothing was sent: 'text' is not prod")
        assert await values(world) == ['{"id": 7}']
        await pilot.press(*["backspace"] * 4, *"prod", "enter")
        await shows(pilot, "1 sent")
        assert (await values(world))[-1] == '"id": 7}'


async def test_one_wrong_letter_keeps_line_numbers_indentation_and_colours(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        area = await edit(world, pilot, '{"id": 7, "on": true, "who": "ann"}')
        assert {"area--key", "area--number", "area--string", "area--word"} == area.COMPONENT_CLASSES

        def colours() -> list[set[str]]:
            return [{str(span.style) for span in area.get_line(n).spans} for n in range(area.document.line_count)]

        before, lines = colours(), area.text.split("\n")
        assert [len(found) for found in before] == [0, 2, 2, 2, 0]
        for row, column in ((0, 0), (1, 2), (3, 9)):
            letter = lines[row][column]
            area.replace("", (row, column), (row, column + 1))
            await shows(pilot, "✖ no JSON")
            assert area.show_line_numbers
            assert sum(map(bool, colours())) == 3
            assert len(area.text.split("\n")) == len(lines)
            area.replace(letter, (row, column), (row, column))
            await shows(pilot, "JSON, 3 fields")
        assert colours() == before


async def test_an_edited_record_is_not_sent_twice_by_one_key_too_many(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        area = await edit(world, pilot, '{"id": 7}')
        area.text = area.text.replace("7", "8")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        await pilot.press("ctrl+s")
        await shows(pilot, "this record was already sent")
        assert await values(world) == ['{"id": 7}', '{"id": 8}']
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent")
        assert len(await values(world)) == 3


async def test_what_is_typed_is_indented_on_request(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce) and pilot.app.screen.query("#headers"))
        area = pilot.app.screen.query_one("#value", TextArea)
        area.text = '{"a":[1]'
        await pilot.press("ctrl+l")
        await shows(pilot, "the value is not a JSON object or list")
        area.text += "}"
        await pilot.press("ctrl+l")
        await until(pilot, lambda: area.text == '{\n  "a": [\n    1\n  ]\n}')
        await shows(pilot, "[x] JSON, sent on one line")
        text = " ".join(seen(pilot).split())
        assert """--value '{"a":[1]}'""" in text


async def test_without_a_registry_what_a_schema_has_written_is_sent_as_it_is(world: World) -> None:
    value = b"\0\0\0\0\1\x0e\x06h\xc3\r\n"
    async with world.open() as pilot:
        async with Client(world.settings()) as client, client.producer(ProducerSettings()) as producer:
            await producer.send("orders", value, b"named", partition=1)
            await producer.flush()
        await visit(pilot, "records orders")
        await shows(pilot, "named")
        await pilot.press("end", "e")
        await shows(pilot, "sent as it is stored: no schema registry is named")
        await pilot.press(*"typed", "ctrl+s")
        await shows(pilot, "1 sent")
        async with Client(world.settings()) as client, client.consumer() as consumer:
            consumer.assign({TopicPartition("orders", 1): Bound("relative", 1)})
            found = [record for one in await consumer.poll(5.0) for batch in one.batches for record in batch]
    assert [(record.key, record.value) for record in found] == [(b"named", value)]


async def test_what_a_terminal_would_act_on_is_drawn_as_symbols_and_sent_as_it_was(world: World) -> None:
    evil = "\x1b]2;title\x07 \x9b31m\u202e\t\x7fZ"
    async with world.open() as pilot:
        async with Client(world.settings()) as client, client.producer(ProducerSettings()) as producer:
            await producer.send("orders", evil.encode(), evil.encode(), [("h", evil.encode())], partition=1)
            await producer.flush()
        await visit(pilot, "records orders")
        await shows(pilot, "title")
        await pilot.press("end", "e")
        await until(pilot, lambda: isinstance(pilot.app.screen, Produce) and bool(pilot.app.screen.query("#headers")))
        await until(pilot, lambda: seen(pilot).count("␛]2;title") == 3)
        drawn = seen(pilot)
        assert drawn.count("\ufffd31m\ufffd") == 3
        assert all(one.isprintable() for one in drawn.replace("\n", ""))
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        async with Client(world.settings()) as client, client.consumer() as consumer:
            consumer.assign({TopicPartition("orders", 1): Bound("relative", 1)})
            found = [record for one in await consumer.poll(5.0) for batch in one.batches for record in batch]
    assert [(record.key, record.value) for record in found] == [(evil.encode(), evil.encode())]
    assert list(found[0].headers) == [("h", evil.encode())]

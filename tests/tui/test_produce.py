"""The produce form: what it sends, where it went, the same command, and what it refuses."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Checkbox, Input, TextArea

from kcli.asking.offsets import LATEST, LogOffset, list_offsets
from kcli.cli.output.records.envelope import read_line
from kcli.client import Client
from kcli.errors import UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.tui.actions.producing import Draft, headers_of, partition_of
from kcli.tui.dialogs.produce import Produce
from kcli.tui.screens.groups import Groups
from kcli.tui.text.printable import with_each
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with a_world() as made:
        yield made


async def form(pilot: Pilot[int], topic: str = "orders") -> Produce:
    await pilot.press("n")
    await until(pilot, lambda: isinstance(pilot.app.screen, Produce))
    pilot.app.screen.query_one("#topic", Input).value = topic
    screen = pilot.app.screen
    assert isinstance(screen, Produce)
    return screen


async def test_the_name_of_a_topic_is_completed_and_the_form_is_no_higher_than_it_is_read(world: World) -> None:
    async with world.open(size=(200, 60)) as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (1)")
        await pilot.press("ctrl+g")
        await until(pilot, lambda: isinstance(pilot.app.screen, Groups))
        screen = await form(pilot, "")
        field = screen.query_one("#topic", Input)
        field.focus()
        await pilot.press("o", "r")
        await until(pilot, lambda: field._suggestion == "orders")
        await pilot.press("right")
        await until(pilot, lambda: field.value == "orders")
        assert screen.query_one(".dialog").region.height == 40


async def last(world: World, partition: int) -> tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]:
    """The newest record of a partition."""
    async with Client(world.settings()) as client, client.consumer() as consumer:
        consumer.assign({TopicPartition("orders", partition): Bound("relative", 1)})
        found = [record for one in await consumer.poll(5.0) for batch in one.batches for record in batch]
    return found[-1].key, found[-1].value, list(found[-1].headers)


async def test_a_record_with_key_headers_and_lines_is_stored_and_the_form_says_where(world: World) -> None:
    async with world.open() as pilot:
        screen = await form(pilot)
        screen.query_one("#partition", Input).value = "1"
        screen.query_one("#null-key", Checkbox).value = False
        screen.query_one("#key", Input).value = "customer 7"
        screen.query_one("#value", TextArea).text = 'two\nlines of "it\'s"'
        screen.query_one("#headers", TextArea).text = "trace=1\nempty=\nnothing"
        await pilot.pause()
        assert "-p 1 -k 'customer 7' -H trace=1 -H empty= -H nothing --value $'two" in seen(pilot).replace("\n", "")
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent; the last one is in orders[1] at offset")
    assert await last(world, 1) == (
        b"customer 7",
        b'two\nlines of "it\'s"',
        [("trace", b"1"), ("empty", b""), ("nothing", None)],
    )


async def test_a_tombstone_is_null_and_the_form_stays_for_the_next_record(world: World) -> None:
    async with world.open() as pilot:
        screen = await form(pilot)
        screen.query_one("#partition", Input).value = "0"
        screen.query_one("#null-value", Checkbox).value = True
        await pilot.press("ctrl+s")
        await shows(pilot, "1 sent")
        await pilot.press("ctrl+s")
        await shows(pilot, "2 sent")
    assert await last(world, 0) == (None, None, [])


async def test_a_tick_at_null_that_is_taken_back_gives_the_text_back(world: World) -> None:
    async with world.open() as pilot:
        screen = await form(pilot)
        value, tick = screen.query_one("#value", TextArea), screen.query_one("#null-value", Checkbox)
        value.text = '{"order": 7}'
        await pilot.pause()
        tick.value = True
        await until(pilot, lambda: not value.text)
        tick.value = False
        await until(pilot, lambda: value.text == '{"order": 7}')


async def test_what_is_typed_into_a_null_value_is_in_order(world: World) -> None:
    """The first letter takes the tick away."""
    async with world.open() as pilot:
        screen = await form(pilot)
        value = screen.query_one("#value", TextArea)
        screen.query_one("#null-value", Checkbox).value = True
        value.focus()
        await pilot.pause()
        await pilot.press(*"abc")
        await until(pilot, lambda: value.text == "abc")
        assert not screen.query_one("#null-value", Checkbox).value


async def test_what_goes_wrong_is_one_sentence_and_nothing_is_sent(world: World) -> None:
    async with world.open() as pilot:
        screen = await form(pilot, "")
        await pilot.press("ctrl+s")
        await shows(pilot, "topic: a record needs one")
        screen.query_one("#topic", Input).value = "orders"
        screen.query_one("#partition", Input).value = "99"
        await pilot.press("ctrl+s")
        text = await shows(pilot, "99")
        assert "sent" not in text.replace("ctrl+s sends it", "")
        screen.query_one("#partition", Input).value = "x"
        await pilot.press("ctrl+s")
        await shows(pilot, "partition 'x': expected a number")


async def test_a_read_only_profile_has_no_form(world: World) -> None:
    async with world.open(guard="read_only", profile="prod") as pilot:
        await pilot.press("n")
        await shows(pilot, "Profile prod is read-only: producing")
        assert isinstance(pilot.app.screen, Groups)


@pytest.mark.parametrize(
    "draft",
    [
        Draft(topic="t", value='it\'s "so" $HOME `x`'),
        Draft(topic="t", partition=3, key="k\ty", value="a\nb\\n\x1b[31m\u202e"),
        Draft(topic="t", key="", value="", headers=[("h", None), ("i", "x y")]),
    ],
)
def test_the_command_means_the_same_to_a_shell(draft: Draft) -> None:
    command = draft.command
    assert command.isprintable()
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True, timeout=10
    ).stdout.decode().split("\0")[:-1]  # fmt: skip
    assert words[words.index("--value") + 1] == draft.value
    assert (words[words.index("-k") + 1] if "-k" in words else None) == draft.key
    assert words[:3] == ["kcli", "produce", "t"]


STORED = b"\0\0\0\0\1\x0e'\xff"


@pytest.mark.parametrize(
    ("draft", "record"),
    [
        (
            Draft(topic="t", key="a\0", value="it's\n\0", headers=[("h", None), ("i", "\udcff\0")]),
            (b"a\0", b"it's\n\0", [("h", None), ("i", b"\xff\0")]),
        ),
        (Draft(topic="t", key="k", value="\0", stored=STORED, stored_key=b"\\u\0"), (b"\\u\0", STORED, [])),
        (Draft(topic="t", key="\0", value=None), (b"\0", None, [])),
    ],
)
def test_what_a_shell_cuts_off_is_a_line_that_is_read(draft: Draft, record: tuple[object, ...]) -> None:
    """A word of a shell ends at its first NUL."""
    command = with_each(draft.command, "-b here:9092")
    assert command.isprintable()
    script = f"kcli() {{ printf '%s ' \"$@\"; cat; }}; {command}"
    out = subprocess.run(["bash", "-c", script], capture_output=True, check=True, timeout=10).stdout
    words, _, line = out.partition(b"{")
    assert words == b"produce t --input json -b here:9092 "
    assert read_line(b"{" + line, 1)[2:] == record


def test_fields_that_say_nothing_sensible_are_refused() -> None:
    assert partition_of(" ") is None
    with pytest.raises(UsageError):
        partition_of("-1")
    with pytest.raises(UsageError):
        headers_of("=x")


@pytest.mark.long
async def test_a_record_under_way_is_neither_sent_twice_nor_forgotten(world: World) -> None:
    async with world.open() as pilot:
        before = await ends(world)
        screen = await form(pilot)
        world.sandbox.faults.wire.delay("Produce", 2.0, times=1)
        screen.query_one("#partition", Input).value = "1"
        await pilot.press("ctrl+s", "ctrl+s")
        await shows(pilot, "1 sent; the last one is in orders[1]")
        assert await ends(world) == before + 1
        world.sandbox.faults.wire.delay("Produce", 4.0, times=1)  # a busy machine takes a second for a key
        await pilot.press("ctrl+s", "escape")
        assert not isinstance(pilot.app.screen, Produce)
        await shows(pilot, "2 sent; the last one is")
        assert await ends(world) == before + 2


async def ends(world: World) -> int:
    """Where partition 1 ends."""
    async with Client(world.settings()) as client:
        at = TopicPartition("orders", 1)
        found = (await list_offsets(client.cluster, dict.fromkeys([at], LATEST)))[at]
        assert isinstance(found, LogOffset)
        return found.offset


async def test_a_box_that_is_not_ticked_has_no_cross_in_it(world: World) -> None:
    async with world.open() as pilot:
        await form(pilot)
        await shows(pilot, "[x] null")
        await shows(pilot, "[ ] null (a tombstone)")


async def test_the_footer_has_what_is_pressed_most_first_and_labels_keep_their_distance(world: World) -> None:
    async with world.open(size=(80, 24)) as pilot:
        await form(pilot)
        text = await shows(pilot, "^s Send")
        assert " ".join(text.split("\n")[-1].split()).startswith("^s Send esc Close ^e Edit in $EDITOR")
        assert "partition  by key" in text

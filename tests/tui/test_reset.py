"""The reset dialog: forms, scopes, the plan, the typed name, the undo file, refusals."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.widgets import Input, Select

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.asking.coordinators import Coordinators
from kcli.changes.change import Plan
from kcli.changes.offsets import OffsetRow
from kcli.client import Client
from kcli.errors import UsageError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import GroupSettings, ProducerSettings
from kcli.tui.dialogs.reset import Reset, _again, wish
from kcli.tui.screens.group import Group
from kcli.tui.widgets.rows import Rows
from tests.changes.undone import undo_files
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.pilot import Pilot

    from kcli.tui.app import Dashboard


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the undo files of this test alone
    with a_world() as made:
        yield made


def undo_file() -> str:
    """What undoes the last change."""
    return undo_files(Path(os.environ["XDG_STATE_HOME"]))[-1].read_text()


async def dialog(pilot: Pilot[int]) -> Reset:
    """From the groups to the dialog, by keys."""
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.partition is not None)
    await pilot.press("r")
    await until(pilot, lambda: isinstance(pilot.app.screen, Reset))
    screen = pilot.app.screen
    assert isinstance(screen, Reset)
    return screen


async def choose(pilot: Pilot[int], field: str, value: str) -> None:
    pilot.app.screen.query_one(f"#{field}", Select).value = value
    await pilot.pause()


async def confirm(pilot: Pilot[int], word: str) -> None:
    pilot.app.screen.query_one("#confirm", Input).focus()
    await pilot.press(*word, "enter")


async def test_the_plan_stands_there_before_anything_is_typed_and_the_typed_name_does_it(world: World) -> None:
    async with world.open() as pilot:
        screen = await dialog(pilot)
        text = await shows(pilot, "1 of 1 would change")
        partition = screen.change.at.partition if screen.change.at is not None else -1
        assert "-40" in text
        assert not pilot.app.screen.query_one("#amount", Input).visible, "the beginning needs no figure"
        assert re.search(r"of +orders\[\d\]", text)
        assert f"$ kcli groups reset billing --topic orders:{partition} --to-earliest --execute" in text
        await choose(pilot, "scope", "group")
        text = await shows(pilot, "2 of 2 would change")
        assert "--all-topics --to-earliest" in text
        await confirm(pilot, "billing")
        text = await shows(pilot, "2 reset")
        said = " ".join(text.split())
        assert f"To undo this: z, or kcli undo 1 --execute -b {world.sandbox.bootstrap}" in said
        assert f"$ kcli undo 1 --execute -b {world.sandbox.bootstrap}" in said, "ctrl+o copies the undo now"
        assert await world.committed() == {0: 0, 1: 0}
    kept = undo_file()
    assert kept.count('"offset": 40') == 2


async def test_the_scope_is_that_of_the_row_of_the_tab_that_is_shown(world: World) -> None:
    """The cursor of the partitions stands on orders while the tab of topics shows payments."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="payments", partitions=1)])
        async with client.producer(ProducerSettings()) as producer:
            await producer.send("payments", b"paid", partition=0)
            await producer.flush()
        at = {TopicPartition("payments", 0): OffsetAndMetadata(offset=1)}
        await write_commits(Coordinators(client.cluster), "billing", at)
    async with world.open() as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group) and pilot.app.screen.partition is not None)
        page = cast("Group", pilot.app.screen)
        await until(pilot, lambda: page.query_one("#topics", Rows).known == 2)
        assert page.partition is not None
        assert page.partition.lag.sample.topic == "orders"
        await pilot.press("3", "down", "r")
        await shows(pilot, "$ kcli groups reset billing --topic payments --to-earliest --execute")
        text = await shows(pilot, "1 of 1 would change")
        assert "of all partitions of payments" in " ".join(text.split())
        assert [scope for _, scope in cast("Reset", pilot.app.screen)._scopes()] == ["topic", "group"]
        await choose(pilot, "scope", "group")
        await shows(pilot, "3 of 3 would change")
        await pilot.press("escape")
        for tab in ("2", "4"):
            await pilot.press(tab, "r")
            await shows(pilot, "$ kcli groups reset billing --all-topics --to-earliest --execute")
            await pilot.press("escape")


async def test_a_word_that_an_undo_does_not_ask_for_is_refused_in_a_whole_sentence(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("r")
        await shows(pilot, "2 of 2 would change")
        await confirm(pilot, "billing")
        await shows(pilot, "2 reset")
        await pilot.press("escape", "z")
        await shows(pilot, "enter does it")
        await confirm(pilot, "billing")
        await shows(pilot, "nothing was changed: nothing is typed here, enter does it")
    assert await world.committed() == {0: 0, 1: 0}


async def test_from_the_list_of_groups_all_topics_are_meant(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("r")
        text = await shows(pilot, "2 of 2 would change")
        assert "kcli groups reset billing --all-topics --to-earliest --execute" in text
        await choose(pilot, "form", "shift")
        assert pilot.app.screen.query_one("#amount", Input).visible
        pilot.app.screen.query_one("#amount", Input).focus()
        await pilot.press(*"-10", "enter")
        await shows(pilot, "-10")
        await confirm(pilot, "billing")
        await shows(pilot, "2 reset")
    assert await world.committed() == {0: 30, 1: 30}
    assert undo_file().count('"offset": 40') == 2


async def test_the_dialog_is_as_high_as_a_long_plan_needs(world: World) -> None:
    async with world.open(size=(200, 60)) as pilot:
        screen = await dialog(pilot)
        await shows(pilot, "1 of 1 would change")
        frame = screen.query_one(".dialog")
        assert frame.region.height == 32
        assert screen._plan is not None
        screen.put(screen._plan.rows * 40)
        await until(pilot, lambda: frame.region.height > 50)


def test_how_much_is_read_again_counts_what_is_in_the_log_and_what_is_unknown_is_said() -> None:
    def row(before: int | None, after: int, start: int | None) -> OffsetRow:
        old = None if before is None else OffsetAndMetadata(offset=before)
        at = TopicPartition("t", 0)
        made = OffsetRow(name="g", at=at, before=old, after=OffsetAndMetadata(offset=after), start=start, end=9000)
        made.result = "would reset"
        return made

    assert _again(Plan(rows=[row(2000, 500, 800), row(100, 90, 0)])) == "reads 1,210 records again"
    assert _again(Plan(rows=[row(None, 0, 0), row(5, 9, 0)])) == ""
    assert _again(Plan(rows=[row(9500, 8900, 0)])) == "reads 100 records again", "it was past the end, at 9000"
    unknown = _again(Plan(rows=[row(100, 90, 0), row(100, 90, None)]))
    assert unknown == "reads 10 records again; how many it reads again of 1 partition is unknown"


async def test_a_wrong_name_changes_nothing(world: World) -> None:
    async with world.open() as pilot:
        await dialog(pilot)
        await shows(pilot, "1 of 1 would change")
        await confirm(pilot, "biling")
        await shows(pilot, "nothing was changed: 'biling' is not billing")
        assert await world.committed() == {0: 40, 1: 40}


@pytest.mark.long
async def test_what_is_outside_of_the_log_is_clamped_and_said(world: World) -> None:
    async with world.open(size=(160, 40)) as pilot:
        await dialog(pilot)
        await choose(pilot, "form", "offset")
        await shows(pilot, "an offset, such as 1200")
        pilot.app.screen.query_one("#amount", Input).focus()
        await pilot.press(*"5000")
        text = await shows(pilot, "clamped: 5000 is past the log's end")
        assert "+60" in text
        assert "--to-offset 5000" in text


async def behind(world: World, now: float) -> None:
    """A record a minute until now, of an hour; `late` has read all but those of the last twelve minutes."""
    async with Client(world.settings()) as client:
        await create_topics(client.cluster, [NewTopic(topic="minutes", partitions=1)])
        async with client.producer(ProducerSettings()) as producer:
            for n in range(60):
                await producer.send("minutes", b"%d" % n, timestamp=int((now - 60 * (60 - n)) * 1000), partition=0)
            await producer.flush()
        read = {TopicPartition("minutes", 0): OffsetAndMetadata(offset=48)}
        await write_commits(Coordinators(client.cluster), "late", read)


@pytest.mark.process
async def test_back_by_five_minutes_counts_from_what_was_read_and_skips_nothing(world: World) -> None:
    await behind(world, time.time())
    async with world.open(size=(140, 40)) as pilot:
        pilot.app.push_screen(Reset(cast("Dashboard", pilot.app).session, ["late"], None))
        await shows(pilot, "1 of 1 would change")
        for form, new, skips in (("rewind", 42, 0), ("duration", 56, 8), ("latest", 60, 12)):
            await choose(pilot, "form", form)
            pilot.app.screen.query_one("#amount", Input).value = "" if form == "latest" else "5m"
            await shows(pilot, f"{new - 48:+,}")
            said = pilot.app.screen.query_one("#said")
            await until(pilot, lambda: "would change" in seen(pilot))
            assert (f"✖ skips {skips} unread records" in seen(pilot)) == bool(skips)
            assert said.has_class("bad") == bool(skips)
            assert ("reads 6 records again" in seen(pilot)) == (form == "rewind")
        await choose(pilot, "form", "rewind")
        pilot.app.screen.query_one("#amount", Input).value = "5m"
        text = await shows(pilot, "-6")
        assert "kcli groups reset late --all-topics --rewind 5m --execute" in text
        command = f"groups reset late --all-topics --rewind 5m -J -b {world.sandbox.bootstrap}"
        rows = json.loads(await asyncio.to_thread(printed, command))["partitions"]
        assert [row["new"] for row in rows] == [42], "the command does the same"
        await confirm(pilot, "late")
        await shows(pilot, "1 reset")
    assert await world.committed("late") == {0: 42}


def printed(command: str) -> str:
    words = [sys.executable, "-m", "kcli", *shlex.split(command)]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


async def test_a_group_at_work_is_refused_with_who_is_in_it(world: World) -> None:
    async with Client(world.settings(client_id="worker")) as client:
        group = GroupSettings(group="billing", auto_commit=False)
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(["orders"])
            await consumer.poll(5.0)
            async with world.open() as pilot:
                await dialog(pilot)
                await shows(pilot, "1 member (worker")
                assert "refused" in seen(pilot)
                await shows(pilot, "Type billing to do it once Empty:")
                await confirm(pilot, "biling")
                await shows(pilot, "nothing was changed: 'biling' is not billing")
    assert await world.committed() == {0: 40, 1: 40}


async def test_a_protected_profile_wants_its_own_name(world: World) -> None:
    async with world.open(guard="protected", profile="prod") as pilot:
        text = seen(pilot)
        assert "PROTECTED" in text
        await dialog(pilot)
        text = await shows(pilot, "Type prod to do it:")
        assert "--confirm prod" in text
        await confirm(pilot, "billing")
        await shows(pilot, "nothing was changed: 'billing' is not prod")
        await pilot.press(*["backspace"] * 7)
        await confirm(pilot, "prod")
        await shows(pilot, "1 reset")
    assert sorted((await world.committed()).values()) == [0, 40]
    assert undo_file().count('"offset": 40') == 1


async def test_a_read_only_profile_refuses_with_a_sentence(world: World) -> None:
    async with world.open(guard="read_only", profile="prod") as pilot:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, Group))
        await pilot.press("r")
        await shows(pilot, "Profile prod is read-only")
        assert isinstance(pilot.app.screen, Group)


async def test_a_reset_that_fails_says_so_and_keeps_what_was(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null/nowhere")
    async with world.open() as pilot:
        await dialog(pilot)
        await shows(pilot, "1 of 1 would change")
        await confirm(pilot, "billing")
        await shows(pilot, "nothing was changed: the journal")
        assert isinstance(pilot.app.screen.query_one("#plan"), Rows)
    assert await world.committed() == {0: 40, 1: 40}


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("earliest", "", "--to-earliest"),
        ("latest", "", "--to-latest"),
        ("offset", "12", "--to-offset 12"),
        ("shift", "-100", "--shift-by -100"),
        ("shift", "+5", "--shift-by 5"),
        ("time", "-1h", "--to @-1h"),
        ("time", "2026-01-31T10:00", "--to @2026-01-31T10:00"),
        ("rewind", "5m", "--rewind 5m"),
        ("duration", "90m", "--by-duration 90m"),
        ("place", "-100", "--to -100"),
        ("place", "0=5,1=end", "--to 0=5,1=end"),
    ],
)
def test_each_form_has_the_words_of_the_command_line(form: str, text: str, words: str) -> None:
    assert wish(form, text, 1_000_000_000_000).words == words


@pytest.mark.parametrize(("form", "text"), [("offset", "-1"), ("offset", "x"), ("shift", "1.5"), ("time", "noon"),
                                            ("duration", "soon"), ("duration", ""), ("place", "soon")])  # fmt: skip
def test_what_a_form_does_not_understand_is_said(form: str, text: str) -> None:
    with pytest.raises(UsageError):
        wish(form, text, 0)


async def test_a_change_that_was_begun_is_finished_and_told_when_the_dialog_is_left(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the offsets were changed, and nobody was told of it or of the file that takes it back."""
    async with world.open() as pilot:
        await pilot.press("r")
        await shows(pilot, "2 of 2 would change")
        session, left = cast("Dashboard", pilot.app).session, asyncio.Event()
        change = session.change

        async def answered_late(*args: Any, **given: Any) -> Any:
            answer = await change(*args, **given)
            await left.wait()
            return answer

        monkeypatch.setattr(session, "change", answered_late)
        await confirm(pilot, "billing")
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, Reset)
        left.set()
        text = await shows(pilot, "2 reset.")
        assert "kcli undo 1 --execute" in " ".join(text.replace("▌", " ").split())
    assert await world.committed() == {0: 0, 1: 0}
    assert "billing" in undo_file()

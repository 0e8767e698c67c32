"""The user's editor and pager, and the form of configs."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input

from kcli.admin.configs import Config, Resource
from kcli.errors import KcliError
from kcli.sandbox.thread import SandboxThread
from kcli.tui.actions.changes.topics import AlterConfigs
from kcli.tui.actions.programs import changes, editor, properties
from kcli.tui.dialogs.configs import about
from tests.tui.conftest import shows, visit
from tests.tui.test_terminal import Pane
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONFIGS = [
    Config(name="retention.ms", value="60000", source="topic", kind="long", inherited="604800000",
           documentation="How long."),
    Config(name="cleanup.policy", value="compact", source="topic", kind="list", inherited="delete"),
    Config(name="segment.bytes", value="1073741824", source="default", kind="int"),
    Config(name="password", value=None, source="broker", secret=True),
    Config(name="broker.id", value="1", source="server.properties", read_only=True),
]  # fmt: skip


@pytest.mark.needs("tmux")
@pytest.mark.process
@pytest.mark.long
def test_a_record_is_edited_in_the_editor_with_its_arguments_and_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ctrl+c in the editor is the editor's own."""
    program = tmp_path / "my editor"
    program.write_text(
        "#!/bin/sh\ntrap 'echo interrupted' INT\necho editing with $1; read wait\nsed -i s/ann/bob/ $2\n"
        f"cp $2 {tmp_path}/seen\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setenv("EDITOR", f"'{program}' --wait")
    monkeypatch.setenv("PAGER", "sh -c 'cat $1; read wait' pager")
    with SandboxThread(topics={"orders": 1}) as sandbox:
        kcli = [sys.executable, "-m", "kcli"]
        send = [*kcli, "produce", "orders", "--value", '{"id": 7, "who": "ann"}', "-q", "-b", sandbox.bootstrap]
        subprocess.run(send, check=True, timeout=60)
        pane = Pane(120, 36)
        try:
            pane.run(f"{' '.join(kcli)} tui records orders -b {sandbox.bootstrap}")
            pane.shows('"who": "ann"')
            pane.press("v")
            pane.shows('  "who": "ann"')  # in lines
            pane.press("Enter")
            pane.shows("Records of orders")
            pane.press("C-e")
            pane.shows("editing with --wait")
            pane.press("C-c")
            pane.shows("interrupted")
            pane.press("Enter")
            pane.shows("Produce a record")
            pane.shows('"who": "bob"')
            pane.shows("JSON, 2 fields")
            time.sleep(1)  # a key that comes while a dialog is made is for none of its fields
            pane.press("C-s")
            pane.shows("1 sent")
            pane.press("Escape")
            pane.shows("p Hold")
            pane.shows('{"id": 7, "who": "bob"}')
            time.sleep(1)  # escape and q at once are alt+q
            pane.type("q")
            pane.shows("ended with 0.")
        finally:
            pane.close()
    assert (tmp_path / "seen").read_text() == '{\n  "id": 7,\n  "who": "bob"\n}'


def test_the_words_of_the_editor_are_those_of_a_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "emacs -nw --eval '(setq x 1)'")
    assert editor() == ["emacs", "-nw", "--eval", "(setq x 1)"]
    monkeypatch.setenv("VISUAL", "code --wait")
    assert editor() == ["code", "--wait"]
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.delenv("EDITOR")
    assert editor() == ["vi"]


def test_what_is_changed_in_the_file_of_configs_is_the_plan() -> None:
    text = properties(CONFIGS)
    assert changes(CONFIGS, text) == []
    assert "# segment.bytes=1073741824" in text
    assert "1073741824" not in "".join(changes(CONFIGS, text))
    assert changes(CONFIGS, text.replace("60000", "3d")) == ["retention.ms=3d"]
    assert changes(CONFIGS, text.replace("# segment.bytes=1073741824", "segment.bytes=1GiB")) == ["segment.bytes=1GiB"]
    assert changes(CONFIGS, text.replace("cleanup.policy=compact", "# gone")) == ["cleanup.policy="]
    assert changes(CONFIGS, text.replace("=compact", "=compact, delete")) == ["'cleanup.policy=compact, delete'"]
    odd = [Config(name="note", value="a\x1bb", source="topic")]
    assert changes(odd, properties(odd)) == [], "what no terminal shows was not changed"
    with pytest.raises(KcliError, match="expected KEY=VALUE"):
        changes(CONFIGS, text + "nonsense\n")


def test_the_form_says_value_default_unit_and_documentation() -> None:
    said = about(CONFIGS, "retention.ms=3d")
    assert said.startswith("now 60000 (1m00s), set by topic; without it 604800000 (7d00h). Takes long, also as 3d")
    assert said.endswith("How long.")
    assert "1GiB" in about(CONFIGS, "segment.bytes")
    assert about(CONFIGS, "retnetion.ms=1") == "unknown config retnetion.ms; did you mean retention.ms?"
    assert about(CONFIGS, "") == "set now: retention.ms=60000 (1m00s)  cleanup.policy=compact"
    assert about(CONFIGS, "segm").startswith("such as: segment.bytes=1073741824 (1.0 GiB)")
    assert "secret" in about(CONFIGS, "password")


def test_a_value_with_blanks_is_one_word_of_the_form_and_of_the_command() -> None:
    at = Resource("topic", "orders")
    edited = AlterConfigs(at, text=" ".join(changes(CONFIGS, "retention.ms=3d\ncleanup.policy=compact, delete\n")))
    named = AlterConfigs(at, "cleanup.policy", "compact, delete")
    command = "kcli configs set topic orders {}'cleanup.policy=compact, delete' --execute"
    for form, before in ((edited, "retention.ms=3d "), (named, "")):
        assert form.command({"configs": form.asks[0].value}) == command.format(before)


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


async def test_a_config_is_completed_explained_and_set_with_a_unit(world: World) -> None:
    async with world.open(size=(140, 40)) as pilot:
        await visit(pilot, "topic orders")
        await pilot.press("a", "c")
        await shows(pilot, "set now: ")
        await pilot.press(*"retention.m")
        await shows(pilot, "such as: ")
        await pilot.press("right")
        await shows(pilot, "now 604800000 (7d00h), set by default")
        await pilot.press(*"3d")
        await shows(pilot, "259200000")
        field = pilot.app.screen.query_one("#f-configs", Input)
        assert field.value == "retention.ms=3d"
        field.value = "retention.mss=3d"
        await shows(pilot, "did you mean retention.ms?")

"""`kcli groups reset` and `delete-offsets` on a share group (KIP-932), against the sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A topic with ten records in one partition and one in the other, all of which the share group `work` accepted."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with SandboxThread(topics={"t": 2}) as sandbox:
        made = Shell(sandbox.bootstrap)
        made.ok("produce", "t", "-p", "0", stdin=b"".join(b"%d\n" % n for n in range(10)))
        made.ok("produce", "t", "-p", "1", stdin=b"10\n")
        made.ok("consume", "t", "--share-group", "work", "--from-beginning", "-e", "-q")
        yield made


def starts(shell: Shell) -> dict[int, Any]:
    rows = json.loads(shell.ok("lag", "work", "--by", "partition", "-J"))["partitions"]
    return {row["partition"]: row["committed"] for row in rows}


def reset(shell: Shell, *words: str, code: int = 0) -> dict[int, tuple[Any, ...]]:
    ran = shell("groups", *words, "-J")
    assert ran.returncode == code, ran.stderr
    return {row["partition"]: (row["old"], row["new"], row["result"]) for row in json.loads(ran.stdout)["partitions"]}


def test_a_reset_moves_the_start_and_its_undo_file_moves_it_back(shell: Shell, tmp_path: Path) -> None:
    assert starts(shell) == {0: 10, 1: 1}
    plan = reset(shell, "reset", "work", "-t", "t", "--to-earliest", "--dry-run")
    assert plan == {0: (10, 0, "would reset"), 1: (1, 0, "would reset")}
    assert starts(shell) == {0: 10, 1: 1}
    undo = str(tmp_path / "undo.json")
    words = ("reset", "work", "-t", "t", "--to-earliest", "--execute", "--undo-file", undo)
    assert reset(shell, *words)[0] == (10, 0, "reset")
    assert starts(shell) == {0: 0, 1: 0}
    assert reset(shell, "reset", "--from-file", undo, "--execute")[0] == (0, 10, "reset")
    assert starts(shell) == {0: 10, 1: 1}
    reset(shell, "reset", "work", "-t", "t:0", "--to", "4", "--execute")
    assert shell.ok("consume", "t", "--share-group", "work", "-e", "-q").split() == [b"%d" % n for n in range(4, 10)]


def test_a_share_group_forgets_a_whole_topic_and_the_undo_file_restores_it(shell: Shell, tmp_path: Path) -> None:
    part = reset(shell, "delete-offsets", "work", "-t", "t:0", "--execute", code=1)
    assert part == {0: (10, None, "refused")}
    undo = str(tmp_path / "undo.json")
    gone = reset(shell, "delete-offsets", "work", "-t", "t", "--execute", "--undo-file", undo)
    assert gone == {0: (10, None, "deleted"), 1: (1, None, "deleted")}
    assert starts(shell) == {}
    reset(shell, "reset", "--from-file", undo, "--execute")
    assert starts(shell) == {0: 10, 1: 1}


def test_a_reset_to_where_it_starts_is_a_change_because_it_forgets_acknowledgements(shell: Shell) -> None:
    assert reset(shell, "reset", "work", "-t", "t:0", "--to", "10", "--dry-run") == {0: (10, 10, "would reset")}


def test_a_file_may_have_a_share_group_forget_a_whole_topic_and_no_part_of_it(shell: Shell, tmp_path: Path) -> None:
    undo = tmp_path / "undo.json"
    reset(shell, "reset", "work", "-t", "t", "--to-earliest", "--execute", "--undo-file", str(undo))
    saved = json.loads(undo.read_text())
    both = [{**row, "offset": None} for row in saved["offsets"]]
    undo.write_text(json.dumps({**saved, "offsets": both[:1]}))
    assert reset(shell, "reset", "--from-file", str(undo), "--execute", code=1) == {0: (0, None, "refused")}
    assert starts(shell) == {0: 0, 1: 0}
    undo.write_text(json.dumps({**saved, "offsets": both}))
    gone = reset(shell, "reset", "--from-file", str(undo), "--execute")
    assert gone == {0: (0, None, "deleted"), 1: (0, None, "deleted")}
    assert starts(shell) == {}


def test_the_starts_of_a_share_group_are_not_copied_to_other_groups(shell: Shell) -> None:
    ran = shell("groups", "reset", "other", "--from-group", "work", "-t", "t", "--dry-run")
    assert b"work: a share group has no committed offsets to copy" in ran.stderr

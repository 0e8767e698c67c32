"""The groups in which `copy` and `redrive` keep their progress: not in `lag` unless asked for, and then marked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kcli.cli.main import main
from kcli.lag.formats.recording import line as recorded
from tests.cli.admin_fixture import Line, line
from tests.lag.test_history import snapshot_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["line"]

COPY, REDRIVE = "kcli-copy.orders.mail.0badcafe", "kcli-redrive.dlq.0badcafe"


@pytest.fixture
def copied(line: Line) -> Line:
    for name in (COPY, REDRIVE):
        line.tiny.group(name, state="Empty", orders=[1, 51, 1])
    return line


def test_they_are_left_out_and_that_is_said(copied: Line) -> None:
    ran = copied("lag", "-J")
    assert {row["group"] for row in ran.json["groups"]} == {"billing", "idle"}
    assert ran.err == "", "a script that succeeds is silent"
    ran = copied("lag", "-v")
    assert ran.err == "kcli: 2 groups with the progress of kcli copy and redrive are hidden; --internal shows them\n"
    assert copied("lag", "-q", "--max-lag", "200").code == 0
    assert copied("lag", "-q", "--max-lag", "200", "--internal").code == 3


@pytest.mark.parametrize("words", [("--internal",), (COPY, REDRIVE, "--by", "group"), (COPY, REDRIVE)])
def test_whoever_wants_them_sees_what_they_are(copied: Line, words: tuple[str, ...]) -> None:
    ran = copied("lag", *words, "-J")
    assert ran.err == ""
    notes = {row["group"]: row["note"] for row in ran.json.get("topics") or ran.json["groups"]}
    assert (notes[COPY], notes[REDRIVE]) == ("progress of kcli copy", "progress of kcli redrive")


def test_without_any_nothing_is_said(line: Line) -> None:
    assert line("lag", "-J").err == ""


def test_nor_are_they_in_what_looks_again_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "r.ndjson"
    shot = snapshot_of({0: 5}, 10, members=(), group=COPY)
    shot.groups += snapshot_of({0: 10}, 10).groups
    file.write_text(recorded(1.0, shot))
    for words, groups in (((), ["g"]), (("--internal",), [COPY, "g"]), ((COPY,), [COPY])):
        assert main(["lag", "--replay", str(file), "--by", "group", "--format", "ndjson", *words]) == 0
        assert [json.loads(row)["group"] for row in capsys.readouterr().out.splitlines()] == groups
    assert main(["lag", "--replay", str(file), "--max-lag", "0"]) == 0

"""The journal of changes: what writers leave in it, together, interrupted, on a full disk; and what readers find."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.changes import journal
from kcli.changes.change import Undo
from kcli.errors import UsageError

UNDO = Undo(document={"schema": "kcli.configs.undo/1", "configs": []})
ROW = {"kind": "topic", "name": "orders", "config": "retention.ms", "old": "1", "new": "2", "result": "would change"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "kcli" / "journal"


def begin(words: str = "configs set topic orders retention.ms=2 --execute", undo: Undo | None = UNDO) -> int:
    return journal.begin(words.split(), "cluster-1", [ROW], undo)


def test_a_change_is_unknown_until_its_outcome_is_written() -> None:
    number = begin()
    (one,) = journal.entries()
    assert (one.number, one.result, one.changed, one.undoable) == (number, "unknown", 0, True)
    journal.end(number, "done", 1)
    one = journal.entry(number)
    assert (one.result, one.changed, one.cluster) == ("done", 1, "cluster-1")
    assert one.command == "kcli configs set topic orders retention.ms=2 --execute"
    assert one.details() == ([ROW], UNDO.document)


def test_only_this_user_can_read_it(folder: Path) -> None:
    begin()
    assert stat.S_IMODE((folder / "journal.ndjson").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_large_change_is_in_a_file_beside_the_journal(folder: Path) -> None:
    rows = [{**ROW, "name": f"topic-{number}"} for number in range(2000)]
    number = journal.begin(["apply"], "c", rows, UNDO)
    assert (folder / "journal.ndjson").stat().st_size < 1000
    assert journal.entry(number).details() == (rows, UNDO.document)
    (folder / f"change-{number}.json").unlink()
    with pytest.raises(UsageError, match=f"the details of change {number} cannot be read"):
        journal.entry(number).details()


def test_the_last_changes_are_kept_with_their_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "KEPT", 20)
    monkeypatch.setattr(journal, "INLINE", 0)
    for _ in range(60):
        journal.end(begin(), "done", 1)
    numbers = [one.number for one in journal.entries()]
    assert numbers == list(range(numbers[0], 61))
    assert 20 <= len(numbers) <= 23
    assert {one.result for one in journal.entries()} == {"done"}
    assert sorted(folder.glob("change-*")) == sorted(folder / f"change-{number}.json" for number in numbers)


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_a_line_that_was_cut_short_does_not_spoil_the_next(folder: Path, cut: int) -> None:
    journal.end(begin(), "done", 1)
    path = folder / "journal.ndjson"
    whole = path.read_bytes()
    begin()
    path.write_bytes(whole + path.read_bytes()[len(whole) :][:cut])
    number = begin("topics delete gone --execute")
    assert journal.entry(number).command == "kcli topics delete gone --execute"
    assert journal.entries()[0].result == "done"


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    path = Path(os.environ["XDG_STATE_HOME"]) / "kcli" / "journal"
    path.mkdir(parents=True, exist_ok=True)
    (path / "journal.ndjson").write_bytes(data)
    journal.entries()


@pytest.mark.process
def test_writers_take_turns() -> None:
    """Eight processes write at once: every number once, every change with its own outcome."""
    program = (
        "from kcli.changes import journal\n"
        "import sys\n"
        "for _ in range(10):\n"
        "    journal.end(journal.begin([sys.argv[1]], 'c', [], None), 'done', int(sys.argv[1]))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(number)]) for number in range(8)]
    assert [writer.wait(60) for writer in writers] == [0] * 8
    found = journal.entries()
    assert sorted(one.number for one in found) == list(range(1, 81))
    assert all(one.command == f"kcli {one.changed}" and one.result == "done" for one in found)


def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file in the place of the folder")
    with pytest.raises(journal.NotWritten, match=r"the journal .*journal\.ndjson cannot be written"):
        begin()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("configs set broker 1 ssl.keystore.password=hunter2", "kcli configs set broker 1 'ssl.keystore.password=***'"),
        ("topics list -X sasl.password=hunter2", "kcli topics list -X 'sasl.password=***'"),
        ("topics list -Xsasl.password=hunter2", "kcli topics list '-Xsasl.password=***'"),
        ("x --token hunter2 --token-file f", "kcli x --token '***' --token-file f"),
        ("x --password=hunter2", "kcli x '--password=***'"),
        ("x --property=ssl.key.password=hunter2", "kcli x '--property=ssl.key.password=***'"),
        ("x -Xssl.keystore.key=hunter2", "kcli x '-Xssl.keystore.key=***'"),
        ("x -Xschema.registry.basic.auth.user.info=u:hunter2", "kcli x '-Xschema.registry.basic.auth.user.info=***'"),
        ("x ssl.key.password=ab,hunter2=zz", "kcli x 'ssl.key.password=***'"),
        ("x --to @-2h --before @2023-11-14T22:13:25Z s@1", "kcli x --to @-2h --before @2023-11-14T22:13:25Z s@1"),
        ("x -b bob:hunter2@h:9092", "kcli x -b '***@h:9092'"),
        ("x --add-config a=1,ssl.key.password=hunter2", "kcli x --add-config 'a=***,ssl.key.password=***'"),
        ("x -X sasl.oauthbearer.extensions=a=hunter2", "kcli x -X 'sasl.oauthbearer.extensions=***'"),
        ("x --schema-registry https://me:hunter2@host/", "kcli x --schema-registry 'https://***@host/'"),
    ],
)
def test_secrets_of_a_command_line_are_not_written(words: str, shown: str, folder: Path) -> None:
    begin(words)
    assert journal.entries()[0].command == shown
    assert "hunter2" not in (folder / "journal.ndjson").read_text()


def test_the_value_of_a_config_that_is_a_secret_to_the_broker_is_not_written(folder: Path) -> None:
    row = {"config": "my.plugin.api.key", "old": None, "new": "***", "result": "would change"}
    journal.begin(["configs", "set", "broker", "1", "my.plugin.api.key=hunter2"], "c", [row], None)
    assert "hunter2" not in (folder / "journal.ndjson").read_text()


def test_a_journal_that_cannot_be_read_cannot_be_written(folder: Path) -> None:
    (folder / "journal.ndjson").mkdir(parents=True)
    with pytest.raises(journal.NotWritten, match="Is a directory"):
        begin()


@pytest.mark.parametrize(
    ("before", "after", "finished", "outcome"),
    [
        (["would change"], ["done"], True, ("done", 1)),
        (["would change", "unchanged"], ["done", "unchanged"], True, ("done", 1)),
        (["would delete", "would delete"], ["deleted", "failed"], True, ("partly", 1)),
        (["would delete"], ["failed"], True, ("failed", 0)),
        (["would change"], ["unknown"], True, ("unknown", 0)),
        (["would change", "would change"], ["done", "would change"], False, ("unknown", 1)),
        (["would create", "would create"], ["created", "would create"], True, ("done", 1)),
        (["exists"], ["exists"], True, ("unchanged", 0)),
    ],
)
def test_the_outcome_counts_rows(before: list[str], after: list[str], finished: bool, outcome: tuple[str, int]) -> None:
    assert journal.outcome(before, after, finished=finished) == outcome


def test_the_journal_is_lines_of_json(folder: Path) -> None:
    journal.end(begin(), "done", 1)
    first, second = (json.loads(line) for line in (folder / "journal.ndjson").read_text().splitlines())
    assert first["command"].startswith("kcli configs set")
    assert second == {"number": 1, "result": "done", "changed": 1}

"""`kcli groups reset`, `delete-offsets`, `clone` and `export` as their user sees them, on the embedded broker."""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kcli import codes
from kcli.changes.offsets import execute
from kcli.cli.main import main
from kcli.cli.runtime.journal import journaled
from kcli.errors import KcliError
from kcli.sandbox.thread import SandboxThread
from tests.changes.undone import undo_files
from tests.programs import KCLI, Background


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads(self.out)["partitions"]
        return rows

    @property
    def results(self) -> list[tuple[Any, Any, str]]:
        return [(row["old"], row["new"], row["result"]) for row in self.rows]


class Shell:
    """`shell("groups", …)` runs a command line in this process. `orders` has 100 records in partition 0, 30 in 1 and
    none in 2; billing has committed 50 and 10 of the first two."""

    def __init__(self, sandbox: SandboxThread, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.sandbox, self.folder, self.capsys = sandbox, folder, capsys

    def __call__(self, *words: str) -> Ran:
        code = main(list(words))
        out, err = self.capsys.readouterr()
        return Ran(code, out, err)

    def file(self, text: str, name: str = "offsets") -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def produce(self, topic: str, partition: int, count: int) -> None:
        lines = self.file("".join(f"{n}\n" for n in range(count)), "lines")
        assert self("produce", topic, lines, "-p", str(partition), "-q").code == 0

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        rows = json.loads(self("groups", "export", group, "-J").out)["offsets"]
        return {(row["topic"], row["partition"]): row["offset"] for row in rows}

    @property
    def undo_files(self) -> list[Path]:
        return undo_files(self.folder / "state")


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    with SandboxThread(topics={"orders": 3, "mail": 1}, auto_create=False) as sandbox:
        monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        made = Shell(sandbox, tmp_path, capsys)
        made.produce("orders", 0, 100)
        made.produce("orders", 1, 30)
        start = made.file("orders,0,50\norders,1,10\n")
        line = ("groups", "reset", "billing", "--create", "--from-file", start, "--execute", "--no-undo", "-q")
        assert made(*line).code == 0
        yield made
        assert sandbox.violations == []


ORDERS = {("orders", 0): 50, ("orders", 1): 10}
RESET = ("groups", "reset", "billing")


def test_o_says_where_to_as_it_says_where_to_start_elsewhere(shell: Shell) -> None:
    line = (*RESET[:2], "-g", "billing", "--all-topics", "--dry-run", "-J")
    assert shell(*line, "-o", "beginning").rows == shell(*line, "--to", "beginning").rows


def test_E43_the_plan_comes_first_and_nothing_is_done_without_a_word(shell: Shell) -> None:
    plan = shell(*RESET, "--all-topics", "--to-earliest", "--dry-run")
    assert plan.code == 0
    assert plan.out.splitlines() == [
        "GROUP    TOPIC   PARTITION  OLD  NEW  DELTA  RESULT       NOTE",
        "billing  orders          0   50    0    -50  would reset  –",
        "billing  orders          1   10    0    -10  would reset  –",
        "billing  orders          2    –    0      –  would reset  –",
    ]
    script = shell(*RESET, "--all-topics", "--to-earliest")
    assert script.code == 0
    assert "plan only, nothing changed; add --execute" in script.err
    assert script.out == plan.out
    assert shell.committed("billing") == ORDERS
    assert not shell.undo_files


def test_E43_what_an_undo_file_takes_back_is_confirmed_by_y(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", Terminal("billing\n"))
    refused = shell(*RESET, "--all-topics", "--to-latest")
    assert (refused.code, shell.committed("billing")) == (1, ORDERS)
    assert "not confirmed: nothing was changed" in refused.err
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert shell(*RESET, "--all-topics", "--to-latest").code == 0
    assert shell.committed("billing") == {("orders", 0): 100, ("orders", 1): 30, ("orders", 2): 0}


@pytest.mark.parametrize(
    ("form", "news"),
    [
        (("--to-earliest",), [0, 0, 0]),
        (("--to-latest",), [100, 30, 0]),
        (("--to-offset", "40"), [40, 30, 0]),
        (("--shift-by", "-20"), [30, 0, None]),
        (("--shift-by=30",), [80, 30, None]),
        (("--to-current",), [50, 10, 0]),
        (("--to", "beginning"), [0, 0, 0]),
        (("--to", "end"), [100, 30, 0]),
        (("--to", "stored"), [50, 10, 0]),
        (("--to", "7"), [7, 7, 0]),
        (("--to", "-7"), [93, 23, 0]),
        (("--to", "+7"), [7, 7, 0]),
        (("--to", "@-1h"), [0, 0, 0]),
        (("--to", "@now"), [100, 30, 0]),
        (("--by-duration", "PT1H30M"), [0, 0, 0]),
        (("--by-duration", "P1DT2H"), [0, 0, 0]),
        (("--by-duration", "90m"), [0, 0, 0]),
        (("--by-duration", "PT0S"), [100, 30, 0]),
        (("--to-datetime", "2020-01-31T10:00:00.000"), [0, 0, 0]),
        (("--to-datetime", "2120-01-31T10:00:00+02:00"), [100, 30, 0]),
    ],
)
def test_E43_every_form_says_where_to(shell: Shell, form: tuple[str, ...], news: list[int | None]) -> None:
    done = shell(*RESET, "-t", "orders", *form, "--execute", "-J")
    assert done.code == 0, done.err
    assert [row["new"] for row in done.rows] == news
    kept = {("orders", n): new for n, new in enumerate(news) if new is not None}
    assert shell.committed("billing") == kept


def test_E43_a_clamped_row_says_so(shell: Shell) -> None:
    rows = shell(*RESET, "-t", "orders:0-1", "--to-offset", "40", "--dry-run", "-J").rows
    assert [(row["new"], row["note"]) for row in rows] == [(40, None), (30, "clamped: 40 is past the log's end")]
    assert [(row["start"], row["end"], row["lag"]) for row in rows] == [(0, 100, 60), (0, 30, 0)]


def test_E43_a_moment_is_told_in_utc_and_kafkas_option_means_utc(shell: Shell) -> None:
    said = shell(*RESET, "-t", "orders", "--to-datetime", "2026-01-31T10:00:00.000", "--dry-run").err
    assert said == "kcli: to 2026-01-31T10:00:00.000Z\n"
    hour_ago = shell(*RESET, "-t", "orders", "--by-duration", "PT1H", "--dry-run").err.split()[-1]
    assert abs(datetime.fromisoformat(hour_ago) - datetime.now(UTC) + timedelta(hours=1)) < timedelta(minutes=1)


def test_E43_the_undo_file_brings_back_also_what_was_not_committed(shell: Shell) -> None:
    done = shell(*RESET, "--all-topics", "--to-latest", "--execute")
    assert done.code == 0
    (undo,) = shell.undo_files
    assert "to undo this: kcli undo 2 --execute" in done.err
    assert [row["offset"] for row in json.loads(undo.read_text())["offsets"]] == [50, 10, None]
    back = shell("groups", "reset", "--from-file", str(undo), "--execute", "-J")
    assert back.code == 0, back.err
    assert back.results == [(100, 50, "reset"), (30, 10, "reset"), (0, None, "deleted")]
    assert shell.committed("billing") == ORDERS
    again = shell("groups", "reset", "--from-file", str(undo), "--execute", "-J")
    assert (again.code, {row["result"] for row in again.rows}) == (0, {"unchanged"})
    assert "nothing to change" in again.err
    assert len(shell.undo_files) == 2  # the undo has an undo; what changed nothing has none


def test_E43_epoch_and_metadata_come_back(shell: Shell) -> None:
    row = {"group": "billing", "topic": "orders", "partition": 0, "offset": 20, "leader_epoch": 0, "metadata": "mine"}
    path = shell.file(json.dumps({"schema": "kcli.groups.export/1", "offsets": [row]}))
    assert shell("groups", "reset", "--from-file", path, "--execute", "--no-undo").code == 0
    assert shell(*RESET, "-t", "orders:0", "--to-latest", "--execute").code == 0
    assert json.loads(shell("groups", "export", "billing", "-J").out)["offsets"][0]["metadata"] is None
    assert shell("groups", "reset", "--from-file", str(shell.undo_files[0]), "--execute").code == 0
    assert json.loads(shell("groups", "export", "billing", "-J").out)["offsets"][0] == row


def test_E43_without_an_undo_file_nothing_is_changed(shell: Shell) -> None:
    nowhere = shell(*RESET, "-t", "orders", "--to-latest", "--execute", "--undo-file", str(shell.folder / "no" / "f"))
    assert nowhere.code == 2
    assert "there is no folder" in nowhere.err
    there = shell.file("precious", "there")
    assert shell(*RESET, "-t", "orders", "--to-latest", "--execute", "--undo-file", there).code == 2
    assert Path(there).read_text() == "precious"
    assert shell.committed("billing") == ORDERS
    assert shell(*RESET, "-t", "orders", "--to-latest", "--execute", "--no-undo").code == 0
    assert not shell.undo_files


@pytest.mark.process
def test_E43_a_group_at_work_is_refused_with_who_is_in_it(shell: Shell, tmp_path: Path) -> None:
    with at_work(shell, "billing", "orders"):
        for words in (RESET, ("groups", "clone", "idle")):
            ran = shell(*words, *(["billing"] if "clone" in words else ["-t", "orders", "--to-latest"]), "--execute")
            assert ran.code == 1
            if words is RESET:
                assert "billing: the group is Stable with 1 member (kcli-" in ran.err
                assert ran.err.count("billing: the group") == 1
                assert ran.out.count("refused") == 3
    assert not shell.undo_files


class at_work:
    """A member of the group at work, while it lasts."""

    def __init__(self, shell: Shell, group: str, topic: str, *more: str) -> None:
        consume = [*KCLI, "consume", topic, "-g", group, "-q", *more]
        self.shell, self.group = shell, group
        self.process = Background(consume, stdout=shell.folder / f"out-{time.monotonic_ns()}")

    def __enter__(self) -> None:
        self.process.__enter__()
        for _ in range(100):
            ran = self.shell("groups", "members", self.group, "-J")
            if ran.code == 0 and any(row["partitions"] for row in json.loads(ran.out)["members"]):
                return
            time.sleep(0.05)
        self.process.__exit__()
        raise AssertionError(f"nobody joined: {self.process.err}")

    def __exit__(self, *_: object) -> None:
        self.process.stop()
        self.process.__exit__()


@pytest.mark.process
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_E43_offsets_of_a_topic_nobody_reads_can_be_deleted_from_a_group_at_work(shell: Shell, protocol: str) -> None:
    shell.produce("mail", 0, 5)
    assert shell(*RESET, "-t", "mail", "--to-latest", "--execute", "--no-undo").code == 0
    with at_work(shell, "billing", "orders", "-X", f"group.protocol={protocol}"):
        both = shell("groups", "delete-offsets", "billing", "-t", "mail", "-t", "orders", "--execute", "-J")
        assert both.code == 1
        assert [(row["topic"], row["result"]) for row in both.rows] == [
            ("mail", "deleted"),
            ("orders", "refused"),
            ("orders", "refused"),
        ]
        assert "billing: orders is read by 1 member (kcli-" in both.err
        assert ("mail", 0) not in shell.committed("billing")
        assert [row["offset"] for row in json.loads(shell.undo_files[0].read_text())["offsets"]] == [5]


def test_delete_offsets_of_an_empty_group_and_of_one_that_is_none(shell: Shell) -> None:
    done = shell("groups", "delete-offsets", "billing", "-t", "orders:0,2", "--execute", "-J")
    assert (done.code, done.results) == (0, [(50, None, "deleted"), (None, None, "unchanged")])
    assert shell.committed("billing") == {("orders", 1): 10}
    again = shell("groups", "delete-offsets", "billing", "-t", "mail", "--execute")
    assert (again.code, again.err) == (0, "kcli: no committed offset there\nkcli: nothing to change\n")
    wrong = shell("groups", "delete-offsets", "biling", "-t", "orders", "--execute")
    assert wrong.code == 1
    assert "biling: this group does not exist; did you mean billing?" in wrong.err


def test_clone_copies_to_a_group_that_need_not_exist_and_keeps_the_rest(shell: Shell) -> None:
    done = shell("groups", "clone", "billing", "billing-2", "--execute", "-J")
    assert done.code == 0, done.err
    assert done.results == [(None, 50, "reset"), (None, 10, "reset")]
    assert shell.committed("billing-2") == ORDERS
    assert shell("groups", "reset", "billing-2", "-t", "orders", "--to-latest", "--execute").code == 0
    assert shell("groups", "clone", "billing", "billing-2", "-t", "orders:1", "--execute").code == 0
    assert shell.committed("billing-2") == {("orders", 0): 100, ("orders", 1): 10, ("orders", 2): 0}
    missing = shell("groups", "clone", "bill", "billing-3", "--execute")
    assert missing.code == 1
    assert "bill: this group does not exist" in missing.err
    assert shell("groups", "clone", "billing", "billing", "--execute").code == 2
    assert shell("groups", "clone", "billing").code == 2
    other = shell(
        "groups", "reset", "billing-3", "--from-group", "billing", "-t", "orders:0", "--create", "--execute", "-J"
    )
    assert other.results == [(None, 50, "reset")]


@pytest.mark.process
def test_a_clone_of_a_group_at_work_is_fine(shell: Shell) -> None:
    with at_work(shell, "billing", "orders"):
        assert shell("groups", "clone", "billing", "billing-2", "--execute").code == 0
    assert shell.committed("billing-2").keys() >= ORDERS.keys()


def test_export_is_kafkas_csv_with_the_group_when_there_are_several(shell: Shell) -> None:
    assert shell("groups", "clone", "billing", "copy", "--execute", "--no-undo").code == 0
    assert shell("groups", "export", "billing").out == "orders,0,50\norders,1,10\n"
    assert shell("groups", "export", "billing", "copy").out == shell("groups", "export").out
    assert shell("groups", "export", "-t", "orders:1").out == "billing,orders,1,10\ncopy,orders,1,10\n"
    assert shell("groups", "export", "none").code == 1
    assert shell("groups", "export", "billing", "--format", "table").out.startswith(
        "GROUP    TOPIC   PARTITION  OFFSET\n"
    )


@pytest.mark.parametrize("format", ["csv", "json"])
def test_an_export_of_all_groups_is_read_back(shell: Shell, format: str) -> None:
    assert shell("groups", "clone", "billing", "copy", "--execute", "--no-undo").code == 0
    path = shell.file(shell("groups", "export", "--format", format).out)
    for group in ("billing", "copy"):
        assert shell("groups", "reset", group, "--all-topics", "--to-earliest", "--execute", "--no-undo").code == 0
    assert shell("groups", "reset", "copy", "--from-file", path, "--execute", "--no-undo").code == 0
    assert shell.committed("copy") | ORDERS == shell.committed("copy")
    assert shell.committed("billing")["orders", 0] == 0
    assert shell("groups", "reset", "--from-file", path, "--execute", "--no-undo", "-q").code == 0
    assert shell.committed("billing") | ORDERS == shell.committed("billing")


def test_a_file_of_another_group_is_not_taken_for_this_one(shell: Shell) -> None:
    path = shell.file("other,orders,0,5\n")
    ran = shell(*RESET, "--from-file", path, "--execute")
    assert ran.code == 2
    assert "has the offsets of other, not of billing; `kcli groups clone`" in ran.err
    assert shell("groups", "reset", "--from-file", shell.file("orders,0,5\n"), "--execute").code == 2


def test_a_file_of_another_cluster_is_told(shell: Shell) -> None:
    row = {"group": "billing", "topic": "orders", "partition": 0, "offset": 20}
    text = json.dumps({"schema": "kcli.groups.export/1", "taken": [{"cluster_id": "elsewhere"}], "offsets": [row]})
    ran = shell("groups", "reset", "--from-file", shell.file(text), "--dry-run")
    assert ran.code == 0
    assert "was written for cluster elsewhere, but this is " in ran.err


def test_a_group_that_is_misspelt_in_a_file_is_not_created_unless_asked(shell: Shell) -> None:
    line = ("groups", "reset", "--from-file", shell.file("biling,orders,0,20\n"), "--execute")
    ran = shell(*line)
    assert ran.code == 1
    assert "biling: this group does not exist; did you mean billing?; --create creates it" in ran.err
    assert shell.committed("biling") == {}
    assert shell(*line, "--create").code == 0
    assert shell.committed("biling") == {("orders", 0): 20}


def test_an_undo_creates_the_group_that_was_deleted(shell: Shell) -> None:
    assert shell("groups", "delete", "billing", "--execute").code == 0
    ran = shell("undo", "2", "--execute")
    assert ran.code == 0, ran.err
    assert shell.committed("billing") == ORDERS


def test_rows_of_a_file_fail_alone(shell: Shell) -> None:
    path = shell.file("gone,0,5\norders,0,20\norders,7,20\n")
    ran = shell(*RESET, "--from-file", path, "--execute", "-J")
    assert ran.code == 1
    assert [(row["topic"], row["partition"], row["result"]) for row in ran.rows] == [
        ("gone", 0, "failed"),
        ("orders", 0, "reset"),
        ("orders", 7, "failed"),
    ]
    assert "gone: this topic does not exist" in ran.err
    assert "orders [7]: the topic has partitions 0 to 2 only" in ran.err
    assert shell.committed("billing")["orders", 0] == 20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--to-earliest", "-t", "gone"), "gone: this topic does not exist"),
        (("--to-earliest", "-t", "order"), "order: this topic does not exist; did you mean orders?"),
        (("--to-earliest", "-t", "orders:0", "-t", "orders:9"), "orders [9]: the topic has partitions 0 to 2 only"),
    ],
)
def test_a_slip_of_the_keyboard_changes_nothing(shell: Shell, words: tuple[str, ...], sentence: str) -> None:
    ran = shell(*RESET, *words, "--execute")
    assert ran.code == 1
    assert sentence in ran.err
    assert shell.committed("billing") == ORDERS


def test_all_topics_of_a_group_without_commits_is_told(shell: Shell) -> None:
    ran = shell("groups", "reset", "fresh", "--all-topics", "--to-earliest", "--create", "--execute")
    assert ran.code == 1
    assert "fresh: the group has committed no offsets: give topics with --topic" in ran.err


def test_several_groups_are_one_plan_and_one_undo_file(shell: Shell) -> None:
    assert shell("groups", "clone", "billing", "copy", "--execute", "--no-undo").code == 0
    ran = shell("groups", "reset", "copy", "billing", "--all-topics", "--by-duration", "1h", "--execute", "-J")
    assert ran.code == 0
    assert [(row["group"], row["partition"], row["new"]) for row in ran.rows] == [
        (group, partition, 0) for group in ("billing", "copy") for partition in range(3)
    ]
    (undo,) = shell.undo_files
    assert shell("groups", "reset", "--from-file", str(undo), "--execute").code == 0
    assert shell.committed("billing") == shell.committed("copy") == ORDERS


def test_a_group_that_does_not_exist_is_created_only_when_asked(shell: Shell) -> None:
    line = ("groups", "reset", "biling", "-t", "orders", "--to", "-10", "--execute")
    ran = shell(*line)
    assert ran.code == 1
    assert "biling: this group does not exist; did you mean billing?; --create creates it" in ran.err
    assert shell.committed("biling") == {}
    ran = shell("groups", "reset", "fresh", "-t", "orders", "--to", "-10", "--create", "--execute")
    assert ran.code == 0
    assert shell.committed("fresh") == {("orders", 0): 90, ("orders", 1): 20, ("orders", 2): 0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "missing target; give one of --to, --to-earliest"),
        (("--to-earliest", "--to-offset", "0"), "--to-earliest and --to-offset cannot be combined"),
        (("--to-earliest",), "missing topics: --topic TOPIC"),
        (("--to-earliest", "-t", "orders", "--all-topics"), "--topic and --all-topics cannot be combined"),
        (("--to-earliest", "-t", "orders", "--dry-run", "--execute"), "cannot be combined"),
        (("--to-earliest", "-t", "orders", "--no-undo", "--undo-file", "x"), "cannot be combined"),
        (("--to-earliest", "-t", "orders:"), "--topic orders:: expected"),
        (("--to-earliest", "-t", "orders:x"), "'x' is not a partition"),
        (("--to-earliest", "-t", "orders:3-1"), "'3-1' is not a range"),
        (("--to", "1:5", "-t", "orders"), "this is a range; give a single"),
        (("--to", ":5", "-t", "orders"), "this is a range; give a single"),
        (("--to", "soon", "-t", "orders"), "--to soon: expected"),
        (("--to-offset", "-5", "-t", "orders"), "must be 0 or more"),
        (("--by-duration", "-PT1H", "-t", "orders"), "the duration already counts back from now; write PT1H"),
        (("--by-duration", "-1h", "-t", "orders"), "the duration already counts back from now; write 1h"),
        (("--by-duration", "P1Y", "-t", "orders"), "expected a duration such as"),
        (("--to-datetime", "someday", "-t", "orders"), "expected ISO 8601"),
        (("--from-file", "/nowhere"), "--from-file /nowhere: No such file"),
        (("--from-group", "other", "--time-field", "ts"), "--from-group and --time-field cannot be combined"),
        (("--to-earliest", "-t", "orders", "--time-field", "ts"), "--time-field requires a time"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", "localhost:1")
    assert main([*RESET, *words]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


# -- what may go wrong on the way --------------------------------------------------------------------------------------


def test_E43_a_partition_that_is_refused_has_its_own_row(shell: Shell) -> None:
    shell.sandbox.faults.error("OffsetCommit", codes.TOPIC_AUTHORIZATION_FAILED, topic="orders", partition=1)
    ran = shell(*RESET, "-t", "orders", "--to-latest", "--execute", "-J")
    assert ran.code == 1
    assert [row["result"] for row in ran.rows] == ["reset", "failed", "reset"]
    assert "TOPIC_AUTHORIZATION_FAILED" in ran.rows[1]["error"]
    assert shell.committed("billing") == {("orders", 0): 100, ("orders", 1): 10, ("orders", 2): 0}


def test_E40_what_passes_is_tried_again(shell: Shell) -> None:
    shell.sandbox.faults.error("OffsetCommit", codes.NOT_COORDINATOR)
    shell.sandbox.faults.error("OffsetCommit", codes.COORDINATOR_LOAD_IN_PROGRESS)
    shell.sandbox.faults.wire.lose_answer("OffsetCommit")
    assert shell(*RESET, "-t", "orders:0", "--to-latest", "--execute").code == 0
    assert shell.committed("billing")["orders", 0] == 100


def test_D22_E43_a_commit_without_an_answer_is_unknown(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(execute.__kwdefaults__ or {}, "patience", 0.5)
    shell.sandbox.faults.wire.never_answer("OffsetCommit", times=9)
    ran = shell(*RESET, "-t", "orders:0", "--to-latest", "--execute", "-J", "-X", "request.timeout.ms=300")
    assert ran.code == 1
    assert [row["result"] for row in ran.rows] == ["unknown"]
    assert "it is unknown whether the offset was changed" in ran.err
    assert "offsets: 1 unknown" in ran.err
    assert [row["offset"] for row in json.loads(shell.undo_files[0].read_text())["offsets"]] == [50]


@pytest.mark.process
def test_E43_somebody_who_joins_after_the_plan_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    members: list[Background] = []

    async def slow(options: Any, target: Any, rows: Any, undo: Any, work: Any) -> Any:
        async def late() -> Any:
            member = Background([*KCLI, "consume", "orders", "-g", "billing", "-q"], stdout=shell.folder / "late")
            members.append(member)
            for _ in range(200):
                if shell.sandbox.call(lambda box: bool(box.cluster.groups.any("billing").members)):
                    break
                await asyncio.sleep(0.02)
            return await work()

        return await journaled(options, target, rows, undo, late)

    monkeypatch.setattr("kcli.cli.runtime.journal.journaled", slow)
    try:
        ran = shell(*RESET, "-t", "orders", "--to-latest", "--execute", "-J")
    finally:
        for member in members:
            member.__exit__()
    assert ran.code == 1
    assert {row["result"] for row in ran.rows} == {"failed"}
    assert "1 member (kcli-" in ran.err
    assert shell.committed("billing") == ORDERS


def test_a_profile_that_is_read_only_lets_the_plan_through_and_nothing_else(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = shell.file(
        f'[profiles.prod]\nbootstrap = "{os.environ["KCLI_BOOTSTRAP"]}"\nread_only = true\n', "config.toml"
    )
    monkeypatch.setenv("KCLI_CONFIG", config)
    monkeypatch.delenv("KCLI_BOOTSTRAP")
    words = (*RESET, "-t", "orders", "--to-latest", "--profile", "prod")
    assert shell(*words, "--dry-run").code == 0
    ran = shell(*words, "--execute")
    assert ran.code == 2
    assert "refused by read-only profile prod: this would change the cluster" in ran.err
    assert shell(*RESET, "-t", "orders", "--to-current", "--profile", "prod", "--dry-run", "-J").results[0][0] == 50


def test_a_protected_profile_refuses_with_the_code_of_usage_and_writes_no_undo_file(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = shell.file(
        f'[profiles.prod]\nbootstrap = "{os.environ["KCLI_BOOTSTRAP"]}"\nprotected = true\n', "config.toml"
    )
    monkeypatch.setenv("KCLI_CONFIG", config)
    monkeypatch.delenv("KCLI_BOOTSTRAP")
    for words in ((*RESET, "-t", "orders", "--to-latest"), ("groups", "delete", RESET[2])):
        ran = shell(*words, "--profile", "prod", "--execute")
        assert (ran.code, ran.out) == (2, "")
        assert "refused by protected profile prod; add --confirm prod" in ran.err
        assert not shell.undo_files
    assert shell(*RESET, "-t", "orders", "--to-latest", "--profile", "prod", "--confirm", "prod", "--execute").code == 0


def test_a_group_whose_offsets_are_not_all_known_is_not_cloned(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.changes import offsets

    look = offsets.targets

    async def partly(coordinators: Any, groups: Any) -> dict[str, Any]:
        found = await look(coordinators, groups)
        for one in found.values():
            one.commits = {at: KcliError("this commit cannot be read") if n == 0 else commit
                           for n, (at, commit) in enumerate(one.commits.items())}  # fmt: skip
        return found

    monkeypatch.setattr(offsets, "targets", partly)
    ran = shell("groups", "clone", "billing", "fresh", "--execute")
    assert (ran.code, ran.out) == (1, "")
    assert "this commit cannot be read" in ran.err
    assert shell.committed("fresh") == {}

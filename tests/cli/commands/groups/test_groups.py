"""`kcli groups` as its user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcli.errors import KcliError
from tests.admin.tiny import member
from tests.changes.undone import undo_files
from tests.cli.admin_fixture import Line, line

__all__ = ["line"]


def test_E71_groups_of_all_types_are_listed_and_filtered(line: Line) -> None:
    line.tiny.group("fresh", type="consumer")
    line.tiny.group("shared", type="share")
    rows = line("groups", "list", "-J").json["groups"]
    assert [(row["group"], row["type"], row["state"]) for row in rows] == [
        ("billing", "classic", "Stable"),
        ("fresh", "consumer", "Stable"),
        ("idle", "classic", "Empty"),
        ("shared", "share", "Stable"),
    ]
    assert line("group", "ls", "--type", "share", "--format", "plain").out.startswith("shared\tshare\t")


def test_describe_shows_lag_owner_and_group(line: Line) -> None:
    ran = line("groups", "describe", "billing")
    assert ran.code == 0
    head, body = ran.out.split("\n\n")
    assert head.splitlines()[0].split() == [
        "GROUP",
        "TYPE",
        "STATE",
        "ASSIGNOR",
        "COORDINATOR",
        "MEMBERS",
        "LAG",
        "STATUS",
    ]
    assert len(body.splitlines()) == 5


def test_describe_by_group_leaves_the_partitions_out(line: Line) -> None:
    whole, short = line("groups", "describe", "-g", "billing"), line("groups", "describe", "billing", "--by", "group")
    assert whole.out.startswith(short.out)
    assert "\n\n" not in short.out
    assert line("groups", "describe", "billing", "--by", "partition").out == whole.out
    assert line("groups", "describe", "billing", "-p").code == 2


def test_E71_members_without_a_partition_are_shown_and_said(line: Line) -> None:
    line.tiny.members["billing"].append(member("spare", host="/10.0.0.2"))
    ran = line("groups", "describe", "billing", "-J")
    assert ran.err == "kcli: billing: 1 member without a partition: spare@10.0.0.2\n"
    assert [(m["client_id"], m["partitions"]) for m in ran.json["members"]] == [("app", 3), ("spare", 0)]
    assert line("groups", "describe", "billing", "-q").err == ""


def test_members_are_listed_with_what_they_own(line: Line) -> None:
    (row,) = line("groups", "members", "billing", "-J").json["members"]
    assert row["assignment"] == ["mail:0", "orders:0", "orders:1"]
    ran = line("groups", "members", "idle")
    assert (ran.code, ran.err) == (0, "kcli: idle: no members (Empty)\n")


def test_delete_without_execute_and_terminal_shows_the_plan_and_says_so(line: Line) -> None:
    ran = line("groups", "delete", "idle")
    assert ran.code == 0
    assert "plan only, nothing changed; add --execute" in ran.err
    assert "would delete" in ran.out
    assert "idle" in line.tiny.groups


def test_a_dry_run_shows_the_plan_and_is_fine(line: Line) -> None:
    ran = line("groups", "delete", "idle", "--dry-run", "-J")
    assert ran.code == 0
    row = {"group": "idle", "result": "would delete", "state": "Empty", "members": 0, "partitions": 1}
    assert ran.json["groups"] == [{**row, "internal_topics": None, "error": None}]
    assert "idle" in line.tiny.groups


def test_E43_a_group_in_use_is_refused_and_the_empty_one_is_deleted(line: Line) -> None:
    ran = line("groups", "delete", "billing", "idle", "gone", "--execute", "-J")
    assert ran.code == 1
    assert [(row["group"], row["result"]) for row in ran.json["groups"]] == [
        ("billing", "refused"),
        ("idle", "deleted"),
        ("gone", "failed"),
    ]
    assert "billing: the group has 1 member (app@10.0.0.1): stop them first" in ran.err
    assert "billing" in line.tiny.groups
    assert line("groups", "delete", "gone", "--if-exists", "--execute").code == 0


def test_a_state_or_a_type_that_there_is_not_finds_no_groups_and_says_so(line: Line) -> None:
    ran = line("groups", "list", "--state", "stabel")
    assert (ran.code, ran.out) == (2, "")
    assert "--state stabel: expected Stable, Empty" in ran.err
    assert "did you mean Stable?" in ran.err
    assert "--type clasic: expected classic, consumer" in line("groups", "list", "--type", "clasic").err
    assert line("groups", "list", "--state", "EMPTY", "--type", "Classic").code == 0


def test_execute_and_dry_run_exclude_each_other(line: Line) -> None:
    assert line("groups", "delete", "idle", "--dry-run", "--execute").code == 2


def test_what_a_deleted_group_had_committed_is_in_the_journal(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ran = line("groups", "delete", "idle", "--execute")
    (undo,) = undo_files(tmp_path)
    assert "to undo this: kcli undo 1 --execute" in ran.err
    (kept,) = json.loads(undo.read_text())["offsets"]
    assert (kept["group"], kept["topic"], kept["offset"]) == ("idle", "mail", 7)
    line.tiny.group("again", state="Empty", mail=[7])
    assert line("groups", "delete", "again", "--execute", "--no-undo").err == ""


def test_the_plan_says_that_a_share_group_cannot_be_restored(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    line.tiny.group("takers", state="Empty", type="share", mail=[7])
    for words in (["--dry-run"], ["--execute"]):
        ran = line("groups", "delete", "takers", *words)
        assert "takers: a share group cannot be restored" in ran.err
        assert ran.code == 0, ran.err
        assert ("takers" in line.tiny.groups) == (words != ["--execute"])
    assert not list(undo_files(tmp_path))


def test_a_group_whose_offsets_cannot_be_read_stays_unless_no_undo_is_wanted(
    line: Line, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from kcli.changes import groups

    async def untold(*_: object) -> dict[str, KcliError]:
        return {"idle": KcliError("the coordinator does not say")}

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(groups, "committed_offsets", untold)
    ran = line("groups", "delete", "idle", "--execute")
    assert ran.code == 1
    assert "so undo could not restore them (the coordinator does not say); --no-undo deletes it anyway" in ran.err
    assert "idle" in line.tiny.groups
    assert line("groups", "delete", "idle", "--execute", "--no-undo").code == 0
    assert "idle" not in line.tiny.groups


@pytest.mark.parametrize("type", ["share", "streams"])
def test_E43_the_offsets_of_other_kinds_of_groups_are_not_touched(line: Line, type: str) -> None:
    line.tiny.group("other", type=type, mail=[7])
    ran = line("groups", "reset", "--create", "other", "-t", "mail", "--to-earliest", "--execute", "-J")
    assert (ran.code, [row["result"] for row in ran.json["partitions"]]) == (1, ["refused"])
    assert "other: the group is Stable" in ran.err
    assert line.tiny.count()["OffsetCommit"] == 0

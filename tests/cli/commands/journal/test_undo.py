"""`kcli history` and `kcli undo`: every kind of change is in the journal, and undone on a sandbox by its number."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.sandbox.thread import SandboxThread


class Kcli:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, line: str, code: int = 0) -> tuple[str, str]:
        """What a line prints, on stdout and on stderr."""
        done = main(shlex.split(line))
        out, err = self._capsys.readouterr()
        assert done == code, (line, out, err)
        return out, err

    def json(self, line: str, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(f"{line} -J", code)[0])
        return found

    def history(self, words: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.json(f"history {words}")["changes"]
        return found


@pytest.fixture
def kcli(
    sandbox: SandboxThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Kcli:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("KCLI_BOOTSTRAP", sandbox.bootstrap)
    return Kcli(capsys)


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"orders": 2}, brokers=2, super_users=["User:ANONYMOUS"], registry=True) as made:
        yield made


CHANGES = {
    "configs": ("configs set topic orders retention.ms=5 segment.ms=70000", "configs get topic orders"),
    "topic": ("topics alter orders --config retention.ms=5", "configs get topic orders"),
    "pattern": ("topics alter 'ord*' --config retention.ms=5", "configs get topic orders"),
    "acls": ("acls add --allow User:bob --operation read --topic orders", "acls list"),
    "quotas": ("quotas alter --user ann producer_byte_rate=1000", "quotas list"),
    "reset": ("groups reset billing -t orders --to-latest", "groups export billing"),
    "offsets": ("groups delete-offsets billing -t orders:0", "groups export billing"),
    "group": ("groups delete billing", "groups export billing"),
    "clone": ("groups clone billing mail", "groups export mail"),
    "apply": ("apply {file}", "configs get topic orders"),
    "reassign": ("reassign execute orders:0 --replication-factor 1 --to 2", "topics describe orders -J"),
}


@pytest.fixture
def made(kcli: Kcli, tmp_path: Path) -> Kcli:
    """Something to change of every kind."""
    (tmp_path / "file").write_text("topics: {orders: {configs: {retention.ms: 7}}}")
    for partition in (0, 1):
        kcli(f"produce orders -p {partition} --value x -q")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path / "before"))
        kcli("groups reset billing -t orders --to-earliest --create --execute -q")
    return kcli


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_in_the_journal_and_undone_by_its_number(kind: str, made: Kcli, tmp_path: Path) -> None:
    change, shows = CHANGES[kind]
    look = shows if "-J" in shows else f"{shows} --format ndjson"

    def state() -> list[str]:
        main(shlex.split(look))
        out = made._capsys.readouterr().out
        if kind == "reassign":
            return [str(partition["replicas"]) for partition in json.loads(out)["partitions"]]
        lines = out.splitlines()
        return sorted(line for line in lines if '"error"' not in line)  # a group without offsets may be one or none

    before = state()
    _, said = made(change.format(file=tmp_path / "file") + " --execute")
    changed = state()
    assert changed != before
    (first, *_) = made.history()
    assert (first["result"], first["undoable"]) == ("done", True), first
    assert first["changed"] > 0
    assert first["command"].startswith(f"kcli {change.split()[0]}")
    assert f"to undo this: kcli undo {first['number']} --execute" in said
    made(f"undo {first['number']}")
    if kind != "reassign":  # which goes on
        assert state() == changed, "without --execute it is a plan"
    _, said = made(f"undo {first['number']} --execute")
    deadline = time.monotonic() + 20
    while state() != before:
        assert time.monotonic() < deadline, (before, state())
        time.sleep(0.1)
    (second, *_) = made.history()
    assert second["command"] == f"kcli undo {first['number']} --execute"
    if second["undoable"] and kind != "reassign":
        made(f"undo {second['number']} --execute")
        assert state() == changed, "the undo is undone"


def test_undo_in_a_registry(made: Kcli, sandbox: SandboxThread, tmp_path: Path) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    (tmp_path / "x.avsc").write_text('"string"')
    made(f"registry register orders-value {tmp_path}/x.avsc --execute {url}")
    made(f"registry delete orders-value --execute {url}")
    made(f"registry describe orders-value {url}", code=1)
    (first, *_) = made.history("--undoable")
    assert first["cluster"].startswith("http")
    made(f"undo {first['number']} --execute {url}")
    made(f"registry describe orders-value {url}")


@pytest.mark.parametrize(
    ("change", "shows"),
    [
        ("compat orders-value --set full", "compat orders-value"),
        ("compat orders-value --delete", "config orders-value"),
        ("compat --set full", "compat"),
        ("mode orders-value --set readonly", "mode orders-value"),
        ("mode b --delete", "mode b"),
        ("config orders-value --set normalize=true --set compatibility=FULL", "config orders-value"),
        ("config orders-value --unset normalize", "config orders-value"),
        ("config orders-value --delete", "config orders-value"),
        ("register orders-value {file} --reference a=b@1", "versions orders-value"),
        ("contexts .gone --delete", "compat :.gone:"),
    ],
)
def test_settings_of_a_registry_are_undone(
    change: str, shows: str, made: Kcli, sandbox: SandboxThread, tmp_path: Path
) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    (tmp_path / "x.avsc").write_text('"string"')
    (tmp_path / "y.avsc").write_text('"bytes"')
    for line in (
        f"register orders-value {tmp_path}/x.avsc",
        f"register b {tmp_path}/x.avsc",
        "config orders-value --set compatibility=NONE --set normalize=false",
        "mode b --set readonly",
        "compat :.gone: --set none",
    ):
        made(f"registry {line} --execute {url} -q")
    look = f"registry {shows} --format json {url}"
    before = made(look)[0]
    _, said = made(f"registry {change.format(file=tmp_path / 'y.avsc')} --execute {url}")
    changed = made(look)[0]
    assert changed != before
    made(said.partition("to undo this: kcli ")[2].strip())
    assert made(look)[0] == before
    made(f"undo {made.history()[0]['number']} --execute {url}")
    if not change.startswith("register"):  # which gets another version
        assert made(look)[0] == changed, "the undo is undone"


def test_a_level_that_was_changed_again_needs_force(made: Kcli, sandbox: SandboxThread) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    for level in ("full", "none"):
        made(f"registry compat orders-value --set {level} --execute {url}")
    _, said = made(f"undo 1 --execute {url}", code=2)
    assert "orders-value is NONE now; change 1 left FULL, and undoing it makes it BACKWARD; --force does that" in said
    made(f"undo 1 --execute --force {url}")


def test_deleting_a_level_keeps_the_other_settings(made: Kcli, sandbox: SandboxThread) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    made(f"registry config s --set compatibility=FULL --set normalize=true --execute {url}")
    made(f"registry compat s --delete --execute {url}")
    rows = {row["name"]: row["value"] for row in made.json(f"registry config s {url}")["settings"]}
    assert (rows["compatibility"], rows["normalize"]) == ("BACKWARD", "true")


def test_a_value_that_was_changed_again_needs_force(made: Kcli) -> None:
    made("configs set topic orders retention.ms=1000 --execute")
    made("configs set topic orders retention.ms=2000 --execute")
    made("configs set topic orders retention.ms=3000 --execute")
    for more in ("", "--execute"):
        _, said = made(f"undo 2 {more}", code=2)
        assert "retention.ms is 3000 now; change 2 left 2000, and undoing it makes it 1000; --force does that" in said
    assert made.json("configs get topic orders")["configs"][0]["value"] == "3000"
    made("undo 2 --force --execute")
    assert made.json("configs get topic orders")["configs"][0]["value"] == "1000"


def test_offsets_that_were_committed_again_need_force(made: Kcli) -> None:
    made("produce orders -p 0 --value y -q")
    made("groups reset billing -t orders --to-latest --execute")
    made("groups reset billing -t orders:0 --to 0=1 --execute")
    _, said = made("undo 1 --execute", code=2)
    assert "billing orders 0 is 1 now; change 1 left 2, and undoing it makes it 0; --force does that" in said
    made("groups reset billing -t orders:0 --to 0=0 --execute")
    made("undo 1 --execute")  # partition 0 has the old offset again


def test_a_new_topic_is_deleted_and_one_that_has_records_needs_force(made: Kcli) -> None:
    made("topics create new other -p 3")
    (first, *_) = made.history()
    assert (first["command"], first["result"], first["changed"]) == ("kcli topics create new other -p 3", "done", 2)
    made("produce other --value x -q")
    _, said = made("undo 1 --execute", code=2)
    again = "topic other was changed again (records: 1 now, none after change 1), and undoing it deletes the topic"
    assert again in said
    made("topics alter other -p 4 --execute")
    assert "topic other was changed again (partitions: 4 now, 3 after change 1)" in made("undo 1", code=2)[1]
    made("undo 1 --force --execute")
    assert [row["topic"] for row in made.json("topics list")["topics"]] == ["orders"]


def test_a_topic_is_created_though_the_journal_cannot_be_written(made: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    assert "this change is not in the journal: " in made("topics create new")[1]
    assert [row["topic"] for row in made.json("topics list")["topics"]] == ["new", "orders"]
    assert "nothing was changed: the journal " in made("topics alter new --config retention.ms=5 --execute", code=1)[1]


def test_another_cluster_is_refused(made: Kcli, monkeypatch: pytest.MonkeyPatch) -> None:
    made("configs set topic orders retention.ms=1000 --execute")
    with SandboxThread(topics={"orders": 1}) as other:
        _, said = made(f"undo 1 --execute -b {other.bootstrap}", code=2)
        assert "change 1 was made on " in said
        assert made.json(f"configs get topic orders -b {other.bootstrap}")["configs"] == []


def test_the_hint_names_the_cluster_again(made: Kcli, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch) -> None:
    _, said = made(f"configs set topic orders retention.ms=1000 --execute -b {sandbox.bootstrap}")
    assert f"to undo this: kcli undo 1 -b {sandbox.bootstrap} --execute" in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("undo 99", "the journal has no change 99; `kcli history` lists them"),
        ("undo 1 2", "give only one change"),
        ("undo 2", "change 2 cannot be undone: it kept no previous state (kcli topics delete gone --execute)"),
        ("history --start yesteryear", "--start yesteryear: expected a time"),
    ],
)
def test_what_cannot_be_undone_is_one_sentence(line: str, says: str, made: Kcli) -> None:
    made("topics create gone -q")
    made("topics delete gone --execute")
    assert says in made(line, code=2)[1]


def test_a_change_that_fails_and_one_that_is_refused(made: Kcli) -> None:
    made("configs set topic orders retention.ms=x --execute", code=1)
    assert made.history() == [], "nothing was sent"
    made("topics delete nothing --execute", code=1)
    assert made.history() == []


def test_history_filters(made: Kcli) -> None:
    made("configs set topic orders retention.ms=1000 --execute")
    made("topics create gone -q")
    made("topics delete gone --execute")
    assert [one["number"] for one in made.history()] == [3, 2, 1]
    assert [one["number"] for one in made.history("--undoable")] == [2, 1]
    assert [one["number"] for one in made.history("topics delete")] == [3]
    assert len(made.history("--start -1h")) == 3
    assert made.history("--start 2100-01-01") == []
    cluster = made.history()[0]["cluster"]
    assert len(made.history(f"--cluster {cluster}")) == 3
    assert made.history("--cluster other") == []
    assert [one["number"] for one in made.json("undo")["changes"]] == [2, 1]


def test_a_state_folder_that_cannot_be_written(made: Kcli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file-in-the-way").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file-in-the-way"))
    line = "configs set topic orders retention.ms=1000 --execute"
    _, said = made(line, code=1)
    assert "nothing was changed: the journal " in said
    assert "--undo-file FILE saves the previous state elsewhere" in said
    assert made.json("configs get topic orders")["configs"] == []
    _, said = made(f"{line} --undo-file {tmp_path}/back.json")
    assert "this change is not in the journal" in said
    made(f"undo {tmp_path}/back.json --execute --no-undo")
    assert made.json("configs get topic orders")["configs"] == []


def test_records_that_came_since_are_not_deleted_by_an_undo(made: Kcli, tmp_path: Path) -> None:
    (tmp_path / "new").write_text("topics: {fresh: {partitions: 1}}")
    made(f"apply {tmp_path}/new --execute")
    made("produce fresh --value x -q")
    _, said = made("undo 1 --execute", code=2)
    assert "topic fresh was changed again (records: 1 now, none after change 1)" in said
    assert made("count fresh")[0] == "1\n"
    made("undo 1 --execute --force")


def test_commands_that_name_a_config_otherwise_are_compared_too(made: Kcli) -> None:
    made("topics alter orders --config retention.ms=1000 --execute")
    made("configs set topic orders retention.ms=2000 --execute")
    made("undo 1 --execute", code=2)


def test_a_group_that_was_made_again_is_compared_too(made: Kcli) -> None:
    made("groups delete billing --execute")
    made("groups reset billing -t orders --to-latest --create --execute")
    _, said = made("undo 1 --execute", code=2)
    assert "is 1 now; change 1 left unset, and undoing it makes it 0" in said


def test_an_undo_file_of_another_cluster_needs_force(made: Kcli, tmp_path: Path) -> None:
    made(f"configs set topic orders retention.ms=1000 --execute --undo-file {tmp_path}/back.json")
    with SandboxThread(topics={"orders": 1}) as other:
        _, said = made(f"undo {tmp_path}/back.json --execute -b {other.bootstrap}", code=2)
        assert "back.json was made on " in said
        made(f"undo {tmp_path}/back.json --execute --force -b {other.bootstrap}")


def test_what_holds_already_is_not_in_the_journal(made: Kcli) -> None:
    for _ in range(3):
        made("configs set topic orders retention.ms=1000 --execute")
    assert len(made.history()) == 1


def test_the_hint_names_the_registry_again(made: Kcli, sandbox: SandboxThread, tmp_path: Path) -> None:
    url = f"--schema-registry {sandbox.registry_url}"
    (tmp_path / "x.avsc").write_text('"string"')
    made(f"registry register orders-value {tmp_path}/x.avsc --execute {url}")
    _, said = made(f"registry delete orders-value --execute {url}")
    made(said.partition("to undo this: kcli ")[2].strip())
    made(f"registry describe orders-value {url}")


def test_a_topic_that_was_created_again_is_another_one(made: Kcli) -> None:
    made("topics create new")
    made("topics delete new --execute")
    made("topics create new --config retention.ms=5d")
    _, said = made("undo 1 --execute", code=2)
    assert "topic new has been deleted and created again since change 1; --force deletes it anyway" in said
    made("undo 3 --execute")
    assert [row["topic"] for row in made.json("topics list")["topics"]] == ["orders"]


def test_a_config_of_all_brokers_that_is_no_secret_is_compared_too(made: Kcli) -> None:
    made("configs set broker default log.cleaner.threads=2 --execute")
    made("configs set broker default log.cleaner.threads=3 --execute")
    _, said = made("undo 1 --execute", code=2)
    assert "log.cleaner.threads is 3 now; change 1 left 2" in said
    assert made.history()[-1]["command"].endswith("log.cleaner.threads=2 --execute")


def test_partitions_stay_after_an_undo_and_the_plan_says_so(made: Kcli) -> None:
    _, said = made("topics alter orders -p 3 --config retention.ms=5 --execute")
    assert "undo cannot remove the new partitions of orders" in said

"""`kcli groups why`: the dashboard's sentence, and the command that mends it."""

from __future__ import annotations

import json

import pytest

from kcli import SyncClient
from kcli.settings import GroupSettings
from tests.cli.conftest import Shell


@pytest.fixture
def topic(kcli: Shell) -> str:
    """One partition with ten records; a group named like it has read four and has no members."""
    name = kcli.topic()
    kcli.ok("produce", name, stdin=b"".join(b"%d\n" % n for n in range(10)))
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "4", "--execute", "-q", "--no-undo")
    return name


def test_a_group_without_members_is_told_with_the_command(kcli: Shell, topic: str) -> None:
    assert kcli.ok("groups", "why", topic).decode() == (
        f"{topic}  ORPHANED, 6 behind\n"
        "  no member reads for this group, and 6 records wait\n"
        "  start its consumers, or delete it if it is retired:\n"
        f"    kcli groups delete {topic}\n"
    )
    (row,) = json.loads(kcli.ok("groups", "why", f"^{topic}$", "-J"))["groups"]
    assert (row["status"], row["lag"], row["command"]) == ("ORPHANED", 6, f"kcli groups delete {topic}")
    assert kcli("groups", "why", topic, "--format", "plain").stdout.startswith(f"{topic}\tORPHANED\t6\t".encode())


def test_records_are_counted_and_markers_are_not(kcli: Shell) -> None:
    name = kcli.topic()
    kcli.ok("produce", name, "--transactional-id", name, stdin=b"a\nb\nc\n")
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "1", "--execute", "-q", "--no-undo")
    (row,) = json.loads(kcli.ok("groups", "why", name, "-J"))["groups"]
    assert (row["lag"], row["records"], row["why"]) == (3, 2, "no member reads for this group, and 2 records wait")
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "3", "--execute", "-q", "--no-undo")
    (row,) = json.loads(kcli.ok("groups", "why", name, "-J"))["groups"]
    assert (row["lag"], row["records"], row["why"]) == (1, 0, "it has read every record; 1 offset holds none")


def test_a_backlog_is_not_read_to_be_counted(kcli: Shell) -> None:
    name = kcli.topic()
    kcli.ok("produce", name, "-z", "none", stdin=b"".join(b"%d" % n + b"x" * 100_000 + b"\n" for n in range(60)))
    kcli.ok("groups", "reset", "--create", name, "-t", name, "--to", "1", "--execute", "-q", "--no-undo")
    (row,) = json.loads(kcli.ok("groups", "why", name, "-J"))["groups"]
    assert (row["lag"], row["records"], row["why"]) == (59, None, "no member reads for this group, and 59 offsets wait")


def test_all_groups_that_lag_and_no_others(kcli: Shell, topic: str) -> None:
    kcli.ok("groups", "reset", "--create", f"{topic}-done", "-t", topic, "--to", "end", "--execute", "-q", "--no-undo")
    found = kcli("groups", "why", "--over", "1s", "-J")  # groups of other tests may have to be watched
    groups = [row["group"] for row in json.loads(found.stdout)["groups"]]
    assert topic in groups
    assert f"{topic}-done" not in groups
    assert (
        kcli.ok("groups", "why", f"{topic}-done") == f"{topic}-done  OK, 0 behind\n  it has read everything\n".encode()
    )


def test_a_group_whose_records_were_deleted_is_losing_data(kcli: Shell, topic: str) -> None:
    kcli.ok("topics", "trim", topic, "--before", "7", "--execute", "-q")
    (row,) = json.loads(kcli.ok("groups", "why", topic, "-J"))["groups"]
    assert (row["status"], row["command"]) == ("LOSING DATA", f"kcli configs get topic {topic}")
    assert row["why"].startswith(f"{topic}[0] has lost records")


def test_a_group_that_is_not_there(kcli: Shell) -> None:
    done = kcli("groups", "why", "no-such-group")
    assert (done.returncode, done.stdout) == (1, b"")
    assert kcli("groups", "why", "zz*").stderr == b"kcli: zz*: no group matches; `kcli groups` lists them\n"


def test_sentences_are_broken_at_spaces_and_a_command_never(kcli: Shell, topic: str) -> None:
    for columns in (30, 44, 80):
        done = kcli.on_terminal("groups", "why", topic, columns=columns)
        *sentences, command = done.out.decode().splitlines()
        assert done.code == 0
        assert command == f"    kcli groups delete {topic}"
        assert max(map(len, sentences)) <= columns
        words = " ".join(" ".join(sentences).split())
        assert words == (
            f"{topic} ORPHANED, 6 behind no member reads for this group, and 6 records wait "
            "start its consumers, or delete it if it is retired:"
        )


def test_a_member_that_never_commits(kcli: Shell, topic: str) -> None:
    """A group that was reset once, and a member that reads everything and commits nothing."""
    group = GroupSettings(group=topic, auto_commit=False)
    with SyncClient(kcli.bootstrap) as kafka, kafka.consumer(topic, group=group) as consumer:
        while not consumer.poll(0.1):
            pass
        done = kcli("groups", "why", topic, "--over", "8s")
    text = done.stdout.decode()
    assert "its member has not committed for" in text
    assert "check that its consumers commit" in text
    assert text.endswith(f"    kcli groups members {topic}\n")

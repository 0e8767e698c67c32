"""Patterns wherever a topic or a group is named: what is matched, what is refused, and what a change asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

TOPICS = {"orders-1": 2, "orders-2": 1, "payments": 1, "_schemas": 1, "__consumer_offsets": 1}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics=TOPICS, rebalance_delay=0) as running:
        yield running


@pytest.fixture(scope="module")
def shell(sandbox: SandboxThread) -> Shell:
    made = Shell(sandbox.bootstrap)
    for topic in ("orders-1", "orders-2", "payments"):
        made.ok("produce", topic, stdin=b"a\nb\n")
    for group in ("billing-1", "billing-2", "mail"):
        made.ok("consume", "orders-1", "orders-2", "-g", group, "--from-beginning", "-e")
    return made


def column(shell: Shell, section: str, name: str, *words: str) -> list[object]:
    """A column of what a command prints, without repetitions."""
    done = shell(*words, "-J")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)[section]
    return list(dict.fromkeys(row[name] for row in rows))


BOTH = ["orders-1", "orders-2"]


@pytest.mark.parametrize("pattern", ["orders-*", "^orders", "^orders-[12]$", "orders-?", "orders-[12]"])
@pytest.mark.parametrize(
    ("words", "section"),
    [
        (("topics", "list"), "topics"),
        (("topics", "describe"), "partitions"),
        (("topics", "stats", "--over", "0"), "topics"),
        (("offsets",), "partitions"),
        (("topics", "trim", "--before", "1", "--dry-run"), "partitions"),
        (("topics", "delete", "--dry-run"), "topics"),
        (("topics", "alter", "-p", "9", "--dry-run"), "changes"),
        (("count",), "partitions"),
        (("leaders", "elect", "--dry-run"), "partitions"),
        (("txn", "producers"), "producers"),
        (("logdirs", "replicas", "-t"), "replicas"),
        (("meta",), "topics"),
    ],
)
def test_topics_by_pattern(shell: Shell, words: tuple[str, ...], section: str, pattern: str) -> None:
    assert column(shell, section, "topic", *words, pattern) == BOTH


@pytest.mark.parametrize("pattern", ["billing-*", "^billing"])
@pytest.mark.parametrize(
    ("words", "section"),
    [
        (("groups", "list"), "groups"),
        (("groups", "describe"), "groups"),
        (("groups", "export"), "offsets"),
        (("groups", "delete", "--dry-run"), "groups"),
        (("groups", "reset", "--create", "--all-topics", "--to-earliest", "--dry-run"), "partitions"),
        (("groups", "reset", "--create", "--from-group", "^ma", "--dry-run"), "partitions"),
        (("groups", "delete-offsets", "-t", "orders-*", "--dry-run"), "partitions"),
        (("lag",), "groups"),
    ],
)
def test_groups_by_pattern(shell: Shell, words: tuple[str, ...], section: str, pattern: str) -> None:
    assert column(shell, section, "group", *words, pattern) == ["billing-1", "billing-2"]


def test_configs_by_pattern(shell: Shell) -> None:
    topics = ("configs", "get", "topic", "orders-*", "retention.ms", "segment.bytes")
    assert column(shell, "configs", "name", *topics) == BOTH
    assert shell("configs", "get", "topic", "orders-*", "--literal").returncode == 1
    assert shell("configs", "get", "topic", "orders-*").stderr.decode().startswith("kcli: 2 topics have no overrides")
    assert column(shell, "configs", "name", "configs", "get", "group", "^billing", "--all") == [
        "billing-1",
        "billing-2",
    ]


def test_a_pattern_of_reassign_takes_the_topics_that_match(shell: Shell) -> None:
    done = shell("reassign", "plan", "orders-*", "--no-balance")
    assert done.stderr == b"kcli: nothing to do: 3 partitions are where they should be\n"
    assert shell("reassign", "plan", "orders-*", "--literal").returncode == 1
    assert b"no topic matches" in shell("reassign", "cancel", "zz*").stderr


def test_topics_of_groups_by_pattern(shell: Shell) -> None:
    assert column(shell, "offsets", "topic", "groups", "export", "mail", "-t", "*-2") == ["orders-2"]
    reset = ("groups", "reset", "--create", "--to-earliest", "--dry-run")
    assert column(shell, "partitions", "topic", *reset, "mail", "-t", "*") == BOTH, "those it has committed"
    assert column(shell, "partitions", "partition", *reset, "mail", "-t", "^orders:1") == [1]
    assert column(shell, "topics", "topic", "lag", "mail", "-t", "^orders-2") == ["orders-2"]
    fresh = shell(*reset, "new", "-t", "^pay", "-J")
    assert [row["topic"] for row in json.loads(fresh.stdout)["partitions"]] == ["payments"], "all there are"


def test_a_source_is_one_group(shell: Shell) -> None:
    assert column(shell, "partitions", "group", "groups", "clone", "^ma", "mail-2", "--dry-run") == ["mail-2"]
    many = shell("groups", "clone", "billing-*", "other", "--dry-run")
    assert (many.returncode, many.stdout) == (2, b"")
    assert many.stderr == b"kcli: billing-*: 2 groups match (billing-1, billing-2): choose one\n"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("topics", "list"), "topic"),
        (("topics", "describe", "payments"), "topic"),
        (("topics", "delete", "payments", "--execute"), "topic"),
        (("topics", "trim", "payments", "--before", "end", "--execute"), "topic"),
        (("topics", "alter", "payments", "-p", "9", "--execute"), "topic"),
        (("offsets",), "topic"),
        (("count",), "topic"),
        (("groups", "list"), "group"),
        (("groups", "describe"), "group"),
        (("groups", "delete", "mail", "--execute"), "group"),
        (("groups", "reset", "--create", "mail", "--all-topics", "--to-earliest", "--execute"), "group"),
    ],
)
def test_without_a_match_nothing_is_done(shell: Shell, words: tuple[str, ...], kind: str) -> None:
    before = shell.ok("offsets", "orders-1", "payments"), shell.ok("groups", "export", "-J")[-300:]
    done = shell(*words, "zz*")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"kcli: zz*: no {kind} matches; `kcli {kind}s` lists them\n"
    assert (shell.ok("offsets", "orders-1", "payments"), shell.ok("groups", "export", "-J")[-300:]) == before


def test_if_exists_makes_a_pattern_without_a_match_no_failure(shell: Shell) -> None:
    shell.ok("topics", "delete", "zz*", "--if-exists", "--execute")
    shell.ok("groups", "delete", "zz*", "--if-exists", "--execute")


def test_C20_internal_topics_are_not_changed_by_a_pattern(shell: Shell) -> None:
    assert "__consumer_offsets" in column(shell, "topics", "topic", "topics", "list", "--internal")
    assert column(shell, "topics", "topic", "topics", "describe", "__*") == ["__consumer_offsets"]
    assert column(shell, "topics", "topic", "topics", "delete", "*", "--dry-run") == [*BOTH, "payments"]
    assert column(shell, "topics", "topic", "topics", "delete", "_*", "--dry-run", "--internal") == ["_schemas"]
    refused = shell("topics", "delete", "__*", "--internal", "--execute")
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert refused.stderr == b"kcli: __*: no topic matches but __consumer_offsets, which only its own name means\n"


def test_groups_of_kclis_own_progress_are_not_changed_by_a_pattern(shell: Shell) -> None:
    shell.ok("topics", "create", "copied", "-p", "2")
    shell.ok("copy", "orders-1", "copied", "-g", "kcli-copy.a")
    assert "kcli-copy.a" not in column(shell, "groups", "group", "groups", "delete", "*", "--dry-run")
    assert column(shell, "groups", "group", "groups", "delete", "kcli-copy*", "--dry-run") == ["kcli-copy.a"]
    assert "kcli-copy.a" in column(shell, "groups", "group", "groups", "list", "*")
    shell.ok("topics", "delete", "copied", "--execute")


def test_literal_names_are_no_patterns(shell: Shell) -> None:
    done = shell("groups", "delete", "billing-*", "--literal", "--dry-run")
    assert done.returncode == 1
    assert done.stderr.startswith(b"kcli: billing-*: ")
    assert b"no group matches" not in done.stderr
    done = shell("consume", "orders-*", "--literal", "-e")
    assert done.returncode == 1
    assert shell("topics", "describe", "orders-[", "--literal").returncode == 1


def test_the_old_spelling_of_a_list_still_works_and_names_the_new_one(shell: Shell) -> None:
    done = shell("topics", "list", "--match", "orders-.", "--format", "plain")
    assert [row.split(b"\t")[0] for row in done.stdout.splitlines()] == [b"orders-1", b"orders-2"]
    assert done.stderr == b"kcli: --match was replaced by an argument: kcli topics list '^orders-.$'\n"
    assert shell("topics", "list", "--match", "orders").stdout == b"", "it is of whole names"


def test_lag_over_time_takes_patterns(shell: Shell) -> None:
    looked = shell("lag", "billing-*", "-t", "^orders-1", "--watch", "--refreshes", "1", "--by", "partition", "-J")
    rows = json.loads(looked.stdout)["partitions"]
    assert {(row["group"], row["topic"]) for row in rows} == {("billing-1", "orders-1"), ("billing-2", "orders-1")}
    assert shell("lag", "billing-*", "--max-lag", "0").returncode == 0
    none = shell("lag", "zz*", "--max-lag", "0")
    assert none.returncode != 0
    assert none.stderr.startswith(b"kcli: zz*: no group matches; `kcli groups` lists them\n")


def test_a_recording_is_read_by_pattern(shell: Shell, tmp_path: object) -> None:
    record = f"{tmp_path}/looks.ndjson"
    with open(record, "wb") as file:
        file.write(shell("lag", "record", "--refreshes", "1").stdout)
    looked = shell("lag", "^bill", "--replay", record, "--by", "group", "-J")
    assert {row["group"] for row in json.loads(looked.stdout)["groups"]} == {"billing-1", "billing-2"}

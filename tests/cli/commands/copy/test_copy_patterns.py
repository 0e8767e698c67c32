"""`kcli copy PATTERN 'copy-*'`: several topics, one after another."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture
def shell() -> Iterator[Shell]:
    with SandboxThread(topics={"orders-1": 2, "orders-2": 1, "mail": 1}) as running:
        made = Shell(running.bootstrap)
        for topic in ("orders-1", "orders-2"):
            made.ok("produce", topic, "-p", "0", stdin=f"{topic} a\n{topic} b\n".encode())
        yield made


def test_each_topic_that_matches_is_copied_under_its_name(shell: Shell) -> None:
    shell.ok("copy", "orders-*", "copy-*", "--create")
    assert shell.ok("consume", "copy-orders-1", "copy-orders-2", "-e", "--order", "offset") == (
        b"orders-1 a\norders-1 b\norders-2 a\norders-2 b\n"
    )
    again = shell("copy", "^orders", "copy-*", "-J")
    assert again.returncode == 0
    rows = json.loads(again.stdout)["copies"]
    assert [(row["source"], row["destination"], row["copied"]) for row in rows] == [
        ("orders-1", "copy-orders-1", 0),
        ("orders-2", "copy-orders-2", 0),
    ], "one document, and each copy resumes where it was"


def test_a_dry_run_is_one_plan(shell: Shell) -> None:
    planned = json.loads(shell.ok("copy", "orders-?", "copy-*", "--dry-run", "-J"))
    assert [(row["topic"], row["copied"]) for row in planned["partitions"]] == [
        ("orders-1", 2),
        ("orders-1", 0),
        ("orders-2", 2),
    ]
    assert shell("topics", "list", "copy-*").returncode == 1, "nothing was made"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("orders-*", "mail"),
            "orders-*: 2 topics match, but DST is a single topic: put * in place of the name, such as",
        ),
        (("orders-*", "x-*", "--follow"), "--follow copies one topic; orders-* is a pattern"),
        (("orders-*", "*"), "SRC and DST are the same topic"),
        (("^o(", "x-*"), "^o(: not a valid pattern"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_copied(
    shell: Shell, words: tuple[str, ...], sentence: str
) -> None:
    done = shell("copy", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"kcli: {sentence}")


def test_one_failure_does_not_keep_the_others_from_being_copied(shell: Shell) -> None:
    shell.ok("topics", "create", "copy-orders-2")
    done = shell("copy", "orders-*", "copy-*")
    assert done.returncode == 1
    assert done.stderr.startswith(
        b"kcli: orders-1 \xe2\x86\x92 copy-orders-1: copy-orders-1: this topic does not exist"
    )
    assert shell.ok("count", "copy-orders-2") == b"2\n"
    none = shell("copy", "zz*", "copy-*")
    assert (none.returncode, none.stderr) == (1, b"kcli: zz*: no topic matches; `kcli topics` lists them\n")

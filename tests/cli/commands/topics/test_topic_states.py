"""`topics list --under-replicated …` and `--unused`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3) as running:
        yield running


@pytest.fixture
def shell(sandbox: SandboxThread) -> Shell:
    made = Shell(sandbox.bootstrap)
    made.ok("topics", "create", "three", "-p", "1", "-r", "3", "--config", "min.insync.replicas=2")
    made.ok("topics", "create", "two", "-p", "3", "-r", "2", "--config", "min.insync.replicas=2")
    made.ok("topics", "create", "one", "-p", "1", "-r", "1", "--config", "min.insync.replicas=1")
    return made


def topics(shell: Shell, *words: str) -> list[str]:
    done = shell("topics", "list", *words, "-J")
    assert done.returncode == 0, done.stderr
    return [row["topic"] for row in json.loads(done.stdout)["topics"]]


def test_states_of_a_healthy_cluster(shell: Shell) -> None:
    assert topics(shell, "--under-replicated") == []
    assert topics(shell, "--unavailable") == []
    assert topics(shell, "--under-min-isr") == []
    assert topics(shell, "--at-min-isr") == ["one", "two"], "one replica less and acks=all is refused"
    assert topics(shell, "--at-min-isr", "t*") == ["two"]


def test_a_config_that_is_no_number_ends_in_a_sentence(shell: Shell, sandbox: SandboxThread) -> None:
    sandbox.call(lambda it: it.topics.by_name["two"].configs.update({"min.insync.replicas": "many"}))
    done = shell("topics", "list", "--at-min-isr")
    assert done.returncode == 1
    assert done.stderr == b"kcli: two: the broker reports min.insync.replicas=many, which is not a number of replicas\n"
    assert topics(shell, "--at-min-isr", "o*") == ["one"]


def test_states_when_a_broker_is_down(shell: Shell, sandbox: SandboxThread) -> None:
    held = json.loads(shell.ok("topics", "describe", "one", "-J"))["partitions"][0]["replicas"]
    down = next(broker for broker in (1, 2, 3) if broker not in held)
    sandbox.call(lambda box: box.faults.cluster.stop_broker(down, elect=True))
    assert topics(shell, "--under-replicated") == ["three", "two"]
    assert topics(shell, "--under-min-isr") == ["two"]
    assert "three" in topics(shell, "--at-min-isr")
    assert topics(shell, "--unavailable") == []
    assert topics(shell, "--under-min-isr", "--at-min-isr") == ["one", "three", "two"], "any of the states"
    (row,) = json.loads(shell("topics", "list", "two", "--under-min-isr", "-J").stdout)["topics"]
    assert row["under_min_isr"] + row["at_min_isr"] == 3


def test_unused_topics_have_no_readers_and_no_new_records(shell: Shell) -> None:
    hour_ago = json.dumps({"value": "old", "timestamp": 1_600_000_000_000}).encode()
    for name in ("one", "two"):
        shell.ok("produce", name, "--input", "json", stdin=hour_ago + b"\n")
    assert topics(shell, "--unused", "1d") == ["one", "two"], "nothing is known of a topic that never had a record"
    assert topics(shell, "--unused", "--never-written") == ["one", "three", "two"]
    assert topics(shell, "--never-written") == ["three"]
    done = shell("topics", "list", "--unused")
    assert done.stderr == b"kcli: 1 topic has never had a record, but may be new: --never-written lists them\n"
    shell.ok("produce", "three", stdin=b"new\n")
    assert topics(shell, "--unused", "1d") == ["one", "two"]
    assert topics(shell, "--unused") == ["one", "two"], "for 30 days"
    assert topics(shell, "--unused=6000d") == []
    shell.ok("topics", "trim", "three", "--before", "end", "--execute", "-q")
    assert topics(shell, "--unused", "--never-written") == ["one", "three", "two"], "one that is empty, too"
    assert topics(shell, "--never-written") == []
    shell.ok("groups", "reset", "--create", "g", "-t", "one", "--to", "end", "--execute", "-q", "--no-undo")
    assert topics(shell, "--unused", "1d") == ["three", "two"], "a group has read one"
    assert topics(shell, "o*", "--unused") == []
    assert shell("topics", "list", "--unused", "soon").returncode == 2

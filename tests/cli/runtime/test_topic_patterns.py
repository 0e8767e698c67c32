"""`^RE` for a topic: consume, tail and count by pattern, in a group and without, and what appears later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kcli.cli.runtime.topic_pattern import TopicPattern
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell
from tests.programs import requests, until

GROUPS = {
    "no group": [],
    "classic": ["-g", "g", "-X", "metadata.max.age.ms=100"],
    "consumer": ["-g", "g", "-X", "group.protocol=consumer"],
}


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    monkeypatch.setattr("kcli.sandbox.answers.consumer_group_heartbeat.HEARTBEAT", 0.02)
    with SandboxThread(topics={"orders-1": 2, "orders-2": 1, "payments": 1}, rebalance_delay=0) as running:
        yield running
        assert running.call(lambda inside: list(inside.violations)) == []


@pytest.fixture
def shell(sandbox: SandboxThread) -> Shell:
    made = Shell(sandbox.bootstrap)
    for topic in ("orders-1", "orders-2", "payments"):
        made.ok("produce", topic, stdin=f"{topic} a\n{topic} b\n".encode())
    return made


BOTH = [b"orders-1 a", b"orders-1 b", b"orders-2 a", b"orders-2 b"]


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_C20_a_pattern_is_of_all_topics_whose_names_begin_so_and_of_no_internal_one(
    shell: Shell, group: list[str]
) -> None:
    shell.ok("consume", "payments", "-g", "other", "--from-beginning", "-e")  # makes __consumer_offsets
    assert sorted(shell.ok("consume", "^ord", "-e", "--from-beginning", *group).splitlines()) == BOTH
    everything = [*BOTH, b"payments a", b"payments b"]
    group = [word.replace("g", "h") if word == "g" else word for word in group]
    assert sorted(shell.ok("consume", "^.", "-e", "--from-beginning", *group).splitlines()) == everything


def test_a_pattern_goes_with_names_and_other_patterns_and_partitions(shell: Shell) -> None:
    assert len(shell.ok("consume", "^orders-[0-9]$", "payments", "-e").splitlines()) == 6
    assert shell.ok("count", "^pay", "^orders-2").splitlines() == [b"orders-2\t2", b"payments\t2"]
    assert shell.ok("count", "^pay") == b"payments\t2\n", "a pattern's output names the topics, however many match"
    assert shell.ok("count", "^", "-p", "1").startswith(b"orders-1\t"), "the others have no partition 1"
    assert len(shell.ok("tail", "^ord", "-n", "3", "--no-follow").splitlines()) == 3


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        (["^orders"], "orders-1", True),
        (["^orders"], "my-orders", False),
        (["^orders$"], "orders-1", False),
        (["^a|b"], "b1", True),
        (["^a|b$"], "b1", False),
        (["^a.*"], "ab", True),
    ],
)
def test_a_pattern_matches_from_the_start_of_a_name(pattern: list[str], name: str, matches: bool) -> None:
    import re

    assert bool(re.fullmatch(TopicPattern(pattern, []).text, name)) == matches
    assert re.fullmatch(TopicPattern(pattern, ["x.y"]).text, "x.y")
    assert not re.fullmatch(TopicPattern(["^zz"], ["x.y"]).text, "xxy"), "a name is no pattern"


@pytest.mark.parametrize("command", ["consume", "count", "tail"])
def test_what_is_no_pattern_is_a_mistake_of_the_command_line(shell: Shell, command: str) -> None:
    done = shell(command, "^o(")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"kcli: ^o(: not a valid pattern: missing ), ")


def test_E62_the_coordinator_says_what_it_cannot_read_and_the_exit_code_is_1(shell: Shell) -> None:
    done = shell("consume", "^o(", "-g", "g", "-X", "group.protocol=consumer", "-e")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"SubscribedTopicRegex `^o(.*` is not valid" in done.stderr
    assert b"INVALID_REGULAR_EXPRESSION" in done.stderr


def test_a_bounded_read_that_finds_no_topic_says_so(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["consume", "-e"], ["count"], ["tail", "--no-follow"], ["consume", "-e", "-g", "g"]):
        done = shell(words[0], "^zz", *words[1:])
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr == b"kcli: ^zz: no topic matches; `kcli topics` lists them\n"
    monkeypatch.setattr("kcli.cli.commands.consume.reading.GIVEN_NOTHING", 0.2)
    shell.ok("consume", "^zz", "-e", "-g", "m", "-X", "group.protocol=consumer")


@pytest.mark.process
@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_E54_topics_that_appear_later_are_read_from_their_beginning(
    sandbox: SandboxThread, shell: Shell, group: list[str]
) -> None:
    words = ["consume", "^new", "-u", *(group or ["-o", "end", "-X", "metadata.max.age.ms=100"])]
    words += ["--from-beginning"] if group else []
    follower = shell.start(*words)
    try:
        assert follower.stdout is not None
        assert follower.stderr is not None
        if group:
            until(lambda: requests(sandbox, "JoinGroup", "ConsumerGroupHeartbeat"))
        else:
            assert b"no topic matches yet" in follower.stderr.readline()
        for name in ("new-1", "new-2"):
            shell.ok("topics", "create", name, "-p", "2")
            shell.ok("produce", name, stdin=name.encode() + b"\n")
            assert follower.stdout.readline() == name.encode() + b"\n"
    finally:
        follower.kill()
        follower.communicate(timeout=10)


@pytest.mark.process
def test_new_partitions_of_a_followed_topic_are_read(sandbox: SandboxThread, shell: Shell) -> None:
    follower = shell.start("consume", "payments", "-u", "-X", "metadata.max.age.ms=100")
    try:
        assert follower.stdout is not None
        assert {follower.stdout.readline() for _ in range(2)} == {b"payments a\n", b"payments b\n"}
        sandbox.call(lambda inside: inside.topics.grow(inside.topics.by_name["payments"], 3, None, check_only=False))
        shell.ok("produce", "payments", "-p", "2", stdin=b"later\n")
        assert follower.stdout.readline() == b"later\n"
    finally:
        follower.kill()
        follower.communicate(timeout=10)


def test_commands_that_take_names_refuse_a_pattern(shell: Shell) -> None:
    done = shell("redrive", "^orders", "--dry-run")
    assert (done.returncode, done.stderr) == (2, b"kcli: ^orders: redrive needs names of topics, not a pattern\n")

"""The last commit of `kcli consume -g` that meets a rebalance, and a member that is lost (E40, E44)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell

WORDS = ["consume", "t", "-g", "g", "--from-beginning", "-e", "-X", "heartbeat.interval.ms=50"]


@pytest.fixture
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics={"t": 1}, rebalance_delay=0) as running:
        yield running


@pytest.fixture
def shell(sandbox: SandboxThread) -> Shell:
    made = Shell(sandbox.bootstrap)
    made.ok("produce", "t", stdin=b"a\nb\nc\n")
    return made


def test_E40_the_last_commit_waits_for_the_end_of_a_rebalance(sandbox: SandboxThread, shell: Shell) -> None:
    sandbox.faults.error("OffsetCommit", codes.REBALANCE_IN_PROGRESS)
    assert shell.ok(*WORDS) == b"a\nb\nc\n"
    assert sandbox.call(lambda inside: inside.faults.pending) == 0
    assert shell.ok(*WORDS) == b"", "all three were committed"


NOT_MADE = (
    "kcli: the group is rebalancing, so the last commit failed: t[0] before offset 3: records that were written "
    "since the last commit will be read again\n"
)


@pytest.mark.parametrize("code", [codes.UNKNOWN_MEMBER_ID, codes.ILLEGAL_GENERATION])
def test_E44_a_member_that_was_expelled_says_what_will_be_read_again(
    sandbox: SandboxThread, shell: Shell, code: ErrorCode
) -> None:
    def expel(_: object) -> None:
        groups = sandbox._sandbox.cluster.groups
        for member in list(groups._by_name["g"].members):
            groups.expel("g", member)

    sandbox.faults.error("OffsetCommit", code)
    sandbox.faults.wire.alter("OffsetCommit", expel)
    done = shell(*WORDS)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"a\nb\nc\n", NOT_MADE)
    assert shell.ok(*WORDS) == b"a\nb\nc\n", "they are"


def test_E40_a_rebalance_that_does_not_end_is_told_with_what_will_be_read_again(
    sandbox: SandboxThread, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.cli.commands.consume.commits.REJOIN", 0.3)
    sandbox.faults.error("OffsetCommit", codes.REBALANCE_IN_PROGRESS, times=1_000)
    done = shell(*WORDS)
    assert (done.returncode, done.stdout, done.stderr.decode()) == (1, b"a\nb\nc\n", NOT_MADE)


@pytest.mark.parametrize(
    ("fault", "exit_code", "says", "word"),
    [
        ("refuse", 1, "not authorized: READ on group g (GROUP_AUTHORIZATION_FAILED)", "will"),
        ("close", 5, "closed the connection", "may"),
        ("silent", 4, "did not answer OffsetCommit", "may"),
    ],
)
def test_E44_a_last_commit_that_fails_says_which_records_come_again_or_may(
    sandbox: SandboxThread, shell: Shell, monkeypatch: pytest.MonkeyPatch, fault: str, exit_code: int, says: str,
    word: str,
) -> None:  # fmt: skip
    """Nobody knows what became of a commit that was sent and not answered."""
    monkeypatch.setattr("kcli.consumer.group.session.Session._deadline", lambda self, _: self._loop.time() + 0.6)
    if fault == "refuse":
        sandbox.faults.error("OffsetCommit", codes.GROUP_AUTHORIZATION_FAILED)
    elif fault == "close":
        sandbox.faults.wire.close_before("OffsetCommit", times=1_000)
    else:
        sandbox.faults.wire.never_answer("OffsetCommit", times=1_000)
    done = shell(*WORDS, "-X", "request.timeout.ms=200")
    err = done.stderr.decode()
    assert (done.returncode, done.stdout) == (exit_code, b"a\nb\nc\n")
    assert err.startswith("kcli: the last commit failed: ")
    assert says in err
    ends = f": t[0] before offset 3: records that were written since the last commit {word} be read again\n"
    assert err.endswith(ends), err


def test_R1_no_input_for_a_topic_that_does_not_exist_is_an_error_too(shell: Shell) -> None:
    for stdin in (b"", b"x\n"):
        done = shell("produce", "no-such-topic", stdin=stdin)
        assert done.returncode == 1
        assert b"no-such-topic: this topic does not exist" in done.stderr
    assert shell.ok("produce", "t", stdin=b"") == b""

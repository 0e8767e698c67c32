"""`consume -v`: a partition that is not fetched for 5 s is reported once, and when it is fetched again."""

from __future__ import annotations

import pytest

from kcli.cli.commands.consume.unfetched import LONG, Unfetched
from kcli.consumer.fetch.states import FetchState
from kcli.model import TopicPartition

A, B, C, D = (TopicPartition("t", number) for number in range(4))
WELL = FetchState("fetching", 1, 0.0, "")
LEADERLESS = FetchState("no leader", -1, 0.0, "LEADER_NOT_AVAILABLE")


class Consumer:
    """The two names that the watch reads."""

    def __init__(self) -> None:
        self.states = dict.fromkeys((A, B, C, D), WELL)

    def fetch_states(self) -> dict[TopicPartition, FetchState]:
        return self.states

    @property
    def assignment(self) -> set[TopicPartition]:
        return set(self.states)


class Loop:
    """A clock that the test sets; the timer is kept."""

    now = 0.0

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: object) -> Loop:
        return self

    def cancel(self) -> None:
        pass


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    loop = Loop()
    monkeypatch.setattr("kcli.cli.commands.consume.unfetched.asyncio.get_running_loop", lambda: loop)
    return loop


def test_it_is_said_once_a_line_for_a_reason_and_when_it_is_over(
    loop: Loop, capsys: pytest.CaptureFixture[str]
) -> None:
    consumer = Consumer()
    watch = Unfetched(consumer)  # type: ignore[arg-type]
    consumer.states = dict.fromkeys((A, B, C, D), LEADERLESS)
    watch.report()
    loop.now = LONG - 0.1
    watch.report()
    assert capsys.readouterr().err == ""
    loop.now = LONG
    watch.report()
    watch.report()
    text = "kcli: t[0], t[1], t[2] and 1 more: not fetched for 5 s: no leader (LEADER_NOT_AVAILABLE)\n"
    assert capsys.readouterr().err == text
    consumer.states = {A: WELL, B: LEADERLESS, C: FetchState("paused", 1, 0.0, "")}
    watch.report()
    assert capsys.readouterr().err == "kcli: t[0]: fetched again\n"
    consumer.states[D] = FetchState("full", 1, 0.0, "77 bytes wait for a poll")
    watch.close()
    assert capsys.readouterr().err == (
        "kcli: t[1]: not fetched at the end: no leader (LEADER_NOT_AVAILABLE)\n"
        "kcli: t[2]: not fetched at the end: paused\n"
    )


def test_a_passing_reason_is_not_said(loop: Loop, capsys: pytest.CaptureFixture[str]) -> None:
    consumer = Consumer()
    watch = Unfetched(consumer)  # type: ignore[arg-type]
    for second in range(30):
        loop.now = float(second)
        consumer.states[A] = LEADERLESS if second % 4 else WELL
        watch.report()
    consumer.states[A] = FetchState("ended", 1, 0.0, "")
    watch.close()
    assert capsys.readouterr().err == ""

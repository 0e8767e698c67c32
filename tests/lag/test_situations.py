"""Situations of groups, each with its seven outputs side by side: they print what the engine decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample, lag_text
from kcli.lag.history import History
from kcli.lag.series import Series
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.tui.screens.groups import until
from kcli.tui.text.chart import runs
from kcli.tui.text.formatting import spread
from kcli.tui.trails import Trails, gapped
from tests.lag.outputs import Outputs, agree, metric, outputs

Look = Callable[[float], list[Sample]]
"""The samples of a group's partitions at a time, in seconds since the first look."""


def sample(partition: int, committed: int | None, end: int | None, **more: Any) -> Sample:
    facts: dict[str, Any] = {"start": 0, "stable": end, "owned": True, "member_id": "m"}
    return Sample(group="g", topic="t", partition=partition, committed=committed, end=end, **(facts | more))


def played(look: Look, *, seconds: float = 90.0, step: float = 5.0, members: int = 1) -> Outputs:
    """All outputs after looks every `step` seconds."""
    history = History()
    at = [TopicPartition("t", one.partition) for one in look(0.0) if one.owned]
    described = Described(
        group="g",
        state="Stable" if members else "Empty",
        members=[Member(member_id="m", client_id="c", host="h", assignment=at)][:members],
    )
    time = 0.0
    while True:
        snapshot = Snapshot(groups=[GroupSnapshot(described=described, samples=look(time))])
        seen = LagSnapshot(time=time, snapshot=snapshot, groups=history.add(time, snapshot))
        if time >= seconds:
            return outputs(seen, "g")
        time += step


class Situation(NamedTuple):
    """What a group looks like, and what each output has to say."""

    look: Look
    status: str
    lag: int | None
    sentence: str
    eta: float | None = None
    holds: bool = True
    members: int = 1
    once: str = ""
    """The status in the table of one look, where it is another one."""


def empty(time: float) -> list[Sample]:
    """Two of three partitions hold no record, so nothing can be committed there."""
    return [sample(0, 100, 100), sample(1, None, 0), sample(2, None, 70, start=70)]


def uncommitted(time: float) -> list[Sample]:
    """Records wait in two of three partitions that have no commit."""
    return [sample(0, 100, 100), sample(1, None, 500), sample(2, None, 70, start=69)]


def nothing_committed(time: float) -> list[Sample]:
    return [sample(0, None, 500), sample(1, None, 0)]


def past_end(time: float) -> list[Sample]:
    """The topic was recreated: a commit is past the end."""
    return [sample(0, 100, 100), sample(1, 520, 500)]


def undecided(time: float) -> list[Sample]:
    """A group that reads uncommitted records is past the last stable offset, which lag is measured to."""
    return [sample(0, 520, 500, stable_end=True)]


def catching_up(time: float) -> list[Sample]:
    return [sample(0, 1000 + int(50 * time), 20_000 + int(10 * time))]


def catching_up_beside_uncommitted(time: float) -> list[Sample]:
    return [*catching_up(time), sample(1, None, 16_433)]


def catching_up_beside_past_end(time: float) -> list[Sample]:
    return [*catching_up(time), sample(1, 520, 500)]


def blocked(time: float) -> list[Sample]:
    return [sample(0, 90, 100, stable=90)]


SITUATIONS = {
    "empty partitions": Situation(empty, "IDLE", 0, "it has read everything", 0.0, once="OK"),
    "uncommitted records": Situation(
        uncommitted, "NO COMMIT", 0, "2 of its 3 partitions have no commit; 501 offsets are unread there", holds=False
    ),
    "nothing committed": Situation(
        nothing_committed, "NO COMMIT", None, "its member has not committed; 500 offsets are unread", holds=False
    ),
    "past the end": Situation(
        past_end, "PAST END", 0, "t[1] is committed 20 offsets past the end: the topic was truncated or recreated",
        holds=False,
    ),
    "past the last stable offset": Situation(undecided, "IDLE", 0, "it has read everything", 0.0, once="OK"),
    "catching up": Situation(
        catching_up, "BEHIND", 15_400, "it will have caught up in 6m25s", 385.0, holds=False
    ),
    "catching up beside uncommitted records": Situation(
        catching_up_beside_uncommitted, "BEHIND", 15_400,
        "it reads 50 offsets per second; 16,433 offsets of 1 partition are not committed", holds=False,
    ),
    "catching up beside a commit past the end": Situation(
        catching_up_beside_past_end, "PAST END", 15_400,
        "t[1] is committed 20 offsets past the end: the topic was truncated or recreated", holds=False,
    ),
    "a transaction is open": Situation(blocked, "TXN-BLOCKED", 10, "t[0] waits for an open transaction"),
}  # fmt: skip


@pytest.mark.parametrize("name", SITUATIONS)
def test_all_outputs_agree(name: str) -> None:
    case = SITUATIONS[name]
    seen = played(case.look, members=case.members)
    agree(seen, case.status, case.lag, once=case.once)
    for eta in (seen.why.eta, seen.watch.eta, seen.dashboard.eta):
        assert eta == (case.eta if case.eta is None else pytest.approx(case.eta, rel=0.01))
    assert until(seen.dashboard).text.startswith("6m2" if case.eta else "")
    assert seen.why.why == case.sentence
    assert (seen.broken == [], seen.broken) == (case.holds, seen.broken_once)


@pytest.mark.parametrize(
    ("partitions", "eta"),
    [
        ([(0, "OK", 1.0, 0.0)], 0.0),
        ([(10, "OK", 1.0, 1.0)], None),
        ([(10, "BEHIND", 1.0, 3.0)], 5.0),
        ([(10, "BEHIND", 1.0, 3.0), (100, "BEHIND", 0.0, 1.0)], 100.0),
        ([(10, "BEHIND", 1.0, 3.0), (10, "OK", 1.0, 1.0)], 5.0),
        ([(10, "BEHIND", 1.0, 3.0), (10, "BEHIND", 3.0, 1.0)], None),
        ([(10, "BEHIND", 1.0, 3.0), (10, "BEHIND", None, 1.0)], None),
        ([(10, "BEHIND", 1.0, 3.0), (10, "STUCK", 0.0, 1.0)], None),
        ([(10, "BEHIND", 1.0, 3.0), (None, "NO COMMIT", 0.0, None)], None),
        ([(10, "BEHIND", 1.0, 3.0), (None, "UNKNOWN", None, None)], None),
        ([(0, "OK", 0.0, 0.0), (None, "PAST END", 0.0, 0.0)], None),
    ],
)
def test_one_rule_computes_the_eta(
    partitions: list[tuple[int | None, str, float | None, float | None]], eta: float | None
) -> None:
    from kcli.lag.figures import Lag
    from kcli.lag.partition_lag import PartitionFigures
    from kcli.lag.partition_lag import eta as rule

    rows = [
        PartitionFigures(lag=Lag(lag=lag), status=status, in_rate=comes, out_rate=goes)
        for lag, status, comes, goes in partitions
    ]
    assert rule(rows) == eta


def unreadable(time: float) -> list[Sample]:
    """A broker is frozen from the sixtieth second on."""
    error = "broker 2 is down" if time >= 60 else None
    return [
        sample(0, 900 + int(time), 1000 + int(time)),
        sample(1, 900 + int(time), 1000 + int(time), error=error),
    ]


def test_a_sum_with_an_unknown_part_is_a_lower_bound_in_every_output() -> None:
    whole, seen = played(unreadable, seconds=55.0), played(unreadable)
    assert (whole.watch.lag, whole.watch.unknown) == (200, 0)
    assert metric(whole.prometheus, "kafka_consumergroup_lag_sum", "g") == "200"
    assert {(row.lag, row.unknown) for row in (seen.table, seen.why, seen.watch)} == {(100, 1)}
    assert lag_text([seen.dashboard.total]) == "≥ 100"
    assert seen.dashboard.eta is seen.why.eta is None
    assert metric(seen.prometheus, "kafka_consumergroup_lag_sum", "g") is None
    assert metric(seen.prometheus, "kcli_group_unknown_partitions", "g") == "1"


def test_what_is_unknown_or_was_not_watched_is_a_gap_in_the_plot() -> None:
    trails = Trails()
    for time in (*range(0, 100, 5), *range(1600, 1700, 5)):
        group = played(lambda _, time=time: unreadable(time), seconds=0.0).dashboard  # type: ignore[misc]
        trails.add(LagSnapshot(time=float(time), groups=[group]))
    points = trails.of("g")
    assert [value for at, value in points if at < 60] == [200] * 12
    assert {value for at, value in points if at >= 60} == {None}  # no dip to the half that could be read
    assert runs(points) == [[(float(time), 200) for time in range(0, 60, 5)]]
    rates = [(float(time), 10.0) for time in (0, 5, 10, 1600, 1605)]
    assert [len(run) for run in runs(gapped(rates))] == [3, 2]
    assert spread(gapped(rates), 0.0, 1600.0, 4) == [10.0, None, None, 10.0]
    assert runs(gapped([(600.0 * n, 1.0) for n in range(9)])) != [], "an interval of ten minutes has no gaps"
    assert len(runs(gapped([(600.0 * n, 1.0) for n in range(9)]))) == 1


def test_a_value_that_changed_while_nobody_looked_is_not_known_meanwhile() -> None:
    series = Series()
    for time, value in ((0.0, 5), (10.0, 5), (20.0, 6), (30.0, 6), (500.0, 9), (510.0, 9), (900.0, 9)):
        series.add(time, value)
    moments = (-1.0, 0.0, 15.0, 30.0, 31.0, 499.0, 500.0, 700.0, 950.0, 961.0)
    assert [series.seen(moment, 60.0) for moment in moments] == [None, 5, 5, 6, None, None, 9, 9, 9, None]

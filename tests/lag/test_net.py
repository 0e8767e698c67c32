"""A group's arrow and rates are net over its partitions, its ETA and status those of its worst, with their share.

Scripted workloads, looked at every 5 s; what is drawn is held against what is said.
"""

from __future__ import annotations

import random

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample
from kcli.lag.formats.sentences import explained
from kcli.lag.history import GroupStanding, History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.status import GROWING, OK, STALLED, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition
from kcli.tui.screens.groups import arrow, until
from kcli.tui.text.formatting import status_of
from kcli.tui.trails import Trails

STEP, WINDOW = 5.0, 60.0


class Flow:
    """A partition: `rate` goes in a second, `speed` is read until `stops`, from `backlog` behind, committed every
    `every` seconds."""

    def __init__(
        self, rate: float, speed: float, backlog: int, every: float = 5.0, stops: float = 1e9, owned: bool = True
    ) -> None:
        self.rate, self.speed, self.backlog, self.every, self.stops = rate, speed, backlog, every, stops
        self.owned = owned

    def sample(self, number: int, time: float) -> Sample:
        end = self.backlog + int(self.rate * time)
        read = min(time - time % self.every, self.stops)
        done = min(int(self.speed * read), self.backlog + int(self.rate * read))
        return Sample(group="g", topic="t", partition=number, committed=done, end=end, start=0, owned=self.owned)


class Play:
    """The looks at a group with these partitions, and how its lag went over them."""

    def __init__(self, *flows: Flow, seconds: float = 180.0, threshold: int = 0) -> None:
        history, self.trails = History(threshold=threshold), Trails()
        member = Member(member_id="m", assignment=[TopicPartition("t", n) for n in range(len(flows))])
        for step in range(int(seconds / STEP)):
            time = STEP * step
            samples = [flow.sample(n, time) for n, flow in enumerate(flows)]
            shot = GroupSnapshot(described=Described(group="g", state="Stable", members=[member]), samples=samples)
            self.look = LagSnapshot(time=time, groups=history.add(time, Snapshot(groups=[shot])))
            self.trails.add(self.look)

    @property
    def group(self) -> GroupStanding:
        return self.look.groups[0]

    def drawn(self) -> float:
        """What the plot's last window says: by how much a second the lag grew."""
        points = [
            (time, value)
            for time, value in self.trails.of("g")
            if value is not None and time >= self.look.time - WINDOW
        ]
        return (points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0])


def test_a_group_that_works_off_one_partition_while_another_gets_a_little_is_told_as_what_it_is() -> None:
    """The trial's case: STUCK with a red arrow and +2.0/s, while its lag fell from 19.7k to 12.6k."""
    play = Play(Flow(0, 100, 19_700), Flow(2, 0, 50), seconds=80)
    assert play.drawn() == pytest.approx(-98, abs=3)
    assert play.group.status == STALLED, "its member moves"
    assert arrow(play.group) == ("↘", "good")
    assert play.group.growth == pytest.approx(-98, rel=0.05)
    assert (play.group.falling, play.group.eta) == (None, None)
    assert until(play.group).text == "–"
    assert status_of(play.group.total) == ("▪ STALLED 1 of 2", "warn")
    assert play.group.stuck == 0
    assert explained(play.group, play.look).startswith("t[1] has not moved for 1m")


def test_the_eta_of_a_group_is_that_of_its_slowest_partition() -> None:
    play = Play(Flow(10, 60, 20_000), Flow(10, 110, 20_000))
    slow = play.group.partitions[0]
    assert play.group.eta == slow.eta == pytest.approx((slow.lag.lag or 0) / 50, rel=0.1)
    assert (play.group.growth, arrow(play.group).text) == (pytest.approx(-150, rel=0.05), "↘")


def test_a_stuck_partition_has_no_eta_while_its_rate_sinks() -> None:
    play = Play(Flow(10, 300, 100_000, stops=60), seconds=100)
    (one,) = play.group.partitions
    assert (one.status, one.eta, play.group.eta) == (STUCK, None, None)


def test_a_group_that_is_ok_has_no_arrow_and_no_eta() -> None:
    play = Play(Flow(100, 1000, 0, every=20.0), Flow(100, 1000, 0, every=20.0), seconds=195)
    assert (play.group.total.lag or 0) > 0
    assert (play.group.status, play.group.falling, play.group.eta) == (OK, None, None)
    assert (arrow(play.group).text, until(play.group).text) == ("", "")
    assert status_of(play.group.total)[0] == "● OK"


def test_a_group_that_falls_behind_within_its_threshold_is_not_said_to() -> None:
    play = Play(Flow(10, 5, 0), threshold=10_000)
    assert play.group.growth == pytest.approx(5, rel=0.1)
    assert (play.group.status, play.group.falling, play.group.eta) == (OK, None, None)
    assert (arrow(play.group).text, until(play.group).text) == ("", "")


def test_who_grows_in_one_of_its_partitions_only_says_in_which() -> None:
    play = Play(Flow(10, 300, 100_000), Flow(20, 10, 500))
    assert (play.group.status, play.group.total.alike) == (GROWING, 1)
    assert (arrow(play.group).text, until(play.group).text) == ("↘", "–")
    assert explained(play.group, play.look) == "t[1] falls behind by 10 offsets per second"


def test_commits_that_are_too_few_for_a_rate_leave_an_arrow() -> None:
    play = Play(Flow(100, 150, 100_000, every=40.0), seconds=90)
    assert play.group.out_rate is None
    assert arrow(play.group).text == "↘"
    assert play.group.growth == pytest.approx(play.drawn(), rel=0.05)


def workloads() -> list[tuple[int, list[Flow]]]:
    made = []
    for seed in range(40):
        rng = random.Random(seed)
        flows = [
            Flow(rng.uniform(0, 200), rng.choice([0.0, rng.uniform(0, 400)]), rng.randrange(500, 200_000),
                 rng.choice([1.0, 5.0, 12.0]))
            for _ in range(rng.randrange(1, 6))
        ]  # fmt: skip
        made.append((seed, flows))
    return made


@pytest.mark.parametrize(("seed", "flows"), workloads(), ids=lambda one: str(one) if isinstance(one, int) else "")
def test_the_arrow_points_where_the_plot_goes(seed: int, flows: list[Flow]) -> None:
    play = Play(*flows)
    drawn, said = play.drawn(), arrow(play.group).text
    busiest = max(play.group.in_rate or 0, play.group.out_rate or 0)
    if abs(drawn) > 0.1 * busiest:
        assert said == ("↗" if drawn > 0 else "↘"), (drawn, play.group.growth)
    assert play.group.growth == pytest.approx(drawn, abs=0.1 * busiest + 1)
    assert not (until(play.group).text.startswith("+") and drawn < -0.1 * busiest)

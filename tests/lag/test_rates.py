"""Rates of groups, of partitions that move at random and watches with gaps, beside a model that keeps every look."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from math import inf

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample
from kcli.lag.formats.prometheus import render
from kcli.lag.history import KEEP, GroupStanding, History
from kcli.lag.partition_lag import SHOWN
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.watch import LagSnapshot
from kcli.tui.trails import Trails
from tests.lag.outputs import metric, outputs

WINDOW, SLACK = 60.0, 60.0
Looks = list[tuple[float, int]]


def shot(places: Sequence[tuple[int, int]]) -> Snapshot:
    """A group with one member, whose partitions are at these (commit, end)."""
    samples = [
        Sample(group="g", topic="t", partition=n, committed=done, end=end, start=0, owned=True, member_id="m")
        for n, (done, end) in enumerate(places)
    ]
    described = Described(group="g", state="Stable", members=[Member(member_id="m")])
    return Snapshot(groups=[GroupSnapshot(described=described, samples=samples)])


def known(looks: Looks, now: float, kept: float, most: float) -> bool | float:
    """Whether the rate of a partition is known, by all looks at it; where few changes tell it, what it is. Changes are
    kept for `kept` seconds; `most` is the largest of which few tell the rate."""
    begun = now - WINDOW
    changes = [(before, after) for before, after in pairwise(looks) if before[1] != after[1]]
    recent = [(before, after) for before, after in changes if after[0] > begun]
    if not recent:
        return 0.0 if len(looks) > 1 else False
    gaps = [after[0] for before, after in recent if after[0] - before[0] > SLACK]
    since = max(gaps, default=begun)
    later = [after for _, after in recent if after[0] > since]
    if not later:
        return 0.0 if now > since else False
    if len(later) >= 3:
        return True
    older = [look for look in looks if look[0] <= begun]
    if gaps or not older:
        return False
    reached = [(before, after) for before, after in changes if after[0] > now - kept][-3:]
    if len(reached) == 3 and all(after[0] - before[0] <= SLACK for before, after in reached):
        return True
    if max(after[1] - before[1] for before, after in recent) > most:
        return False
    first = recent[0][0]  # the last look before it changed
    return (looks[-1][1] - first[1]) / (now - min(first[0], begun))


@pytest.mark.parametrize("seed", range(25))
def test_a_rate_is_known_while_that_of_each_partition_is(seed: int) -> None:
    rng = random.Random(seed)
    flows = [(rng.choice([0.0, 0.01, 0.02, 0.1, 0.5, 1.0]), rng.choice([3, 10])) for _ in range(rng.randrange(1, 5))]
    history, now = History(), 1000.0
    places = [(100, 1000) for _ in flows]
    done: list[Looks] = [[] for _ in flows]
    ends: list[Looks] = [[] for _ in flows]
    for look in range(150):
        step = 5.0 if look < 6 else rng.choice([5.0] * 12 + [20.0, 70.0, 500.0])
        now += step
        moves = [(rng.random() < pace) * size for pace, size in flows]
        places = [(at + more, end + more) for (at, end), more in zip(places, moves, strict=True)]
        (found,) = history.add(now, shot(places))
        for n, (at, end) in enumerate(places):
            done[n].append((now, at))
            ends[n].append((now, end))
        for looks, rates, whole, kept, most in (
            (done, [part.out_rate for part in found.partitions], found.out_rate, KEEP, SHOWN * WINDOW),
            (ends, [part.in_rate for part in found.partitions], found.in_rate, KEEP + step, inf),
        ):
            for some, rate in zip(looks, rates, strict=True):
                wanted = known(some, now, kept, most)
                assert (rate is None) == (wanted is False)
                assert isinstance(wanted, bool) or rate == pytest.approx(wanted)
            if None in rates:
                assert whole is None
            else:
                assert whole == pytest.approx(sum(rate or 0.0 for rate in rates))


def after_a_gap(looks: int) -> LagSnapshot:
    """A group with a busy partition and an idle one: not watched for 25 minutes, then looked at a few times."""
    history, seen = History(), LagSnapshot()
    for n in range(20 + looks):
        time = 1000.0 + 5.0 * n + 1500.0 * (n >= 20)
        snapshot = shot([(100 * n, 100 * n + 50), (7, 7)])
        seen = LagSnapshot(time=time, snapshot=snapshot, groups=history.add(time, snapshot))
    return seen


@pytest.mark.parametrize(("looks", "rate"), [(0, 20.0), (1, None), (3, None), (4, 20.0)])
def test_after_a_gap_an_idle_partition_does_not_speak_for_a_busy_one(looks: int, rate: float | None) -> None:
    seen = after_a_gap(looks)
    found, wanted = outputs(seen, "g"), rate if rate is None else pytest.approx(rate)
    trails = Trails()
    trails.add(seen)
    group = seen.groups[0]
    assert [part.out_rate for part in group.partitions][1] == 0.0
    assert {part is None for part in (group.in_rate, group.out_rate)} == {rate is None}
    assert (group.in_rate, group.out_rate) == (wanted, wanted)
    assert (found.watch.in_rate, found.watch.out_rate) == (wanted, wanted)
    assert [(one.in_rate, one.out_rate) for one in trails.moments("g")] == [(wanted, wanted)]
    shown = metric(render(seen), "kcli_group_in_rate", "g")
    assert (None if shown is None else float(shown)) == wanted


@pytest.mark.parametrize(("step", "rate"), [(5, 5 / WINDOW), (500, None)])
def test_a_partition_that_commits_every_ten_minutes_has_no_eta_and_a_rate_if_its_commits_are_small(
    step: int, rate: float | None
) -> None:
    history, found = History(), GroupStanding()
    for n in range(240):
        (found,) = history.add(1000.0 + 5.0 * n, shot([(step * (n // 120), 100_000)]))
        assert found.partitions[0].eta is found.eta is None
        if 0 <= n - 120 < 12:
            assert found.out_rate == (rate if rate is None else pytest.approx(rate))
    assert found.out_rate == 0.0


def test_a_group_of_which_one_partition_has_no_rate_yet_reads_at_least_what_the_others_do() -> None:
    history = History()
    for n in range(7):
        time = 1000.0 + 5.0 * n
        snapshot = shot([(100 * n, 50_000), (7 + (n > 5), 50_000)])
        seen = LagSnapshot(time=time, snapshot=snapshot, groups=history.add(time, snapshot))
    group = seen.groups[0]
    assert group.out_rate is None
    assert group.out_least == pytest.approx(20.0)
    found = outputs(seen, "g")
    assert found.why.why == found.sentence == "it reads at least 20 offsets per second"

"""A share group is as far behind as its coordinator counts: its start alone says little (KIP-932)."""

from __future__ import annotations

import json

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample, measure
from kcli.lag.formats.recording import line, read
from kcli.lag.history import GroupStanding, History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.status import BEHIND, IDLE, NO_COMMIT, OK, REWOUND, STUCK
from kcli.model import TopicPartition

AT = TopicPartition("t", 0)
SHARED = Described(group="s", type="share", state="Stable", members=[Member(member_id="m", assignment=[AT])])


def snapshot_of(start: int, end: int, counted: int | None) -> Snapshot:
    one = Sample(group="s", topic="t", committed=start, end=end, start=0, owned=True, counted=counted)
    return Snapshot(groups=[GroupSnapshot(described=SHARED, samples=[one])])


def play(*looks: tuple[int, int, int | None], step: float = 5.0) -> list[GroupStanding]:
    history = History()
    return [history.add(1000.0 + step * n, snapshot_of(*one))[0] for n, one in enumerate(looks)]


def test_a_share_group_that_is_through_is_idle_however_old_its_start_is() -> None:
    last = play(*[(10, 100, 0)] * 30)[-1]
    assert (last.status, last.total.lag, last.eta, last.time_lag, last.peak) == (IDLE, 0, 0.0, 0.0, 0)


def test_one_that_gets_on_beyond_its_start_is_not_stuck_and_has_its_rates() -> None:
    """The first record is held for long: its start stands, the records after it are worked off."""
    found = play(*[(10, 10_000 + 50 * n, 9_000 - 500 * n) for n in range(15)])[-1]
    assert found.status == BEHIND
    assert found.out_rate == pytest.approx(110.0, rel=0.05)
    assert found.eta == pytest.approx(2_000 / 100, rel=0.1)
    assert found.partitions[0].peak == 9_000


def test_one_that_does_not_get_on_is_stuck() -> None:
    assert play(*[(10, 100, 40)] * 10)[-1].status == STUCK


def test_a_count_that_comes_a_moment_before_the_end_or_after_it_is_no_progress() -> None:
    """The end went on by one after the lag was counted, or before: nothing was worked off."""
    last = play(*[(10, 100 + n, 40 + n - n % 2) for n in range(12)])[-1]
    assert (last.status, last.stuck) == (STUCK, 1)


def test_the_lag_that_was_counted_a_moment_before_the_end_was_read_is_no_step_back() -> None:
    found = play((10, 100, 20), (10, 100, 21), (10, 101, 23))
    assert [one.partitions[0].rewound for one in found] == [None] * 3
    (rewound,) = play((50, 100, 20), (20, 100, 50))[1].partitions
    assert (rewound.status, rewound.rewound) == (REWOUND, (50, 20))


def test_without_a_count_the_start_is_all_there_is() -> None:
    assert play((10, 100, None))[-1].total.lag == 90


def test_records_that_retention_took_are_not_lost_to_a_group_that_was_through_with_them() -> None:
    sample = Sample(committed=10, end=100, start=60, owned=True, counted=0)
    assert (measure(sample).lost, measure(sample).status) == (0, OK)
    history = History()
    shot = snapshot_of(10, 100, 0)
    shot.groups[0].samples[0].start = 60
    assert history.add(1.0, shot)[0].status == OK


def test_a_recording_keeps_the_count_and_one_of_before_is_read_without_it() -> None:
    shot = snapshot_of(10, 100, 40)
    shot.groups[0].samples[0].written = 1_700_000_000_000
    text = line(1.0, shot)
    assert read(text)[1].groups[0].samples == shot.groups[0].samples
    whole = json.loads(text)
    for name in ("begins", "counted", "written"):
        del whole["groups"][0]["partitions"][0][name]
    (sample,) = read(json.dumps(whole))[1].groups[0].samples
    assert (sample.begins, sample.counted, sample.written, sample.committed) == (None, None, None, 10)


def test_a_partition_that_the_group_has_not_read_counts_from_where_it_will_start() -> None:
    for begins, unread in ((None, 90), (100, 0), (40, 60)):
        out = measure(Sample(committed=None, begins=begins, end=100, start=10, owned=True))
        assert (out.unread, out.lag, out.status) == ((unread, None, NO_COMMIT) if unread else (0, 0, OK))

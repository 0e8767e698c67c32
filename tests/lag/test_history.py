"""Looks at groups in, standings and a timeline out."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.errors import KcliError
from kcli.lag import partition_lag
from kcli.lag.figures import Sample
from kcli.lag.formats.sentences import explained
from kcli.lag.history import GroupStanding, History
from kcli.lag.partition_lag import Log
from kcli.lag.series import Series
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.status import GROWING, STUCK
from kcli.lag.watch import LagSnapshot
from kcli.model import TopicPartition

AT = TopicPartition("t", 0)
MEMBER = Member(member_id="m1", client_id="app", host="10.0.0.7", assignment=[AT])


def snapshot_of(
    committed: Mapping[int, int | None],
    end: int,
    *,
    members: tuple[Member, ...] = (MEMBER,),
    state: str = "Stable",
    epoch: int | None = None,
    start: int = 0,
    group: str = "g",
) -> Snapshot:
    samples = [
        Sample(group=group, topic="t", partition=p, committed=c, end=end, start=start, owned=bool(members))
        for p, c in committed.items()
    ]
    described = Described(group=group, state=state, members=list(members), epoch=epoch)
    return Snapshot(groups=[GroupSnapshot(described=described, samples=samples)])


def play(history: History, seconds: int, *, rate: float, speed: float, begin: float = 0.0) -> GroupStanding:
    found = GroupStanding()
    for n in range(seconds // 5):
        t = begin + 5.0 * n
        ends = 10_000 + int(rate * t)
        (found,) = history.add(t + 1000.0, snapshot_of({0: int(speed * t), 1: ends}, ends))
    return found


def test_a_group_is_the_sum_of_its_partitions_and_as_slow_as_its_slowest() -> None:
    found = play(History(), 40, rate=100.0, speed=300.0)
    assert found.total.lag == 10_000 + (100 * 35) - (300 * 35)
    assert found.in_rate is not None
    assert abs(found.in_rate - 200) < 10
    assert found.out_rate is not None
    assert abs(found.out_rate - 400) < 20
    assert found.eta is not None
    assert abs(found.eta - 3000 / 200) < 1
    assert found.peak == 10_000


def test_a_group_of_which_a_lagging_partition_is_not_dated_is_not_late_by_another_s_nought() -> None:
    history = History()
    (found,) = history.add(1000.0, snapshot_of({0: 5, 1: 100}, 100))  # a first look: nobody knows how old offset 5 is
    assert [one.time_lag for one in found.partitions] == [None, 0.0]
    assert (found.time_lag, found.time_lag_least) == (None, False)
    (found,) = history.add(1007.0, snapshot_of({0: 5, 1: 100}, 100))
    assert (found.time_lag, found.time_lag_least) == (7.0, True)
    found.partitions[0].time_lag_least, found.partitions[1].lag.lag, found.partitions[1].time_lag = False, 3, None
    found.date()
    assert (found.time_lag, found.time_lag_least) == (7.0, True)  # the other may be later
    (found,) = history.add(1009.0, snapshot_of({0: 100, 1: 100}, 100))
    assert (found.time_lag, found.time_lag_least) == (0.0, False)


def test_the_eta_is_unknown_while_one_partition_falls_behind() -> None:
    found = play(History(), 120, rate=100.0, speed=20.0)
    assert found.eta is None
    assert found.falling is not None
    assert found.status == GROWING


def test_the_timeline_tells_members_states_steps_back_and_losses() -> None:
    history = History()
    other = Member(member_id="m2", client_id="late", host="h2")
    history.add(0.0, snapshot_of({0: 50}, 100, epoch=3))
    history.add(5.0, snapshot_of({0: 50}, 100, members=(MEMBER, other), epoch=4))
    history.add(10.0, snapshot_of({0: 20}, 100, members=(other,), state="PreparingRebalance", epoch=4))
    history.add(15.0, snapshot_of({0: 20}, 100, members=(other,), start=60, epoch=4))
    said = [(event.time, event.kind, event.text) for event in history.events]
    assert (5.0, "joined", "late@h2 joined") in said
    assert (5.0, "generation", "group epoch 3 is now 4") in said
    assert (10.0, "left", "app@10.0.0.7 left") in said
    assert (10.0, "state", "Stable is now PreparingRebalance") in said
    assert (10.0, "rewound", "t[0]: committed went back from 50 to 20") in said
    assert (15.0, "lost", "t[0]: retention deleted 40 unread offsets") in said
    assert (15.0, "status", "t[0]: REWOUND is now LOSING DATA") in said


def test_a_group_that_went_away_is_told_once_and_forgotten() -> None:
    history = History()
    history.add(0.0, snapshot_of({0: 50}, 100))
    assert history.add(5.0, Snapshot()) == []
    history.add(10.0, Snapshot())
    assert [event.kind for event in history.events] == ["gone"]
    assert history.lags("g", AT, [0.0]) == [None]


def test_a_group_whose_coordinator_is_silent_keeps_its_samples() -> None:
    history = History()
    history.add(0.0, snapshot_of({0: 50}, 100))
    history.add(5.0, Snapshot(brokers={1: KcliError("broker 1 is down")}))
    history.add(10.0, Snapshot(failed={"g": KcliError("broker 1 is down")}))
    assert history.events == []
    assert history.lags("g", AT, [2.0, 20.0]) == [50, 50]


def test_a_partition_that_a_group_no_longer_reads_is_forgotten() -> None:
    history = History()
    history.add(0.0, snapshot_of({0: 50, 1: 50}, 100))
    (found,) = history.add(5.0, snapshot_of({0: 50}, 100))
    assert [one.lag.sample.partition for one in found.partitions] == [0]
    assert history.lags("g", TopicPartition("t", 1), [0.0]) == [None]


def test_samples_are_kept_for_so_long_and_no_longer() -> None:
    history = History(keep=60.0)
    for n in range(200):
        history.add(float(n), snapshot_of({0: n}, 2 * n))
    assert history.lags("g", AT, [100.0, 150.0]) == [None, 150]


@pytest.mark.slow
def test_a_thousand_groups_cost_a_second_not_a_minute() -> None:
    import time

    history = History()
    shots = [snapshot_of(dict.fromkeys(range(100), 7), 100, group=f"g{n}").groups[0] for n in range(100)]
    began = time.process_time()
    for n in range(3):
        history.add(5.0 * n, Snapshot(groups=shots))
    assert time.process_time() - began < 10  # 30,000 partitions; a hundred microseconds each would be 3 s


def test_the_ends_of_a_partition_are_taken_and_rated_once_however_many_groups_read_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    added: list[float] = []
    rated: list[float] = []
    add, rate = Log.add, partition_lag.rate

    def counted_add(log: Log, time: float, sample: Sample) -> None:
        added.append(time)
        add(log, time, sample)

    def counted_rate(series: Series, now: float, window: float, slack: float) -> float | None:
        rated.append(now)
        return rate(series, now, window, slack)

    monkeypatch.setattr(Log, "add", counted_add)
    monkeypatch.setattr(partition_lag, "rate", counted_rate)
    history, found = History(), list[GroupStanding]()
    for n in range(8):
        shots = [snapshot_of({0: 10 * n, 1: 10 * n}, 100 + 20 * n, group=f"g{group}").groups[0] for group in range(5)]
        found = history.add(1000.0 + 5 * n, Snapshot(groups=shots))
        assert added == [1000.0 + 5 * n] * 2
        added.clear()
    assert len(rated) == 8 * (2 + 5 * 2), "of what comes in each partition once, of what is read each group's"
    assert [group.in_rate for group in found] == [found[0].in_rate] * 5
    assert found[0].in_rate == pytest.approx(2 * 4.0)


def stopped(history: History, begun: float, *, committed: dict[int, int | None]) -> None:
    """Five minutes in which nothing is committed."""
    for n in range(60):
        history.add(begun + 5.0 * n, snapshot_of(committed, 100))


def again(history: History) -> History:
    """Another watch of the same groups, later."""
    one = History()
    one.go_on(history.standstills())
    return one


@pytest.mark.parametrize("later", [60.0, 170.0, 1_200.0, 80_000.0])
def test_a_group_that_stood_still_in_an_earlier_watch_is_stuck_at_the_first_sample(later: float) -> None:
    before = History()
    stopped(before, 1000.0, committed={0: 50, 1: 100})
    now = again(before)
    (found,) = now.add(1300.0 + later, snapshot_of({0: 50, 1: 100}, 120))
    assert [part.status for part in found.partitions] == [STUCK, "BEHIND"]
    assert found.partitions[0].still == 300.0 + later
    assert found.partitions[0].out_rate == 0.0
    assert now.standstills() == {"g": {AT: (50, 1000.0, False, ())}}, "a third watch knows it too"
    now.add(1340.0 + later, snapshot_of({0: 50, 1: 120}, 120))
    assert [event.text for event in now.events if "STUCK" in event.text] == []


@pytest.mark.parametrize(("committed", "end"), [(51, 120), (49, 120), (120, 120), (None, 120)])
def test_of_a_group_that_has_moved_meanwhile_nothing_is_known_of_the_time_before(
    committed: int | None, end: int
) -> None:
    before = History()
    stopped(before, 1000.0, committed={0: 50})
    now = again(before)
    (found,) = now.add(1400.0, snapshot_of({0: committed}, end))
    assert found.status != STUCK
    assert found.partitions[0].still == 0.0
    (found,) = now.add(1405.0, snapshot_of({0: 50}, 120))
    assert found.status != STUCK, "it came back to where it stood"
    assert now.standstills() == {}


def test_one_that_has_read_everything_did_not_stand_still_although_it_is_where_it_was() -> None:
    before = History()
    stopped(before, 1000.0, committed={0: 50})
    now = again(before)
    (found,) = now.add(1400.0, snapshot_of({0: 50}, 50))  # the topic was created anew
    assert found.partitions[0].still == 0.0
    (found,) = now.add(1405.0, snapshot_of({0: 50}, 60))
    assert found.status == "BEHIND"


def test_a_partition_that_stands_still_while_its_member_moves_is_stalled_and_at_last_stuck() -> None:
    history = History()
    statuses = {}
    for n in range(80):
        (found,) = history.add(1000.0 + 5.0 * n, snapshot_of({0: 50, 1: 100 + 10 * n, 2: 60 if n < 20 else 70}, 10_000))
        statuses[5.0 * n] = [(part.status, part.still) for part in found.partitions]
    assert statuses[30.0][0] == ("BEHIND", 30.0)
    assert statuses[35.0] == [("STALLED", 35.0), ("BEHIND", 0.0), ("STALLED", 35.0)]
    assert statuses[150.0] == [("STALLED", 150.0), ("BEHIND", 0.0), ("STALLED", 50.0)], "each has its own age"
    assert statuses[300.0][0] == ("STALLED", 300.0)
    assert statuses[305.0][0] == (STUCK, 305.0), "ten times the limit"
    assert found.status == STUCK


def test_a_member_none_of_whose_partitions_moves_is_stuck_in_each_of_them() -> None:
    history = History()
    for n in range(40):
        moves = min(n, 20)
        (found,) = history.add(1000.0 + 5.0 * n, snapshot_of({0: 50, 1: 100 + moves}, 10_000))
    assert [(part.status, part.still) for part in found.partitions] == [(STUCK, 195.0), (STUCK, 95.0)]


@pytest.mark.parametrize("closed", [20.0, 500.0])
def test_a_partition_that_was_stalled_is_so_when_the_watch_starts_again(closed: float) -> None:
    before = History()
    for n in range(30):
        before.add(1000.0 + 5.0 * n, snapshot_of({0: 50, 1: 100 + 10 * n}, 10_000))
    assert before.standstills() == {"g": {AT: (50, 1000.0, True, ())}}
    now = again(before)
    for n in range(12):
        time = 1145.0 + closed + 5.0 * n
        (found,) = now.add(time, snapshot_of({0: 50, 1: 1000 + 10 * n}, 10_000))
        wanted = "STALLED" if time - 1000.0 <= 300.0 else STUCK
        assert (found.partitions[0].status, found.partitions[0].still) == (wanted, time - 1000.0)


def test_a_member_that_stood_still_for_a_minute_is_stuck_at_once_when_the_watch_starts_again() -> None:
    before = History()
    for n in range(13):
        before.add(1000.0 + 5.0 * n, snapshot_of({0: 50, 1: 60}, 100))
    (found,) = again(before).add(1070.0, snapshot_of({0: 50, 1: 60}, 100))
    assert [(part.status, part.still) for part in found.partitions] == [(STUCK, 70.0)] * 2


def test_the_jump_of_a_group_that_never_had_members_is_no_change_of_pace() -> None:
    history = History()
    for n in range(40):
        committed = {0: 1000 if n < 20 else 90_000}
        (found,) = history.add(1000.0 + 5.0 * n, snapshot_of(committed, 100_000, members=()))
        assert (found.out_rate or 0.0, found.growth or 0.0, found.eta) == (0.0, 0.0, None)


def test_the_jump_of_a_reset_is_no_throughput() -> None:
    history = History()
    for n in range(20):
        history.add(1000.0 + 5.0 * n, snapshot_of({0: 100 * n}, 100_000))
    for n in range(20, 24):
        (gone,) = history.add(1000.0 + 5.0 * n, snapshot_of({0: 1900}, 100_000, members=()))
    for n in range(24, 40):
        (found,) = history.add(1000.0 + 5.0 * n, snapshot_of({0: 90_000}, 100_000, members=()))
        assert found.out_rate in (None, 0.0)
        assert not found.growth
        assert found.eta is None
    assert gone.status == found.status == "ORPHANED"


def test_a_clock_that_is_set_back_gives_no_negative_rate_and_keeps_ages() -> None:
    history, begun = History(), 100_000.0
    for n in range(60):
        time = begun + 5.0 * n - (3600.0 if n >= 40 else 0.0)
        samples = snapshot_of({0: 50, 1: 100 * n}, 10_000 + 100 * n)
        (found,) = history.add(time, samples)
        for rate in (found.in_rate, found.out_rate, *(part.in_rate for part in found.partitions)):
            assert rate is None or rate >= 0.0
    assert found.in_rate == pytest.approx(40.0, rel=0.2), "two partitions, 20/s each"
    assert found.out_rate == pytest.approx(20.0, rel=0.2)
    assert found.partitions[0].still == pytest.approx(295.0, abs=6.0)


def test_a_clock_that_is_set_back_neither_wakes_a_member_nor_repeats_a_step_back() -> None:
    history = History()
    for n in range(40):
        time = 100_000.0 + 5.0 * n - (3600.0 if n >= 20 else 0.0)
        committed = {0: 50, 1: 100 + min(n, 10), 2: 90 if n < 5 else 80}
        (found,) = history.add(time, snapshot_of(committed, 10_000))
    assert [part.status for part in found.partitions] == [STUCK] * 3, "its member last moved 145 s ago"
    assert [part.rewound for part in found.partitions] == [None] * 3


@pytest.mark.parametrize("interval", [5.0, 300.0])
def test_what_changed_while_nothing_was_watched_has_no_rate(interval: float) -> None:
    history, pause = History(), 25 * 60.0
    time = 1000.0
    for n in range(20):
        time += interval
        history.add(time, snapshot_of({0: 100 * n}, 10_000 + 100 * n))
    time += max(pause, 5 * interval)
    (found,) = history.add(time, snapshot_of({0: 900_000}, 1_000_000))
    assert (found.in_rate, found.out_rate) == (None, None)
    assert found.growth is None
    assert found.time_lag_least, "it was written at some time of the pause"
    for n in range(1, 13):
        time += interval
        (found,) = history.add(time, snapshot_of({0: 900_000 + 100 * n}, 1_000_000 + 100 * n))
    assert found.in_rate == pytest.approx(100 / interval, rel=0.2)
    assert found.out_rate == pytest.approx(100 / interval, rel=0.2)


def test_a_window_that_is_longer_than_a_gap_has_the_pace_after_it() -> None:
    history, time = History(window=600.0), 1000.0
    for n in range(40):
        time += 200.0 if n == 20 else 5.0
        jump = 900_000 * (n >= 20)
        (found,) = history.add(time, snapshot_of({0: jump + 100 * n}, jump + 10_000 + 100 * n))
    assert found.in_rate == pytest.approx(20.0, rel=0.1)
    assert found.out_rate == pytest.approx(20.0, rel=0.1)


def test_a_group_with_a_partition_that_cannot_be_read_has_no_rates() -> None:
    history = History()
    for n in range(20):
        samples = snapshot_of({0: 100 * n, 1: 100 * n}, 10_000 + 100 * n)
        if n > 12:
            samples.groups[0].samples[1] = Sample(
                group="g", topic="t", partition=1, error="broker 2 is down", owned=True
            )
        (found,) = history.add(1000.0 + 5.0 * n, samples)
    readable, unreadable = found.partitions
    assert readable.in_rate == pytest.approx(20.0, rel=0.2)
    assert (unreadable.in_rate, unreadable.out_rate, unreadable.status) == (None, None, "UNKNOWN")
    assert (found.in_rate, found.out_rate, found.growth) == (None, None, None)
    assert found.time_lag_least


def test_a_partition_stands_still_only_after_three_of_its_own_commit_intervals() -> None:
    history = History()
    for n in range(5):
        for beat in range(12):
            history.add(1000.0 + 60.0 * n + 5.0 * beat, snapshot_of({0: 10 * n}, 100))
    for n in range(20):
        (found,) = history.add(1300.0 + 5.0 * n, snapshot_of({0: 40}, 100))
    assert found.status != STUCK, "155 s without a commit, of a group that commits every minute"
    assert history.standstills() == {"g": {AT: (40, 1240.0, False, (60, 60, 60))}}
    (found,) = again(history).add(1400.0, snapshot_of({0: 40}, 100))
    assert (found.status, found.partitions[0].still) == ("BEHIND", 160.0)
    (found,) = again(history).add(1425.0, snapshot_of({0: 40}, 100))
    assert (found.status, found.partitions[0].still) == (STUCK, 185.0)


@pytest.mark.parametrize("restarts", [(35,), (32,), (33, 37), (32, 41, 50)])
def test_a_group_that_commits_every_ten_minutes_is_not_stuck_in_a_new_watch(restarts: tuple[int, ...]) -> None:
    """A look a minute; its last commit is at the thirtieth."""
    history, statuses = History(), {}
    for n in range(66):
        if n in restarts:
            history = again(history)
        (found,) = history.add(1000.0 + 60.0 * n, snapshot_of({0: 100 * (min(n, 30) // 10 * 10)}, 100 * n))
        statuses[n] = found.status
    stuck = [n for n, status in statuses.items() if n >= 30 and status == STUCK]
    assert stuck == list(range(61, 66)), "half an hour, three of its own intervals"


def test_of_a_member_that_moved_in_another_partition_a_new_watch_does_not_say_that_it_stood_still() -> None:
    before = History()
    for n in range(32):
        before.add(1000.0 + 60.0 * n, snapshot_of({0: 100 * (n // 10 * 10), 1: 100 * n}, 10_000))
    found = again(before).add(4000.0, snapshot_of({0: 3000, 1: 3100}, 10_000))[0].partitions
    assert [(part.status, part.still) for part in found] == [("BEHIND", 1200.0), ("STUCK", 1140.0)]


def test_what_cannot_be_read_at_first_is_compared_when_it_can() -> None:
    before = History()
    stopped(before, 1000.0, committed={0: 50})
    now = again(before)
    stood = now.standstills()
    now.add(1400.0, Snapshot(brokers={1: KcliError("broker 1 is down")}))
    assert now.standstills() == stood
    failed = snapshot_of({0: 50}, 100)
    failed.groups[0].samples[0].error = "the leader is unknown"
    now.add(1405.0, failed)
    assert now.standstills() == stood
    (found,) = now.add(1410.0, snapshot_of({0: 50}, 100))
    assert (found.status, found.partitions[0].still) == (STUCK, 410.0)
    gone = again(before)
    gone.add(1400.0, Snapshot())
    assert gone.standstills() == {}


def test_an_orphan_keeps_the_time_of_its_last_commit() -> None:
    before = History()
    for n in range(60):
        before.add(1000.0 + 5.0 * n, snapshot_of({0: 50}, 100, members=()))
    (found,) = again(before).add(5000.0, snapshot_of({0: 50}, 100, members=()))
    assert (found.status, found.partitions[0].still) == ("ORPHANED", 4000.0)


def owned(member: str, committed: int = 50) -> Snapshot:
    """A group whose only partition this member has; none with ""."""
    found = snapshot_of({0: committed}, 10_000, members=(Member(member_id=member),) if member else ())
    found.groups[0].samples[0].member_id = member or None
    return found


def test_a_member_that_has_just_joined_did_not_stand_still_while_there_was_none() -> None:
    history = History()
    for n in range(180):
        (found,) = history.add(1000.0 + 5.0 * n, owned(""))
    assert (found.status, found.partitions[0].still) == ("ORPHANED", 895.0)
    seen = {}
    for n in range(8):
        (found,) = history.add(1900.0 + 5.0 * n, owned("new"))
        seen[5.0 * n] = found.status, found.partitions[0].still, found.partitions[0].assigned
    assert seen[0.0][1:] == (0.0, 0.0)
    assert seen[30.0][0] not in (STUCK, "STALLED")
    assert seen[35.0] == (STUCK, 35.0, 35.0)


def test_a_partition_that_goes_from_one_member_to_the_next_says_since_when_the_last_has_it() -> None:
    history = History()
    for n in range(180):
        (found,) = history.add(1000.0 + 5.0 * n, owned("a"))
    assert explained(found, LagSnapshot()) == "t[0] has a reader that has not moved for 14m55s"
    for n in range(3):
        (found,) = history.add(1900.0 + 5.0 * n, owned("b"))
    assert found.status == STUCK, "each may fail at the same record"
    assert explained(found, LagSnapshot()) == "t[0] has not moved for 15m10s; its reader was assigned it 10s ago"


def test_the_next_watch_counts_from_when_a_partition_got_its_member_too() -> None:
    history = History()
    for n in range(180):
        history.add(1000.0 + 5.0 * n, owned(""))
    for n in range(8):
        history.add(1900.0 + 5.0 * n, owned("new"))
    (found,) = again(history).add(1940.0, owned("new"))
    assert (found.status, found.partitions[0].still) == (STUCK, 40.0)


def test_a_member_that_joined_between_two_watches_did_not_stand_still_before() -> None:
    history = History()
    for n in range(180):
        history.add(1000.0 + 5.0 * n, owned(""))
    (found,) = again(history).add(5000.0, owned("new"))
    assert found.status != STUCK


def test_members_that_crash_at_one_record_again_and_again_are_stuck_whether_or_not_a_look_finds_none() -> None:
    history = History()
    for n in range(180):
        (found,) = history.add(1000.0 + 5.0 * n, owned(f"m{n // 5}" if n % 5 else ""))
    assert found.status == STUCK


def test_a_group_whose_members_left_reads_nothing_and_is_not_called_self_assigned() -> None:
    history = History()
    for n in range(12):
        history.add(1000.0 + 5.0 * n, owned("m", 100 * n))
    (found,) = history.add(1060.0, owned("", 1100))
    assert (found.status, found.out_rate) == ("ORPHANED", 0.0)
    assert explained(found, LagSnapshot()) == "no member reads for this group, and 8,900 offsets wait"


def test_a_member_that_commits_as_it_leaves_was_not_standing_still() -> None:
    history = History()
    for n in range(6):
        history.add(1000.0 + 20.0 * n, owned("old", 10 * n))
    history.add(1105.0, owned("", 55))
    history.add(1125.0, owned("new", 55))
    (found,) = history.add(1126.0, owned("new", 55))
    assert found.partitions[0].still == 1.0

"""What is worth a line of what happened to a group: nothing is forgotten over what happens to others, and to and fro is
said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample
from kcli.lag.history import History
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.lag.status import BEHIND, IDLE, LOSING_DATA, OK, STUCK
from kcli.lag.timeline import LONGEST, REMEMBERED, Turns
from kcli.model import TopicPartition

OK, BEHIND, STUCK, LOSING, IDLE = OK, BEHIND, STUCK, LOSING_DATA, IDLE


def said(*statuses: str, step: float = 5.0) -> list[tuple[float, str]]:
    """What is said of a partition that has these statuses, look after look."""
    turns = Turns(statuses[0], 0.0)
    told = [(step * n, turns.add(step * n, one)) for n, one in enumerate(statuses[1:], 1)]
    return [(time, text) for time, text in told if text]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([OK] + [STUCK] * 20, [(5.0, "OK is now STUCK")]),
        ([STUCK] + [OK] * 20, [(5.0, "STUCK is now OK")]),
        ([OK] + [BEHIND] * 20, [(35.0, "OK is now BEHIND")]),  # when it has lasted
        ([OK] + [BEHIND] * 3 + [OK] * 20, []),
        ([OK] + [BEHIND] * 3 + [STUCK] * 20, [(20.0, "OK is now STUCK")]),
        ([OK, IDLE] * 50, []),
        ([OK, BEHIND] * 200, []),  # lag that waits for commits
        ([OK, BEHIND] * 50 + [BEHIND] * 70, [(785.0, "OK is now BEHIND")]),
        ([OK, STUCK] * 100, [(5.0, "OK is now STUCK"), (10.0, "STUCK is now OK"), (15.0, "OK is now STUCK"),
                             (20.0, "OK and STUCK, back and forth")]),
        ([OK, STUCK] * 10 + [STUCK] * 70, [(5.0, "OK is now STUCK"), (10.0, "STUCK is now OK"),
                                           (15.0, "OK is now STUCK"), (20.0, "OK and STUCK, back and forth"),
                                           (385.0, "stays STUCK")]),
        ([OK, BEHIND] * 20 + [LOSING] * 3, [(200.0, "OK is now LOSING DATA")]),
    ],
)  # fmt: skip
def test_of_one_partition(statuses: list[str], expected: list[tuple[float, str]]) -> None:
    assert said(*statuses) == expected


def snapshot_of(groups: Mapping[str, Sequence[tuple[int | None, int]]], start: int = 0) -> Snapshot:
    """(committed, end) of the partitions of each group; two of a topic."""
    shots = []
    for name, parts in groups.items():
        at = [TopicPartition(f"t{n // 4}", n % 4) for n in range(len(parts))]
        member = Member(member_id="m", client_id="c", host="h", assignment=at)
        samples = [
            Sample(group=name, topic=place.topic, partition=place.partition, committed=done, end=end, start=start,
                   owned=True)
            for place, (done, end) in zip(at, parts, strict=True)
        ]  # fmt: skip
        described = Described(group=name, state="Stable", members=[member])
        shots.append(GroupSnapshot(described=described, samples=samples))
    return Snapshot(groups=shots)


def test_partitions_that_do_the_same_at_once_are_one_line() -> None:
    history = History()
    for time in range(0, 60, 5):
        history.add(float(time), snapshot_of({"g": [(10, 20)] * 3 + [(20, 20)] + [(10, 20)] * 2}))
    assert [(one.text, one.topic, one.partition) for one in history.events] == [
        ("t0[0-2], t1[0-1]: BEHIND is now STUCK", "", -1)
    ]
    history.add(60.0, snapshot_of({"g": [(5, 20)] * 2 + [(10, 20)] + [(20, 20)] + [(10, 20)] * 2}))
    assert history.news[0].text == "t0[0-1]: committed went back, by 10 in all"
    history.add(65.0, snapshot_of({"g": [(5, 20)] * 2 + [(10, 20)] + [(20, 20)] + [(10, 20)] * 2}, start=15))
    assert history.news[0].text == "t0[0-2], t1[0-1]: retention deleted 35 unread offsets"


def test_many_topics_are_not_all_named() -> None:
    history = History()
    for time in range(0, 60, 5):
        history.add(float(time), snapshot_of({"g": [(10, 20)] * 24}))
    assert history.events[-1].text == "t0[0-3], t1[0-3], t2[0-3], 3 topics more: BEHIND is now STUCK"


def test_a_group_keeps_its_events_whatever_happens_to_others() -> None:
    history = History()
    history.add(0.0, snapshot_of({"quiet": [(50, 100)], "loud": [(1000, 2000)]}))
    history.add(5.0, snapshot_of({"quiet": [(20, 100)], "loud": [(1000, 2000)]}))
    for n in range(2 * LONGEST):
        history.add(10.0 + n, snapshot_of({"quiet": [(20, 100)], "loud": [(1000 - n, 2000)]}))
    assert history.events_of("quiet")[0].text == "t0[0]: committed went back from 50 to 20"
    assert len(history.events_of("loud")) == LONGEST
    assert [one.time for one in history.events] == sorted(one.time for one in history.events)


def test_what_happened_to_a_group_that_is_gone_is_known_for_an_hour() -> None:
    history = History()
    history.add(0.0, snapshot_of({"g": [(50, 100)]}))
    history.add(5.0, Snapshot())
    assert [one.kind for one in history.events_of("g")] == ["gone"]
    history.add(6.0 + REMEMBERED, Snapshot())
    assert history.events == []


@pytest.mark.parametrize(("back", "told"), [(0.0, 14), (3600.0, 15)])
def test_a_line_is_not_an_hour_late_when_the_clock_was_set_back(back: float, told: int) -> None:
    history, lines = History(), []
    for n in range(30):
        history.add(10_000.0 + 5.0 * n - back * (n >= 10), snapshot_of({"g": [(None if n >= 8 else 50 + n, 50 + n)]}))
        lines += [(n, event.text) for event in history.news]
    assert lines == [(told, "t0[0]: OK is now NO COMMIT")]

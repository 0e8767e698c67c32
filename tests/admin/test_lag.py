"""What lag means, as tables of samples: no cluster, no clock."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.lag.figures import Lag, Sample, by_topic, measure, note, over, total
from kcli.lag.status import BEHIND, LOSING_DATA, NO_COMMIT, OK, ORPHANED, PAST_END, SEVERITY, TXN_BLOCKED, UNKNOWN


def sample(
    committed: int | None,
    end: int | None,
    *,
    start: int = 0,
    owned: bool | None = True,
    topic: str = "t",
    **more: Any,
) -> Sample:
    return Sample(group="g", topic=topic, committed=committed, end=end, start=start, owned=owned, **more)


@pytest.mark.parametrize(
    ("given", "lag", "status"),
    [
        (sample(100, 100), 0, OK),
        (sample(90, 100), 10, BEHIND),
        (sample(90, 100, owned=False), 10, ORPHANED),
        (sample(100, 100, owned=False), 0, OK),
        (sample(None, 100), None, NO_COMMIT),
        (sample(None, 100, start=100), 0, OK),
        (sample(None, 0), 0, OK),
        (sample(None, 100, start=100, owned=False), 0, OK),
        (sample(None, 100, owned=False), None, NO_COMMIT),
        (sample(5, 100, start=50), 95, LOSING_DATA),
        (sample(5, 100, start=50, owned=False), 95, LOSING_DATA),
        (sample(120, 100), None, PAST_END),
        (sample(120, 100, owned=False), None, PAST_END),
        (sample(120, 100, stable_end=True), 0, OK),
        (sample(90, 100, stable=90), 10, TXN_BLOCKED),
        (Sample(committed=1, end=9, owned=True, error="broker 2 is down"), None, UNKNOWN),
        (sample(1, None), None, UNKNOWN),
    ],
)
def test_E68_one_sample_tells_lag_and_status(given: Sample, lag: int | None, status: str) -> None:
    row = measure(given)
    assert (row.lag, row.status) == (lag, status)


def test_E68_the_note_says_how_far_a_commit_is_beyond_the_end() -> None:
    row = measure(sample(120, 100))
    assert row.beyond == 20
    assert note(row.lost, row.beyond, row.unread) == "committed 20 beyond end"


def test_E69_without_a_commit_the_distance_from_log_start_is_a_figure_of_its_own() -> None:
    row = measure(sample(None, 100, start=30))
    assert (row.lag, row.unread) == (None, 70)


def test_E69_what_retention_took_is_counted() -> None:
    row = measure(sample(5, 100, start=50))
    assert note(row.lost, row.beyond, row.unread) == "45 lost by retention"


def test_E71_during_a_rebalance_nobody_is_called_orphaned() -> None:
    assert measure(sample(90, 100, owned=None)).status == BEHIND


def test_lag_up_to_the_threshold_is_ok_but_never_orphaned_lag() -> None:
    assert measure(sample(90, 100), threshold=10).status == OK
    assert measure(sample(89, 100), threshold=10).status == BEHIND
    assert measure(sample(90, 100, owned=False), threshold=10).status == ORPHANED


def test_a_group_is_as_bad_as_its_worst_partition_whatever_the_order() -> None:
    for one in SEVERITY:
        for other in SEVERITY:
            worst = SEVERITY[max(SEVERITY.index(one), SEVERITY.index(other))]
            assert total([Lag(status=one), Lag(status=other)], "g").status == worst


def test_totals_count_the_partitions_whose_lag_is_unknown() -> None:
    rows = [measure(s) for s in (sample(90, 100), sample(None, 50), sample(1, None, topic="u"))]
    whole = total(rows, "g")
    assert (whole.no_commit, whole.unknown, whole.unread) == (1, 1, 50)
    assert (whole.partitions, whole.topics, whole.status) == (3, 2, BEHIND)
    assert [(t.topic, t.unknown) for t in by_topic(rows)] == [("t", 0), ("u", 1)]
    lost = total([*rows, measure(sample(120, 100))], "g")
    assert (lost.unknown, lost.past_end, lost.unreadable, lost.lag, lost.status) == (2, 1, 1, 10, PAST_END)


def test_a_sum_of_nothing_known_is_not_zero() -> None:
    assert total([measure(sample(None, 5))], "g").lag is None


def test_the_assertion_counts_partitions_that_were_never_read() -> None:
    rows = {"a": [measure(sample(0, 11))], "b": [measure(sample(None, 11))], "c": [measure(sample(None, 0))]}
    totals = [(total(some, name), some) for name, some in rows.items()]
    assert [breach.text for breach in over(totals, 10)] == [
        "a is 11 offsets behind, over 10",
        "b has not committed 11 offsets of 1 partition, over 10",
    ]
    assert over(totals, 11) == []

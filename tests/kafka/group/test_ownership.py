"""The checker of storms finds each broken promise, and none where all were kept."""

from __future__ import annotations

import pytest

from tests.kafka.coordinator_log import Commit, Owners
from tests.kafka.ownership import Seen, again, problems, spans

A, B = "a-1", "b-1"


def owners(time: float, *, anew: bool = True, **shares: set[int]) -> Owners:
    return Owners(time, {f"{name}-1": frozenset(share) for name, share in shares.items()}, anew)


def reads(life: str, time: float, *offsets: int) -> list[Seen]:
    return [Seen(time, life, 0, offset, 100 + offset) for offset in offsets]


HANDED_OVER = [owners(0, a={0}), Commit(5, 0, 3), owners(10, b={0}), Commit(15, 0, 6)]


def told(history: list[Commit | Owners], seen: list[Seen], end: int = 6) -> list[str]:
    return problems(history, seen, {0: end}, {100 + offset for offset in range(end)})


def test_a_span_begins_at_the_commit_and_ends_with_the_next_owner() -> None:
    first, second = spans(HANDED_OVER)
    assert first == (A, 0, 0, 0, 10)
    assert second[:4] == (B, 0, 3, 10)


@pytest.mark.parametrize(
    ("seen", "times"),
    [
        (reads(A, 1, 0, 1, 2) + reads(B, 11, 3, 4, 5), 0),
        # read and not committed: the next owner reads it again
        (reads(A, 1, 0, 1, 2, 3, 4) + reads(B, 11, 3, 4, 5), 2),
        # seen a little late
        (reads(A, 1, 0, 1, 2) + reads(A, 10.5, 3) + reads(B, 11, 3, 4, 5), 1),
    ],
)
def test_what_was_not_committed_may_come_again(seen: list[Seen], times: int) -> None:
    assert told(HANDED_OVER, seen) == []
    assert again(seen) == times


def test_who_gets_a_partition_back_goes_on_at_the_commit() -> None:
    history = [*HANDED_OVER, owners(20, a={0}), Commit(25, 0, 8), owners(30, a={0}), Commit(35, 0, 9)]
    right = reads(A, 1, 0, 1, 2) + reads(B, 11, 3, 4, 5) + reads(A, 21, 6, 7) + reads(A, 31, 8)
    assert told(history, right, 9) == []
    twice = [*right[:-1], *reads(A, 29, 8), *reads(A, 31, 8)]
    assert told(history, twice, 9) == []


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (reads(A, 1, 0, 1, 2) + reads(B, 11, 4, 5), "b-1, partition 0: read 4"),
        (reads(A, 1, 0, 1, 2) + reads(B, 11, 2, 3, 4, 5), "b-1, partition 0: read 2"),
        (reads(A, 1, 0, 1, 2) + reads(A, 13, 3) + reads(B, 11, 3, 4, 5), "a-1, partition 0: read 3"),
        (reads(A, 1, 0, 1, 1, 2) + reads(B, 11, 3, 4, 5), "a-1, partition 0: read 1"),
        (reads(A, 1, 0, 1, 2) + reads("c-1", 11, 3, 4, 5), "c-1, partition 0: read 3"),
        (reads(A, 1, 0, 1) + reads(B, 11, 3, 4, 5), "partition 0: 1 of 6 records nobody read, such as [2]"),
        (reads(A, 1, 0, 1, 2) + reads(B, 11, 3, 4), "1 acknowledged records nobody read, such as [105]"),
        (reads(A, 1, 0, 1, 2) + reads(B, 11, 3, 4) + [Seen(11, B, 0, 5, 104)], "a record stands in the log twice"),
        ([*reads(A, 1, 0, 1, 2, 3), Seen(11, B, 0, 3, 99), *reads(B, 11, 4, 5)], "offset 3 was 99"),
    ],
)
def test_the_checker_finds_each_broken_promise(seen: list[Seen], sentence: str) -> None:
    assert any(sentence in problem for problem in told(HANDED_OVER, seen)), told(HANDED_OVER, seen)


def test_positions_that_go_back_are_found() -> None:
    history = [owners(0, a={0}), Commit(5, 0, 3), owners(10, b={0}), Commit(15, 0, 6), Commit(16, 0, 4)]
    seen = reads(A, 1, 0, 1, 2) + reads(B, 11, 3, 4, 5)
    assert told(history, seen) == ["partition 0: its commit went back from 6 to 4"]
    assert "went back from 6 to None" in told([*history[:-1], Commit(16, 0, None)], seen)[0]


def test_a_member_that_comes_back_into_its_generation_goes_on_at_its_commit() -> None:
    history = [owners(0, a={0}), Commit(5, 0, 2), Commit(15, 0, 6)]
    seen = reads(A, 4, 0, 1, 2, 3) + reads(A, 10, 2, 3, 4, 5)
    assert problems(history, seen, {0: 6}, set(), returns=True) == []
    assert "read 2 at 10" in problems(history, seen, {0: 6}, set())[0]
    elsewhere = reads(A, 4, 0, 1, 2, 3) + reads(A, 10, 1, 2, 3, 4, 5)
    assert "read 1 at 10" in problems(history, elsewhere, {0: 6}, set(), returns=True)[0]


def test_cooperative_members_keep_what_they_keep() -> None:
    history = [owners(0, a={0}), owners(5, anew=False, a={0}, b={1}), Commit(6, 0, 3)]
    assert [span.life for span in spans(history)] == [A, B]
    assert told([owners(0, a={0}), owners(5, a={0})], reads(A, 1, 0, 1, 2) + reads(A, 9, 3, 4, 5)) != []

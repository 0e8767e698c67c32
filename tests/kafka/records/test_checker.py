"""The checker finds what it is there to find: a checker that never complains proves nothing."""

from __future__ import annotations

import pytest

from tests.kafka.checker import ACKED, FAILED, PENDING, UNKNOWN, Read, Sent, problems

GOOD_SENT = [Sent(b"a", 0, ACKED, 0, 5), Sent(b"a", 1, UNKNOWN), Sent(b"a", 2, FAILED), Sent(b"a", 3, ACKED, 0, -1)]
GOOD_READ = [Read(0, 5, b"a", 0), Read(0, 6, b"a", 1), Read(0, 9, b"a", 3)]


def test_a_faithful_history_has_no_problems_and_unknown_may_be_either() -> None:
    assert problems(GOOD_SENT, GOOD_READ) == []
    assert problems(GOOD_SENT, [GOOD_READ[0], GOOD_READ[2]]) == []


@pytest.mark.parametrize(
    ("sent", "read", "said"),
    [
        (GOOD_SENT, GOOD_READ[1:], "is lost"),
        (GOOD_SENT, [*GOOD_READ, Read(0, 10, b"a", 3)], "2 times"),
        (GOOD_SENT, [*GOOD_READ, Read(1, 1, b"a", 2)], "failed, and is in the log"),
        (GOOD_SENT, [*GOOD_READ, Read(0, 11, b"b", 1)], "never sent"),
        (GOOD_SENT, [GOOD_READ[2]._replace(offset=4), *GOOD_READ[:2]], "after 3"),
        (GOOD_SENT, [GOOD_READ[0]._replace(partition=1), *GOOD_READ[1:]], "it is at (1, 5)"),
        (GOOD_SENT, [GOOD_READ[0], GOOD_READ[2], GOOD_READ[1]], "offset 6 after 9"),
        ([*GOOD_SENT, Sent(b"a", 4, PENDING)], GOOD_READ, "never settled"),
    ],
)
def test_every_broken_promise_is_named(sent: list[Sent], read: list[Read], said: str) -> None:
    assert any(said in problem for problem in problems(sent, read)), problems(sent, read)

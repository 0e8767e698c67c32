"""A share group member's state machine, its sessions and its ranges: no I/O."""

from __future__ import annotations

from typing import Any

import pytest

from kcli import codes
from kcli.consumer.share.acknowledging import LAST, ShareSession
from kcli.consumer.share.member import ShareMembership
from kcli.consumer.share.ranges import ACCEPT, RELEASE, Range, Undecided, cut, halves, merged
from kcli.errors import UsageError
from kcli.proto.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

pytestmark = pytest.mark.usefixtures("leaping_clock")

T = b"t" * 16


def answer(epoch: int = 1, partitions: list[int] | None = None, code: codes.ErrorCode | None = None) -> Any:
    rows = (
        None
        if partitions is None
        else Assignment(topic_partitions=[TopicPartitions(topic_id=T, partitions=partitions)])
    )
    return ShareGroupHeartbeatResponse(
        error_code=0 if code is None else code.number, member_epoch=epoch, heartbeat_interval_ms=5000, assignment=rows
    )


def joined() -> ShareMembership:
    one = ShareMembership("g", "r1", 0.0)
    one.subscribe(["t"], 0.0)
    assert one.answered(answer(1, [0, 1]), one.request(), 1.0, 0.1) == "proceed"
    return one


def test_E55_E63_a_member_joins_at_epoch_0_with_all_and_then_says_only_that_it_lives() -> None:
    one = ShareMembership("g", "r1", 0.0)
    one.subscribe(["u", "t", "t"], 0.0)
    first = one.request()
    assert (first.member_epoch, first.subscribed_topic_names, first.rack_id) == (0, ["t", "u"], "r1")
    one.answered(answer(3, [0]), first, 1.0, 0.1)
    second = one.request()
    assert (second.member_epoch, second.subscribed_topic_names, second.rack_id) == (3, None, None)
    assert first.member_id == second.member_id == one.farewell().member_id
    assert one.farewell().member_epoch == -1
    assert one.next_heartbeat == 6.0


def test_E56_after_no_answer_all_is_said_again() -> None:
    one = joined()
    one.unanswered(2.0, 0.5)
    assert (one.request().subscribed_topic_names, one.request().rack_id, one.next_heartbeat) == (["t"], "r1", 2.5)


def test_E57_no_assignment_is_no_change_and_an_empty_one_is_nothing() -> None:
    one = joined()
    assert one.target == {(T, 0), (T, 1)}
    one.answered(answer(2), one.request(), 2.0, 0.1)
    assert one.target == {(T, 0), (T, 1)}
    one.answered(answer(2, []), one.request(), 3.0, 0.1)
    assert one.target == frozenset()


@pytest.mark.parametrize("code", [codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID])
def test_E59_who_is_fenced_joins_again_at_once_under_the_same_id(code: codes.ErrorCode) -> None:
    one = joined()
    before = one.member_id
    assert one.answered(answer(code=code), one.request(), 7.0, 0.5) == "lost"
    assert (one.epoch, one.target, one.next_heartbeat, one.member_id) == (-1, frozenset(), 7.0, before)
    assert one.request().subscribed_topic_names == ["t"]
    assert one.answered(answer(code=code), one.request(), 7.0, 0.5) == "lost"
    assert one.next_heartbeat == 7.5  # not for ever at once


@pytest.mark.parametrize(
    ("code", "step"),
    [
        (codes.NOT_COORDINATOR, "find"), (codes.COORDINATOR_NOT_AVAILABLE, "find"),
        (codes.COORDINATOR_LOAD_IN_PROGRESS, "retry"), (codes.GROUP_AUTHORIZATION_FAILED, "fatal"),
        (codes.GROUP_MAX_SIZE_REACHED, "fatal"), (codes.INVALID_REQUEST, "fatal"), (codes.GROUP_ID_NOT_FOUND, "fatal"),
    ],
)  # fmt: skip
def test_E59_each_error_has_its_step(code: codes.ErrorCode, step: str) -> None:
    one = joined()
    assert one.answered(answer(code=code), one.request(), 2.0, 0.5) == step
    assert (one.error is not None) == (step == "fatal")


def test_an_answer_to_who_we_were_before_changes_nothing() -> None:
    one = joined()
    stale = one.request()
    one.answered(answer(4, [2]), one.request(), 2.0, 0.1)
    assert one.answered(answer(code=codes.FENCED_MEMBER_EPOCH), stale, 3.0, 0.1) == "proceed"
    assert one.epoch == 4


def test_who_was_given_nothing_asks_again_soon_then_less_often() -> None:
    one = ShareMembership("g", "", 0.0)
    one.subscribe(["t"], 0.0)
    waits = []
    for _ in range(7):
        one.answered(answer(1, []), one.request(), 0.0, 0.1)
        waits.append(one.next_heartbeat)
    assert waits == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


# -- sessions ------


def test_E65_a_request_says_what_is_new_and_forgets_what_is_gone() -> None:
    session = ShareSession()
    assert session.plan({(T, 0), (T, 1)}) == (0, [(T, 0), (T, 1)], [])
    session.answered()
    assert session.plan({(T, 0), (T, 1)}) == (1, [], [])
    session.answered()
    assert session.plan({(T, 1), (T, 2)}) == (2, [(T, 2)], [(T, 0)])


def test_E65_a_partition_that_is_only_acknowledged_is_held_and_later_forgotten() -> None:
    session = ShareSession()
    session.plan({(T, 0)})
    session.answered()
    assert session.plan({(T, 0)}, {(T, 5)}) == (1, [(T, 5)], [])
    assert session.surplus({(T, 0)})
    session.answered()
    assert session.plan({(T, 0)}) == (2, [], [(T, 5)])
    assert not session.surplus({(T, 0)})


def test_E65_a_moved_partition_is_acknowledged_first_and_forgotten_after() -> None:
    session = ShareSession()
    session.plan({(T, 0), (T, 1)})
    session.answered()
    assert session.plan({(T, 0)}, {(T, 1)}) == (1, [(T, 1)], [])
    session.answered()
    assert session.plan({(T, 0)}) == (2, [], [(T, 1)])


def test_E65_epochs_count_over_the_end_and_a_broken_session_begins_with_all() -> None:
    session = ShareSession()
    session.plan({(T, 0)})
    session.epoch = LAST
    session.answered()
    assert session.epoch == 1
    session.broke()
    assert not session.open
    assert session.plan({(T, 0)}) == (0, [(T, 0)], [])


# -- ranges ------


def test_E64_neighbours_of_one_kind_are_said_as_one_range() -> None:
    said = [Range(10, 19, ACCEPT), Range(0, 4, ACCEPT), Range(5, 9, ACCEPT), Range(20, 20, RELEASE)]
    assert merged(said) == [Range(0, 19, ACCEPT), Range(20, 20, RELEASE)]


def test_E66_a_refusal_is_cut_down_to_single_offsets() -> None:
    assert halves([Range(0, 9, ACCEPT), Range(20, 29, ACCEPT)]) == [[Range(0, 9, ACCEPT)], [Range(20, 29, ACCEPT)]]
    assert halves([Range(0, 4, ACCEPT)]) == [[Range(0, 2, ACCEPT)], [Range(3, 4, ACCEPT)]]
    assert halves([Range(3, 3, ACCEPT)]) == []


def test_E66_what_came_again_with_the_refusal_is_not_said_again() -> None:
    said = [Range(0, 9, ACCEPT), Range(20, 29, RELEASE)]
    assert cut(said, [(5, 22)]) == (
        [Range(0, 4, ACCEPT), Range(23, 29, RELEASE)],
        [Range(5, 9, ACCEPT), Range(20, 22, RELEASE)],
    )
    assert cut(said, []) == (said, [])
    assert cut(said, [(0, 3), (4, 9), (28, 40)])[0] == [Range(20, 27, RELEASE)]


def test_E64_what_was_said_cannot_be_said_again() -> None:
    open_ = Undecided(0, 9)
    open_.decide(3, 5)
    assert open_.ranges() == [(0, 2), (6, 9)]
    for first, last in ((3, 3), (2, 6), (9, 10)):
        with pytest.raises(UsageError):
            open_.decide(first, last)
    open_.decide(0, 2)
    open_.decide(6, 9)
    assert not open_

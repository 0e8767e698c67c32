"""The KIP-848 member's state machine, on a clock of the test's own."""

from __future__ import annotations

from typing import Any

import pytest

from kcli import codes
from kcli.consumer.group.states import (
    AWAY,
    FAILED,
    FATAL,
    FIND,
    LOST,
    OUT,
    PROCEED,
    RETRY,
    STABLE,
    Identity,
    new_member_id,
)
from kcli.consumer.kip848 import ConsumerMembership
from kcli.proto.messages import consumer_group_heartbeat as kip848
from kcli.settings import GroupSettings
from tests.consumer.group.fake_848 import places

SETTINGS = GroupSettings(group="g", protocol="consumer")


def told(*partitions: int | None, epoch: int = 1, code: codes.ErrorCode = codes.NONE) -> Any:
    """An answer; None for no change of the assignment."""
    share = None
    if partitions != (None,):
        numbers = [one for one in partitions if one is not None]
        topics = [kip848.TopicPartitions(topic_id=b"t".rjust(16, b"_"), partitions=numbers)] if numbers else []
        share = kip848.Assignment(topic_partitions=topics)
    return kip848.ConsumerGroupHeartbeatResponse(
        error_code=code.number, member_epoch=epoch, heartbeat_interval_ms=5000, assignment=share
    )


def beat(member: ConsumerMembership, answer: Any, now: float, pause: float = 0.1) -> tuple[Any, str]:
    """One heartbeat and its answer."""
    asked, report = member.identity, member.report()
    request = member.request(report)
    member.sent(now)
    return request, member.answered(answer, asked, report, now, pause)


def joined(settings: GroupSettings = SETTINGS) -> ConsumerMembership:
    member = ConsumerMembership(settings, 0.0)
    member.subscribe(["t"], 0.0)
    beat(member, told(0, 1), 0.0)
    return member


def test_E55_the_member_id_is_a_uuid_of_ours_and_stays() -> None:
    ids = {new_member_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(len(one) == 22 and one[0] not in "-_" for one in ids)
    member = joined()
    first = member.member_id
    beat(member, told(None, code=codes.UNKNOWN_MEMBER_ID), 1.0)
    assert (member.state, member.member_id) == (OUT, first)


def test_E55_epochs_of_joining_and_leaving_and_the_interval_of_the_answer() -> None:
    member = ConsumerMembership(SETTINGS, 0.0)
    member.subscribe(["t"], 0.0)
    request, _ = beat(member, told(0), 0.0)
    assert request.member_epoch == 0
    assert (member.generation, member.deadline()) == (1, 5.0)
    assert (member.tick(4.9), member.tick(5.0)) == (None, "heartbeat")
    assert member.farewell().member_epoch == -1
    static = joined(SETTINGS.replace(instance_id="i"))
    assert (static.farewell().member_epoch, static.farewell().instance_id) == (-2, "i")


def test_E56_the_first_is_full_the_next_says_only_what_changed_and_after_an_error_it_is_full_again() -> None:
    member = ConsumerMembership(SETTINGS.replace(rack="r", remote_assignor="range"), 0.0)
    member.subscribe(["t"], 0.0)
    first, _ = beat(member, told(0, 1), 0.0)
    full = (60_000, "r", ["t"], "range")
    fields = ("rebalance_timeout_ms", "rack_id", "subscribed_topic_names", "server_assignor")
    assert tuple(getattr(first, one) for one in fields) == full
    assert first.topic_partitions == []
    second, _ = beat(member, told(None), 5.0)
    assert tuple(getattr(second, one) for one in (*fields, "topic_partitions")) == (-1, None, None, None, None)
    member.hold(places(0, 1), 6.0)
    assert member.tick(6.0) == "heartbeat"
    third, _ = beat(member, told(None), 6.0)
    assert (third.topic_partitions[0].partitions, third.subscribed_topic_names) == ([0, 1], None)
    member.unanswered(11.0, 0.1)
    fourth, _ = beat(member, told(None), 11.1)
    assert tuple(getattr(fourth, one) for one in fields) == full
    assert fourth.topic_partitions[0].partitions == [0, 1]
    beat(member, told(None, code=codes.COORDINATOR_LOAD_IN_PROGRESS), 16.0)
    fifth, _ = beat(member, told(None), 16.1)
    assert fifth.subscribed_topic_names == ["t"]


def test_E56_what_changes_while_a_heartbeat_is_under_way_is_said_in_the_next_one_at_once() -> None:
    member = joined()
    asked, report = member.identity, member.report()
    member.sent(1.0)
    member.hold(places(0, 1), 1.0)
    assert member.answered(told(None), asked, report, 1.2, 0.1) == PROCEED
    assert not member.reported
    assert member.tick(1.2) == "heartbeat"
    beat(member, told(None), 1.2)
    assert member.reported


def test_E57_no_assignment_is_no_change_and_an_empty_one_is_nothing() -> None:
    member = joined()
    beat(member, told(None, epoch=2), 5.0)
    assert (member.target, member.generation) == (places(0, 1), 2)
    beat(member, told(epoch=3), 10.0)
    assert member.target == frozenset()


@pytest.mark.parametrize("code", [codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID])
def test_E59_a_fenced_member_joins_again_at_once_when_its_loss_was_told(code: codes.ErrorCode) -> None:
    member = joined()
    member.hold(places(0, 1), 0.0)
    assert beat(member, told(None, code=code), 1.0, pause=9.0)[1] == LOST
    assert (member.state, member.generation, member.target) == (OUT, -1, frozenset())
    assert member.tick(1.0) is None  # it still holds
    member.hold((), 1.0)
    assert member.tick(1.0) == "heartbeat"
    request, _ = beat(member, told(None, code=code), 1.0, pause=9.0)
    assert (request.member_epoch, request.topic_partitions) == (0, [])
    assert (member.tick(9.9), member.tick(10.0)) == (None, "heartbeat")  # fenced while joining: not in a tight loop


@pytest.mark.parametrize(
    ("code", "step"),
    [
        (codes.NOT_COORDINATOR, FIND),
        (codes.COORDINATOR_NOT_AVAILABLE, FIND),
        (codes.COORDINATOR_LOAD_IN_PROGRESS, RETRY),
        (codes.UNRELEASED_INSTANCE_ID, FATAL),
        (codes.FENCED_INSTANCE_ID, FATAL),
        (codes.UNSUPPORTED_ASSIGNOR, FATAL),
        (codes.INVALID_REQUEST, FATAL),
        (codes.GROUP_MAX_SIZE_REACHED, FATAL),
        (codes.GROUP_AUTHORIZATION_FAILED, FATAL),
        (codes.INVALID_REGULAR_EXPRESSION, FATAL),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_E59_every_other_code(code: codes.ErrorCode, step: str) -> None:
    member = joined()
    answer = told(None, code=code)
    answer.error_message = "the server's own words"
    assert beat(member, answer, 1.0, pause=0.5)[1] == step
    if step == FATAL:
        assert member.state == FAILED
        denied = code is codes.GROUP_AUTHORIZATION_FAILED
        assert ("not authorized: READ on group g" if denied else "the server's own words") in str(member.error)
        assert member.tick(99.0) is None
    else:
        assert (member.state, member.generation) == (STABLE, 1)
        assert (member.tick(1.4), member.tick(1.5)) == (None, "heartbeat")


def test_E60_a_stale_epoch_is_asked_for_at_once_and_the_commit_goes_again() -> None:
    member = joined()
    assert member.committed(codes.STALE_MEMBER_EPOCH.number, member.identity) == RETRY
    assert member.tick(0.1) == "heartbeat"
    beat(member, told(None, epoch=7), 0.1)
    assert member.identity.generation == 7
    assert member.reader == member.identity


def test_E41_a_commits_answer_for_an_old_epoch_changes_nothing() -> None:
    member = joined()
    old = Identity(0, member.member_id)
    assert member.committed(codes.UNKNOWN_MEMBER_ID.number, old) == LOST
    assert (member.state, member.generation) == (STABLE, 1)
    assert member.committed(codes.UNKNOWN_MEMBER_ID.number, member.identity) == LOST
    assert member.state == OUT


def test_E60_offsets_are_read_as_nobody_when_the_membership_is_gone() -> None:
    member = joined()
    assert member.fetched(codes.UNKNOWN_MEMBER_ID.number, member.identity) == RETRY
    assert member.reader is None
    assert member.fetched(codes.NONE.number, None) == PROCEED


def test_E47_not_polled_is_away_until_polled_again() -> None:
    member = joined()
    member.hold(places(0, 1), 0.0)
    assert member.tick(300.0) == "away"
    assert (member.state, member.generation, member.rejoining) == (AWAY, -1, True)
    member.hold((), 300.0)
    assert member.tick(400.0) is None
    member.polled(401.0)
    assert member.tick(401.0) == "heartbeat"


def test_E62_a_pattern_goes_to_the_coordinator_and_is_taken_back_by_an_empty_one() -> None:
    member = ConsumerMembership(SETTINGS, 0.0)
    member.subscribe("a.*(", 0.0)  # not ours to judge: RE2 is the broker's
    request, _ = beat(member, told(0), 0.0)
    assert (request.subscribed_topic_regex, request.subscribed_topic_names) == ("a.*(", [])
    member.subscribe(["t"], 1.0)
    request, _ = beat(member, told(None), 1.0)
    assert (request.subscribed_topic_regex, request.subscribed_topic_names) == ("", ["t"])


def test_E56_an_assignment_that_changes_nothing_here_is_acknowledged_all_the_same() -> None:
    member = joined()
    member.hold(places(0, 1), 0.0)
    beat(member, told(0, 1, 2), 0.0)
    beat(member, told(0, 1), 5.0)  # taken back before it was ours: the coordinator waits until it hears so
    assert member.tick(5.0) == "heartbeat"
    request, _ = beat(member, told(None), 5.0)
    assert request.topic_partitions[0].partitions == [0, 1]
    request, _ = beat(member, told(None), 10.0)
    assert request.topic_partitions is None

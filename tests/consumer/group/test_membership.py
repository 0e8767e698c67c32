"""The state machine of a member: every state against every answer, and what time does."""

from __future__ import annotations

import itertools

import pytest

from kcli import codes
from kcli.consumer.classic.membership import Membership
from kcli.consumer.group import states as m
from kcli.settings import GroupSettings

SETTINGS = GroupSettings(group="g", session_timeout=45.0, heartbeat_interval=3.0, max_poll_interval=300.0)
OK = codes.NONE.number


def stable(settings: GroupSettings = SETTINGS) -> Membership:
    member = Membership(settings, 0.0)
    member.start_join()
    member.joined(OK, 5, "m", 0.0)
    member.synced(OK, 0.0)
    return member


def in_state(state: str) -> Membership:
    member = Membership(SETTINGS, 0.0) if state in (m.OUT, m.JOINING) else stable()
    if state in (m.JOINING, m.SYNCING):
        member.start_join()
    if state == m.SYNCING:
        member.joined(OK, 6, "m", 0.0)
    if state == m.AWAY:
        member.tick(300.0)
    if state == m.FAILED:
        member.fail(RuntimeError())
    if state == m.CLOSED:
        member.close()
    assert member.state == state
    return member


# (api, error) → (what to do, state, generation kept, member id kept); asked in the state that expects the answer
TABLE: dict[tuple[str, str], tuple[str, str, bool, bool]] = {
    ("join", "MEMBER_ID_REQUIRED"): (m.AGAIN, m.JOINING, True, True),
    ("join", "COORDINATOR_LOAD_IN_PROGRESS"): (m.RETRY, m.OUT, True, True),
    ("join", "COORDINATOR_NOT_AVAILABLE"): (m.FIND, m.OUT, True, True),
    ("join", "NOT_COORDINATOR"): (m.FIND, m.OUT, True, True),
    ("join", "REBALANCE_IN_PROGRESS"): (m.RETRY, m.OUT, True, True),
    ("join", "ILLEGAL_GENERATION"): (m.LOST, m.OUT, False, True),
    ("join", "UNKNOWN_MEMBER_ID"): (m.RESET, m.OUT, False, False),
    ("join", "FENCED_INSTANCE_ID"): (m.FATAL, m.FAILED, False, True),
    ("join", "INCONSISTENT_GROUP_PROTOCOL"): (m.FATAL, m.FAILED, False, True),
    ("join", "INVALID_SESSION_TIMEOUT"): (m.FATAL, m.FAILED, False, True),
    ("join", "GROUP_MAX_SIZE_REACHED"): (m.FATAL, m.FAILED, False, True),
    ("join", "GROUP_AUTHORIZATION_FAILED"): (m.FATAL, m.FAILED, False, True),
    ("sync", "COORDINATOR_LOAD_IN_PROGRESS"): (m.RETRY, m.OUT, True, True),
    ("sync", "COORDINATOR_NOT_AVAILABLE"): (m.FIND, m.OUT, True, True),
    ("sync", "NOT_COORDINATOR"): (m.FIND, m.OUT, True, True),
    ("sync", "REBALANCE_IN_PROGRESS"): (m.REJOIN, m.OUT, True, True),
    ("sync", "ILLEGAL_GENERATION"): (m.LOST, m.OUT, False, True),
    ("sync", "UNKNOWN_MEMBER_ID"): (m.RESET, m.OUT, False, False),
    ("sync", "FENCED_INSTANCE_ID"): (m.FATAL, m.FAILED, False, True),
    ("sync", "GROUP_AUTHORIZATION_FAILED"): (m.FATAL, m.FAILED, False, True),
    ("heartbeat", "COORDINATOR_LOAD_IN_PROGRESS"): (m.RETRY, m.STABLE, True, True),
    ("heartbeat", "COORDINATOR_NOT_AVAILABLE"): (m.FIND, m.STABLE, True, True),
    ("heartbeat", "NOT_COORDINATOR"): (m.FIND, m.STABLE, True, True),
    ("heartbeat", "REBALANCE_IN_PROGRESS"): (m.PROCEED, m.STABLE, True, True),
    ("heartbeat", "ILLEGAL_GENERATION"): (m.LOST, m.OUT, False, True),
    ("heartbeat", "UNKNOWN_MEMBER_ID"): (m.RESET, m.OUT, False, False),
    ("heartbeat", "FENCED_INSTANCE_ID"): (m.FATAL, m.FAILED, False, True),
    ("heartbeat", "GROUP_AUTHORIZATION_FAILED"): (m.FATAL, m.FAILED, False, True),
    ("commit", "COORDINATOR_LOAD_IN_PROGRESS"): (m.RETRY, m.STABLE, True, True),
    ("commit", "UNKNOWN_TOPIC_OR_PARTITION"): (m.RETRY, m.STABLE, True, True),
    ("commit", "UNKNOWN_TOPIC_ID"): (m.RETRY, m.STABLE, True, True),
    ("commit", "UNSTABLE_OFFSET_COMMIT"): (m.RETRY, m.STABLE, True, True),
    ("commit", "NOT_COORDINATOR"): (m.FIND, m.STABLE, True, True),
    ("commit", "COORDINATOR_NOT_AVAILABLE"): (m.FIND, m.STABLE, True, True),
    ("commit", "REQUEST_TIMED_OUT"): (m.FIND, m.STABLE, True, True),
    ("commit", "REBALANCE_IN_PROGRESS"): (m.REJOIN, m.STABLE, True, True),
    ("commit", "ILLEGAL_GENERATION"): (m.LOST, m.OUT, False, True),
    ("commit", "UNKNOWN_MEMBER_ID"): (m.RESET, m.OUT, False, False),
    ("commit", "FENCED_INSTANCE_ID"): (m.FATAL, m.FAILED, False, True),
    ("commit", "OFFSET_METADATA_TOO_LARGE"): (m.RAISE, m.STABLE, True, True),
    ("commit", "TOPIC_AUTHORIZATION_FAILED"): (m.RAISE, m.STABLE, True, True),
    ("commit", "GROUP_AUTHORIZATION_FAILED"): (m.RAISE, m.STABLE, True, True),
}


def answer(member: Membership, api: str, number: int, asked: m.Identity | None = None) -> str:
    asked = asked or member.identity
    if api == "join":
        return member.joined(number, 7, member.member_id or "given", 1.0)
    if api == "sync":
        return member.synced(number, 1.0)
    if api == "heartbeat":
        return member.heartbeat(number, asked, 1.0)
    return member.committed(number, asked)


@pytest.mark.parametrize(("api", "name"), TABLE)
def test_E40_what_each_error_means(api: str, name: str) -> None:
    member = stable()
    if api in ("join", "sync"):
        member.start_join()
    if api == "sync":
        member.joined(OK, 6, "m", 0.0)
    generation = member.generation
    step, state, keeps_generation, keeps_id = TABLE[api, name]
    assert answer(member, api, getattr(codes, name).number) == step
    assert member.state == state
    assert member.generation == (generation if keeps_generation else -1)
    assert member.member_id == ("m" if keeps_id else "")
    assert member.wants_join == (state == m.OUT or (name == "REBALANCE_IN_PROGRESS" and state == m.STABLE))
    assert (member.error is not None) == (state == m.FAILED)


EXPECTS = {"join": {m.JOINING}, "sync": {m.SYNCING}, "heartbeat": {m.STABLE, m.SYNCING}, "commit": {m.STABLE}}
STATES = (m.OUT, m.JOINING, m.SYNCING, m.STABLE, m.AWAY, m.FAILED, m.CLOSED)


@pytest.mark.parametrize(("state", "api"), list(itertools.product(STATES, EXPECTS)))
def test_an_answer_nobody_waits_for_changes_nothing(state: str, api: str) -> None:
    if state in EXPECTS[api]:
        return
    for _, name in (key for key in TABLE if key[0] == api):
        member = in_state(state)
        before = (member.state, member.identity, member.reason)
        answer(member, api, getattr(codes, name).number)
        assert (member.state, member.identity, member.reason) == before, name


@pytest.mark.parametrize("api", ["heartbeat", "commit"])
def test_E41_an_answer_to_another_generation_changes_nothing(api: str) -> None:
    for _, name in (key for key in TABLE if key[0] == api):
        for asked in (m.Identity(4, "m"), m.Identity(5, "other")):
            member = stable()
            answer(member, api, getattr(codes, name).number, asked)
            assert (member.state, member.identity, member.reason) == (m.STABLE, (5, "m"), None)


def test_E46_heartbeats_are_due_every_interval_and_not_while_joining() -> None:
    member = stable()
    assert member.tick(2.9) is None
    assert member.tick(3.0) == "heartbeat"
    member.heartbeat_sent(3.0)
    assert member.deadline() == 6.0
    member.heartbeat_failed(3.5, 0.1)
    assert member.deadline() == 3.6
    member.start_join()
    assert member.deadline() is None
    assert member.tick(1000.0) is None


def test_E53_the_session_ends_by_our_own_clock() -> None:
    member = stable()
    member.heartbeat(OK, member.identity, 10.0)
    assert member.tick(54.9) == "heartbeat"
    assert member.tick(55.0) == "expired"
    assert (member.state, member.generation, member.member_id) == (m.OUT, -1, "m")


def test_E46_a_rebalance_in_progress_counts_as_an_answer() -> None:
    member = stable()
    member.heartbeat(codes.REBALANCE_IN_PROGRESS.number, member.identity, 40.0)
    assert member.tick(46.0) == "heartbeat"
    assert member.rejoining


def test_E47_a_member_that_is_not_polled_leaves_and_a_static_one_falls_silent() -> None:
    for instance, expected in ((None, "away"), ("i", "silent")):
        member = stable(SETTINGS.replace(instance_id=instance, session_timeout=1000.0))
        member.polled(100.0)
        assert member.tick(399.9) == "heartbeat"
        assert member.tick(400.0) == expected
        assert (member.state, member.generation) == (m.AWAY, -1)
        assert member.deadline() is None
        assert not member.wants_join
        member.polled(500.0)
        assert member.wants_join


def test_E52_a_commit_that_meets_the_groups_own_rebalance_starts_no_other() -> None:
    for name in ("ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS"):
        member = in_state(m.SYNCING)
        before = member.identity
        member.committed(getattr(codes, name).number, before)
        assert (member.state, member.identity, member.reason) == (m.SYNCING, before, None)


def test_the_first_reason_to_rejoin_stays() -> None:
    member = stable()
    member.ask_rejoin("one")
    member.ask_rejoin("two")
    assert member.reason == "one"
    member.start_join()
    assert member.reason is None

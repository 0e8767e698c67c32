"""KIP-848 groups of the sandbox, heartbeat by heartbeat, and kcli's own members over the wire."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from kcli.proto.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kcli.sandbox import Sandbox
from kcli.sandbox.configs.named_configs import GroupConfigs
from kcli.sandbox.groups.consumer.group import ConsumerGroup, check
from kcli.sandbox.groups.consumer.member import share_out
from kcli.sandbox.groups.share import ShareGroup

A, B = b"a" * 16, b"b" * 16


def group(sandbox: Sandbox) -> ConsumerGroup:
    return ConsumerGroup("g", sandbox.topics)


def beat(group: ConsumerGroup, name: str, epoch: int, owned: set[int] | None = None, **more: Any) -> Any:
    """One heartbeat of a member that reads t."""
    rows = None
    if owned is not None:
        topic_id = group._topics.by_name["t"].id
        rows = [TopicPartitions(topic_id=topic_id, partitions=sorted(owned))] if owned else []
    if epoch == 0:
        more = {"subscribed_topic_names": ["t"], "rebalance_timeout_ms": 60_000} | more
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id=name, member_epoch=epoch, topic_partitions=rows, **more
    )
    check(request)
    member = group.heartbeat(request, "me", "/here")
    if member is not None:
        member.sent_assignment = set(member.assigned)
    return member


def numbers(member: Any) -> set[int]:
    return {number for _, number in member.assigned}


async def test_E58_a_partition_moves_when_its_owner_has_said_that_it_gave_it_up() -> None:
    async with Sandbox(topics={"t": 4}) as sandbox:
        g = group(sandbox)
        first = beat(g, "one", 0, set())
        assert (numbers(first), first.epoch, g.state) == ({0, 1, 2, 3}, 2, "Stable")
        beat(g, "one", 2, {0, 1, 2, 3})
        second = beat(g, "two", 0, set())
        assert (numbers(second), second.epoch, g.state) == (set(), 3, "Reconciling")
        beat(g, "one", 2)
        assert (len(numbers(first)), first.epoch) == (2, 2)
        assert numbers(beat(g, "two", 3)) == set()  # not given up yet
        beat(g, "one", 2, numbers(first))
        assert first.epoch == 3
        beat(g, "two", 3)
        assert numbers(second) == {0, 1, 2, 3} - numbers(first)
        assert g.state == "Stable"
        beat(g, "two", -1)
        beat(g, "one", 3)
        assert numbers(first) == {0, 1, 2, 3}
        g.close()


async def test_E59_epochs_fence() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox:
        g = group(sandbox)
        beat(g, "one", 0, set())
        for epoch in (1, 3, 7):
            with pytest.raises(BrokerError, match="FENCED_MEMBER_EPOCH"):
                beat(g, "one", epoch)
        with pytest.raises(BrokerError, match="UNKNOWN_MEMBER_ID"):
            beat(g, "nobody", 1)
        with pytest.raises(BrokerError, match="STALE_MEMBER_EPOCH"):
            g.member_of("one", None, 5)
        assert g.member_of("one", None, 2).id == "one"
        with pytest.raises(BrokerError, match="INVALID_REGULAR_EXPRESSION"):
            beat(g, "two", 0, set(), subscribed_topic_regex="(")
        g.close()


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "is not valid: missing )"),
        ("(?=t).*", "RE2 does not know a look-ahead"),
        ("(?:x|(?<!t)a)", "RE2 does not know a look-ahead"),
        (r"(t)\1", "RE2 does not know a reference to a group"),
        ("(?>t)", "RE2 does not know an atomic group"),
        ("(?:t++)?", "RE2 does not know a possessive repeat"),
        (r"t\Z", r"RE2 does not know \Z"),
        ("t{1001}", "RE2 repeats 1000 times at the most"),
        ("t{2,1001}", "RE2 repeats 1000 times at the most"),
        ("(" * 5000 + ")" * 5000, "is not valid"),
    ],
    ids=["open", "ahead", "behind", "group", "atomic", "possessive", "end", "repeat", "range", "nested"],
)
async def test_a_pattern_that_RE2_does_not_know_is_refused(pattern: str, why: str) -> None:
    async with Sandbox(topics={"t": 2}) as sandbox:
        g = group(sandbox)
        with pytest.raises(BrokerError) as refused:
            beat(g, "one", 0, set(), subscribed_topic_regex=pattern)
        assert refused.value.code is codes.INVALID_REGULAR_EXPRESSION
        assert why in str(refused.value)
        assert not g.members


async def test_a_pattern_that_RE2_knows_reads_whole_names() -> None:
    async with Sandbox(topics={"t": 1, "tt": 1, "u": 1}) as sandbox:
        g = group(sandbox)
        for pattern, names in [("t{1,}|v", {"t", "tt"}), ("t", {"t"}), ("(?i)T{0,1000}", {"t", "tt"}), ("^u$", {"u"})]:
            beat(g, "one", 0, set(), subscribed_topic_names=[], subscribed_topic_regex=pattern)
            read = {sandbox.topics.by_id[place[0]].name for place in g.target["one"]}
            assert read == names
        g.close()


async def test_internal_topics_are_read_as_all_others_are() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox:
        sandbox.topics.ensure_internal("__consumer_offsets")
        g, shared = group(sandbox), ShareGroup("s", sandbox.topics, GroupConfigs(), lambda kind, facts: None)
        beat(g, "one", 0, set(), subscribed_topic_names=[], subscribed_topic_regex="__consumer_.*")
        shared.heartbeat(
            ShareGroupHeartbeatRequest(group_id="s", member_id="two", subscribed_topic_names=["__consumer_offsets"]),
            "me",
            "/here",
        )
        assert (len(g.target["one"]), len(shared.target["two"])) == (50, 50)
        g.close()
        shared.close()


@pytest.mark.usefixtures("hasty_patterns")
async def test_a_pattern_without_end_is_refused_in_time_and_never_tried_again() -> None:
    endless = "(a|aa)+b"
    async with Sandbox(topics={"a" * 100: 1, "t": 1}) as sandbox:
        g = group(sandbox)
        beat(g, "one", 0, set())
        clock = time.process_time()
        for _ in range(5):
            with pytest.raises(BrokerError, match="takes more than a second on the name a"):
                beat(g, "two", 0, set(), subscribed_topic_regex=endless)
        assert time.process_time() - clock < 0.4  # five tries would take half a second
        assert list(g.members) == ["one"]
        g.close()


@pytest.mark.usefixtures("hasty_patterns")
async def test_a_topic_on_which_a_members_pattern_has_no_end_is_not_read_and_stops_nobody() -> None:
    async with Sandbox(topics={"aab": 1, "t": 1}) as sandbox:
        g = group(sandbox)
        beat(g, "one", 0, set(), subscribed_topic_names=["t"], subscribed_topic_regex="(aa|a)+b")
        assert len(g.target["one"]) == 2
        sandbox.topics.create("a" * 100, 1)
        beat(g, "one", g.members["one"].epoch)
        assert {sandbox.topics.by_id[place[0]].name for place in g.target["one"]} == {"t"}
        g.close()


async def test_E55_a_static_member_keeps_its_share_while_it_is_away() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox:
        g = group(sandbox)
        beat(g, "one", 0, set(), instance_id="i")
        with pytest.raises(BrokerError, match="UNRELEASED_INSTANCE_ID"):
            beat(g, "two", 0, set(), instance_id="i")
        beat(g, "one", -2, instance_id="i")
        other = beat(g, "other", 0, set())
        assert numbers(other) == set()
        back = beat(g, "two", 0, set(), instance_id="i")
        assert numbers(back) == {0} or numbers(back) == {1}
        assert list(g.members) == ["other", "two"]
        g.close()


async def test_E60_sessions_end_and_topics_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.sandbox.groups.consumer.group.SESSION", 0.02)
    async with Sandbox(topics={"t": 1}) as sandbox:
        g = group(sandbox)
        member = beat(g, "one", 0, set(), subscribed_topic_names=[], subscribed_topic_regex="t|u")
        assert len(member.assigned) == 1
        sandbox.topics.create("u", 2)
        assert len(beat(g, "one", 2).assigned) == 3
        await asyncio.sleep(0.05)
        assert (g.members, g.state) == ({}, "Empty")
        g.close()


def test_the_two_assignors() -> None:
    wanted = {"x": frozenset({A, B}), "y": frozenset({A})}
    counts = {A: 3, B: 1}
    ranged = share_out("range", wanted, counts, {})
    assert ranged == {"x": {(A, 0), (A, 1), (B, 0)}, "y": {(A, 2)}}
    even = share_out("uniform", wanted, counts, {"x": {(A, 0), (A, 1), (A, 2)}})
    assert {one: len(share) for one, share in even.items()} == {"x": 2, "y": 2}
    assert (B, 0) in even["x"]
    assert share_out("uniform", wanted, counts, even) == even  # what can stay stays

"""`kcli groups` and `kcli lag` on share and streams groups (E67, E71)."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.proto.messages import share_group_describe as share
from kcli.proto.messages import streams_group_describe as streams
from tests.cli.admin_fixture import Line, line

__all__ = ["line"]


def speaks(line: Line, *keys: int) -> None:
    """Let every broker have these APIs, too."""
    for broker in line.tiny.brokers.values():
        broker.highest |= dict.fromkeys(keys, 1)


def share_member(name: str, *partitions: int) -> share.Member:
    topics = [share.TopicPartitions(topic_id=b"\1" * 16, topic_name="orders", partitions=list(partitions))]
    return share.Member(
        member_id=f"{name}-id", client_id=name, client_host="/10.0.0.7", member_epoch=4,
        subscribed_topic_names=["orders"], assignment=share.Assignment(topic_partitions=topics),
    )  # fmt: skip


def streams_member(name: str, active: list[int], standby: list[int]) -> streams.Member:
    return streams.Member(
        member_id=f"{name}-id", client_id=name, client_host="/10.0.0.8", member_epoch=2,
        assignment=streams.Assignment(
            active_tasks=[streams.TaskIds(subtopology_id="0", partitions=active)],
            standby_tasks=[streams.TaskIds(subtopology_id="0", partitions=standby)],
        ),
    )  # fmt: skip


@pytest.fixture
def kinds(line: Line) -> Line:
    """A share group and a streams group beside the classic ones, on brokers that describe them."""
    speaks(line, 77, 89, 90)
    line.tiny.group(
        "work", type="share", members=[share_member("a", 0, 1, 2), share_member("b", 0)], orders=[90, 50, 99]
    )
    line.tiny.share_lags = {("work", "orders", 0): 7, ("work", "orders", 1): 50}
    line.tiny.group(
        "topology", type="streams", members=[streams_member("s", [0, 1], [2]), streams_member("t", [2], [])],
        orders=[100, 100, 90],
    )  # fmt: skip
    line.tiny.topologies["topology"] = streams.Topology(
        epoch=1, subtopologies=[
            streams.Subtopology(
                subtopology_id="0", source_topics=["orders", "gone"],
                state_changelog_topics=[streams.TopicInfo(name="topology-store-changelog")],
                repartition_source_topics=[streams.TopicInfo(name="topology-by-key-repartition")],
            )
        ],
    )  # fmt: skip
    return line


def rows(ran: Any, section: str) -> list[dict[str, Any]]:
    assert ran.code == 0, ran.err
    found: list[dict[str, Any]] = ran.json[section]
    return found


def test_E71_members_of_share_groups_are_shown_with_what_they_take_records_from(kinds: Line) -> None:
    first, second = rows(kinds("groups", "members", "work", "-J"), "members")
    assert (first["client_id"], first["host"], first["epoch"]) == ("a", "10.0.0.7", 4)
    assert first["assignment"] == ["orders:0", "orders:1", "orders:2"]
    assert (second["partitions"], second["subscribed"], second["tasks"]) == (1, ["orders"], None)


def test_E71_members_of_streams_groups_are_shown_with_their_tasks_and_what_those_read(kinds: Line) -> None:
    first, second = rows(kinds("groups", "members", "topology", "-J"), "members")
    assert (first["tasks"], first["assignment"]) == (["0_0", "0_1", "0_2 standby"], ["orders:0", "orders:1"])
    assert (second["tasks"], second["assignment"]) == (["0_2"], ["orders:2"])


def test_E71_groups_of_all_types_are_described_in_one_table(kinds: Line) -> None:
    found = rows(kinds("groups", "describe", "billing", "work", "topology", "-J"), "groups")
    assert {row["group"]: (row["type"], row["members"]) for row in found} == {
        "billing": ("classic", 1), "work": ("share", 2), "topology": ("streams", 2),
    }  # fmt: skip


INNER = ["topology-by-key-repartition", "topology-store-changelog"]


def test_a_streams_group_is_described_with_its_internal_topics(kinds: Line) -> None:
    found = rows(kinds("groups", "describe", "billing", "topology", "-J"), "groups")
    assert {row["group"]: row["internal_topics"] for row in found} == {"billing": None, "topology": INNER}


def test_internal_topics_go_with_their_group_where_that_is_asked_for(kinds: Line) -> None:
    delete = ("groups", "delete", "topology", "--no-undo", "-J")
    refused = kinds(*delete, "--delete-internal-topics", "--execute")
    assert refused.code == 1
    assert "the group has 2 members" in refused.err
    assert kinds.tiny.count()["DeleteTopics"] == 0
    kinds.tiny.members["topology"].clear()
    plan = kinds(*delete, "--dry-run")
    assert plan.json["groups"][0]["internal_topics"] is None
    assert "topology: 2 internal topics stay; --delete-internal-topics deletes them, too" in plan.err
    lost = "2 internal topics with all records cannot be restored"
    assert lost in kinds(*delete, "--delete-internal-topics", "--dry-run").err
    kinds.tiny.topic(INNER[0], (0, 0, 0))  # the other one was never created
    (row,) = rows(kinds(*delete, "--delete-internal-topics", "--execute"), "groups")
    assert (row["result"], row["internal_topics"], row["error"]) == ("deleted", INNER, None)
    assert INNER[0] not in kinds.tiny.topic_partitions


def test_E67_the_lag_of_a_share_group_is_what_its_group_coordinator_counts(kinds: Line) -> None:
    found = rows(kinds("lag", "work", "--by", "partition", "-J"), "partitions")
    assert [(row["committed"], row["lag"]) for row in found] == [(90, 7), (50, 50), (99, 1)]  # the last: not counted
    asked = {node for node, request in kinds.tiny.asked if type(request).__name__.startswith("DescribeShareGroupOff")}
    assert asked == {kinds.tiny.coordinator_id("work")}
    assert kinds.tiny.count()["OffsetFetch"] == 0


def test_E67_a_partition_that_two_members_share_has_no_owner_and_is_not_orphaned(kinds: Line) -> None:
    found = rows(kinds("lag", "work", "--by", "partition", "-J"), "partitions")
    assert [row["client_id"] for row in found] == [None, "a", "a"]
    assert {row["status"] for row in found} == {"BEHIND"}


def test_E67_an_error_of_the_coordinator_is_shown_and_a_passing_one_asked_again(kinds: Line) -> None:
    kinds.tiny.once["DescribeShareGroupOffsets"] = [16]  # NOT_COORDINATOR
    assert kinds("lag", "work").code == 0
    kinds.tiny.once["DescribeShareGroupOffsets"] = [30]
    ran = kinds("lag", "work")
    assert ran.code == 1
    assert "GROUP_AUTHORIZATION_FAILED" in ran.err


def test_E71_a_streams_group_lags_by_what_it_committed(kinds: Line) -> None:
    (row,) = rows(kinds("lag", "topology", "--by", "group", "-J"), "groups")
    assert (row["lag"], row["members"], row["status"]) == (10, 2, "BEHIND")


def test_E71_a_broker_that_only_lists_streams_groups_does_not_make_them_orphans(line: Line) -> None:
    line.tiny.group("topology", type="streams", orders=[100, 100, 90])
    (row,) = rows(line("lag", "topology", "--by", "group", "-J"), "groups")
    assert (row["lag"], row["status"]) == (10, "BEHIND")
    ran = line("groups", "members", "topology")
    assert ran.code == 1
    assert "this broker lists its streams groups but not their members" in ran.err

"""A snapshot of many groups: the order of sampling, the number of requests, and what fails beside what does not."""

from __future__ import annotations

import time

import pytest

from kcli import codes
from kcli.admin.groups.kinds import DESCRIBE_SHARE_GROUP_OFFSETS
from kcli.admin.groups.reset_plan import standing, targets
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.errors import KcliError
from kcli.lag.figures import measure, total
from kcli.lag.snapshot import take
from kcli.lag.status import LOSING_DATA, NO_COMMIT, OK, ORPHANED, UNKNOWN
from kcli.model import TopicPartition
from kcli.proto.messages import consumer_group_describe as new
from tests.admin.tiny import Tiny, member


@pytest.fixture
def tiny() -> Tiny:
    tiny = Tiny(brokers=3)
    tiny.topic("orders", (0, 95, 100), (50, 100, 100), (0, 100, 100))
    tiny.topic("mail", (0, 7, 7))
    tiny.group("billing", members=[member("app", ("orders", [0, 1]), ("mail", [0]))], orders=[90, 5, 60])
    tiny.group("idle", state="Empty", mail=[7])
    return tiny


async def test_E68_committed_is_read_before_end(tiny: Tiny) -> None:
    await take(tiny, ["billing"])
    names = [type(request).__name__ for _, request in tiny.asked]
    assert names.index("OffsetFetchRequest") < names.index("ListOffsetsRequest")


async def test_nothing_slow_comes_between_commits_and_ends(tiny: Tiny) -> None:
    """A coordinator may take seconds to report the starts of share groups; other groups would seem to lag by what came
    in meanwhile."""
    for broker in tiny.brokers.values():
        broker.highest |= dict.fromkeys((77, 90), 1)  # they describe share groups
    tiny.group("shared", type="share", orders=[90, 5, 60])
    await take(tiny, topics=["mail"])  # type: ignore[arg-type]
    names = [type(request).__name__ for _, request in tiny.asked]
    assert names.index("DescribeShareGroupOffsetsRequest") < names.index("OffsetFetchRequest")


async def test_E68_the_end_is_the_last_stable_offset_under_read_committed(tiny: Tiny) -> None:
    for isolation, lag in (("read_uncommitted", 10), ("read_committed", 5)):
        shot = await take(tiny, ["billing"], isolation=isolation)
        first = shot.groups[0].samples[1]
        assert (first.topic, first.partition) == ("orders", 0)
        assert measure(first).lag == lag


async def test_E69_E71_every_kind_of_partition_is_there(tiny: Tiny) -> None:
    shot = await take(tiny)
    rows = {(s.group, s.topic, s.partition): measure(s) for g in shot.groups for s in g.samples}
    assert rows["billing", "orders", 1].status == LOSING_DATA
    assert rows["billing", "orders", 1].lost == 45
    assert rows["billing", "orders", 2].status == ORPHANED
    assert rows["billing", "mail", 0].status == NO_COMMIT
    assert rows["billing", "mail", 0].sample.host == "10.0.0.1"
    assert rows["idle", "mail", 0].lag == 0
    assert not shot.failed


async def test_requests_grow_with_coordinators_and_leaders_not_with_groups_and_topics() -> None:
    tiny = Tiny(brokers=3)
    for n in range(50):
        tiny.topic(f"t{n}", *[(0, 9, 9)] * 6)
    for n in range(200):
        tiny.group(f"g{n}", **{f"t{n % 50}": [1] * 6, f"t{(n + 1) % 50}": [2] * 6})
    shot = await take(tiny)
    assert sum(len(group.samples) for group in shot.groups) == 200 * 12
    asked = tiny.count()
    assert asked["FindCoordinator"] == 0, "who lists a group coordinates it"
    assert asked["ListGroups"] == asked["OffsetFetch"] == asked["DescribeGroups"] == 3
    assert asked["ListOffsets"] == 6, "ends and starts, once per leader"


async def test_named_groups_are_looked_up_in_one_request(tiny: Tiny) -> None:
    await take(tiny, ["billing", "idle"])
    assert tiny.count()["FindCoordinator"] == 1
    assert tiny.count()["ListGroups"] == 0


async def test_a_group_nobody_knows_does_not_stop_the_others(tiny: Tiny) -> None:
    shot = await take(tiny, ["billing", "biling"])
    assert [group.described.group for group in shot.groups] == ["billing"]
    assert isinstance(shot.failed["biling"], GroupMissing)


async def test_C17_a_dead_broker_costs_its_own_rows_only(tiny: Tiny) -> None:
    assert tiny.coordinator_id("billing") != 2
    tiny.down = {2}
    shot = await take(tiny, ["billing"], patience=0.1)
    by_error = {s.partition: s.error for s in shot.groups[0].samples if s.topic == "orders"}
    assert by_error[0] is None
    assert by_error[1] == "broker 2 is down"
    assert by_error[2] is None
    assert [s.committed for s in shot.groups[0].samples if s.topic == "orders"] == [90, 5, 60]


async def test_C15_a_coordinator_that_moved_is_looked_up_again(tiny: Tiny) -> None:
    tiny.once = {"OffsetFetch": [16], "DescribeGroups": [16]}
    shot = await take(tiny, ["billing"])
    assert len(shot.groups[0].samples) == 4
    assert tiny.count()["FindCoordinator"] == 3


async def test_C14_a_leader_that_moved_is_looked_up_again(tiny: Tiny) -> None:
    tiny.once = {"ListOffsets": [6]}
    shot = await take(tiny, ["idle"])
    assert shot.groups[0].samples[0].error is None
    assert tiny.moved


async def test_a_partition_that_nobody_leads_is_not_waited_for_as_long_as_a_fail_over(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kcli.asking.leaders.LEADERLESS_PATIENCE", 0.0)
    tiny.leader_of = lambda at: -1 if at.partition == 2 else at.partition % 3 + 1  # type: ignore[method-assign]
    shot = await take(tiny, ["billing"])
    errors = {s.partition: s.error for s in shot.groups[0].samples if s.topic == "orders"}
    assert errors == {0: None, 1: None, 2: "orders [2]: no broker leads this partition now"}


async def test_a_commit_of_a_deleted_topic_is_an_error_of_its_row_at_once(tiny: Tiny) -> None:
    tiny.group("old", state="Empty", gone=[3])
    shot = await take(tiny, ["old"])
    assert shot.groups[0].samples[0].error == "gone: this topic does not exist"


async def test_E71_KIP848_groups_have_lag_and_members_too(tiny: Tiny) -> None:
    owned = new.Assignment(topic_partitions=[new.TopicPartitions(topic_name="mail", partitions=[0])])
    row = new.Member(member_id="m", client_id="c", client_host="/h", member_epoch=4, assignment=owned)
    tiny.group("fresh", type="consumer", members=[row], mail=[2])
    shot = await take(tiny, ["fresh"])
    assert shot.groups[0].described.type == "consumer"
    one = shot.groups[0].samples[0]
    assert (one.committed, one.end, one.host) == (2, 7, "h")


async def test_states_and_topics_choose(tiny: Tiny) -> None:
    assert [g.described.group for g in (await take(tiny, states=["EMPTY"])).groups] == ["idle"]
    assert {s.topic for g in (await take(tiny, topics=["mail"])).groups for s in g.samples} == {"mail"}  # type: ignore[arg-type]


def share_group(tiny: Tiny) -> None:
    """Make a share group without members, which has read one of three partitions."""
    tiny.group("shares", type="share", state="Empty", orders=[10, -1, -1])
    for broker in tiny.brokers.values():
        broker.highest[DESCRIBE_SHARE_GROUP_OFFSETS] = 1


@pytest.mark.parametrize(
    ("reset", "found"),
    [
        ("latest", [(100, 0, OK), (100, 0, OK)]),
        ("", [(100, 0, OK), (100, 0, OK)]),
        ("earliest", [(None, 50, NO_COMMIT), (None, 100, NO_COMMIT)]),
        ("by_duration:PT1H", [(70, 30, NO_COMMIT), (100, 0, OK)]),
    ],
)
async def test_a_share_group_counts_unread_partitions_from_where_it_will_start(
    tiny: Tiny, reset: str, found: list[tuple[int | None, int, str]]
) -> None:
    share_group(tiny)
    tiny.resets["shares"] = reset
    tiny.since = {TopicPartition("orders", 1): 70, TopicPartition("orders", 2): -1}
    now = 1000 * time.time()
    (group,) = (await take(tiny, ["shares"])).groups  # type: ignore[arg-type]
    assert [sample.committed for sample in group.samples] == [10, None, None]
    rows = [measure(sample) for sample in group.samples[1:]]
    assert [(row.sample.begins, row.unread, row.status) for row in rows] == found
    moments = {
        part.timestamp
        for _, request in tiny.asked
        if type(request).__name__ == "ListOffsetsRequest"
        for topic in request.topics
        for part in topic.partitions
        if part.timestamp > 0
    }
    assert len(moments) == (reset == "by_duration:PT1H")
    assert all(abs(moment - (now - 3_600_000)) < 60_000 for moment in moments)


async def test_a_share_group_whose_start_cannot_be_asked_for_is_unknown_in_what_it_has_not_read(tiny: Tiny) -> None:
    share_group(tiny)
    tiny.resets["shares"] = codes.GROUP_AUTHORIZATION_FAILED.number
    (group,) = (await take(tiny, ["shares"])).groups  # type: ignore[arg-type]
    read, *unread = [measure(sample) for sample in group.samples]
    assert (read.status, read.lag) == (ORPHANED, 90)
    assert [(row.status, row.lag, row.unread) for row in unread] == [(UNKNOWN, None, None)] * 2
    assert all("GROUP_AUTHORIZATION_FAILED" in str(row.sample.error) for row in unread)
    assert total([read, *unread], "shares").at_least


async def test_an_undo_file_has_no_offset_where_a_share_group_has_not_started(tiny: Tiny) -> None:
    share_group(tiny)
    target = (await targets(Coordinators(tiny), ["shares"]))["shares"]  # type: ignore[arg-type]
    assert (target.share, target.refusal) == (True, None)
    assert {at: place.offset for at, place in target.committed.items()} == {TopicPartition("orders", 0): 10}
    log = (0, 100)
    old = [standing(target, TopicPartition("orders", number), log) for number in (0, 1)]
    assert [one.old and one.old.offset for one in old if not isinstance(one, KcliError)] == [10, None]

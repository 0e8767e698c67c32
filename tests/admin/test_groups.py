"""Groups of every type are listed, described where that is possible, and deleted when nobody is in them."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.admin.groups.groups import delete_groups, find_groups, list_groups
from kcli.admin.groups.rows import Described, GroupInUse, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.model import TopicPartition
from kcli.proto.messages.describe_groups import DescribedGroupMember
from tests.admin.tiny import Tiny, assignment, member


@pytest.fixture
def tiny() -> Tiny:
    tiny = Tiny(brokers=3)
    tiny.topic("orders", (0, 9, 9))
    tiny.group("classic", members=[member("app", ("orders", [0])), member("spare")])
    tiny.group("empty", state="Empty", orders=[1])
    tiny.group("fresh", type="consumer")
    tiny.group("share", type="share", state="Stable")
    tiny.group("streams", type="streams", state="Empty")
    return tiny


async def test_E71_all_four_types_are_listed(tiny: Tiny) -> None:
    listed, failed = await list_groups(tiny)
    assert {row.group: row.type for row in listed} == {
        "classic": "classic",
        "empty": "classic",
        "fresh": "consumer",
        "share": "share",
        "streams": "streams",
    }
    assert not failed


async def test_C17_groups_of_a_dead_coordinator_are_missing_and_said_so(tiny: Tiny) -> None:
    tiny.down = {tiny.coordinator_id("classic")}
    listed, failed = await list_groups(tiny)
    assert "classic" not in {row.group for row in listed}
    assert listed
    assert failed.keys() == tiny.down


async def test_E71_a_member_without_partitions_is_a_member(tiny: Tiny) -> None:
    found, _ = await find_groups(Coordinators(tiny), ["classic"])
    group = found["classic"]
    assert isinstance(group, Described)
    assert [(m.client_id, m.assignment) for m in group.members] == [
        ("app", [TopicPartition("orders", 0)]),
        ("spare", []),
    ]


async def test_a_named_group_of_any_type_is_found(tiny: Tiny) -> None:
    found, _ = await find_groups(Coordinators(tiny), ["share", "streams", "fresh", "classic", "nope"])
    assert {name: g.type for name, g in found.items() if isinstance(g, Described)} == {
        "share": "share",
        "streams": "streams",
        "fresh": "consumer",
        "classic": "classic",
    }
    assert isinstance(found["nope"], GroupMissing)


async def test_E43_a_group_in_use_is_refused_with_its_members_named(tiny: Tiny) -> None:
    done = await delete_groups(Coordinators(tiny), ["classic", "empty", "nope"])
    assert done["empty"] is True
    assert isinstance(done["nope"], GroupMissing)
    refused = done["classic"]
    assert isinstance(refused, GroupInUse)
    assert str(refused) == "classic: the group has 2 members (app@10.0.0.1, spare@10.0.0.1): stop them first"


async def test_a_group_that_is_not_deleted_has_the_brokers_reason(tiny: Any) -> None:
    tiny.reasons["empty"] = "the store of topologies is away"
    refused = (await delete_groups(Coordinators(tiny), ["empty"]))["empty"]
    assert str(refused) == "empty: the store of topologies is away (GROUP_DELETION_FAILED)"


async def owned(tiny: Any, blob: bytes) -> tuple[list[TopicPartition], list[str]]:
    """What a classic member owns and reads, whose assignment and subscription are these bytes."""
    odd = DescribedGroupMember(member_id="odd", member_assignment=blob, member_metadata=blob)
    tiny.group("odd", members=[odd])
    found, _ = await find_groups(Coordinators(tiny), ["odd"])
    group = found["odd"]
    assert isinstance(group, Described)
    return group.members[0].assignment, group.members[0].topics


async def test_E49_an_assignment_is_read_whatever_comes_after(tiny: Tiny) -> None:
    blob = assignment(("b", [1, 0]), ("a", [2]))
    expected = [TopicPartition("a", 2), TopicPartition("b", 0), TopicPartition("b", 1)]
    assert (await owned(tiny, blob))[0] == expected
    assert (await owned(tiny, b"\x00\x09" + blob[2:] + b"more of a later version"))[0] == expected
    assert await owned(tiny, b"") == ([], [])


async def test_E49_strange_bytes_are_no_assignment(tiny: Tiny) -> None:
    blob = assignment(("b", [1, 0]), ("a", [2]))
    for cut in range(len(blob)):
        assert (await owned(tiny, blob[:cut]))[0] == []
    for strange in (b"\0\0\0\0\0\1\0\1t" + b"\x7f" * 8, b"\xff" * 40, b"\0\3\x7f\xff\xff\xff"):
        assert await owned(tiny, strange) == ([], [])

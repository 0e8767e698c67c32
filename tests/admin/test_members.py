"""Members that are removed from groups from outside (KIP-345), on a sandbox and by versions of old brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kcli.admin.groups.groups import find_groups
from kcli.admin.groups.members import MemberMissing, NotRemovable, refusal_to_remove, remove_by_id, remove_members
from kcli.admin.groups.rows import Described, GroupMissing, Member
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import BrokerError
from kcli.settings import ClientSettings, GroupSettings, parse_bootstrap

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread


def client_of(sandbox: SandboxThread) -> Client:
    return Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap)))


async def static_members(sandbox: SandboxThread, *names: str, group: str = "g") -> None:
    """Members that joined and went without leaving, as static ones do."""
    async with client_of(sandbox) as client:
        for name in names:
            settings = GroupSettings(group=group, instance_id=name, auto_commit=False)
            async with client.consumer(group=settings) as consumer:
                await consumer.subscribe(["orders"])
                await consumer.poll(0.5)


async def members(client: Client, group: str = "g") -> list[Member]:
    found = (await find_groups(Coordinators(client.cluster), [group]))[0][group]
    assert isinstance(found, Described)
    return found.members


@pytest.mark.parametrize("highest", [5, 3, 2, 0])
@pytest.mark.kcli_sandbox(topics={"orders": 2})
async def test_only_the_members_that_are_named_are_removed(
    sandbox: SandboxThread, highest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kcli.proto.messages.leave_group import LeaveGroupRequest

    await static_members(sandbox, "a", "b")
    async with client_of(sandbox) as client:
        broker = await client.cluster.node((await client.cluster.nodes())[0].id)
        kind, known = type(broker), await broker.versions()
        ask = kind.ask

        async def of_an_old_one(self: object) -> dict[int, tuple[int, int]]:
            return known | {13: (0, highest)}

        async def asked(self, request, **options):  # type: ignore[no-untyped-def]
            if isinstance(request, LeaveGroupRequest):
                options["max_version"] = highest
            return await ask(self, request, **options)

        monkeypatch.setattr(kind, "versions", of_an_old_one)
        monkeypatch.setattr(kind, "ask", asked)
        (gone,) = [member for member in await members(client) if member.instance_id == "a"]
        coordinators = Coordinators(client.cluster)
        assert await remove_members(coordinators, "g", [gone]) == {gone.member_id: True}
        assert [member.instance_id for member in await members(client)] == ["b"]
        again = (await remove_members(coordinators, "g", [gone]))[gone.member_id]
        assert isinstance(again, MemberMissing)
        assert str(again) == "g: the group has no member a"
        assert await remove_members(coordinators, "g", []) == {}


@pytest.mark.kcli_sandbox(topics={"orders": 2})
async def test_a_coordinator_that_moves_is_asked_again_and_its_refusal_is_of_all(sandbox: SandboxThread) -> None:
    from kcli import codes

    await static_members(sandbox, "a", "b")
    async with client_of(sandbox) as client:
        both = await members(client)
        sandbox.faults.error("LeaveGroup", codes.NOT_COORDINATOR)
        assert set((await remove_members(Coordinators(client.cluster), "g", both)).values()) == {True}
        sandbox.faults.error("LeaveGroup", codes.GROUP_AUTHORIZATION_FAILED)
        refused = await remove_members(Coordinators(client.cluster), "g", both)
        assert refused.keys() == {member.member_id for member in both}
        assert all(isinstance(problem, BrokerError) for problem in refused.values())


@pytest.mark.kcli_sandbox(topics={"orders": 2})
async def test_a_removal_whose_answer_was_lost_is_a_removal(sandbox: SandboxThread) -> None:
    await static_members(sandbox, "a")
    async with client_of(sandbox) as client:
        (gone,) = await members(client)
        sandbox.faults.wire.lose_answer("LeaveGroup")
        assert await remove_members(Coordinators(client.cluster), "g", [gone]) == {gone.member_id: True}
        again = await remove_members(Coordinators(client.cluster), "g", [gone])
        assert isinstance(again[gone.member_id], MemberMissing)


@pytest.mark.parametrize("kind", ["share", "streams"])
def test_members_of_other_kinds_of_groups_are_refused_with_the_kind(kind: str) -> None:
    refusal = refusal_to_remove(Described(group="g", type=kind))
    assert isinstance(refusal, NotRemovable)
    assert f"g: this is a {kind} group; Kafka removes members of classic and consumer groups only" in str(refusal)
    for other in ("classic", "consumer"):
        assert refusal_to_remove(Described(group="g", type=other)) is None


async def test_the_library_removes_members_by_their_ids_or_all(sandbox: SandboxThread) -> None:
    await static_members(sandbox, "a", "b", group="library")
    async with client_of(sandbox) as client:
        first, second = [member.member_id for member in await members(client, "library")]
        removed = await client.admin.remove_members("library", [first, "nobody"])
        assert removed[first] is True
        assert isinstance(removed["nobody"], MemberMissing)
        assert [member.member_id for member in await members(client, "library")] == [second]
        assert await client.admin.remove_members("library") == {second: True}
        with pytest.raises(GroupMissing):
            await client.admin.remove_members("none")
        with pytest.raises(NotRemovable):
            await remove_by_id(Coordinators(client.cluster), Described(group="s", type="share"), None)

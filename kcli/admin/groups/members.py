"""Removes members from classic and consumer groups: LeaveGroup with their ids (KIP-345).

A member that is still running joins again with its next heartbeat. A static member that is gone for good does not:
unless it is removed, its partitions wait until its session times out.
"""

from __future__ import annotations

from kcli import codes
from kcli.asking.fan_out import PATIENCE
from kcli.errors import BrokerError, ConnectError, KcliError
from kcli.proto.messages.leave_group import LeaveGroupRequest, MemberIdentity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.groups.rows import Described, Member
    from kcli.asking.coordinators import Coordinators
    from kcli.model import Broker

    Outcome = dict[str, bool | KcliError]

LEAVE_GROUP = 13
BY_MEMBERS = 3
"""The first version of LeaveGroup with several members; earlier ones have one."""
REMOVABLE = ("classic", "consumer")
"""Types of groups whose coordinator accepts LeaveGroup from outside."""
REASON = "removed by an administrator with kcli"


class MemberMissing(KcliError):
    """The group has no such member."""

    def __init__(self, group: str, member: str) -> None:
        super().__init__(f"{group}: the group has no member {member}")


class NotRemovable(KcliError):
    """Members of this type of group cannot be removed."""

    def __init__(self, group: Described) -> None:
        super().__init__(
            f"{group.group}: this is a {group.type} group; Kafka removes members of classic and consumer groups only. "
            "A member of this one leaves when its client is closed or its session times out"
        )


def refusal_to_remove(group: Described) -> KcliError | None:
    """Return why no member of this group can be removed."""
    return NotRemovable(group) if group.type not in REMOVABLE else None


async def remove_members(
    coordinators: Coordinators, group: str, members: Iterable[Member], *, patience: float = PATIENCE
) -> dict[str, bool | KcliError]:
    """Remove these members of a classic or consumer group. By member id: True on success, MemberMissing if it had
    already left. `patience` is in seconds."""
    wanted = {member.member_id: member for member in members}
    sent = False  # a request had no response: a member that is missing later left because of it

    async def ask(broker: Broker, names: list[str]) -> dict[str, Outcome | KcliError]:
        nonlocal sent
        try:
            return {group: await _leave(broker, group, list(wanted.values()))}
        except ConnectError as error:
            sent = sent or error.sent
            raise

    answered = (await coordinators.ask([group], ask, patience=patience))[group] if wanted else {}
    if isinstance(answered, KcliError):
        return dict.fromkeys(wanted, answered)
    return {name: True if sent and isinstance(one, MemberMissing) else one for name, one in answered.items()}


async def remove_by_id(
    coordinators: Coordinators, group: Described | KcliError, member_ids: Iterable[str] | None
) -> dict[str, bool | KcliError]:
    """Like `remove_members`, by member ids; None removes all. Raises the error of a group that could not be described,
    and NotRemovable."""
    if isinstance(group, KcliError):
        raise group
    refusal = refusal_to_remove(group)
    if refusal is not None:
        raise refusal
    there = {member.member_id: member for member in group.members}
    wanted = list(there if member_ids is None else member_ids)
    left = await remove_members(coordinators, group.group, [there[name] for name in wanted if name in there])
    return {name: left.get(name, MemberMissing(group.group, name)) for name in wanted}


async def _leave(broker: Broker, group: str, members: list[Member]) -> Outcome:
    """Raises BrokerError if the coordinator rejects the whole request."""
    _, highest = (await broker.versions()).get(LEAVE_GROUP, (0, 0))
    if highest < BY_MEMBERS:
        return {member.member_id: await _leave_alone(broker, group, member) for member in members}
    identities = [
        MemberIdentity(member_id=member.member_id, group_instance_id=member.instance_id, reason=REASON)
        for member in members
    ]
    answer = await broker.ask(LeaveGroupRequest(group_id=group, members=identities))
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), group, api=LEAVE_GROUP, group=group)
    told = {row.member_id: row.error_code for row in answer.members}
    return {
        member.member_id: _outcome(group, member, told.get(member.member_id, codes.UNKNOWN_SERVER_ERROR.number))
        for member in members
    }


async def _leave_alone(broker: Broker, group: str, member: Member) -> bool | KcliError:
    answer = await broker.ask(LeaveGroupRequest(group_id=group, member_id=member.member_id))
    outcome = _outcome(group, member, answer.error_code)
    if isinstance(outcome, BrokerError) and outcome.retriable:
        raise outcome
    return outcome


def _outcome(group: str, member: Member, number: int) -> bool | KcliError:
    code = codes.of(number)
    if code is codes.UNKNOWN_MEMBER_ID:
        return MemberMissing(group, member.instance_id or member.member_id)
    return BrokerError(code, member.member_id, api=LEAVE_GROUP, group=group) if code else True

"""Groups of all kinds: listed, described, and deleted while empty. `kinds` has the details of share and streams
groups."""

from __future__ import annotations

from kcli import codes
from kcli.admin.groups.rows import (
    Described,
    GroupInUse,
    GroupMissing,
    Listed,
    Member,
    counted,
    description,
    refusal,
)
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE, ask_every, bad, good
from kcli.errors import BrokerError, ConnectError, DecodeError, KcliError, UnsupportedVersion
from kcli.model import TopicPartition
from kcli.proto.messages.describe_groups import DescribedGroup, DescribeGroupsRequest
from kcli.text.names import Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Broker, Cluster
    from kcli.proto.messages.list_groups import ListGroupsResponse
    from kcli.text.names import NamePattern, Names

CONSUMER_GROUP_DESCRIBE = 69


PROGRESS = {"kcli-copy.": "copy", "kcli-redrive.": "redrive"}
"""Prefixes of groups without members in which kcli stores its own progress, and the command."""


async def list_groups(cluster: Cluster) -> tuple[list[Listed], dict[int, KcliError]]:
    """Return all groups of all types, sorted by name, and the errors of brokers that did not respond."""
    from kcli.proto.messages.list_groups import ListGroupsRequest

    async def ask(broker: Broker) -> ListGroupsResponse:
        answer = await broker.ask(ListGroupsRequest())
        if answer.error_code:
            raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}", api=ListGroupsRequest.api_key)
        return answer

    answers, failed = await ask_every(cluster, [node.id for node in await cluster.nodes()], ask)
    listed: dict[str, Listed] = {}
    for node_id, answer in answers.items():
        for row in answer.groups:
            listed[row.group_id] = Listed(
                group=row.group_id,
                type=row.group_type.lower() or None,
                state=row.group_state or None,
                protocol=row.protocol_type,
                coordinator=node_id,
            )
    return sorted(listed.values(), key=lambda row: row.group), failed


async def group_names(cluster: Cluster) -> list[str]:
    """Return the names of all groups whose coordinator responds."""
    return [row.group for row in (await list_groups(cluster))[0]]


async def match_groups(cluster: Cluster, names: Names, *, own: bool = True) -> tuple[Match, dict[int, KcliError]]:
    """Return the groups that a command line selects, and the errors of brokers that did not list theirs.

    Patterns match groups with kcli's own progress only with `own`, or if the pattern begins like them. Without a
    pattern nothing is requested.
    """
    if not names.patterns:
        return Match(names=names.words), {}
    listed, failed = await list_groups(cluster)

    def hidden(name: str, pattern: NamePattern) -> bool:
        return not own and progress_of(name) is not None and not pattern.begins("kcli-")

    return names.among([row.group for row in listed], hidden), failed


async def describe_groups(
    coordinators: Coordinators, listed: Iterable[Listed], *, patience: float = PATIENCE
) -> dict[str, Described | KcliError]:
    """Return state, members and assignments. A group with `type` None is looked up as a consumer group, then as a
    classic one. If a broker cannot describe share or streams groups, the result is as in the listing, without members.
    """
    groups = {row.group: row for row in listed}

    async def ask(broker: Broker, some: list[str]) -> dict[str, Described | KcliError]:
        new = (await broker.versions()).get(CONSUMER_GROUP_DESCRIBE) is not None
        described: dict[str, Described | KcliError] = {}
        others = [groups[name] for name in some if groups[name].type in ("share", "streams")]
        if others:
            described |= await _describe_others(coordinators.cluster, broker, others)
        if new and (wanted := [name for name in some if groups[name].type in (None, "consumer")]):
            described |= await _describe_new(broker, wanted)
        missing = [name for name in some if groups[name].type in (None, "classic") and _missing(described.get(name))]
        if missing:
            described |= await _describe_classic(broker, missing)
        return described

    return await coordinators.ask(groups, ask, patience=patience, most=200)


async def _describe_others(cluster: Cluster, broker: Broker, rows: list[Listed]) -> dict[str, Described | KcliError]:
    """Describe share and streams groups."""
    from kcli.admin.groups.kinds import describe_kind

    groups_by_name: dict[str, Described | KcliError] = {}
    for kind in ("share", "streams"):
        some = [row for row in rows if row.type == kind]
        described = await describe_kind(cluster, broker, kind, [row.group for row in some])
        for row in some:
            groups_by_name[row.group] = described.get(row.group) or Described(
                group=row.group, type=kind, state=row.state or "", protocol=row.protocol, coordinator=broker.node_id
            )
    return groups_by_name


def _missing(answer: object) -> bool:
    return answer is None or isinstance(answer, GroupMissing)


async def _describe_new(broker: Broker, groups: list[str]) -> dict[str, Described | KcliError]:
    from kcli.proto.messages.consumer_group_describe import ConsumerGroupDescribeRequest

    try:
        answer = await broker.ask(ConsumerGroupDescribeRequest(group_ids=groups))
    except UnsupportedVersion:
        return {}
    return {
        row.group_id: refusal(row) or description(row, "consumer", broker.node_id)
        for row in answer.groups
        if row.error_code != codes.UNSUPPORTED_VERSION.number  # disabled: the group is classic or does not exist
    }


async def _describe_classic(broker: Broker, groups: list[str]) -> dict[str, Described | KcliError]:
    answer = await broker.ask(DescribeGroupsRequest(groups=groups))
    return {row.group_id: _classic(row, broker.node_id) for row in answer.groups}


def _classic(row: DescribedGroup, node_id: int) -> Described | KcliError:
    refused = refusal(row)
    if refused is not None:
        return refused
    consumer = row.protocol_type in ("consumer", "")
    return Described(
        group=row.group_id,
        state=row.group_state,
        protocol=row.protocol_type,
        assignor=row.protocol_data,
        coordinator=node_id,
        members=[
            Member(
                member_id=member.member_id,
                instance_id=member.group_instance_id,
                client_id=member.client_id,
                host=member.client_host.removeprefix("/"),
                topics=_subscription(member.member_metadata) if consumer else [],
                assignment=_assignment(member.member_assignment) if consumer else [],
            )
            for member in row.members
        ],
    )


def _subscription(blob: bytes) -> list[str]:
    """Return the topics of a classic member."""
    from kcli.proto.consumer_protocol import decode_subscription

    return decode_subscription(blob).topics


def _assignment(blob: bytes) -> list[TopicPartition]:
    """Return what a classic member owns; empty for bytes that are not an assignment."""
    from kcli.proto.consumer_protocol import decode_assignment

    try:
        return sorted(decode_assignment(blob))
    except DecodeError:
        return []


def progress_of(group: str) -> str | None:
    """Return the kcli command whose progress the group stores; None for any other group."""
    return next((command for start, command in PROGRESS.items() if group.startswith(start)), None)


async def find_groups(
    coordinators: Coordinators, names: Iterable[str], *, patience: float = PATIENCE
) -> tuple[dict[str, Described | KcliError], dict[int, KcliError]]:
    """Return the named groups, or all groups without names, and the errors of brokers that did not list theirs."""
    wanted = list(dict.fromkeys(names))
    failed: dict[int, KcliError] = {}
    if wanted:
        listed = [Listed(group=name) for name in wanted]
    else:
        listed, failed = await list_groups(coordinators.cluster)
        coordinators.known |= {row.group: row.coordinator for row in listed}
    described = await describe_groups(coordinators, listed, patience=patience)
    if any(isinstance(answer, GroupMissing) for answer in described.values()):
        described |= await _kinds_that_are_only_listed(coordinators, described)
    return described, failed


async def _kinds_that_are_only_listed(
    coordinators: Coordinators, described: dict[str, Described | KcliError]
) -> dict[str, Described | KcliError]:
    """Describe named groups that are neither classic nor KIP-848, which may be share or streams groups. A group deleted
    since it was listed remains missing."""
    listed, _ = await list_groups(coordinators.cluster)
    others = [row for row in listed if row.type in ("share", "streams") and not good({0: described.get(row.group)})]
    wanted = [row for row in others if row.group in described]
    return await describe_groups(coordinators, wanted) if wanted else {}


async def delete_groups(
    coordinators: Coordinators, groups: Iterable[str], *, patience: float = PATIENCE
) -> dict[str, bool | KcliError]:
    """Delete groups without members. Returns True on success; GroupInUse names the members, GroupMissing is for unknown
    groups."""
    from kcli.proto.messages.delete_groups import DeleteGroupsRequest

    sent: set[str] = set()  # deletions without a response: if the group is missing later, this deleted it

    async def ask(broker: Broker, some: list[str]) -> dict[str, bool | KcliError]:
        try:
            answer = await broker.ask(DeleteGroupsRequest(groups_names=some))
        except ConnectError as error:
            sent.update(some if error.sent else ())
            raise
        done: dict[str, bool | KcliError] = {}
        for row in answer.results:
            code = codes.of(row.error_code)
            if code is codes.GROUP_ID_NOT_FOUND and row.group_id in sent:
                done[row.group_id] = True
            elif code is codes.GROUP_ID_NOT_FOUND:
                done[row.group_id] = GroupMissing(row.group_id)
            else:
                name, api = row.group_id, DeleteGroupsRequest.api_key
                done[name] = BrokerError(code, name, row.error_message, api=api, group=name) if code else True
        return done

    done = await coordinators.ask(groups, ask, patience=patience)
    refused = [
        name
        for name, error in bad(done).items()
        if isinstance(error, BrokerError) and error.code is codes.NON_EMPTY_GROUP
    ]
    if refused:
        described = good(await describe_groups(coordinators, [Listed(group=name) for name in refused]))
        for name in refused:
            members = described[name].members if name in described else []
            done[name] = GroupInUse(name, [who(member) for member in members])
    return done


def who(member: Member) -> str:
    """Return a member's description: its client and where that runs."""
    return f"{member.instance_id or member.client_id or member.member_id}@{member.host}"


def some_members(members: list[Member]) -> str:
    """Return `2 members (app@10.0.0.1, app@10.0.0.2)`: the members of a group, at most five by name."""
    return counted([who(member) for member in members])

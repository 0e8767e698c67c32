"""Groups as rows, as a coordinator lists and describes them, and errors about them."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError, KcliError
from kcli.model import TopicPartition
from kcli.values import Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.messages import consumer_group_describe as kip848
    from kcli.proto.messages import describe_groups as classic
    from kcli.proto.messages import share_group_describe as share
    from kcli.proto.messages import streams_group_describe as streams

    AnyGroup = classic.DescribedGroup | kip848.DescribedGroup | share.DescribedGroup | streams.DescribedGroup

REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
"""States in which assignments are not known yet, so the owner of a partition is unknown."""

DESCRIBE_GROUPS = 15
STATES = ("Stable", "Empty", "Dead", *sorted(REBALANCING), "NotReady", "Unknown")
"""All states of groups of any type (Kafka's GroupState)."""

TYPES = ("classic", "consumer", "share", "streams")


class Listed(Value):
    """A group as its coordinator lists it. `type` is classic, consumer, share or streams; None from brokers before 4.0,
    which do not report it; `state` is None from brokers before 2.6."""

    group: str = ""
    type: str | None = None
    state: str | None = None
    protocol: str = ""
    coordinator: int = -1


class Member(Value):
    """A member. `epoch` is None for classic members. `assignment` is what it owns now (in a share group: what it reads
    from, possibly with others), `tasks` are those of a streams member: 0_3, or 0_3 standby."""

    member_id: str = ""
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    rack: str | None = None
    epoch: int | None = None
    topics: list[str] = field(factory=list)
    regex: str | None = None
    assignment: list[TopicPartition] = field(factory=list)
    tasks: list[str] = field(factory=list)


class Subtopology(Value):
    """A part of a streams application: what its tasks read, and the internal topics that they write and restore from.
    `repartitions` are the repartition topics that it reads, `sinks` those that it writes for other parts."""

    name: str = ""
    sources: list[str] = field(factory=list)
    repartitions: list[str] = field(factory=list)
    sinks: list[str] = field(factory=list)
    changelogs: list[str] = field(factory=list)


class Described(Value):
    """A group, its members and what they own. `epoch` is None for classic groups. `topology` and its epoch belong to
    streams groups; None if the coordinator does not know it."""

    group: str = ""
    type: str = "classic"
    state: str = ""
    protocol: str = ""
    assignor: str = ""
    epoch: int | None = None
    coordinator: int = -1
    members: list[Member] = field(factory=list)
    topology: list[Subtopology] | None = None
    topology_epoch: int | None = None

    @property
    def internal_topics(self) -> list[str]:
        """The topics that a streams group created for itself: changelogs and repartition topics."""
        parts = self.topology or ()
        return sorted({name for part in parts for name in (*part.changelogs, *part.repartitions)})

    @property
    def owners_known(self) -> bool:
        untold = self.type in ("share", "streams") and not self.members and self.state not in ("Empty", "Dead")
        return self.state not in REBALANCING and not untold


class GroupMissing(KcliError):
    """No coordinator knows a group of this name; `hint` is appended to the sentence."""

    def __init__(self, group: str, hint: str = "") -> None:
        super().__init__(f"{group}: this group does not exist{hint}")
        self.group = group


class GroupInUse(KcliError):
    """A group with members cannot be deleted."""

    def __init__(self, group: str, members: list[str]) -> None:
        super().__init__(f"{group}: the group has {counted(members)}: stop them first")
        self.group = group
        self.members = members


def refusal(row: AnyGroup) -> KcliError | None:
    """Return why a coordinator did not describe a group; None if it did. Before DescribeGroups 6, an unknown group had
    the state "Dead"."""
    code = codes.of(row.error_code)
    if code is codes.GROUP_ID_NOT_FOUND or (not code and row.group_state == "Dead"):
        return GroupMissing(row.group_id)
    message = row.error_message or None
    return BrokerError(code, row.group_id, message, api=DESCRIBE_GROUPS, group=row.group_id) if code else None


def description(row: kip848.DescribedGroup | share.DescribedGroup, kind: str, coordinator: int) -> Described:
    """Return the description of a group whose coordinator assigns: a consumer group (KIP-848) or a share group."""
    return Described(
        group=row.group_id,
        type=kind,
        state=row.group_state,
        protocol=kind,
        assignor=row.assignor_name,
        epoch=row.group_epoch,
        coordinator=coordinator,
        members=[_member(member) for member in row.members],
    )


def _member(row: kip848.Member | share.Member) -> Member:
    return Member(
        member_id=row.member_id,
        instance_id=getattr(row, "instance_id", None),
        client_id=row.client_id,
        host=row.client_host.removeprefix("/"),
        rack=row.rack_id,
        epoch=row.member_epoch,
        topics=row.subscribed_topic_names,
        regex=getattr(row, "subscribed_topic_regex", None) or None,
        assignment=sorted(
            TopicPartition(topic.topic_name, partition)
            for topic in row.assignment.topic_partitions
            for partition in topic.partitions
        ),
    )


def counted(members: list[str]) -> str:
    if not members:
        return "members"
    some = ", ".join(members[:5]) + (f" and {len(members) - 5} more" if len(members) > 5 else "")
    return f"{len(members)} member{'s' if len(members) != 1 else ''} ({some})"

"""The pages by name: what `:` and the command line offer, and what a page is a page of. A route is opened once: going
there again comes back to its page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import TYPE_CHECKING

from kcli.acls import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.grammar.bound import Bound
    from kcli.lag.watch import LagSnapshot
    from kcli.model import TopicPartition
    from kcli.tui.tail import Seen

NAMES = (
    "alerts, groups, group NAME, topics, topic NAME, records TOPIC…, brokers, broker ID, heatmap, transactions, "
    "transaction ID, acls, acls KIND NAME, quotas, reassignments, schemas, schema SUBJECT, clusters, faults"
)
PLAIN = ("groups", "alerts", "topics", "brokers", "heatmap", "transactions", "acls", "quotas", "reassignments")
"""Pages that every cluster has."""


@dataclass(frozen=True)
class Route:
    """Where one can go."""


@dataclass(frozen=True)
class Groups(Route):
    """All groups: the first page."""


@dataclass(frozen=True)
class Alerts(Route):
    """What is wrong now, which alerts are on, and those that were told."""


@dataclass(frozen=True)
class Group(Route):
    """A consumer group."""

    name: str


@dataclass(frozen=True)
class Member(Route):
    """A member of a group."""

    group: str
    member_id: str


@dataclass(frozen=True)
class Topics(Route):
    """All topics."""


@dataclass(frozen=True)
class Topic(Route):
    """A topic."""

    name: str


@dataclass(frozen=True)
class Records(Route):
    """The newest records of topics; with `around`, those of one partition from shortly before an offset on; with
    `start`, those from that place on. `why` these are looked at; with `next_of` the record at the offset is what that
    group reads next."""

    topics: tuple[str, ...]
    around: tuple[TopicPartition, int] | None = None
    start: Bound | None = None
    why: str = ""
    next_of: str = ""


@dataclass(frozen=True)
class Record(Route):
    """A record."""

    topic: str
    partition: int
    offset: int
    seen: Seen = field(compare=False)


@dataclass(frozen=True)
class Brokers(Route):
    """All brokers."""


@dataclass(frozen=True)
class Broker(Route):
    """A broker."""

    number: int


@dataclass(frozen=True)
class Clusters(Route):
    """All profiles."""


@dataclass(frozen=True)
class Heatmap(Route):
    """Every partition as a shade."""


@dataclass(frozen=True)
class Transactions(Route):
    """All transactional ids, and transactions that hang."""


@dataclass(frozen=True)
class Transaction(Route):
    """The partitions of a transaction."""

    name: str


@dataclass(frozen=True)
class Acls(Route):
    """All ACLs."""


@dataclass(frozen=True)
class Access(Route):
    """The principals that may use one resource, by operation."""

    kind: str
    name: str


@dataclass(frozen=True)
class Quotas(Route):
    """All client quotas."""


@dataclass(frozen=True)
class Reassignments(Route):
    """The moves of partitions in progress."""


@dataclass(frozen=True)
class Subjects(Route):
    """The subjects of the schema registry."""


@dataclass(frozen=True)
class Subject(Route):
    """A subject of the schema registry."""

    name: str


@dataclass(frozen=True)
class Faults(Route):
    """What a sandbox does wrong."""


SINGLE: dict[str, type[Route]] = {
    "groups": Groups,
    "alerts": Alerts,
    "topics": Topics,
    "brokers": Brokers,
    "heatmap": Heatmap,
    "transactions": Transactions,
    "acls": Acls,
    "quotas": Quotas,
    "reassignments": Reassignments,
    "schemas": Subjects,
    "clusters": Clusters,
    "faults": Faults,
}
"""Pages of one word."""


def places(
    snapshot: LagSnapshot | None, every: Sequence[str] = (), brokers: Sequence[int] = (), *, registry: bool = False
) -> list[str]:
    """What can be typed, for completion; `every` topic, also those that no group reads; `brokers` by their ids; schemas
    with a `registry`."""
    groups = [group.described.group for group in snapshot.groups] if snapshot is not None else []
    topics = {part.lag.sample.topic for group in snapshot.groups for part in group.partitions} if snapshot else set()
    topics.update(every)
    return [
        *PLAIN,
        *(["schemas"] if registry else []),
        "clusters",
        "faults",
        *(f"group {name}" for name in groups),
        *(f"topic {name}" for name in sorted(topics)),
        *(f"broker {number}" for number in brokers),
        *(f"records {name}" for name in sorted(topics)),
    ]


def offered(text: str, known: Sequence[str], most: int) -> list[str]:
    """The places that fit what was typed, the closest first: those of which a word is it, or begins with it, those that
    hold it, then those that hold its letters in their order."""
    typed = text.strip().lower()
    if not typed:
        return list(known[:most])
    begins = re.compile(rf"(?<![^\W_]){re.escape(typed)}")
    holding = ((begins.search(name.lower()), name.lower().find(typed), name) for name in known)
    ranked = (
        (typed not in name.lower().split(), word is None, word.start() if word else at, len(name), name)
        for word, at, name in holding
        if at >= 0
    )
    found = [name for *_, name in nsmallest(most, ranked)]
    if len(found) < most:
        letters = re.compile(".*?".join(map(re.escape, typed.replace(" ", ""))), re.IGNORECASE)
        scattered = ((len(match[0]), len(name), name) for name in known if (match := letters.search(name)))
        rest = nsmallest(most, (row for row in scattered if row[2] not in found))
        found += [name for _, _, name in rest]
    return found[:most]


def missing(route: Route, known: Sequence[str]) -> str:
    """What the route is of and is not among the places that are known: "topic NAME"; "" where it is there."""
    names = [f"topic {name}" for name in route.topics] if isinstance(route, Records) else []
    names += [f"topic {route.name}"] if isinstance(route, Topic) else []
    return next((name for name in names if name not in known), "")


def find(text: str) -> Route | None:
    """The route that a line names; None for an unknown one."""
    word, _, name = text.strip().partition(" ")
    name, rest = name.strip(), name.split()
    if not rest and word in SINGLE:
        return SINGLE[word]()
    match word, rest:
        case "group", [_, *_]:  # a group's name may have spaces in it
            return Group(name)
        case "topic", [name]:
            return Topic(name)
        case "broker", [number] if number.isascii() and number.isdigit():
            return Broker(int(number))
        case "transaction", [_, *_]:
            return Transaction(name)
        case "acls", [kind, _, *_] if kind in KINDS:
            return Access(kind, name.removeprefix(kind).strip())
        case "schema", [_, *_]:
            return Subject(name)
        case (("records" | "tail"), [_, *_]):
            return Records(tuple(rest))
    return None

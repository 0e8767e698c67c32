"""What a line of `kcli reassign` wants to have where: from a file, or from a plan made now; and how it is shown."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file, balance
from kcli.admin.reassign.move_progress import replica_sizes
from kcli.admin.reassign.reassignments import Ongoing, about, list_reassignments
from kcli.admin.storage.disks import Replica
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.cli.commands.reassign.partitions_chosen import Chosen
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition
from kcli.values import Value, field

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

PLANNING = ("all_topics", "broker_list", "remove_brokers", "replication", "no_racks", "no_balance")


class Plan(Value):
    """Where partitions are and shall be. `everything` is where every partition of the cluster is, `sizes` bytes by
    partition, `racks` of all brokers that are there, `ongoing` the moves under way."""

    wanted: Assignment = field(factory=dict)
    log_dirs: dict[Replica, str] = field(factory=dict)
    everything: Assignment = field(factory=dict)
    sizes: dict[TopicPartition, int] = field(factory=dict)
    racks: dict[int, str | None] = field(factory=dict)
    ongoing: dict[TopicPartition, Ongoing] = field(factory=dict)

    def changes(self) -> Assignment:
        """What is not where it shall be, or is on its way to somewhere else."""
        return {at: brokers for at, brokers in self.wanted.items() if self._on_its_way(at) != brokers}

    def _on_its_way(self, at: TopicPartition) -> list[int] | None:
        return self.ongoing[at].target if at in self.ongoing else self.everything.get(at)


def file_of(values: Values) -> str | None:
    """The file that a line names instead of topics: one that is there, or a word that looks like one. Raises UsageError
    for one with options of a plan."""
    words: list[str] = values["words"]
    if len(words) != 1 or not (os.path.isfile(words[0]) or os.sep in words[0] or words[0].endswith(".json")):
        return None
    given = [name for name in PLANNING if values.get(name)]
    if given:
        raise UsageError(f"{words[0]} is a plan already; options that make one do not go with it")
    return words[0]


async def look(cluster: Cluster, document: Document, values: Values) -> tuple[Plan, dict[TopicPartition, Partition]]:
    """The cluster as it is: every partition, its size, the brokers, the moves under way."""
    plan = Plan()
    found: dict[TopicPartition, Partition] = {}
    for name, topic in (await describe_topics(cluster)).items():
        if isinstance(topic, Topic):
            found |= {_at(one): one for one in topic.partitions}
        else:
            document.fail(topic, name)
    plan.ongoing = await list_reassignments(cluster)
    plan.everything = {
        at: plan.ongoing[at].sources if at in plan.ongoing else one.replicas for at, one in found.items()
    }
    plan.racks = {node.id: node.rack for node in await cluster.nodes()}
    sizes, failed = await replica_sizes(cluster, None)
    for broker, error in failed.items():
        say(values, f"broker {broker} does not tell the sizes of its replicas: {error}")
    for at, one in found.items():
        here = sizes.get(at, {})
        plan.sizes[at] = here.get(one.leader, max(here.values(), default=0))
    return plan, found


def _at(one: Partition) -> TopicPartition:
    from kcli.model import TopicPartition

    return TopicPartition(one.topic, one.partition)


def from_file(plan: Plan, document: Document, path: str) -> None:
    """Put into the plan what a file says; what cannot be is an error in the document."""
    wanted, plan.log_dirs = assignment_file.read(path)
    for at, brokers in wanted.items():
        unknown = [node for node in brokers if node not in plan.racks]
        if at not in plan.everything:
            document.fail(KcliError(f"{about(at)}: there is no such partition"), about(at))
        elif unknown:
            document.fail(KcliError(f"{about(at)}: broker {unknown[0]} is not there"), about(at))
        else:
            plan.wanted[at] = brokers


async def from_options(cluster: Cluster, plan: Plan, document: Document, values: Values) -> None:
    """Put into the plan what topics and options ask for."""
    leaving = _ids("--remove-broker", values["remove_brokers"])
    everything = values["all_topics"] or bool(leaving and not values["words"])
    chosen = Chosen(values["words"], everything, internal=values["internal"] or bool(leaving))
    found = await chosen.find(cluster, document)
    moving = [at for at in found if at in plan.ongoing]
    if moving:
        say(
            values,
            f"{plural(len(moving), 'partition')} on the way already, such as {about(moving[0])}: not in this plan",
        )
    some = {at: plan.everything[at] for at in found if at not in plan.ongoing and at in plan.everything}
    for node, count in sorted(Counter(node for brokers in some.values() for node in brokers).items()):
        if node not in plan.racks:
            say(values, f"WARNING: broker {node} is not there; its {plural(count, 'replica')} would be made elsewhere")
    wish = balance.Wish(
        brokers=_usable(plan, values, leaving), replication=values["replication"], even=not values["no_balance"]
    )
    plan.wanted = balance.plan(some, wish, plan.sizes)


def _usable(plan: Plan, values: Values, leaving: list[int]) -> dict[int, str | None]:
    """The brokers that may have replicas. Raises UsageError for one that is not there, and for racks of some only."""
    given = values["broker_list"]
    only = list(plan.racks) if given is None else _ids("--broker-list", given.split(","))
    for node in only:
        if node not in plan.racks:
            raise UsageError(f"broker {node} is not there; there are {', '.join(map(str, sorted(plan.racks)))}")
    usable = [node for node in only if node not in leaving]
    if not usable:
        raise UsageError("no broker is left to move to")
    racks = {node: plan.racks[node] for node in usable}
    if values["no_racks"]:
        return dict.fromkeys(racks)
    without = [node for node, rack in racks.items() if rack is None]
    if without and len(without) < len(racks):
        raise UsageError(f"broker {without[0]} has no rack and others have: --disable-rack-aware plans without racks")
    return racks


def _ids(option: str, words: list[str]) -> list[int]:
    for word in words:
        if not word.strip().isdecimal():
            raise UsageError(f"{option} {word}: a broker is named by its id, such as 1")
    return [int(word) for word in words]


# -- how it is shown --------------------------------------------------------------------------------------------------


def partition_rows(plan: Plan, result: str) -> dict[TopicPartition, Row]:
    """A row for each partition that changes."""
    rows = {}
    for at, brokers in sorted(plan.changes().items()):
        old = plan.everything[at]
        adding = [node for node in brokers if node not in old]
        rows[at] = {
            "topic": at.topic,
            "partition": at.partition,
            "old": old,
            "new": brokers,
            "adding": adding,
            "removing": [node for node in old if node not in brokers],
            "bytes": plan.sizes.get(at, 0) * len(adding),
            "result": result,
            "error": None,
        }
    return rows


def broker_rows(plan: Plan) -> list[Row]:
    """What becomes of each broker: all that it has in the cluster, before and after."""
    after = plan.everything | plan.changes()
    nodes = sorted(plan.racks.keys() | {node for brokers in plan.everything.values() for node in brokers})
    rows: dict[int, Row] = {
        node: {
            "broker": node, "rack": plan.racks.get(node), "replicas_before": 0, "replicas_after": 0, "leads_before": 0,
            "leads_after": 0, "size_before": 0, "size_after": 0, "receives": 0,
        }
        for node in nodes
    }  # fmt: skip
    for when, assignment in (("before", plan.everything), ("after", after)):
        for at, brokers in assignment.items():
            for place, node in enumerate(brokers):
                row, size = rows[node], plan.sizes.get(at, 0)
                row[f"replicas_{when}"] += 1
                row[f"leads_{when}"] += not place
                row[f"size_{when}"] += size
                if when == "after" and node not in plan.everything[at]:
                    row["receives"] += size
    return list(rows.values())

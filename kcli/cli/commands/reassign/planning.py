"""The target of each replica: from a file, or from a plan made now."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file, balance
from kcli.admin.reassign.reassignments import Ongoing, about, list_reassignments, replica_sizes
from kcli.admin.storage.disks import Replica
from kcli.admin.topics.topics import Partition, Topic, describe_topics
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions, Chosen
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import PatternOptions, QuietOptions
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.answer import plural, say
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition
from kcli.values import Value, field

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.reassign.reassignments import Assignment
    from kcli.cli.parsing.shared import Internal, KcliOption


class PlanningOptions(PatternOptions, AllTopicsOptions, QuietOptions):
    """Which partitions get a new plan, and what it may do."""

    internal: Internal = False
    broker_list: Annotated[
        str | None,
        typer.Option("--broker-list", "--to", metavar="ID,ID…", help="Only these brokers get replicas (default: all)."),
    ] = None
    remove_brokers: Annotated[
        list[str],
        typer.Option(
            "--remove-broker",
            metavar="ID",
            help="Move all replicas off this broker (of all topics if none is named). Repeatable.",
        ),
    ]
    replication: Annotated[
        int | None, typer.Option("--replication-factor", min=1, help="Number of replicas of each partition.")
    ] = None
    no_racks: Annotated[bool, typer.Option("--disable-rack-aware", help="Do not spread replicas over racks.")] = False
    no_balance: Annotated[
        bool, typer.Option("--no-balance", help="Move only the replicas that must move; do not balance.")
    ] = False


class Plan(Value):
    """Where partitions are and where they will be. `everything` has all partitions of the cluster, `sizes` bytes by
    partition, `racks` of all brokers that are there, `ongoing` the moves under way."""

    wanted: Assignment = field(factory=dict)
    log_dirs: dict[Replica, str] = field(factory=dict)
    everything: Assignment = field(factory=dict)
    sizes: dict[TopicPartition, int] = field(factory=dict)
    racks: dict[int, str | None] = field(factory=dict)
    ongoing: dict[TopicPartition, Ongoing] = field(factory=dict)

    def changes(self) -> Assignment:
        """Partitions that are not at their target, or are moving to another one."""
        return {at: brokers for at, brokers in self.wanted.items() if self._on_its_way(at) != brokers}

    def _on_its_way(self, at: TopicPartition) -> list[int] | None:
        return self.ongoing[at].target if at in self.ongoing else self.everything.get(at)


class FileOptions(Options):
    """FILE as Kafka's own script has it."""

    files: Annotated[
        list[str],
        KcliOption(
            "--reassignment-json-file", metavar="FILE", help="FILE, instead of an argument.", hidden=True, names=True
        ),
    ]


def file_of(words: list[str]) -> str | None:
    """The file that a line names instead of topics: an existing one, or a word that looks like one."""
    if len(words) != 1 or not (os.path.isfile(words[0]) or os.sep in words[0] or words[0].endswith(".json")):
        return None
    return words[0]


def plans_anew(options: PlanningOptions) -> bool:
    """Whether a line has an option that makes a plan."""
    which = options.all_topics or bool(options.broker_list or options.remove_brokers)
    return which or bool(options.replication) or options.no_racks or options.no_balance


async def look(
    cluster: Cluster, document: Document, options: QuietOptions
) -> tuple[Plan, dict[TopicPartition, Partition]]:
    """The cluster as it is: every partition, its size, the brokers, the moves under way."""
    plan = Plan()
    partitions: dict[TopicPartition, Partition] = {}
    for name, topic in (await describe_topics(cluster)).items():
        if isinstance(topic, Topic):
            partitions |= {_at(partition): partition for partition in topic.partitions}
        else:
            document.fail(topic, name)
    plan.ongoing = await list_reassignments(cluster)
    plan.everything = {
        at: plan.ongoing[at].sources if at in plan.ongoing else partition.replicas
        for at, partition in partitions.items()
    }
    plan.racks = {node.id: node.rack for node in await cluster.nodes()}
    sizes, failed = await replica_sizes(cluster, None)
    for broker, error in failed.items():
        say(options, f"broker {broker} does not report the sizes of its replicas: {error}")
    for at, partition in partitions.items():
        here = sizes.get(at, {})
        plan.sizes[at] = here.get(partition.leader, max(here.values(), default=0))
    return plan, partitions


def _at(partition: Partition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.partition)


def from_file(plan: Plan, document: Document, path: str) -> None:
    """Put into the plan what a file says; what cannot be is an error in the document."""
    wanted, plan.log_dirs = assignment_file.read(path)
    for at, brokers in wanted.items():
        unknown = [node for node in brokers if node not in plan.racks]
        if at not in plan.everything:
            document.fail(KcliError(f"{about(at)}: unknown partition"), about(at))
        elif unknown:
            document.fail(KcliError(f"{about(at)}: broker {unknown[0]} is not there"), about(at))
        else:
            plan.wanted[at] = brokers


async def from_options(cluster: Cluster, plan: Plan, document: Document, options: PlanningOptions) -> None:
    """Put into the plan what topics and options ask for."""
    leaving = _ids("--remove-broker", options.remove_brokers)
    everything = options.all_topics or bool(leaving and not options.words)
    internal = options.internal or bool(leaving)
    chosen = Chosen(options.words, everything, internal=internal, literal=options.literal)
    partitions = await chosen.find(cluster, document)
    moving = [at for at in partitions if at in plan.ongoing]
    if moving:
        say(
            options,
            f"{plural(len(moving), 'partition')} on the way already, such as {about(moving[0])}: not in this plan",
        )
    some = {at: plan.everything[at] for at in partitions if at not in plan.ongoing and at in plan.everything}
    for node, count in sorted(Counter(node for brokers in some.values() for node in brokers).items()):
        if node not in plan.racks:
            say(options, f"WARNING: broker {node} is not there; its {plural(count, 'replica')} would be made elsewhere")
    wish = balance.Wish(
        brokers=_usable(plan, options, leaving), replication=options.replication, even=not options.no_balance
    )
    plan.wanted = balance.plan(some, wish, plan.sizes)


def _usable(plan: Plan, options: PlanningOptions, leaving: list[int]) -> dict[int, str | None]:
    """The brokers that may have replicas. Raises UsageError for one that is not there, and for racks of some only."""
    given = options.broker_list
    only = list(plan.racks) if given is None else _ids("--broker-list", given.split(","))
    for node in only:
        if node not in plan.racks:
            raise UsageError(f"unknown broker {node}; known: {', '.join(map(str, sorted(plan.racks)))}")
    usable = [node for node in only if node not in leaving]
    if not usable:
        raise UsageError("no broker is left to move to")
    racks = {node: plan.racks[node] for node in usable}
    if options.no_racks:
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

"""The target of each replica: from a file, or from a plan made now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.changes import moves
from kcli.changes.moves import Placement
from kcli.cli.commands.reassign.partitions_chosen import AllTopicsOptions, Chosen
from kcli.cli.parsing.groups import PatternOptions, QuietOptions
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.changes.moves import Layout, MovePlan
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


async def plan_of(cluster: Cluster, layout: Layout, options: PlanningOptions) -> MovePlan:
    """The plan that topics and options ask for."""
    leaving = _ids("--remove-broker", options.remove_brokers)
    everything = options.all_topics or bool(leaving and not options.words)
    internal = options.internal or bool(leaving)
    chosen = Chosen(options.words, everything, internal=internal, literal=options.literal)
    placement = Placement(
        brokers=None if options.broker_list is None else _ids("--broker-list", options.broker_list.split(",")),
        leaving=leaving,
        replication=options.replication,
        by_rack=not options.no_racks,
        even=not options.no_balance,
    )
    partitions, failed = await chosen.partitions(cluster)
    return await moves.place(cluster, layout, partitions, placement, failed)


def _ids(option: str, words: list[str]) -> list[int]:
    for word in words:
        if not word.strip().isdecimal():
            raise UsageError(f"{option} {word}: expected the id of a broker, such as 1")
    return [int(word) for word in words]

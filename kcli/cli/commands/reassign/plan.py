"""`kcli reassign plan`: where replicas would go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.changes.moves import read_layout
from kcli.cli.commands.reassign.plan_rows import BrokerRow, PartitionRow, present
from kcli.cli.commands.reassign.planning import PlanningOptions, plan_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.output.written import check, written
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, OutputOptions, OverwriteOptions
from kcli.cli.runtime.answer import answer, say
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

SHAPE = shape("reassign.plan", "The planned replicas, and the brokers before and after.", BrokerRow, PartitionRow)


class PlanOptions(NamedTopics, PlanningOptions, OutputOptions, OverwriteOptions):
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Write the plan as kafka-reassign-partitions reads it.")
    ] = None


@command(
    "reassign plan",
    help="Plan balanced replicas, spread over racks, with few moves.",
    words="TOPIC",
    examples="""
kcli reassign plan orders payments
kcli reassign plan --all-topics --broker-list 1,2,3,4 --save plan.json
kcli reassign plan --remove-broker 3               # all topics, internal ones too
kcli reassign plan orders --replication-factor 3""",
)
def plan(options: PlanOptions) -> int:
    """Print a plan for topics: current and new replicas, the bytes to copy, and each broker before and after.
    Replicas are spread over racks and evenly over brokers, with as few bytes copied as possible; then preferred
    leaders are balanced, which copies nothing. Nothing is changed; `kcli reassign execute` does it, with the same
    options or with the file.
    """

    if options.save:
        check(options.save, "--save", force=options.force)

    async def work(cluster: Cluster, document: Document) -> None:
        planned = await plan_of(cluster, await read_layout(cluster), options)
        present(document, options, planned)
        for row in document.of(PartitionRow):
            row.result = "planned"
        for warning in planned.warnings:
            say(options, warning)
        if options.save:
            with written(options.save, "--save", force=options.force) as out:
                out.write(json.dumps(assignment_file.document(planned.changes)).encode() + b"\n")
            say(options, f"saved: kcli reassign execute {options.save} --execute, or kafka-reassign-partitions")

    return answer(options, SHAPE, work)

"""A plan as rows, a sentence and a warning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Resource, describe_configs
from kcli.cli.commands.reassign.planning import Plan
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.answer import plural, say
from kcli.grammar.units import bytes_text
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row

    Rows = dict[TopicPartition, Row]


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
            "broker": node,
            "rack": plan.racks.get(node),
            "replicas_before": 0,
            "replicas_after": 0,
            "leads_before": 0,
            "leads_after": 0,
            "size_before": 0,
            "size_after": 0,
            "receives": 0,
        }
        for node in nodes
    }
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


def sum_up(options: QuietOptions, plan: Plan, rows: Rows, *, failed: bool) -> None:
    """The plan in a sentence."""
    if not plan.wanted and failed:
        return  # which topics or partitions are not there is said
    if not rows:
        say(options, f"nothing to do: {plural(len(plan.wanted), 'partition')} are where they should be")
        return
    copied, size = sum(len(row["adding"]) for row in rows.values()), sum(row["bytes"] for row in rows.values())
    say(
        options,
        f"{len(rows)} of {plural(len(plan.wanted), 'partition')} change; {plural(copied, 'replica')} "
        f"({bytes_text(size) if size < 1024 else f'{size / 2**20:.1f}MiB'}) to be copied",
    )


async def warn_of_few_replicas(cluster: Cluster, options: QuietOptions, plan: Plan) -> None:
    """Fewer replicas than a write with acks=all has to have."""
    least: dict[str, int] = {}
    for at, brokers in plan.changes().items():
        if len(brokers) < len(plan.everything[at]):
            least[at.topic] = min(len(brokers), least.get(at.topic, len(brokers)))
    if not least:
        return
    name = "min.insync.replicas"
    for resource, configs in (
        await describe_configs(cluster, [Resource("topic", t) for t in least], names=[name])
    ).items():
        if isinstance(configs, list) and configs and int(configs[0].value or 0) > least[resource.name]:
            say(
                options,
                f"WARNING: {resource.name} will have {plural(least[resource.name], 'replica')} and {name}="
                f"{configs[0].value}: nobody will be able to write to it with acks=all",
            )

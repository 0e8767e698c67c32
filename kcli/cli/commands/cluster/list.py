"""`kcli cluster list`: what the cluster is."""

from __future__ import annotations

import asyncio

from kcli.admin.cluster.brokers import look_at_brokers
from kcli.admin.cluster.cluster import describe_cluster
from kcli.admin.groups.groups import group_names
from kcli.admin.topics.topics import describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.output.render import Document
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster


@command(
    "cluster list",
    help="Its id, controller, brokers and release.",
    examples="""
kcli cluster
kcli cluster list --format plain""",
)
def overview(options: OutputOptions) -> int:
    """Print what the cluster is: id, controller, brokers, release, topics and groups."""

    async def work(cluster: Cluster, document: Document) -> None:
        described, topics, rows = await asyncio.gather(
            describe_cluster(cluster), describe_topics(cluster, None), look_at_brokers(cluster, figures=False)
        )
        groups = await group_names(Coordinators(cluster).cluster)
        document.rows["cluster"] = [
            {
                "cluster_id": described.cluster_id,
                "controller": described.controller if described.controller >= 0 else None,
                "brokers": len(described.brokers),
                "release": next((row.release for row in rows if row.apis), None),
                "topics": len(topics),
                "groups": len(groups),
            }
        ]

    return answer(options, "cluster.list", work)

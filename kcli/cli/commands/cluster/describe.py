"""`kcli cluster describe`: what the cluster is."""

from __future__ import annotations

import asyncio

from kcli.admin.cluster.brokers import list_brokers
from kcli.admin.cluster.cluster import describe_cluster
from kcli.admin.groups.groups import group_names
from kcli.admin.topics.topics import describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster


class ClusterRow(Row, section="cluster"):
    cluster_id: str | None = column("Its id.", unit="word", rank=1)
    controller: int | None = column("Id of the controller.")
    brokers: int = column("Number of brokers.", unit="count")
    release: str | None = column(
        "Kafka release, from metadata.version; with ≥, the oldest release that has its APIs.", unit="word", rank=3
    )
    topics: int = column("Number of topics, Kafka's internal ones included.", unit="count")
    groups: int = column("Number of groups.", unit="count")


SHAPE = shape("cluster.list", "The cluster, in one row.", ClusterRow)


@command(
    "cluster describe",
    help="Show the id, controller, brokers and release.",
    examples="""
kcli cluster
kcli cluster describe --format plain""",
)
def describe(options: ReadOptions) -> int:
    """Print the cluster's id, controller, brokers, release, topics and groups."""

    async def work(cluster: Cluster, document: Document) -> None:
        described, topics, rows = await asyncio.gather(
            describe_cluster(cluster), describe_topics(cluster, None), list_brokers(cluster, figures=False)
        )
        groups = await group_names(Coordinators(cluster).cluster)
        document.of(ClusterRow).append(
            ClusterRow(
                cluster_id=described.cluster_id,
                controller=described.controller if described.controller >= 0 else None,
                brokers=len(described.brokers),
                release=next((row.release for row in rows if row.apis), None),
                topics=len(topics),
                groups=len(groups),
            )
        )

    return answer(options, SHAPE, work)

"""`kcli cluster describe`: what the cluster is."""

from __future__ import annotations

import asyncio

from kcli.admin.cluster.brokers import look_at_brokers
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
    brokers: int = column("How many serve.", unit="count")
    release: str | None = column(
        "Its Kafka, by metadata.version; with ≥ the oldest that speaks its APIs.", unit="word", rank=3
    )
    topics: int = column("How many topics, Kafka's own among them.", unit="count")
    groups: int = column("How many groups.", unit="count")


SHAPE = shape("cluster.list", "What the cluster is, in one row.", ClusterRow)


@command(
    "cluster describe",
    help="Its id, controller, brokers and release.",
    examples="""
kcli cluster
kcli cluster describe --format plain""",
)
def describe(options: ReadOptions) -> int:
    """Print what the cluster is: id, controller, brokers, release, topics and groups."""

    async def work(cluster: Cluster, document: Document) -> None:
        described, topics, rows = await asyncio.gather(
            describe_cluster(cluster), describe_topics(cluster, None), look_at_brokers(cluster, figures=False)
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

"""`kcli cluster features`: what is switched on."""

from __future__ import annotations

from kcli.admin.cluster.brokers import level_name
from kcli.admin.cluster.quorum import features as all_features
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ControllerOptions, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster


class FeatureRow(Row, section="features"):
    feature: str = column("Name of the feature.", rank=1)
    level: int | None = column("Level in force; null when it is off.", rank=1)
    lowest: int = column("Lowest level a broker supports.")
    highest: int = column("Highest level a broker supports.")
    version: str | None = column("Kafka's name for the level in force; only for metadata.version.", unit="word")
    highest_version: str | None = column("Kafka's name for the highest level.", unit="word")


SHAPE = shape("cluster.features", "Features, one a row.", FeatureRow, empty="no features")


class FeaturesOptions(ControllerOptions, ReadOptions):
    """Which servers to ask, and how to print the rows."""


@command(
    "cluster features",
    help="List features with their levels.",
    examples="""
kcli cluster features
kcli cluster features --format csv
kcli cluster features upgrade --dry-run""",
)
def features(options: FeaturesOptions) -> int:
    """Print the features of the cluster: the level in force, and the levels that a broker supports. `features set`,
    `upgrade` and `downgrade` change them.
    """

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(FeatureRow)[:] = [
            FeatureRow.of(
                feature,
                feature=feature.name,
                version=level_name(feature.name, feature.level),
                highest_version=level_name(feature.name, feature.highest),
            )
            for feature in await all_features(cluster)
        ]

    return answer(options, SHAPE, work)

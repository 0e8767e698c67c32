"""`kcli brokers versions`: the APIs that brokers speak."""

from __future__ import annotations

from kcli.admin.cluster.brokers import list_brokers
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ControllerOptions, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError
from kcli.model import Cluster
from kcli.proto.messages import REQUESTS, api_name, request_type


class ApiRow(Row, section="apis"):
    broker: int = column("Id of the broker.", rank=1)
    key: int = column("Number of the API.", rank=1)
    api: str = column("Its name.", rank=1)
    lowest: int = column("Lowest version that the broker supports.")
    highest: int = column("Highest version that the broker supports.")
    kcli: int | None = column("Version that kcli uses with this broker; null if none.")


SHAPE = shape("brokers.versions", "APIs of brokers, one a row.", ApiRow)


class VersionsOptions(ControllerOptions, ReadOptions):
    """Which servers to ask, and how to print the rows."""


@command(
    "brokers versions",
    help="List the APIs of brokers with their versions.",
    words="ID",
    examples="""
kcli brokers versions
kcli brokers versions 1 2 --format csv
kcli brokers versions --bootstrap-controller ctrl1:9093""",
)
def versions(options: VersionsOptions) -> int:
    """Print the APIs that brokers support, and the versions that kcli uses."""
    wanted = broker_ids(options.words)

    async def work(cluster: Cluster, document: Document) -> None:
        rows = await list_brokers(cluster, figures=False)
        known = {row.node.id for row in rows}
        for number in sorted(wanted - known):
            there = ", ".join(map(str, sorted(known)))
            document.fail(KcliError(f"unknown broker {number}; known: {there}"), str(number))
        apis = document.of(ApiRow)
        for row in rows:
            if wanted and row.node.id not in wanted:
                continue
            if row.problem and (wanted or not row.fenced):
                document.fail(KcliError(row.problem), f"broker {row.node.id}")
            apis += [_api(row.node.id, key, low, high) for key, (low, high) in sorted(row.apis.items())]

    return answer(options, SHAPE, work)


def _api(broker: int, key: int, low: int, high: int) -> ApiRow:
    kind = request_type(key) if key in REQUESTS else None
    ours = (kind.versions.first, kind.versions.last) if kind is not None else None
    used = min(high, ours[1]) if ours is not None else None
    return ApiRow(
        broker=broker,
        key=key,
        api=api_name(key),
        lowest=low,
        highest=high,
        kcli=used if used is not None and ours is not None and used >= max(low, ours[0]) else None,
    )

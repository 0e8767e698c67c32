"""`kcli logdirs list`: the directories of brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage import LogDir, log_dirs
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption


class BrokersOptions(Options):
    """Which brokers are asked."""

    brokers: Annotated[
        list[str], KcliOption("--broker", metavar="ID", help="Only this broker. Repeatable.", also=("--broker-id",))
    ]


async def directories_of(
    cluster: Cluster, document: Document, topics: dict[str, list[int]] | None, brokers: set[int] | None
) -> list[LogDir]:
    """The directories; errors are in the document."""
    places, failed = await log_dirs(cluster, topics, brokers=brokers)
    for broker, error in failed.items():
        document.fail(error, f"broker {broker}")
    for place in places:
        if place.error is not None:
            document.fail(place.error, place.directory)
    return places


class DirectoryRow(Row, section="directories"):
    broker: int = column("Id of the broker.", rank=1)
    directory: str = column("Log directory.", rank=1)
    replicas: int = column("Replicas in it.", unit="count")
    size: int = column("Bytes of its replicas.", unit="bytes")
    free: int | None = column("Bytes left on its volume.", unit="bytes")
    total: int | None = column("Bytes of its volume.", unit="bytes")
    cordoned: bool = column("True if it accepts no new replicas (KIP-1066).", sparse=True)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("logdirs.list", "Log directories of brokers, one a row.", DirectoryRow)


class ListOptions(BrokersOptions, ReadOptions):
    """Which brokers are asked, and how rows are printed."""


@command(
    "logdirs list",
    help="List log directories: used, free and number of replicas.",
    examples="""
kcli logdirs
kcli logdirs --broker 1 --broker 2 -J""",
)
def directories(options: ListOptions) -> int:
    """Print the log directories of brokers: bytes of replicas, free bytes of the volume, number of replicas. Exit
    code 1 when a directory is offline or a broker does not report."""
    brokers = broker_ids(options.brokers, "--broker") or None

    async def work(cluster: Cluster, document: Document) -> None:
        places = await directories_of(cluster, document, None, brokers)
        document.of(DirectoryRow).extend(
            DirectoryRow.of(
                place,
                replicas=len(place.replicas),
                free=place.usable if place.usable >= 0 else None,
                total=place.total if place.total >= 0 else None,
                error=None if place.error is None else str(place.error),
            )
            for place in places
        )

    return answer(options, SHAPE, work)

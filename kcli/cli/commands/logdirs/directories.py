"""The log directories of the brokers that a line names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.storage.disks import LogDir, log_dirs
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.option import Options
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

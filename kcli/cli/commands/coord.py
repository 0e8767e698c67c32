"""`kcli coord`: the coordinators of groups and transactional ids. kpax had it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.coordinators import GROUP, SHARE, TRANSACTION, coordinators_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedGroups, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import BrokerError, KcliError, UsageError
from kcli.model import Cluster, Node

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class CoordinatorRow(Row, section="coordinators"):
    kind: str = column("group, transaction or share.", unit="word")
    name: str = column("Group, transactional id, or share partition GROUP:TOPIC:PARTITION.", rank=1)
    coordinator: int | None = column("Id of the broker.", rank=1)
    host: str | None = column("Where it listens.")
    port: int | None = column("Its port.")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("coord", "Coordinators of groups and transactions, one per row.", CoordinatorRow)


class CoordOptions(NamedGroups, ReadOptions):
    txn: Annotated[
        list[str], typer.Option("--txn", "--transactional-id", metavar="TXN", help="A transactional id. Repeatable.")
    ]
    share: Annotated[
        list[str],
        typer.Option(
            "--share",
            metavar="GROUP:TOPIC:N",
            help="A partition of a share group, whose state its share coordinator keeps. Repeatable.",
        ),
    ]


@command(
    "coord",
    words="GROUP",
    examples="""
kcli coord billing shipping
kcli coord --txn load-1 --txn load-2
kcli coord --share workers:orders:0""",
)
def coord(options: CoordOptions) -> int:
    """Print the broker that coordinates each group, transactional id or share partition, whether or not it exists. One
    request covers all names of a kind.
    """
    wanted = [
        ("group", GROUP, list(dict.fromkeys(options.words))),
        ("transaction", TRANSACTION, list(dict.fromkeys(options.txn))),
    ]
    shares = [_share(text) for text in dict.fromkeys(options.share)]
    if not shares and not any(names for _, _, names in wanted):
        raise UsageError("missing arguments: kcli coord GROUP, --txn ID or --share GROUP:TOPIC:PARTITION")

    async def work(cluster: Cluster, document: Document) -> None:
        rows = document.of(CoordinatorRow)
        for kind, number, names in wanted:
            for name, outcome in (await coordinators_of(cluster, names, number)).items():
                rows.append(_coordinator(document, kind, name, outcome))
        if not shares:
            return
        topics = await describe_topics(cluster, [topic for _, topic, _ in shares])
        keys: dict[str, str] = {}
        for group, topic, partition in shares:
            known, name = topics[topic], f"{group}:{topic}:{partition}"
            if isinstance(known, Topic):
                keys[f"{group}:{known.topic_id}:{partition}"] = name
            else:
                rows.append(_coordinator(document, "share", name, known))
        for key, outcome in (await coordinators_of(cluster, keys, SHARE)).items():
            rows.append(_coordinator(document, "share", keys[key], outcome))

    return answer(options, SHAPE, work)


def _share(text: str) -> tuple[str, str, int]:
    """A group's name may have a colon, a topic's cannot. Raises UsageError."""
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not all(parts) or not (parts[2].isascii() and parts[2].isdecimal() and len(parts[2]) < 10):
        raise UsageError(f"--share {text}: expected GROUP:TOPIC:PARTITION")
    return parts[0], parts[1], int(parts[2])


def _coordinator(document: Document, kind: str, name: str, outcome: Node | KcliError) -> CoordinatorRow:
    if isinstance(outcome, KcliError):
        if isinstance(outcome, BrokerError):
            outcome = BrokerError(outcome.code, name)  # the key of a share partition has an id in it
        document.fail(outcome, name)
        return CoordinatorRow(kind=kind, name=name, coordinator=None, host=None, port=None, error=str(outcome))
    return CoordinatorRow(
        kind=kind,
        name=name,
        coordinator=outcome.id,
        host=outcome.host,
        port=outcome.port,
        error=None,
    )

"""`kcli txn list`: what coordinators know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.transactions.transactions import (
    OPEN,
    STATES,
    Described,
    Filter,
    Listed,
    survey,
)
from kcli.cli.commands.brokers.ids import broker_ids
from kcli.cli.commands.txn.options import OpenOptions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError
from kcli.grammar.durations import milliseconds
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption


class TransactionRow(Row, section="transactions"):
    transactional_id: str = column("The transactional id.", rank=1)
    coordinator: int = column("Id of the broker that coordinates it.", rank=3)
    producer_id: int = column("Id of the producer.", rank=1)
    state: str = column(
        "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, …", unit="word", rank=1
    )
    age: float | None = duration("Seconds since the open transaction began.")
    timeout: float | None = duration("Seconds after which the coordinator aborts it.")
    partitions: int | None = column("How many partitions wait for its markers.", unit="count")


SHAPE = shape("txn.list", "Transactional ids, one a row.", TransactionRow, empty="no transactions")


class ListOptions(OpenOptions, ReadOptions):
    txn_states: Annotated[
        list[str],
        typer.Option(
            "--state", metavar="TXN-STATE", help="Only in this state: Ongoing, Empty, CompleteCommit, … Repeatable."
        ),
    ]
    producer_ids: Annotated[
        list[str], typer.Option("--producer-id", metavar="N", help="Only of this producer id. Repeatable.")
    ]
    longer_than: Annotated[
        str | None,
        typer.Option(
            "--longer-than",
            "--duration-filter",
            metavar="DURATION",
            help="Only with a transaction that has run longer, such as 5m.",
        ),
    ] = None
    pattern: Annotated[
        str | None,
        typer.Option(
            "--pattern",
            "--transactional-id-pattern",
            metavar="REGEX",
            help="Only ids that match as a whole (RE2, Kafka 4.1).",
        ),
    ] = None
    brokers: Annotated[
        list[str],
        KcliOption(
            "--broker", metavar="ID", help="Only ids that this broker coordinates. Repeatable.", also=("--broker-id",)
        ),
    ]


@command(
    "txn list",
    help="List transactional ids: state, producer, age.",
    examples="""
kcli txn list
kcli txn list --open --longer-than 5m        # transactions that block readers
kcli txn list --pattern 'billing-.*' -J
kcli txn list --producer-id 1042             # id of this producer""",
)
def list_all(options: ListOptions) -> int:
    """List the transactional ids that coordinators know. kcli queries all brokers; the brokers apply the filters."""
    wanted, brokers = _filter(options), broker_ids(options.brokers) or None

    async def work(cluster: Cluster, document: Document) -> None:
        document.empty = "" if wanted == Filter() and not brokers else "no transaction matches"
        transactions, failed = await survey(cluster, wanted, brokers=brokers)
        for node, problem in failed.items():
            document.fail(problem, f"broker {node}")
        document.of(TransactionRow).extend(_row(listed, described) for listed, described in transactions)

    return answer(options, SHAPE, work)


def _row(listed: Listed, described: Described | None) -> TransactionRow:
    """Age, timeout and partitions are those of an open transaction; null without one."""
    row = TransactionRow(
        transactional_id=listed.name,
        coordinator=listed.coordinator,
        producer_id=listed.producer_id,
        state=listed.state,
        age=None,
        timeout=None,
        partitions=None,
    )
    if described is not None and (seconds := described.age) is not None:
        row.age, row.timeout, row.partitions = seconds, described.timeout_ms / 1000, len(described.partitions)
    return row


def _filter(options: ListOptions) -> Filter:
    """Raises UsageError for a state that there is not, and a producer id that is none."""
    states = []
    folded = {state.lower(): state for state in STATES}
    for given in options.txn_states:
        state = folded.get(given.lower().replace("-", "").replace("_", ""))
        if state is None:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(given, STATES) or f"; known: {', '.join(STATES)}"
            raise UsageError(f"--state {given}: unknown state{near}")
        states.append(state)
    if options.open:
        states += [state for state in OPEN if state not in states]
    for given in options.producer_ids:
        if not (given.isascii() and given.isdecimal() and len(given) < 19):
            raise UsageError(f"--producer-id {given}: expected a whole number")
    return Filter(
        states=states,
        producer_ids=[int(given) for given in options.producer_ids],
        longer_than=-1 if options.longer_than is None else milliseconds(options.longer_than, "--longer-than"),
        pattern=options.pattern,
    )

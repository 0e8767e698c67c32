"""`kcli txn fence`: an id is taken from its producer, and its open transaction ends."""

from __future__ import annotations

import asyncio

from kcli.admin.transactions.transactions import Described, describe_transactions
from kcli.admin.transactions.transactions import fence as fence_producers
from kcli.cli.commands.txn.options import NamedTransactions
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.model import Cluster


class FencedRow(Row, section="transactions"):
    transactional_id: str = column("The transactional id.", rank=1)
    state: str = column(
        "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, …", unit="word", rank=1
    )
    age: float | None = duration("Seconds since its open transaction began.")
    producer_id: int | None = column("Id of the producer.", rank=1)
    old: int | None = column("Epoch before.", rank=1)
    new: int | None = column("Epoch after.", rank=1)
    result: str = column("would fence, fenced or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("txn.fence", "Transactional ids, fenced or planned.", FencedRow)


class FenceOptions(NamedTransactions, ChangeOptions):
    """Ids as arguments, or by the option."""


@command(
    "txn fence",
    help="Fence producers by transactional id; abort their transactions.",
    words="TXN",
    examples="""
kcli txn fence billing-1
kcli txn fence billing-1 --execute""",
)
def fence(options: FenceOptions) -> int:
    """Fence transactional ids: the open transaction of each is aborted by its coordinator, and the producer that used
    it gets PRODUCER_FENCED. The plan comes first; --execute applies it.
    """
    return fence_all(options)


def fence_all(options: ChangeOptions) -> int:
    """Fence the ids that the words name."""
    names = words_of(options, "transactional id")

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        transactions = await describe_transactions(cluster, names)
        rows = {name: _fenced(name, transaction) for name, transaction in transactions.items()}
        document.of(FencedRow).extend(rows.values())
        for name, transaction in transactions.items():
            if isinstance(transaction, KcliError):
                document.fail(transaction, name)
        ready = [name for name, transaction in transactions.items() if isinstance(transaction, Described)]
        if not ready:
            return None

        async def carry_out() -> int | None:
            done = await asyncio.gather(*(_fence(cluster, name) for name in ready))
            for name, outcome in zip(ready, done, strict=True):
                row = rows[name]
                if isinstance(outcome, KcliError):
                    row.result, row.error = "failed", str(outcome)
                    document.fail(outcome, name)
                else:
                    row.result = "fenced"
                    row.producer_id, row.new = outcome
            say(options, f"{plural(sum(row.result == 'fenced' for row in rows.values()), 'transactional id')} fenced")
            return None

        return PlannedChange(names=ready, verb="fence", noun="transactional id", carry_out=carry_out)

    return make_change(options, SHAPE, make_plan)


async def _fence(cluster: Cluster, name: str) -> tuple[int, int] | KcliError:
    try:
        return await fence_producers(cluster, name)
    except KcliError as problem:
        return problem


def _fenced(name: str, transaction: Described | KcliError) -> FencedRow:
    if isinstance(transaction, KcliError):
        return FencedRow(
            transactional_id=name,
            state="",
            age=None,
            producer_id=None,
            old=None,
            new=None,
            result="failed",
            error=str(transaction),
        )
    return FencedRow(
        transactional_id=name,
        state=transaction.state,
        age=transaction.age,
        producer_id=transaction.producer_id,
        old=transaction.epoch,
        new=None,
        result="would fence",
        error=None,
    )

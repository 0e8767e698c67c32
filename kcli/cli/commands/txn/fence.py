"""`kcli txn fence`: an id is taken from its producer, and its open transaction ends."""

from __future__ import annotations

from functools import partial

from kcli.changes import transactions
from kcli.cli.commands.txn.options import NamedTransactions
from kcli.cli.output.tables.rows import Row, column, duration, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import plural, words_of
from kcli.cli.runtime.change import apply_plan


class FencedRow(Row, section="transactions"):
    transactional_id: str = column("The transactional id.", rank=1)
    state: str = column(
        "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, …", unit="word", rank=1
    )
    age: float | None = duration("Seconds since its open transaction began.")
    producer_id: int | None = column("Id of the producer.", rank=1)
    old: int | None = column("Epoch before.", rank=1)
    new: int | None = column("Epoch after.", rank=1)
    result: str = column("would fence, fenced, failed or unknown.", unit="word", rank=1)
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

    return apply_plan(
        options,
        SHAPE,
        FencedRow,
        partial(transactions.plan_fence, names=names),
        verb="fence",
        noun="transactional id",
        done=lambda rows: f"{plural(sum(row.result == 'fenced' for row in rows), 'transactional id')} fenced",
    )

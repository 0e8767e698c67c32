"""Options that several commands of `kcli txn` have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.parsing.option import Options

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.cli.parsing.shared import KcliOption


class OpenOptions(Options):
    """Transactions that are open."""

    open: Annotated[bool, typer.Option("--open", help="Only with an open transaction.")] = False


class NamedTransactions(Options):
    """Transactional ids as Kafka's own script names them."""

    named_transactions: Annotated[
        list[str],
        KcliOption(
            "--transactional-id", metavar="TXN", help="The transactional id, instead of an argument.", names=True
        ),
    ]

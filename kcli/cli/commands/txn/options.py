"""Options that several commands of `kcli txn` have."""

from __future__ import annotations

from kcli.cli.parsing.option import Options, flag, names


class OpenOptions(Options):
    """Transactions that are open."""

    open = flag("--open", help="Only with an open transaction.")


class NamedTransactions(Options):
    """Transactional ids as Kafka's own script names them."""

    named_transactions = names(
        "--transactional-id", metavar="TXN", help="The transactional id, instead of an argument."
    )

"""Options that several commands of `kcli txn` have."""

from __future__ import annotations

from kcli.cli.parsing.option import Options, flag


class OpenOptions(Options):
    """Transactions that are open."""

    open = flag("--open", help="Only with an open transaction.")

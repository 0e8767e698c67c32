"""With transactional ids and transactions that hang."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.tui.actions.acts import Act, of_change

if TYPE_CHECKING:
    from kcli.admin.transactions.hanging_transactions import OpenTransaction
    from kcli.tui.screens.page import Page


def of_transaction(page: Page, name: str) -> list[Act]:
    """With a transactional id."""
    from kcli.tui.actions.changes.transactions import Fence

    return [of_change("F", "Fence its producer …", Fence(name), page.begin)]


def of_hanging(page: Page, row: OpenTransaction) -> list[Act]:
    """With a transaction that hangs in a partition."""
    from kcli.tui.actions.changes.transactions import Abort

    return [of_change("A", "Abort it in this partition …", Abort(row.at, row.producer.open_since or 0), page.begin)]

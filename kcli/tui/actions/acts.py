"""What can be done with the row under the cursor: its key in the menu, and the kcli command that does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kcli.tui.actions.changes.change import Change


class Act(NamedTuple):
    """`do` begins it; `command` is "" where no command does the same; `changes` says that it changes the cluster: it is
    refused in a recording and under a read-only profile; `destroys` that it deletes or ends something. `elsewhere`: the
    command names its cluster itself, or none."""

    key: str
    label: str
    command: str
    do: Callable[[], object]
    changes: bool = False
    elsewhere: bool = False
    destroys: bool = False


def of_change(key: str, label: str, change: Change, begin: Callable[[Change], object]) -> Act:
    """The act that opens the dialog of a change."""
    given = {ask.name: ask.value for ask in change.asks}
    return Act(key, label, change.command(given), lambda: begin(change), changes=True, destroys=change.destroys)

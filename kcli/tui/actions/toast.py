"""What went wrong, said for some seconds over whatever is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from textual.app import App

    from kcli.errors import KcliError


def toast(app: App[Any], problem: KcliError) -> None:
    """Show the error and continue."""
    app.notify(printable(str(problem)), severity="error", markup=False)

"""What a line wants to see of tables."""

from __future__ import annotations

from kcli.cli.output.tables.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.groups import TableOptions


def view_of(options: TableOptions) -> View:
    """How the tables of a line are drawn."""
    return View(wide=options.wide, headers=not options.no_headers)

"""What a line wants to see of tables."""

from __future__ import annotations

from kcli.cli.output.tables.view import View, view
from kcli.cli.parsing.groups import RowOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import TableOptions


def view_of(options: TableOptions, shape: Shape | None = None, format: str = "table") -> View:
    """How the tables of a line are drawn, and of a shape which rows and columns. Raises UsageError."""
    wide, headers = options.wide, not options.no_headers
    if shape is None or not isinstance(options, RowOptions):
        return View(wide=wide, headers=headers)
    return view(shape, format, columns=options.columns, sort=options.sort, top=options.top, wide=wide, headers=headers)

"""`kcli configs restore`."""

from __future__ import annotations

from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.configs.plan import ChangeRow, change
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.errors import UsageError

SHAPE = shape("configs.restore", "Changes, applied or planned.", ChangeRow)


@command(
    "configs restore",
    help="Revert changes from their undo file.",
    words="FILE",
    examples="""
kcli configs restore ~/.local/state/kcli/undo/topic-orders-20260131T100000Z.json --execute""",
)
def restore(options: UndoOptions) -> int:
    """Set configs to the values of an undo file; inherited configs lose their override."""
    if len(options.words) != 1:
        raise UsageError("missing argument: kcli configs restore FILE")
    return change(options, SHAPE, configs_undo.read(options.words[0]))

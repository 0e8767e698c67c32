"""`kcli quotas restore`."""

from __future__ import annotations

from kcli.cli.commands.quotas import undo as quotas_undo
from kcli.cli.commands.quotas.plan import ChangeRow, change
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.errors import UsageError

SHAPE = shape("quotas.restore", "Quotas that were changed, or would be.", ChangeRow)


@command(
    "quotas restore",
    help="Revert changes from their undo file.",
    words="FILE",
    examples="""
kcli quotas restore ~/.local/state/kcli/undo/quotas-20260131T100000Z.json --execute""",
)
def restore(options: UndoOptions) -> int:
    """Set quotas to the values of an undo file, and remove those that were not set."""
    if len(options.words) != 1:
        raise UsageError("missing argument: kcli quotas restore FILE")
    return change(options, SHAPE, quotas_undo.read(options.words[0]))

"""`kcli configs restore`."""

from __future__ import annotations

from kcli.cli.commands.configs import undo as configs_undo
from kcli.cli.commands.configs.plan import change
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.errors import UsageError


@command(
    "configs restore",
    help="Take changes back from their undo file.",
    words="FILE",
    examples="""
kcli configs restore ~/.local/state/kcli/undo/topic-orders-20260131T100000Z.json --execute""",
)
def restore(options: UndoOptions) -> int:
    """Set configs as an undo file says they were; those that were inherited are inherited again."""
    if len(options.words) != 1:
        raise UsageError("from which file? kcli configs restore FILE")
    return change(options, "configs.restore", configs_undo.read(options.words[0]))

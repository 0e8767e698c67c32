"""`kcli configs append` and `subtract`: of configs that are lists."""

from __future__ import annotations

from kcli.admin.configs import APPEND, SUBTRACT
from kcli.cli.commands.configs.named import ChangedOptions
from kcli.cli.commands.configs.plan import ChangeRow, assign
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command

ABOUT = "Changes, applied or planned."
APPEND_SHAPE = shape("configs.append", ABOUT, ChangeRow)
SUBTRACT_SHAPE = shape("configs.subtract", ABOUT, ChangeRow)


@command(
    "configs append",
    help="Add items to configs that are lists.",
    words="KIND NAME KEY=VALUE",
    examples="""
kcli configs append topic orders cleanup.policy=compact --execute""",
)
def append(options: ChangedOptions) -> int:
    """Add items to configs that are lists. The plan comes first, checked by the broker: old and new
    value; --execute applies it. `kcli undo` restores the previous values.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers. NAME can be a pattern
    for topics or groups.
    """
    return assign(options, APPEND_SHAPE, APPEND)


@command(
    "configs subtract",
    help="Remove items from configs that are lists.",
    words="KIND NAME KEY=VALUE",
    examples="""
kcli configs subtract topic orders cleanup.policy=delete --execute""",
)
def subtract(options: ChangedOptions) -> int:
    """Remove items from configs that are lists. The plan comes first, checked by the broker: old and new
    value; --execute applies it. `kcli undo` restores the previous values.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers. NAME can be a pattern
    for topics or groups.
    """
    return assign(options, SUBTRACT_SHAPE, SUBTRACT)

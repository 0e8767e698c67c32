"""`kcli configs unset`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import DELETE, Operation
from kcli.cli.commands.configs.named import ChangedOptions, EntityOptions, named
from kcli.cli.commands.configs.plan import ChangeRow, change
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options

if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.parsing.shared import KcliOption

SHAPE = shape("configs.delete", "Changes, applied or planned.", ChangeRow)


class KeyOptions(Options):
    deleted: Annotated[
        list[str],
        KcliOption("--delete-config", metavar="KEY,…", help="KEY, instead of an argument.", hidden=True, names=True),
    ]


class UnsetOptions(EntityOptions, KeyOptions, ChangedOptions):
    """KIND, NAME and KEY as arguments, or as Kafka's own script has them."""


@command(
    "configs unset",
    help="Remove overrides (fall back to the default).",
    words="KIND NAME KEY",
    examples="""
kcli configs unset topic orders retention.ms --execute""",
)
def unset(options: UnsetOptions) -> int:
    """Remove overrides (fall back to the default). The plan comes first, checked by the broker: old and new
    value; --execute applies it. `kcli undo` restores the previous values.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers. NAME can be a pattern
    for topics or groups.
    """
    at, words = named(options.words, 3)
    names = [name for word in words for name in word.split(",")]
    return change(options, SHAPE, at, [Operation(name=name, how=DELETE) for name in names])

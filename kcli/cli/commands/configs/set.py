"""`kcli configs set`."""

from __future__ import annotations

from kcli.admin.configs.resources import SET
from kcli.cli.commands.configs.plan import ChangeRow, assign
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions

SHAPE = shape("configs.set", "What was changed, or would be.", ChangeRow)


@command(
    "configs set",
    help="Set configs.",
    words="KIND NAME KEY=VALUE",
    examples="""
kcli configs set topic orders retention.ms=7d --execute
kcli configs set broker default log.cleaner.threads=2 --execute
kcli configs set logger 1 kafka.server.KafkaApis=DEBUG --execute""",
)
def set_configs(options: UndoOptions) -> int:
    """Set configs. The plan comes first, checked by the broker: old and new
    value; --execute does it. What was set before is kept in an undo file, which `kcli configs restore` takes back.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` is all brokers.
    """
    return assign(options, SHAPE, SET)

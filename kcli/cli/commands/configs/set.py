"""`kcli configs set`."""

from __future__ import annotations

from re import findall
from typing import TYPE_CHECKING

from kcli.admin.configs import SET
from kcli.cli.commands.configs.named import ChangedOptions, EntityOptions
from kcli.cli.commands.configs.plan import ChangeRow, assign
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

SHAPE = shape("configs.set", "Changes, applied or planned.", ChangeRow)


class SetOptions(EntityOptions, ChangedOptions):
    added: Annotated[
        list[str],
        typer.Option("--add-config", metavar="KEY=VALUE,…", help="As in Kafka's own script: a=1,b=[x,y].", hidden=True),
    ]


@command(
    "configs set",
    help="Set configs.",
    words="KIND NAME KEY=VALUE",
    examples="""
kcli configs set topic orders retention.ms=7d --execute
kcli configs set topic 'orders-*' retention.ms=7d --execute      # for all topics that match
kcli configs set broker default log.cleaner.threads=2 --execute
kcli configs set logger 1 kafka.server.KafkaApis=DEBUG --execute""",
)
def set_configs(options: SetOptions) -> int:
    """Set configs. The plan comes first, checked by the broker: old and new
    value; --execute applies it. `kcli undo` restores the previous values.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers. NAME can be a pattern
    for topics or groups.
    """
    added = [pair for given in options.added for pair in pairs_of(given)]
    return assign(options.replace(words=[*options.words, *added], added=[]), SHAPE, SET)


def pairs_of(text: str) -> list[str]:
    """`a=1,b=[x,y]` as Kafka's own script reads it: a=1 and b=x,y."""
    pairs = findall(r"[^,=]+=(?:\[[^\]]*\]|[^,]*)", text)
    if ",".join(pairs) != text:
        raise UsageError(f"--add-config {text}: expected KEY=VALUE,… with [ ] around a VALUE that has commas")
    parted = (pair.partition("=") for pair in pairs)
    return [f"{name}={value[1:-1] if value[:1] == '[' else value}" for name, _, value in parted]

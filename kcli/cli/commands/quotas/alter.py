"""`kcli quotas alter`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas import entity, value_of
from kcli.cli.commands.quotas.entity import EntityOptions, names_of
from kcli.cli.commands.quotas.plan import ChangeRow, change
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

SHAPE = shape("quotas.alter", "Quotas that were changed, or would be.", ChangeRow)


class AlterOptions(EntityOptions, UndoOptions):
    remove: Annotated[
        list[str], typer.Option("--delete", "--remove", metavar="QUOTA", help="Remove this quota. Repeatable.")
    ]


@command(
    "quotas alter",
    help="Set and remove quotas.",
    words="QUOTA=VALUE",
    examples="""
kcli quotas alter --user alice producer_byte_rate=10MiB consumer_byte_rate=20MiB --execute
kcli quotas alter --user alice --client-id app request_percentage=50% --dry-run
kcli quotas alter --user-default controller_mutation_rate=5/s --execute
kcli quotas alter --client-id-default --delete consumer_byte_rate --execute
kcli quotas alter --ip 10.0.0.7 connection_creation_rate=20 --execute""",
)
def alter(options: AlterOptions) -> int:
    """Set and remove quotas of one entity. The plan comes first, checked by the
    controller; --execute applies it. `kcli undo` restores the previous values.

    A QUOTA is producer_byte_rate or consumer_byte_rate (bytes per second on each broker, 10MiB), request_percentage (%
    of a broker's threads), controller_mutation_rate (topics and partitions created and deleted per second), or, for an
    ip, connection_creation_rate.
    """
    at = entity(names_of(options))
    limits: dict[str, float | None] = {}
    for pair in options.words:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"{pair}: expected QUOTA=VALUE, such as producer_byte_rate=10MiB")
        _add(limits, key.strip(), value_of(key.strip(), text))
    for key in options.remove:
        value_of(key, "0")
        _add(limits, key, None)
    if not limits:
        raise UsageError("missing change: QUOTA=VALUE or --delete QUOTA")
    return change(options, SHAPE, {at: limits})


def _add(limits: dict[str, float | None], key: str, value: float | None) -> None:
    """Raises UsageError for a quota that the line names twice."""
    if key in limits:
        raise UsageError(f"{key}: given twice")
    limits[key] = value

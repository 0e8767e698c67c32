"""`kcli cluster unregister`: brokers that will not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.cluster import plan_unregister
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker.", rank=1)
    host: str | None = column("Host that it registered.", rank=3)
    port: int | None = column("Its port.", rank=3)
    state: str | None = column("fenced or up; null for one that is not registered.", unit="word", rank=1)
    replicas: int = column("Replicas that are still assigned to it: reassign them.", unit="count")
    result: str = column("would unregister, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("cluster.unregister", "Brokers that were unregistered, or would be.", BrokerRow)


class UnregisterOptions(ChangeOptions):
    force: Annotated[bool, typer.Option("--force", help="Also a running broker.")] = False


@command(
    "cluster unregister",
    help="Unregister brokers that are gone for good.",
    words="BROKER",
    examples="""
kcli cluster unregister 4
kcli cluster unregister 4 5 --execute""",
)
def unregister(options: UnregisterOptions) -> int:
    """Unregister brokers that are gone for good. A running broker is refused. Replicas that are still
    assigned to it are counted in the plan: reassign them first, or they stay under-replicated. --execute applies it.
    """
    from kcli.cli.commands.brokers.ids import broker_ids

    ids = sorted(broker_ids(words_of(options, "broker")))

    return apply_plan(
        *(options, SHAPE, BrokerRow),
        lambda at: plan_unregister(at, ids, force=options.force),
        nothing="", refused="", verb="unregister", noun="broker",
    )  # fmt: skip

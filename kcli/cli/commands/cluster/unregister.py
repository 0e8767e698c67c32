"""`kcli cluster unregister`: brokers and controllers that will not come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes.cluster import plan_unregister, plan_unregister_controllers
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, ControllerOptions
from kcli.cli.runtime.answer import words_of
from kcli.cli.runtime.change import apply_plan
from kcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class BrokerRow(Row, section="brokers"):
    broker: int = column("Id of the broker, or of the controller.", rank=1)
    host: str | None = column("Host that it registered.", rank=3)
    port: int | None = column("Its port.", rank=3)
    state: str | None = column(
        "Broker: fenced or up. Controller: voter or leader. Null if it is not registered or does not vote.",
        unit="word",
        rank=1,
    )
    replicas: int = column("Replicas that are still assigned to it: reassign them.", unit="count")
    result: str = column("would unregister, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


SHAPE = shape("cluster.unregister", "Brokers or controllers that were unregistered, or would be.", BrokerRow)


class UnregisterOptions(ControllerOptions, ChangeOptions):
    force: Annotated[
        bool, typer.Option("--force", help="Unregister even a running broker, or a controller that votes.")
    ] = False
    controller: Annotated[
        bool, typer.Option("--controller", help="The ids are ids of controllers (Kafka 4.4 and newer).")
    ] = False


@command(
    "cluster unregister",
    help="Unregister brokers or controllers that are gone for good.",
    words="ID",
    examples="""
kcli cluster unregister 4
kcli cluster unregister 4 5 --execute
kcli cluster unregister --controller 3002 --execute""",
)
def unregister(options: UnregisterOptions) -> int:
    """Unregister brokers that are gone for good. A running broker is refused. The plan counts the replicas that are
    still assigned to it: reassign them first, or they stay under-replicated. --execute applies it.

    --controller unregisters controllers. A voter is refused: remove its vote first (`kcli cluster voters
    remove`).
    """
    from kcli.cli.commands.brokers.ids import broker_ids

    if options.bootstrap_controller and not options.controller:
        raise UsageError("--bootstrap-controller requires --controller: controllers do not count a broker's replicas")
    noun = "controller" if options.controller else "broker"
    ids = sorted(broker_ids(words_of(options, noun)))
    plan = plan_unregister_controllers if options.controller else plan_unregister

    return apply_plan(
        *(options, SHAPE, BrokerRow),
        lambda at: plan(at, ids, force=options.force),
        nothing="", refused="", verb="unregister", noun=noun,
    )  # fmt: skip

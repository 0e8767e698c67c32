"""`kcli faults`: inject faults into a sandbox in another process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.sandbox.faults.control_client import find, tell

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class FaultRow(Row, section="faults"):
    fault: str = column("Name of the fault.", rank=1)
    required: list[str] = column("Required parameters.")
    optional: list[str] = column("Optional parameters.", rank=3)
    about: str = column("Effect of the fault.", unit="sentence")


class PendingRow(Row, section="pending"):
    fault: str = column("Kind of the fault.", rank=1)
    api: str | None = column("Name of the request; null for connections.", rank=1)
    parameters: str = column("Parameters: error, duration, amount.", unit="sentence", rank=1)
    broker: int | None = column("Id of the broker; null for any.", sparse=True, rank=1)
    topic: str | None = column("Name of the topic; null for any.", sparse=True)
    partition: int | None = column("Number of the partition; null for any.", sparse=True)
    times: int | None = column("Remaining repetitions; null: until it is cleared.")


SHAPE = shape(
    "faults",
    "Faults that a sandbox can inject, and faults still pending.",
    FaultRow,
    PendingRow,
)


class FaultsOptions(ReadOptions):
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="ADDRESS",
            help="The sandbox's control address, needed when none of its brokers is running.",
        ),
    ] = None


@command(
    "faults",
    words="FAULT",
    examples="""
kcli faults
kcli faults --columns fault,api,times --watch
kcli faults never_answer api=Fetch times=3
kcli faults error api=Produce code=NOT_ENOUGH_REPLICAS topic=orders times=5
kcli faults kill 1
kcli faults clear""",
)
def run(options: FaultsOptions) -> int:
    """Inject faults into a running sandbox: lost responses, errors, delays, moved leaders, killed brokers.

    Without arguments, list the known faults and the pending ones. Inject a fault by its name, with parameters as
    NAME=VALUE; `clear` removes all faults; `kill N` and `start N` stop and start a broker. Clusters other than
    sandboxes are refused.
    """
    do, facts = _wish(options.words)
    if do != "look" and options.watch:
        raise UsageError("--watch refreshes the list: kcli faults --watch")
    profile = Connection(options).profile
    if do != "look" and profile is not None and profile.guard == "read_only":
        raise UsageError(f"refused by read-only profile {profile.name}: a fault would change the cluster")

    async def work(cluster: Cluster, document: Document) -> None:
        address = options.control or await find(cluster)
        state = await tell(address, do, **facts)
        document.of(PendingRow)[:] = [_pending(fault) for fault in state["pending"]]
        if do == "look":
            document.of(FaultRow)[:] = [_row(fault) for fault in state["faults"]]
        elif do == "clear":
            say(options, "all faults cleared")
        elif do in ("stop", "start"):
            say(options, f"broker {facts['broker']} is {'killed' if do == 'stop' else 'up'}")
            if not any(broker["alive"] for broker in state["brokers"]):
                say(
                    options,
                    f"it was the last one; to start it: kcli faults start {facts['broker']} --control {address}",
                )

    return answer(options, SHAPE, work)


def _wish(words: list[str]) -> tuple[str, dict[str, object]]:
    """What to do, and with what. Raises UsageError."""
    if words in ([], ["list"]):
        return "look", {}
    if words == ["add"]:
        raise UsageError("which fault? `kcli faults` lists them with their parameters")
    first, *rest = words[1:] if words[0] == "add" and len(words) > 1 else words
    if first == "clear" and not rest:
        return "clear", {}
    if first in ("kill", "start"):
        if len(rest) != 1 or not rest[0].isdecimal():
            raise UsageError(f"which broker? kcli faults {first} NUMBER")
        return ("stop" if first == "kill" else "start"), {"broker": int(rest[0])}
    pairs = [word.partition("=") for word in rest]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise UsageError(f"{first}: expected NAME=VALUE, such as api=Fetch times=3")
    return "fault", {"name": first, "given": {name: value for name, _, value in pairs}}


def _row(fault: Mapping[str, Any]) -> FaultRow:
    """A fault of the catalogue, as the table has it."""
    parameters = fault["parameters"]
    return FaultRow(
        fault=fault["name"],
        required=[parameter["name"] for parameter in parameters if parameter["needed"]],
        optional=[parameter["name"] for parameter in parameters if not parameter["needed"]],
        about=fault["text"],
    )


def _pending(fault: Mapping[str, Any]) -> PendingRow:
    """A fault that is still to happen, as the sandbox reports it; another release may leave values out."""
    return PendingRow(
        fault=fault["fault"],
        api=fault.get("api"),
        parameters=fault.get("what", ""),
        broker=fault.get("broker"),
        topic=fault.get("topic"),
        partition=fault.get("partition"),
        times=fault.get("times"),
    )

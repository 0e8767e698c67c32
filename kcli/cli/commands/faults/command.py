"""`kcli faults`: a sandbox in another process is told what to do wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, say
from kcli.cli.runtime.connection import Connection
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.sandbox.faults.control_client import find, tell

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values


def run(values: Values) -> int:
    """`kcli faults [FAULT NAME=VALUE…]`."""
    do, facts = _wish(list(values["words"] or []))
    profile = Connection(values).profile
    if do != "look" and profile is not None and profile.guard == "read_only":
        raise UsageError(f"profile {profile.name} is read-only: a fault would change the cluster, and nothing was sent")

    async def work(cluster: Cluster, document: Document) -> None:
        address = values["control"] or await find(cluster)
        told = await tell(address, do, **facts)
        document.rows["pending"] = told["pending"]
        if do == "look":
            document.rows["faults"] = [_row(one) for one in told["faults"]]
        elif do == "clear":
            say(values, "all faults are taken back")
        elif do in ("stop", "start"):
            say(values, f"broker {facts['broker']} is {'killed' if do == 'stop' else 'up'}")
            if not any(one["alive"] for one in told["brokers"]):
                say(
                    values, f"it was the last one; to start it: kcli faults start {facts['broker']} --control {address}"
                )

    return answer(values, "faults", work)


def _wish(words: list[str]) -> tuple[str, dict[str, Any]]:
    """What to do, and with what. Raises UsageError."""
    if not words:
        return "look", {}
    first, *rest = words
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


def _row(fault: dict[str, Any]) -> dict[str, Any]:
    """A fault of the catalogue, as the table has it."""
    parameters = fault["parameters"]
    return {
        "fault": fault["name"],
        "needs": [one["name"] for one in parameters if one["needed"]],
        "takes": [one["name"] for one in parameters if not one["needed"]],
        "about": fault["text"],
    }

"""Configs of a topic or a broker: set, or taken away. An undo file keeps what was set before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, alter_configs, describe_configs, foreseen
from kcli.admin.configs.undo import before, document
from kcli.declared.units import plain
from kcli.errors import KcliError, UnknownOutcome, UsageError
from kcli.tui.actions.changes.change import Ask, Change, Plan, Step, keep
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.admin.configs.resources import Config
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given

EXAMPLES = {"topic": "retention.ms=7d", "broker": "log.cleaner.threads=2"}


def pairs(text: str) -> dict[str, str]:
    """`retention.ms=7d cleanup.policy=compact` as Kafka wants the values. Raises UsageError."""
    found: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{word}: expected KEY=VALUE, such as retention.ms=7d")
        found[name] = plain(name, value)
    return found


class AlterConfigs(Change):
    """Configs of a resource: set, or removed by a KEY without a value: it inherits then."""

    asks = (Ask("configs", "configs", "KEY=VALUE …; KEY= alone takes the override away"),)

    def __init__(self, at: Resource, name: str = "", value: str = "") -> None:
        """`name` and `value` are in the field at first."""
        self.at = at
        self._what = f"{at.kind} {at.name}" if at.name else f"all {at.kind}s"
        self.word = at.name if at.kind == "topic" else self._what
        self.title = f"Change configs of {printable(self._what)}"
        if name:
            self.asks = (self.asks[0]._replace(value=f"{name}={value}"),)

    def command(self, given: Given) -> str:
        words = given["configs"].split()
        sets = [word for word in words if not word.endswith("=")]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        where = f"{self.at.kind} {quoted(self.at.name or 'default')}"
        if not words:
            return f"kcli configs set {where} KEY=VALUE --execute"
        parts = [f"kcli configs set {where} {' '.join(map(quoted, sets))} --execute"] if sets else []
        parts += [f"kcli configs unset {where} {' '.join(map(quoted, drops))} --execute"] if drops else []
        return " && ".join(parts)

    async def plan(self, client: Client, given: Given) -> Plan:
        at, operations = self.at, self._operations(given)
        known = await describe_configs(client.cluster, [at])
        configs, checked = known[at], (await alter_configs(client.cluster, {at: operations}, dry_run=True))[at]
        if isinstance(configs, KcliError) or checked is not None:
            raise checked or configs  # type: ignore[misc]  # one of the two is an error
        by_name = {config.name: config for config in configs}
        steps = [_step(at, operation, by_name.get(operation.name)) for operation in operations]

        async def carry_out(client: Client) -> str:
            rows, _ = before({at: operations}, known)
            back = await keep(client, self._what.replace(" ", "-"), document(rows), "kcli configs restore {}")
            problem = (await alter_configs(client.cluster, {at: operations}))[at]
            for step in steps:
                if problem is not None:
                    step.failed(problem)
                elif step.result == "would change":
                    step.result = "done"
            return back if problem is None or isinstance(problem, UnknownOutcome) else ""

        idle = all(step.result == "unchanged" for step in steps)
        return Plan(steps=steps, carry_out=None if idle else carry_out)

    def _operations(self, given: Given) -> list[Operation]:
        """What the field says. Raises UsageError."""
        words = given["configs"].split()
        if not words:
            raise UsageError(f"configs: KEY=VALUE, such as {EXAMPLES[self.at.kind]}")
        wanted = pairs(" ".join(word for word in words if not word.endswith("=")))
        sets = [Operation(name=name, how=SET, value=value) for name, value in wanted.items()]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        return sets + [Operation(name=name, how=DELETE) for name in drops]


def _step(at: Resource, operation: Operation, old: Config | None) -> Step:
    new, same = foreseen(at, operation, old)
    was = "" if old is None else "***" if old.secret else old.value or ""
    result = "unchanged" if same else "would change"
    return Step(what=operation.name, old=was, new=new or "", result=result)

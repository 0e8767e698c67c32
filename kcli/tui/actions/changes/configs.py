"""Configs of a topic or a broker: set, or taken away. `kcli undo` restores what was set before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import DELETE, SET, Operation, Resource
from kcli.changes import configs
from kcli.errors import UsageError
from kcli.tui.actions.changes.change import Ask, Change, Plan, shown
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.tui.actions.changes.change import Given

EXAMPLES = {"topic": "retention.ms=7d", "broker": "log.cleaner.threads=2"}


def pairs(text: str) -> dict[str, str]:
    """`retention.ms=7d cleanup.policy=compact` as Kafka wants the values. Raises UsageError."""
    return dict(map(configs.pair, text.split()))


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
        return shown(await configs.plan(client.cluster, {self.at: self._operations(given)}), lambda row: row.item)

    def _operations(self, given: Given) -> list[Operation]:
        """What the field says. Raises UsageError."""
        words = given["configs"].split()
        if not words:
            raise UsageError(f"configs: KEY=VALUE, such as {EXAMPLES[self.at.kind]}")
        wanted = pairs(" ".join(word for word in words if not word.endswith("=")))
        sets = [Operation(name=name, how=SET, value=value) for name, value in wanted.items()]
        drops = [word.removesuffix("=") for word in words if word.endswith("=")]
        return sets + [Operation(name=name, how=DELETE) for name in drops]

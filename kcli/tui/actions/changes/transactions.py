"""Changes of transactions: fence the producer of an id, abort a hanging transaction in one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import transactions
from kcli.tui.actions.changes.change import Change
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.changes.change import Plan, Row
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.tui.actions.changes.change import Given


class Fence(Change):
    """The coordinator aborts the transaction of an id, and its producer gets PRODUCER_FENCED."""

    destroys = True

    def __init__(self, name: str) -> None:
        self.name = self.word = name
        self.title = f"Fence {printable(name)}: its transaction is aborted, its producer must start again"

    def command(self, given: Given) -> str:
        return f"kcli txn fence {quoted(self.name)} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        return await transactions.plan_fence(client.cluster, [self.name])


class Abort(Change):
    """The marker that no coordinator will write, in one partition. `start` is where the transaction begins there."""

    destroys = True

    def __init__(self, at: TopicPartition, start: int) -> None:
        self.at, self.start, self.word = at, start, at.topic
        self.title = f"Abort the hanging transaction in {printable(at.topic)}[{at.partition}]: this cannot be undone"

    def command(self, given: Given) -> str:
        where = quoted(f"{self.at.topic}:{self.at.partition}")
        return f"kcli txn abort {where} --start-offset {self.start} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        return await transactions.plan_abort(client.cluster, self.at, self.start)

    def label(self, row: Row) -> str:
        return f"producer {row.as_json()['producer_id']}"

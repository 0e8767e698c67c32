"""Moves of partitions: cancel one; `kcli undo` starts it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import moves
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, shown
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.tui.actions.changes.change import Given


class CancelMove(Change):
    """The move of one partition: it gets its previous replicas. Throttles stay, as other moves may need them."""

    def __init__(self, at: TopicPartition) -> None:
        self.at, self.word = at, at.topic
        self.title = f"Cancel the move of {printable(at.topic)}[{at.partition}]"

    def command(self, given: Given) -> str:
        return f"kcli reassign cancel {quoted(f'{self.at.topic}:{self.at.partition}')} --keep-throttle --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        made = await moves.plan_cancel(client.cluster, lambda at: at == self.at)
        if not made.rows:
            raise KcliError(f"{self.at.topic}[{self.at.partition}] does not move (any more)")
        return shown(made, lambda row: f"{self.at.topic}[{self.at.partition}]")

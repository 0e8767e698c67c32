"""Moves of partitions: cancel one; `kcli undo` starts it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import alter_reassignments, list_reassignments
from kcli.changes.change import Undo
from kcli.errors import KcliError
from kcli.tui.actions.changes.change import Change, Plan, Step
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
        move = (await list_reassignments(client.cluster, [self.at])).get(self.at)
        if move is None:
            raise KcliError(f"{self.at.topic}[{self.at.partition}] does not move (any more)")
        step = Step(what=f"{self.at.topic}[{self.at.partition}]", result="would cancel")
        step.old, step.new = _brokers(move.replicas), _brokers(move.sources)

        async def carry_out(client: Client) -> str:
            problem = (await alter_reassignments(client.cluster, {self.at: None}))[self.at]
            if problem is not None:
                step.failed(problem)
            else:
                step.result = "cancelled"
            return ""

        undo = Undo(document=assignment_file.document({self.at: move.target}))
        at = {"topic": self.at.topic, "partition": self.at.partition, "old": move.replicas, "new": move.sources}
        return Plan(steps=[step], carry_out=carry_out, undo=undo, rows=lambda: [{**at, "result": step.result}])


def _brokers(numbers: list[int]) -> str:
    return f"broker{'s' * (len(numbers) != 1)} {' '.join(map(str, numbers))}"

"""Changes of transactions: fence the producer of an id, abort a hanging transaction in one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.transactions.hanging_transactions import abort, find_one, still_open
from kcli.admin.transactions.transactions import Described, describe_transactions, fence
from kcli.errors import KcliError
from kcli.text.numbers import duration
from kcli.tui.actions.changes.change import Change, Plan, Step
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.tui.actions.changes.change import Given


class Fence(Change):
    """The coordinator aborts the transaction of an id, and its producer gets PRODUCER_FENCED."""

    def __init__(self, name: str) -> None:
        self.name = self.word = name
        self.title = f"Fence {printable(name)}: its transaction is aborted, its producer must start again"

    def command(self, given: Given) -> str:
        return f"kcli txn fence {quoted(self.name)} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        known = (await describe_transactions(client.cluster, [self.name]))[self.name]
        if not isinstance(known, Described):
            raise known
        age = f", open for {duration(known.age)}" if known.age else ""
        old = f"{known.state}{age}, epoch {known.epoch}"
        step = Step(what=self.name, old=old, new="aborted, a new epoch", result="would fence")

        async def carry_out(client: Client) -> str:
            try:
                producer, epoch = await fence(client.cluster, self.name)
            except KcliError as problem:
                step.failed(problem)
            else:
                step.result, step.new = "fenced", f"producer {producer}, epoch {epoch}"
            return ""

        return Plan(steps=[step], carry_out=carry_out)


class Abort(Change):
    """The marker that no coordinator will write, in one partition. `start` is where the transaction begins there."""

    def __init__(self, at: TopicPartition, start: int) -> None:
        self.at, self.start, self.word = at, start, at.topic
        self.title = f"Abort the hanging transaction in {printable(at.topic)}[{at.partition}]: this cannot be undone"

    def command(self, given: Given) -> str:
        where = quoted(f"{self.at.topic}:{self.at.partition}")
        return f"kcli txn abort {where} --start-offset {self.start} --execute"

    async def plan(self, client: Client, given: Given) -> Plan:
        found = [one for one in await find_one(client.cluster, self.at) if one.producer.open_since == self.start]
        if not found:
            raise KcliError(f"no open transaction begins at {self.start} (any more)")
        one = found[0]
        if not one.hangs:
            raise KcliError(f"{one.name} is not hanging: its coordinator will end it; fence it to end all of it")
        old = f"open since {self.start}, idle for {duration(one.age)}"
        step = Step(what=f"producer {one.producer.producer_id}", old=old, new="aborted", result="would abort")
        step.note = one.hangs

        async def carry_out(client: Client) -> str:
            problem = await abort(client.cluster, self.at, one.producer) or await still_open(
                client.cluster, self.at, one.producer
            )
            if problem is not None:
                step.failed(problem)
            else:
                step.result = "aborted"
            return ""

        return Plan(steps=[step], carry_out=carry_out)

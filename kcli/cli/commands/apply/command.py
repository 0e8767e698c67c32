"""`kcli apply` and `kcli diff`: a plan from files, checked by the brokers; then, if it may be, carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.apply.files import read
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.declared.kinds.topics import GROW
from kcli.declared.model import ADD, DONE, REMOVE, WOULD, Item, Step
from kcli.declared.plan import Plan
from kcli.declared.schema import ID
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

DIFFERS = 3
NOTHING = "nothing to change"


def apply(values: Values) -> int:
    """`kcli apply FILE...`."""
    excluding(values)
    undo = UndoFile(values)
    undo.check()
    declared = read(values["words"])

    async def work(cluster: Cluster, document: Document) -> int | None:
        plan = Plan(cluster, declared, prune=values["prune"], secrets=values["secrets"])
        await plan.look()
        await plan.check()
        _remarks(values, plan)
        document.rows["changes"] = _rows(plan.steps)
        _failed(document, plan)
        if not plan.steps and not plan.failed:
            say(values, NOTHING)
            return None
        ready = len(plan.ready)
        if document.errors and ready and not values["keep_going"] and not values["dry_run"]:
            say(values, f"nothing was changed; --keep-going does the other {plural(ready, 'change')}")
            return 1
        if values["dry_run"] and ready:
            say(values, f"{plural(ready, 'change')} to make; --execute does it")
        if values["dry_run"] or not ready:
            return None
        going = sum(step.sign == REMOVE for step in plan.ready)
        phrase = f"apply {plural(ready, 'change')}" + (f" and delete {going}" if going else "")
        adds = all(step.kind == "topic" and step.sign == ADD for step in plan.ready)
        if not confirm(values, document, phrase, adds=adds):
            document.rows.clear()
            return 1
        before = set(map(id, plan.ready))
        back = plan.undo()
        command = "kcli apply {} --prune" if "absent" in back else "kcli apply {}"
        if back:
            await undo.keep(cluster, "apply", {"schema": ID, **back}, command)
        _say_lost(values, plan.ready)
        await plan.carry_out()
        document.rows["changes"] = _rows(plan.steps)
        for step in plan.steps:
            if id(step) in before and step.problem is not None:
                document.fail(step.problem, step.name)
        done = sum(step.done for step in plan.steps)
        if done and not values["no_wait"]:
            await _settled(values, plan)
        say(values, f"{plural(done, 'change')} done" + (f", {ready - done} failed" if ready > done else ""))
        return None

    return answer(values, "apply", work)


def diff(values: Values) -> int:
    """`kcli diff FILE...`."""
    declared = read(values["words"])

    async def work(cluster: Cluster, document: Document) -> int | None:
        plan = Plan(cluster, declared, prune=values["prune"])
        await plan.look()
        _remarks(values, plan)
        document.rows["changes"] = _rows(plan.steps)
        _failed(document, plan)
        lost = plan.failed or any(step.problem is not None and not step.refused for step in plan.steps)
        return 1 if lost else DIFFERS if plan.steps else None

    return answer(values, "diff", work)


def _say_lost(values: Values, steps: list[Step]) -> None:
    """What no undo file brings back."""
    gone = sum(step.kind == "topic" and step.sign == REMOVE for step in steps)
    grown = sum(step.kind == "topic" and step.order == GROW for step in steps)
    if gone:
        say(values, f"no undo file brings back the records of {plural(gone, 'topic')}")
    if grown:
        say(values, f"{plural(grown, 'topic')} will keep the new partitions: there is no way back to fewer")


async def _settled(values: Values, plan: Plan) -> None:
    """What was done is done, also when brokers are slow to tell it."""
    try:
        left = sorted(await plan.settle())
    except KcliError as error:
        say(values, f"it could not be looked at again: {error}")
        return
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        say(values, f"the brokers have not all learned of it yet: {left[0]}{more}")


def _remarks(values: Values, plan: Plan) -> None:
    for warning in dict.fromkeys(plan.secrets.warnings):
        say(values, warning)
    if plan.kept:
        say(values, f"{plural(plan.kept, 'thing')} of what the files call absent: left there without --prune")


def _failed(document: Document, plan: Plan) -> None:
    for about, error in plan.failed.items():
        document.fail(error, about)
    for step in plan.steps:
        if step.problem is not None:
            document.fail(step.problem, step.name)


def _rows(steps: list[Step]) -> list[Row]:
    return [_row(step, item) for step in steps for item in step.items or [_unknown()]]


def _unknown() -> Item:
    from kcli.declared.model import Item

    return Item(what="?")


def _row(step: Step, item: Item) -> Row:
    result = WOULD[item.sign]
    if step.problem is not None:
        result = "refused" if step.refused else "failed"
    elif step.done:
        result = DONE[item.sign]
    return {
        "change": item.sign,
        "kind": step.kind,
        "name": step.name,
        "config": item.what,
        "old": item.old,
        "new": item.new,
        "result": result,
        "file": step.place or None,
        "error": None if step.problem is None else str(step.problem),
    }

"""A plan as rows, errors and remarks."""

from __future__ import annotations

from kcli.cli.commands.apply.rows import ChangeRow
from kcli.cli.output.tables.document import Document
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.parsing.option import Options, flag
from kcli.cli.runtime.answer import plural, say
from kcli.declared.model import DONE, WOULD, Item, Step
from kcli.declared.plan import Plan


class PruneOptions(Options):
    """Whether what is not declared is removed."""

    prune = flag(
        "--prune",
        help="Also remove resources that the files declare absent, and those in their scope that no file names.",
    )


def remark(options: QuietOptions, plan: Plan) -> None:
    """Say what the plan could not see, and what it leaves."""
    for warning in dict.fromkeys(plan.secrets.warnings):
        say(options, warning)
    if plan.kept:
        say(options, f"{plural(plan.kept, 'resource')} declared absent kept; --prune removes them")


def fail_all(document: Document, plan: Plan) -> None:
    """Put what failed into the document."""
    for about, error in plan.failed.items():
        document.fail(error, about)
    for step in plan.steps:
        if step.problem is not None:
            document.fail(step.problem, step.name)


def change_rows(steps: list[Step]) -> list[ChangeRow]:
    """A row for each item of each step."""
    return [_row(step, item) for step in steps for item in step.items or [_unknown()]]


def _unknown() -> Item:
    from kcli.declared.model import Item

    return Item(what="?")


def _row(step: Step, item: Item) -> ChangeRow:
    result = WOULD[item.sign]
    if step.problem is not None:
        result = "refused" if step.refused else "failed"
    elif step.done:
        result = DONE[item.sign]
    return ChangeRow(
        change=item.sign,
        kind=step.kind,
        name=step.name,
        config=item.what,
        old=item.old,
        new=item.new,
        result=result,
        file=step.place or None,
        error=None if step.problem is None else str(step.problem),
    )

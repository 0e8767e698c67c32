"""The one way in which a command changes something: plan, question, journal, execution, exit code.

`make_plan` fills the document and returns the change that is left to make, None where nothing is to be changed. The
rest is here: a plan that is only shown, the question, the guard of a profile, the journal, the execution.
"""

from __future__ import annotations

import sys

from kcli.changes.change import DONE, Said
from kcli.cli.output.tables.render import write
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import answer, format_of, opened_cluster, plural, say
from kcli.cli.runtime.journal import check_undo_file, rows_of
from kcli.cli.runtime.question import asked, can_ask
from kcli.errors import KcliError, UsageError
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import Any, TypeVar

    from kcli.changes import change as changes
    from kcli.changes.change import Plan, Undo
    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.rows import Row
    from kcli.cli.output.tables.shape import Shape
    from kcli.cli.parsing.groups import ChangeOptions, PlanOptions
    from kcli.cli.runtime.answer import Opened

    Target = TypeVar("Target")
    MakePlan = Callable[[Target, Document], Awaitable["PlannedChange | None"]]

DESTROYING = ("delete", "trim")
PLAN_ONLY = "plan only, nothing changed; add --execute to apply it"


class PlannedChange(Frozen):
    """What is left to do after a plan was made.

    `names` are what it changes: the one name, or `delete 3 topics` of `verb` and `noun`, is typed to confirm what
    cannot be undone; their number where a pattern found them. `carry_out` returns the exit code, None for that
    of the document's errors. `undo` is None where the change cannot be undone. A `final` change cannot be undone
    completely. A change that only `adds` passes a protected profile.
    """

    names: Sequence[str] = ()
    verb: str = ""
    noun: str = ""
    by_pattern: bool = False
    carry_out: Callable[[], Awaitable[int | None]] = None  # type: ignore[assignment]  # always given
    undo: Undo | None = None
    final: bool = False
    adds: bool = False
    idle: bool = False

    @property
    def destroys(self) -> bool:
        """Whether it deletes what a cluster keeps."""
        return self.verb in DESTROYING or self.final

    @property
    def phrase(self) -> str:
        """The text to type to confirm what cannot be undone."""
        return self.names[0] if len(self.names) == 1 else f"{self.verb} {plural(len(self.names), self.noun)}"


def make_change(
    options: ChangeOptions,
    shape: Shape,
    plan: MakePlan[Target],
    opened: Opened[Target] = opened_cluster,  # type: ignore[assignment]  # the default is that of a Cluster
) -> int:
    """Show the plan and make the change, if it is confirmed; the exit code."""
    check(options)

    async def work(target: Target, document: Document) -> int | None:
        undoes = options.undoes if isinstance(options, UndoOptions) else None
        if undoes is not None:
            await undoes.check(target)
        planned = await plan(target, document)
        if undoes is not None and (changed := undoes.conflicts(rows_of(document))):
            for error, about in changed:
                document.fail(error, about)
            return UsageError.exit_code
        if planned is None or not confirmed(options, document, planned):
            return None
        if planned.idle:
            return await planned.carry_out()
        from kcli.cli.runtime.journal import journaled

        return await journaled(options, target, lambda: rows_of(document), planned.undo, planned.carry_out)

    return answer(options, shape, work, opened=opened)


def named(rows: Sequence[changes.Row]) -> list[str]:
    """The names of what rows would change."""
    return list(dict.fromkeys(row.name for row in rows if row.is_open))


def apply_plan(
    options: ChangeOptions,
    shape: Shape,
    kind: type[Row],
    planned: Callable[[Target], Awaitable[Plan]],
    *,
    opened: Opened[Target] = opened_cluster,  # type: ignore[assignment]  # the default is that of a Cluster
    names: Callable[[Sequence[changes.Row]], Sequence[str]] = named,
    verb: str = "",
    noun: str = "",
    by_pattern: bool = False,
    nothing: str = "nothing to change",
    refused: str = "nothing was changed: parts of the plan were refused",
    done: Callable[[Sequence[changes.Row]], str] = lambda rows: "",
) -> int:
    """Show the plan that a planner of `kcli.changes` makes, in rows of this kind, and apply it, if it is confirmed; the
    exit code. `names` and `by_pattern` are those of a PlannedChange; `nothing`, `refused` and `done` are sentences:
    where there is nothing to change, where a plan is not applied as parts of it cannot be, and about what was changed.
    """

    async def make_plan(target: Target, document: Document) -> PlannedChange | None:
        plan = await planned(target)
        more: dict[str, Any] = {"verb": verb, "noun": noun, "by_pattern": by_pattern}
        return of_plan(
            *(options, document, (kind,), target, plan),
            names=names(plan.rows), nothing=nothing, refused=refused, done=done, **more,
        )  # fmt: skip

    return make_change(options, shape, make_plan, opened)


def of_plan(
    options: ChangeOptions,
    document: Document,
    kinds: Sequence[type[Row]],
    target: object,
    plan: Plan,
    *,
    names: Sequence[str],
    nothing: str = "nothing to change",
    refused: str = "nothing was changed: parts of the plan were refused",
    done: Callable[[Sequence[changes.Row]], str] = lambda rows: "",
    **more: Any,
) -> PlannedChange | None:
    """Put a plan into the document, in rows of these kinds; the change that is left to make to the target. The
    sentences are those of `apply_plan`, `more` is what else a PlannedChange has."""
    show(document, kinds, plan)
    if nothing and plan.idle and not document.errors:
        say(options, nothing)
    if plan.apply is None:
        if refused and not (plan.idle or options.plan_only):
            say(options, refused)
        return None
    apply, was_idle = plan.apply, plan.idle
    for warning in plan.warnings:
        say(options, warning)

    async def carry_out() -> int | None:
        try:
            await apply(target)
        finally:
            show(document, kinds, plan)
        sentence = done(plan.rows)
        if sentence and not was_idle:  # what holds already was sent too: a broker may be late to report it
            say(options, sentence)
        return None

    kept: dict[str, Any] = {"undo": plan.undo, "final": plan.final, "adds": plan.adds, "idle": was_idle}
    return PlannedChange(names=names, carry_out=carry_out, **kept, **more)


def counted(subject: str, rows: Sequence[changes.Row]) -> str:
    """`configs: 2 changed`."""
    return f"{subject}: {sum(row.result == DONE for row in rows)} changed"


def show(document: Document, kinds: Sequence[type[Row]], plan: Plan) -> None:
    """Put the rows of a plan into the document, each into its section, and each error once."""
    for kind in kinds:
        mine = [row for row in plan.rows if row.section in ("", kind.section)]
        document.of(kind)[:] = [kind(**{**row.as_json(), "error": row.error and str(row.error)}) for row in mine]
    document.errors.clear()
    failed: dict[KcliError, str] = {error: about for about, error in plan.failed.items()}
    for row in plan.rows:
        if row.error is not None:
            failed.setdefault(row.error, row.about)
    for error, about in failed.items():
        document.fail(error, about)


def check(options: PlanOptions) -> None:
    """Raises UsageError for options of a plan that contradict each other."""
    if options.dry_run and (options.execute or options.yes):
        raise UsageError(f"--{'execute' if options.execute else 'yes'} and --dry-run cannot be combined")
    _said(options).check()
    if isinstance(options, UndoOptions):
        check_undo_file(options)


def _said(options: PlanOptions) -> Said:
    return Said(execute=options.execute, yes=options.yes, expect=options.expect, terminal=can_ask())


def confirmed(options: PlanOptions, document: Document, planned: PlannedChange) -> bool:
    """Whether to make the change: the line says so, or the answer to the question under the plan. A plan that is not
    confirmed is an error in the document, and its rows were shown above the question. Raises UsageError for a line that
    does not say enough where nothing can be asked, and under a profile that is read-only, or protected unless the
    change only adds: before anything is written to the journal."""
    if options.plan_only:
        if not options.dry_run:
            more = f" --expect {len(planned.names)}" if planned.by_pattern and planned.destroys else ""
            say(options, PLAN_ONLY.replace("--execute", f"--execute{more}"))
        return False
    applies = _said(options).applies(
        len(planned.names), planned.noun, by_pattern=planned.by_pattern, destroys=planned.destroys
    )
    if not applies:
        data = format_of(options) != "table" or not sys.stdout.isatty()  # a pipe gets the outcome only
        write(document, "table", sys.stderr if data else sys.stdout)
    _refuse(document, planned)
    if not applies and not _answered(options, planned):
        document.rows.clear()
        document.fail(KcliError("not confirmed: nothing was changed"))
        return False
    document.begun = True
    return True


def _answered(options: PlanOptions, planned: PlannedChange) -> bool:
    if planned.by_pattern:
        number = str(len(planned.names))
        return asked(f"How many {planned.noun}s does the plan change? Type the number to apply it: ") == number
    if planned.undo is not None and not planned.final and options.keeps_undo:
        return asked("Apply the plan? [y/N] ").lower() in ("y", "yes")
    return asked(f"Type {planned.phrase!r} to apply the plan: ") == planned.phrase


def _refuse(document: Document, planned: PlannedChange) -> None:
    if name := document.read_only:
        raise UsageError(f"refused by read-only profile {name}: this would change the cluster")
    if (name := document.protected) and not planned.adds:
        raise UsageError(f"refused by protected profile {name}").hinted("confirm", profile=name)

"""A change of the cluster as the dialog sees it: fields, a plan made of them, a word to type, and the outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from shlex import split
from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.admin.cluster.cluster import cluster_id
from kcli.changes import journal
from kcli.errors import UnknownOutcome
from kcli.tui.text.formatting import exact
from kcli.tui.text.printable import printable
from kcli.values import Value, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.changes import change as changes
    from kcli.changes.change import Undo
    from kcli.client import Client
    from kcli.registry.listing.opened import OpenRegistry

Given = Mapping[str, str]
"""What the fields of the form say, by name."""


class Ask(NamedTuple):
    """A field of the form: `hint` is what it takes, `value` what is in it at first."""

    name: str
    label: str
    hint: str = ""
    value: str = ""


class Step(Value):
    """A row of the plan. `result` is "would …" until it is done; `note` says why a row is as it is. `row` is that of
    the planner."""

    what: str = ""
    old: str = ""
    new: str = ""
    result: str = ""
    note: str = ""
    row: Any = None

    def failed(self, problem: object) -> None:
        """Take the error as the outcome, which is unknown where the change may be done all the same."""
        self.result, self.note = "unknown" if isinstance(problem, UnknownOutcome) else "failed", str(problem)

    @property
    def bad(self) -> bool:
        """Whether it failed, or may have."""
        return self.result in journal.BAD


class Plan(Value):
    """The rows that a change would have; `carry_out` does it, with what the plan was made with. It is None where there
    is nothing to do. `warnings` say what cannot be undone. `rows` are those of the command line's JSON, which the
    journal compares."""

    steps: list[Step] = field(factory=list)
    carry_out: Callable[[Any], Awaitable[None]] | None = None
    undo: Undo | None = None
    warnings: list[str] = field(factory=list)
    rows: Callable[[], list[dict[str, object]]] = list

    async def make(self, target: Client | OpenRegistry, command: str) -> str:
        """Make the change, which the journal has; the command that undoes it, "" for none. Raises KcliError."""
        assert self.carry_out is not None
        return await journaled(target, command, self.rows, self.undo, partial(self.carry_out, target))

    @property
    def bad(self) -> bool:
        """Whether a row failed."""
        return any(step.bad for step in self.steps)


class Change(ABC):
    """One change. `word` has to be typed before it is made; `asks` are the fields of its form; `of_registry` says that
    it is one of the schema registry, not of the cluster."""

    title: str = ""
    word: str = ""
    asks: tuple[Ask, ...] = ()
    of_registry: bool = False
    option: str = ""
    """What names the registry in a command."""

    @abstractmethod
    def command(self, given: Given) -> str:
        """The kcli command that does the same; "" where no single one does."""

    @abstractmethod
    async def plan(self, client: Any, given: Given) -> Plan:
        """The change as it would be now. `client` is the cluster's Client, or the OpenRegistry for a change of the
        registry. Raises UsageError for fields that say nothing, KcliError."""


def shown(made: changes.Plan, what: Callable[[changes.Row], str] = lambda row: row.name, *, idle: bool = False) -> Plan:
    """The plan of a planner of `kcli.changes` in the dialog; `what` names a row. Raises KcliError for a plan of which
    nothing can be done, unless an `idle` one is to be shown."""
    errors = [*made.failed.values(), *(row.error for row in made.rows if row.error is not None)]
    if errors and made.apply is None and not idle:
        raise errors[0]
    steps = [Step(what=what(row), row=row) for row in made.rows]
    undo = made.undo if made.undo is not None and made.undo.document else None
    plan = Plan(steps=steps, undo=undo, warnings=made.warnings, rows=lambda: [row.as_json() for row in made.rows])

    def show() -> None:
        for step, row in zip(steps, made.rows, strict=True):
            step.old, step.new, step.result = _text(row.old), _text(row.new), row.result
            step.note = row.note or "" if row.error is None else str(row.error)

    show()
    if (apply := made.apply) is not None:
        from kcli.client import Client

        async def carry_out(target: Client | OpenRegistry) -> None:
            await apply(target.cluster if isinstance(target, Client) else target)
            show()

        plan.carry_out = carry_out
    return plan


def _text(value: str | int | None) -> str:
    return exact(value) if isinstance(value, int) else value or ""


async def journaled(
    target: Client | OpenRegistry,
    command: str,
    rows: Callable[[], list[dict[str, object]]],
    undo: Undo | None,
    work: Callable[[], Awaitable[object]],
) -> str:
    """Do the work of a change between its two lines in the journal; the command that undoes it, "" for none. Raises
    NotWritten, before anything is sent, where what undoes it cannot be kept."""
    from kcli.client import Client

    where = await cluster_id(target.cluster) if isinstance(target, Client) else target.name
    before = rows()
    number, finished = 0, False
    try:
        number = journal.begin(split(command)[1:], where or "", before, undo)
    except journal.NotWritten as problem:
        if undo is not None:
            raise journal.NotWritten(f"nothing was changed: {problem}") from None
    try:
        await work()
        finished = True
    finally:
        made = rows()
        results = [[str(row["result"]) for row in some] for some in (before, made)]
        result, changed = journal.outcome(*results, finished=finished)
        if number:
            with suppress(journal.NotWritten):  # the change was made, and stays unknown in the journal
                journal.end(number, result, changed, made)
    return f"kcli undo {number} --execute" if undo is not None and (changed or result == journal.UNKNOWN) else ""


def word_of(names: Sequence[str], noun: str) -> str:
    """What has to be typed: the name, or how many there are: `3 topics`."""
    return names[0] if len(names) == 1 else f"{len(names)} {noun}s"


def title_of(verb: str, names: Sequence[str], noun: str) -> str:
    """`Delete topic orders`, `Delete 3 topics`."""
    return f"{verb} {noun} {printable(names[0])}" if len(names) == 1 else f"{verb} {word_of(names, noun)}"

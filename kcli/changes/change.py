"""The result of every planner: rows that show what would change, the function that applies it, and the undo data.

A planner is one module per subject (`configs.py`). It reads the cluster, has the broker validate the change where Kafka
supports that, and prints nothing: the command line shows the rows as a table, the dashboard in a dialog.
"""

from __future__ import annotations

from kcli.errors import KcliError, UnknownOutcome, UsageError
from kcli.values import Frozen, Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Any, ClassVar

WOULD_CHANGE, UNCHANGED, DONE, FAILED, UNKNOWN = "would change", "unchanged", "done", "failed", "unknown"


class Row(Value):
    """One thing that a plan changes, such as a config of a topic: `item` is its name; `kind` and `name` identify the
    owner.

    `old` and `new` are None if there is no value, `***` for a secret. `result` is one of the first two `words` in the
    plan, and the outcome after `apply`.
    """

    kind: str = ""
    name: str = ""
    item: str = ""
    old: str | int | None = None
    new: str | int | None = None
    result: str = WOULD_CHANGE
    error: KcliError | None = None
    about: str = ""
    """The owner, as named in an error message."""
    note: str | None = None
    words: tuple[str, str, str] = (WOULD_CHANGE, UNCHANGED, DONE)
    """The result before the change, the one if no change is needed, and the one after it."""
    columns: ClassVar[Sequence[str]] = "kind name config=item old new result".split()
    """The columns, each with its attribute if that has another name, or with a path such as `before.offset`: None if
    `before` is None."""
    section: str = ""
    """Section of the row in the document, "" if the document has no sections."""

    @property
    def is_open(self) -> bool:
        """Whether it still has to be changed."""
        return self.result.startswith("would ")

    def as_json(self) -> dict[str, object]:
        """Return the columns, without the error."""
        return {name: _found(self, own or name) for name, _, own in (one.partition("=") for one in self.columns)}

    def settle(self, error: KcliError | None, *, unchanged: bool | None = None) -> None:
        """Set the result after a validation, which tells whether the row is `unchanged`, or after the change itself. A
        row that needs no change keeps its result unless it failed."""
        if error is not None:
            self.result, self.error = UNKNOWN if isinstance(error, UnknownOutcome) else FAILED, error
        elif unchanged is not None:
            self.result = self.words[1] if unchanged else self.words[0]
        elif self.is_open:
            self.result = self.words[2]


def _found(value: object, path: str) -> object:
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def settle(rows: Mapping[Any, Row], outcomes: Mapping[Any, object]) -> None:
    """Set the results of a change by the keys of its rows: an error, or anything else on success."""
    for key, outcome in outcomes.items():
        rows[key].settle(outcome if isinstance(outcome, KcliError) else None)


async def settled(rows: Sequence[Row], work: Awaitable[object]) -> None:
    """Run the change, and set the results of its rows."""
    problem = None
    try:
        await work
    except KcliError as error:
        problem = error
    for row in rows:
        row.settle(problem)


class Undo(Frozen):
    """The state before a change, in the form of an undo file. `file` is the prefix of the file's name. `where` is the
    cluster id or a registry's address; "" means the cluster on which the change is made."""

    document: Mapping[str, object] = {}
    file: str = ""
    where: str = ""


class Plan(Value):
    """The rows, and the function that applies them to the target of the planning, such as a cluster; None if there is
    nothing to send.

    `warnings` are sentences about what the change costs, or what `undo` cannot restore. A `final` change cannot be
    undone completely. A change that only `adds` deletes and replaces nothing. `failed` are errors about things without
    a row, by description.
    """

    rows: list[Row] = field(factory=list)
    apply: Callable[[Any], Awaitable[None]] | None = None
    undo: Undo | None = None
    warnings: list[str] = field(factory=list)
    failed: dict[str, KcliError] = field(factory=dict)
    final: bool = False
    adds: bool = False

    @property
    def idle(self) -> bool:
        """Whether no row would change anything."""
        return not any(row.is_open for row in self.rows)

    def applied_by(self, apply: Callable[[Any], Awaitable[None]]) -> Plan:
        """Set the function that applies the plan, if there is anything to change; return the plan."""
        self.apply = None if self.idle else apply
        return self


class Said(Frozen):
    """The options of a command line about applying its plan, and whether a question can be asked."""

    execute: bool = False
    yes: bool = False
    expect: int | None = None
    terminal: bool = False

    def check(self) -> None:
        """Raise UsageError for --yes alone without a terminal, where no question would be asked."""
        if self.yes and not self.execute and not self.terminal:
            raise UsageError("--yes works only on a terminal, where kcli asks for confirmation; add --execute")

    def applies(self, count: int, noun: str, *, by_pattern: bool, destroys: bool) -> bool:
        """Whether to apply a plan that changes `count` things without asking; False means that the user has to confirm.

        Raises UsageError if the user cannot be asked, and if a pattern matches a different number of names than
        expected.
        """
        if self.expect is not None and not by_pattern:
            raise UsageError("--expect needs a pattern in the command; it is the number of matching names")
        matched = f"{count} {noun}{'' if count == 1 else 's'} {'matches' if count == 1 else 'match'}"
        if self.expect not in (None, count):
            raise UsageError(f"--expect {self.expect}: {matched}; nothing was changed")
        if by_pattern and destroys:
            if self.execute and (self.yes or self.expect is not None):
                return True
            if not self.terminal:
                wanted = f"add --execute --expect {count}, or --execute --yes for any number of matches"
                raise UsageError(f"{matched}; nothing was changed: {wanted}")
            return False
        return self.execute or self.yes

"""A step of `apply`: a unit of change that files declare, and how its stage makes it."""

from __future__ import annotations

from kcli.changes.change import UNCHANGED, Row
from kcli.errors import KcliError
from kcli.values import Frozen, Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any

    from kcli.changes.declared.plan import ClusterPlan
    from kcli.declared.secrets import Secrets

    Changes = dict[Any, Any]
    """What is sent, by the keys of its steps."""
    Outcomes = Mapping[Any, object]
    """Result of each step: its error, or anything else on success."""

ADD, CHANGE, REMOVE = "+", "~", "-"
WORDS = {
    ADD: ("would create", UNCHANGED, "created"),
    CHANGE: ("would change", UNCHANGED, "changed"),
    REMOVE: ("would delete", UNCHANGED, "deleted"),
}


class Part(Row):
    """A line of a step. `place` is where it is declared (`file:line`), None if in no file."""

    columns = "change=sign kind name config=item old new result file=place".split()
    sign: str = CHANGE
    place: str | None = None


class Stage(Frozen):
    """Steps that are sent together; stages run in their `order`.

    `send` makes the changes, or validates them; it is not called for validation if the stage `checks` nothing. `made`
    returns what is sent for a step, with secrets resolved. What a stage `removes` is only deleted with pruning.
    """

    order: int = 0
    send: Callable[[ClusterPlan, Changes, bool], Awaitable[Outcomes]] = None  # type: ignore[assignment]  # always given
    made: Callable[[Step, Secrets], object] = lambda step, secrets: step.value
    checks: bool = True
    removes: bool = False


class Step(Value):
    """A unit that succeeds or fails as a whole. `key` identifies it among the steps of its stage, `value` is what it
    sends, and `undo` are the keys of an undo file, by section."""

    stage: Stage = field()
    kind: str = ""
    name: str = ""
    sign: str = CHANGE
    place: str = ""
    key: Any = None
    value: Any = None
    rows: list[Part] = field(factory=list)
    undo: dict[str, Any] = field(factory=dict)

    def part(self, what: str, old: str | None = None, new: str | None = None, sign: str = "") -> None:
        """Add a line to the plan."""
        sign = sign or self.sign
        row = Part(sign=sign, result=WORDS[sign][0], words=WORDS[sign], place=self.place or None)
        row.kind, row.name, row.about, row.item, row.old, row.new = self.kind, self.name, self.name, what, old, new
        self.rows.append(row)

    @property
    def is_open(self) -> bool:
        """Whether it can be made and was not made yet."""
        return all(row.is_open for row in self.rows)

    @property
    def done(self) -> bool:
        """Whether it was made."""
        return all(row.result == row.words[2] for row in self.rows)

    def settle(self, outcome: object) -> None:
        """Record the outcome: an error, or success."""
        for row in self.rows:
            row.settle(outcome if isinstance(outcome, KcliError) else None)

    def fail(self, error: KcliError, *, refused: bool = False) -> Step:
        """Record an error that makes the step impossible, and return it; `refused`: without asking a broker."""
        if not self.rows:
            self.part("?")
        for row in self.rows:
            row.settle(error)
            row.result = "refused" if refused else row.result
        return self

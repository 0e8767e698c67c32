"""What every planner makes: rows that say what would change, the function that does it, and what undoes it.

A planner is one module a subject (`configs.py`). It asks the cluster, has the broker check the change where Kafka can,
and prints nothing: the command line draws the rows as a table, the dashboard in a dialog.
"""

from __future__ import annotations

from kcli.errors import UnknownOutcome
from kcli.values import Frozen, Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from kcli.errors import KcliError
    from kcli.model import Cluster

WOULD_CHANGE, UNCHANGED, DONE, FAILED, UNKNOWN = "would change", "unchanged", "done", "failed", "unknown"


class Row(Value):
    """One thing that a plan changes, such as a config of a topic: `item` is its name; `kind` and `name` say what has
    it. `old` and `new` are None where there is no value, `***` for a secret. `result` is WOULD_CHANGE or UNCHANGED in
    the plan, and the outcome after `apply`."""

    kind: str = ""
    name: str = ""
    item: str = ""
    old: str | None = None
    new: str | None = None
    result: str = WOULD_CHANGE
    error: KcliError | None = None
    about: str = ""
    """What has it, in the sentence of an error."""

    @property
    def is_open(self) -> bool:
        """Whether it is still to be changed."""
        return self.result == WOULD_CHANGE

    def as_json(self) -> dict[str, object]:
        """The columns that commands print and the journal keeps, without the error."""
        named = {"kind": self.kind, "name": self.name, "config": self.item}
        return {**named, "old": self.old, "new": self.new, "result": self.result}

    def settle(self, error: KcliError | None, *, unchanged: bool | None = None) -> None:
        """Note what a check, which says whether the row is `unchanged`, or the change itself came to. What needed no
        change keeps its result unless it failed."""
        if error is not None:
            self.result, self.error = UNKNOWN if isinstance(error, UnknownOutcome) else FAILED, error
        elif unchanged is not None:
            self.result = UNCHANGED if unchanged else WOULD_CHANGE
        elif self.is_open:
            self.result = DONE


class Undo(Frozen):
    """The state before a change, as the document of an undo file. `file` begins the file's name. `where` is the cluster
    id, or a registry's address; "" where it is the cluster that the change is made on."""

    document: Mapping[str, object] = {}
    file: str = ""
    where: str = ""


class Plan(Value):
    """The rows, and the function that applies them to a cluster: None where there is nothing to send. `warnings` are
    sentences about what `undo` cannot bring back."""

    rows: list[Row] = field(factory=list)
    apply: Callable[[Cluster], Awaitable[None]] | None = None
    undo: Undo | None = None
    warnings: list[str] = field(factory=list)

    @property
    def idle(self) -> bool:
        """Whether no row would change anything."""
        return not any(row.is_open for row in self.rows)

"""A change of the cluster as the dialog sees it: fields, a plan made of them, a word to type, and the outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.undo import taken, write
from kcli.errors import UnknownOutcome
from kcli.tui.text.printable import quoted
from kcli.values import Value, field

if TYPE_CHECKING:
    from kcli.client import Client

Given = Mapping[str, str]
"""What the fields of the form say, by name."""


class Ask(NamedTuple):
    """A field of the form: `hint` is what it takes, `value` what is in it at first."""

    name: str
    label: str
    hint: str = ""
    value: str = ""


class Step(Value):
    """A row of the plan. `result` is "would …" until it is done; `note` says why a row is as it is."""

    what: str = ""
    old: str = ""
    new: str = ""
    result: str = ""
    note: str = ""

    def failed(self, problem: object) -> None:
        """Take the error as the outcome, which is unknown where the change may be done all the same."""
        self.result, self.note = "unknown" if isinstance(problem, UnknownOutcome) else "failed", str(problem)

    @property
    def bad(self) -> bool:
        """Whether it failed, or may have."""
        return self.result in ("failed", "unknown")


class Plan(Value):
    """The rows that a change would have; `carry_out` does it, with what the plan was made with, and returns the command
    that undoes it, "" for none. It is None where there is nothing to do."""

    steps: list[Step] = field(factory=list)
    carry_out: Callable[[Any], Awaitable[str]] | None = None

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

    @abstractmethod
    def command(self, given: Given) -> str:
        """The kcli command that does the same; "" where no single one does."""

    @abstractmethod
    async def plan(self, client: Any, given: Given) -> Plan:
        """The change as it would be now. `client` is the cluster's Client, or the OpenRegistry for a change of the
        registry. Raises UsageError for fields that say nothing, KcliError."""


async def keep(client: Client, name: str, document: dict[str, Any], back: str) -> str:
    """Write an undo file, and return the command that takes the change back: `back` with {} for the file. Raises
    NoUndo before anything is sent."""
    path = write({**document, "taken": taken(await cluster_id(client.cluster))}, name)
    return f"{back.format(quoted(path))} --execute"

"""A change of the cluster as the dialog sees it: fields, a plan made of them, a word to type, and the outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from shlex import split
from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.changes import journal
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.changes.change import Plan, Row
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


class Change(ABC):
    """One change. `word` has to be typed before it is made; `asks` are the fields of its form; `of_registry` says that
    it is one of the schema registry, not of the cluster."""

    title: str = ""
    word: str = ""
    asks: tuple[Ask, ...] = ()
    of_registry: bool = False
    destroys: bool = False
    """Whether it deletes or ends something: menus list it last."""
    option: str = ""
    """What names the registry in a command."""

    @abstractmethod
    def command(self, given: Given) -> str:
        """The kcli command that does the same; "" where no single one does."""

    @abstractmethod
    async def plan(self, client: Any, given: Given) -> Plan:
        """The change as it would be now. `client` is the cluster's Client, or the OpenRegistry for a change of the
        registry. Raises UsageError for fields that say nothing, KcliError."""

    def label(self, row: Row) -> str:
        """What the dialog calls a row."""
        return row.name


async def carry_out(
    plan: Plan,
    target: Client | OpenRegistry,
    command: str,
    say: Callable[[str], object],
    undoes: Callable[[int], object],
) -> None:
    """Apply a plan, with its two lines in the journal (`journal.recorded`). Raises KcliError."""
    from kcli.client import Client

    assert plan.apply is not None
    undo = plan.undo if plan.undo is not None and plan.undo.document else None
    on = target.cluster if isinstance(target, Client) else target
    where = await journal.where_of(on, undo)
    await journal.recorded(
        *(split(command)[1:], where, lambda: [row.as_json() for row in plan.rows], undo, partial(plan.apply, on)),
        must=undo is not None,
        say=say,
        undoes=undoes,
    )


def word_of(names: Sequence[str], noun: str) -> str:
    """What has to be typed: the name, or how many there are: `3 topics`."""
    return names[0] if len(names) == 1 else f"{len(names)} {noun}s"


def title_of(verb: str, names: Sequence[str], noun: str) -> str:
    """`Delete topic orders`, `Delete 3 topics`."""
    return f"{verb} {noun} {printable(names[0])}" if len(names) == 1 else f"{verb} {word_of(names, noun)}"

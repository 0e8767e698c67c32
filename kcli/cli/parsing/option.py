"""How an option is declared, once: the quick parser reads it, Typer is built from it, help is printed from it."""

from __future__ import annotations

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Values = dict[str, Any]
    """What a command line says: option name to value. Flags are bool, multiple options are lists, absent is None."""


class Option(Frozen):
    """One option. `kind` is text, int or flag; an int smaller than `least` is refused."""

    name: str = ""
    flags: tuple[str, ...] = ()
    kind: str = "text"
    multiple: bool = False
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    hidden: bool = False

    def absent(self) -> Any:
        """The value when the command line does not name it."""
        if self.kind == "flag":
            return False
        return [] if self.multiple else None


class Command(Frozen):
    """A command: `run` is "module:function", which gets the Values and returns the exit code."""

    name: str = ""
    run: str = ""
    help: str = ""
    description: str = ""
    words: str = ""  # the metavar of its arguments; "" when it takes none
    options: tuple[Option, ...] = ()

    def defaults(self) -> Values:
        values: Values = {option.name: option.absent() for option in self.options}
        values["words"] = []
        return values

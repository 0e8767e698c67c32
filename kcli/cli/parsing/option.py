"""Options in Typer's words: a class of options, an attribute an option; commands share such classes.

    class TrimOptions(ChangeOptions):
        before: Annotated[str | None, typer.Option("--before", help="The first offset that stays.")] = None
        partitions: Annotated[list[str], typer.Option("--partition", help="Only these.")]

A list has no default: without the option it is empty. Typer reads the annotations (`declarations.py`), or the fast
parser reads the table that was made of them, so that no command has to import Typer.
"""

from __future__ import annotations

from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, TypeVar

    Values = dict[str, object]
    """The values of a line by the names of their options, on the way from a parser to a class of options."""
    Self = TypeVar("Self", bound="Options")


EVERY: tuple[str, ...] = ("*",)
"""In `folded`: all options of the class."""


def these(*names: str) -> tuple[str, ...]:
    """In `folded`: the options of these names."""
    return names


class Option(Frozen):
    """One option. `kind` is text, int or flag; an int below `least` or above `most` is refused. `also` are spellings of
    other tools that are read like `flags`, and hidden in the help; the values of a `word` are arguments. `panel` is
    the heading in the help ("" is the command's own); a `folded` option is explained by --help-all only. `alone` is the
    value of an option that a line names without one. A value may be empty only if the option is `empty`."""

    name: str = ""
    flags: tuple[str, ...] = ()
    kind: str = "text"
    multiple: bool = False
    metavar: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    hidden: bool = False
    also: tuple[str, ...] = ()
    word: bool = False
    panel: str = ""
    folded: bool = False
    alone: str = ""
    empty: bool = False

    @property
    def long(self) -> str:
        """Its first long spelling, or the first one where all are letters."""
        return next((flag for flag in self.flags if flag.startswith("--")), self.flags[0])

    def absent(self) -> Any:
        """The value when the command line does not name it."""
        if self.kind == "flag":
            return False
        return [] if self.multiple else None


class Options:
    """What a command line says. The options of a class are its own, then those of its bases in the order in which
    Python looks through them: what several bases share, such as the connection, comes last. A class takes an option of
    its bases away by an attribute that is none: `verbose = False`."""

    names: ClassVar[tuple[str, ...]] = ()
    """Of its options, in the order of the help."""
    moved: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Spellings that the command had once, each with what is written today."""
    panel: ClassVar[str] = ""
    """The heading of the options of a shared class in the help; "" where they are like the command's own."""
    folded: ClassVar[tuple[str, ...]] = ()
    """Those of its own options of which `--help` shows only the spelling; EVERY is all."""
    words: list[str]
    """The arguments, in their order; those that an option named (`-t TOPIC`) come first."""

    def __init_subclass__(cls) -> None:
        cls.names = tuple(name for name, _ in cls.declarations())

    @classmethod
    def declarations(cls) -> list[tuple[str, type[Options]]]:
        """Its options, each with the class that declares it."""
        every: dict[str, type[Options]] = {}
        taken: set[str] = set()  # the names of the classes before
        for part in cls.__mro__[:-2]:  # without Options and object
            own = list(part.__dict__.get("__annotations__", ()))  # noqa: RUF063  # inspect costs 5 ms
            every |= {name: part for name in own if name not in taken}
            taken.update(vars(part), own)
        return list(every.items())

    def __init__(self, **given: Any) -> None:
        """Raises TypeError for an option that the class does not have."""
        self.words = []
        if not given.keys() <= {"words", *self.names}:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(given)}")
        self.__dict__.update({name: [] for name in self.names if not hasattr(type(self), name)}, **given)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def given(self) -> Values:
        """The options that the line has, by their names."""
        absent = {name: getattr(type(self), name, []) for name in self.names}
        return {name: self.__dict__[name] for name in absent if self.__dict__.get(name, absent[name]) != absent[name]}

    def replace(self: Self, **changes: Any) -> Self:
        """A copy with some options changed. Raises TypeError for an option that there is not."""
        return type(self)(**{**self.__dict__, **changes})

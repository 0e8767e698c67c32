"""How options are declared: a class of options, an attribute an option; commands share such classes.

    class TrimOptions(ChangeOptions):
        before = text("--before", metavar="OFFSET", help="The first offset that stays.")

`options.before` is typed by the function that declares it (`text`, `integer`, `flag`, …). Nothing here needs `typing`
or `inspect` at run time: the commands of the hot path declare their options so, too.
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

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    def __set_panel__(self, panel: str, folded: bool) -> None:
        object.__setattr__(self, "panel", panel)
        object.__setattr__(self, "folded", folded)

    def absent(self) -> Any:
        """The value when the command line does not name it."""
        if self.kind == "flag":
            return False
        return [] if self.multiple else None


class Options:
    """What a command line says. The options of a class are its own, then those of its bases in the order in which
    Python looks through them: what several bases share, such as the connection, comes last. A class takes an option of
    its bases away by an attribute that is none: `verbose = False`."""

    declared: ClassVar[tuple[Option, ...]] = ()
    own: ClassVar[tuple[Option, ...]] = ()
    moved: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Spellings that the command had once, each with what is written today."""
    panel: ClassVar[str] = ""
    """The heading of the options of a shared class in the help; "" where they are like the command's own."""
    folded: ClassVar[tuple[str, ...]] = ()
    """Those of its own options of which `--help` shows only the spelling; EVERY is all."""
    words: list[str]
    """The arguments, in their order; those that an option named (`-t TOPIC`) come first."""

    def __init_subclass__(cls) -> None:
        cls.own = tuple(value for value in vars(cls).values() if isinstance(value, Option))
        for option in cls.own:
            folded = cls.__dict__.get("folded", ())
            option.__set_panel__(cls.__dict__.get("panel", ""), "*" in folded or option.name in folded)
        every: dict[str, Option] = {}
        taken: set[str] = set()  # the names of the classes before
        for part in cls.__mro__[:-2]:  # without Options and object
            every |= {option.name: option for option in part.__dict__["own"] if option.name not in taken}
            taken.update(part.__dict__)
        cls.declared = tuple(every.values())
        for option in cls.own:
            setattr(cls, option.name, option.absent())

    def __init__(self, **given: Any) -> None:
        """Raises TypeError for an option that the class does not have, UsageError for an empty value."""
        self.words = []
        values: Values = {option.name: [] for option in self.declared if option.multiple and not option.word}
        if not given.keys() <= {"words", *(option.name for option in self.declared)}:
            raise TypeError(f"{type(self).__name__} has no option {', '.join(given)}")
        _refuse_empty(self.declared, given)
        named = [word for option in self.declared for word in _arguments(option, given)]
        self.__dict__.update(values, **given)
        self.words = [*named, *self.words]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def given(self) -> Values:
        """The options that the line has, by their names."""
        absent = {option.name: option.absent() for option in self.declared}
        return {name: self.__dict__[name] for name in absent if self.__dict__.get(name, absent[name]) != absent[name]}

    def replace(self: Self, **changes: Any) -> Self:
        """A copy with some options changed. Raises TypeError for an option that there is not."""
        return type(self)(**{**self.__dict__, **changes})


def _refuse_empty(declared: tuple[Option, ...], given: Values) -> None:
    """An empty value is an unset variable of a shell; taken for no value, it would change what a line means. Raises
    UsageError."""
    for option in declared:
        value = given.get(option.name)
        if option.kind == "text" and not option.empty and (value == "" or (isinstance(value, list) and "" in value)):
            from kcli.errors import UsageError

            flag = next((name for name in option.flags if name.startswith("--")), option.flags[0])
            raise UsageError(f"{flag} is empty; write {flag} {option.metavar or '|'.join(option.choices)}")


def _arguments(option: Option, given: Values) -> list[str]:
    """The arguments that an option of names says, which is taken out of `given`."""
    if not option.word:
        return []
    value: Any = given.pop(option.name, None)
    if option.kind == "flag":
        return [option.metavar] if value else []
    return value or []


def flag(*flags: str, help: str, hidden: bool = False, also: tuple[str, ...] = ()) -> bool:
    """A switch; False where the line does not have it."""
    return _declared(Option(flags=flags, kind="flag", help=help, hidden=hidden, also=also))


def text(
    *flags: str, help: str, metavar: str = "", hidden: bool = False, also: tuple[str, ...] = (), empty: bool = False
) -> str | None:
    """An option with a value."""
    return _declared(Option(flags=flags, metavar=metavar, help=help, hidden=hidden, also=also, empty=empty))


def span(*flags: str, help: str, hidden: bool = False, alone: str = "", also: tuple[str, ...] = ()) -> str | None:
    """An option whose value is a duration; kcli.grammar.durations reads it."""
    return _declared(Option(flags=flags, metavar="DURATION", help=help, hidden=hidden, alone=alone, also=also))


def texts(
    *flags: str, help: str, metavar: str = "", hidden: bool = False, also: tuple[str, ...] = (), empty: bool = False
) -> list[str]:
    """An option that may be given many times."""
    option = Option(flags=flags, multiple=True, metavar=metavar, help=help, hidden=hidden, also=also, empty=empty)
    return _declared(option)


def names(*flags: str, help: str, metavar: str, hidden: bool = False, also: tuple[str, ...] = ()) -> list[str]:
    """An option whose values are arguments: `topics describe -t orders` is `topics describe orders`."""
    option = Option(flags=flags, multiple=True, metavar=metavar, help=help, word=True, hidden=hidden, also=also)
    return _declared(option)


def every_name(flag: str, help: str) -> bool:
    """A switch that is the argument `*`."""
    return _declared(Option(flags=(flag,), kind="flag", metavar="*", help=help, word=True, hidden=True))


def choice(*flags: str, of: tuple[str, ...], help: str, hidden: bool = False, also: tuple[str, ...] = ()) -> str | None:
    """An option whose value is one of a few words."""
    return _declared(Option(flags=flags, choices=of, help=help, hidden=hidden, also=also))


def choices(*flags: str, of: tuple[str, ...], help: str) -> list[str]:
    """An option that may be given many times, each time with one of a few words."""
    return _declared(Option(flags=flags, multiple=True, choices=of, help=help))


def integer(
    *flags: str,
    help: str,
    metavar: str = "N",
    least: int | None = None,
    most: int | None = None,
    hidden: bool = False,
) -> int | None:
    """An option whose value is a whole number from `least` to `most`."""
    return _declared(Option(flags=flags, kind="int", metavar=metavar, least=least, most=most, help=help, hidden=hidden))


def _declared(option: Option) -> Any:
    """The class has the option as its attribute until `__init_subclass__` puts the value of an absent one there."""
    return option

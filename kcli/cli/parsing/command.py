"""How a command is declared: `@command` over a function that takes the options and returns the exit code."""

from __future__ import annotations

from kcli.values import Frozen, Value, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from kcli.cli.parsing.option import Option, Options, Values

    Taken = TypeVar("Taken", bound=Options)


class Command(Frozen):
    """A command as the parsers read it. `run` is "module:function"."""

    name: str = ""
    run: str = ""
    help: str = ""
    description: str = ""
    words: str = ""  # the metavar of its arguments; "" when it takes none
    options: tuple[Option, ...] = ()
    details: str = ""  # what --help-all says beside the description
    moved: tuple[tuple[str, str], ...] = ()  # spellings that it had once, and what is written today
    own_words: bool = False  # it reads its words by itself, as `kcli cat` does: `options` is for completion only

    @property
    def by_flag(self) -> dict[str, Option]:
        """The options by each of their spellings."""
        return {flag: option for option in self.options for flag in (*option.flags, *option.also)}

    def line(self) -> Line:
        """A line that names no option and no word."""
        return Line(values={option.name: option.absent() for option in self.options})

    def function(self) -> Callable[[Any], int]:
        """The function of the command, whose module is imported for it."""
        from importlib import import_module

        module, _, name = self.run.partition(":")
        function: Callable[[Any], int] = getattr(import_module(module), name)
        return function


class Line(Value):
    """What a parser read: the words, and the values of the options by their names."""

    words: list[str] = field(factory=list)
    values: Values = field(factory=dict)


DECLARED: dict[str, Command] = {}
"""The commands of the modules that were imported, by their paths (`groups reset`), without their options: what reads
the annotations is `declarations.py`."""


def command(
    path: str, *, help: str = "", words: str = "", examples: str = "", details: str = "", own_words: bool = False
) -> Callable[[Callable[[Taken], int]], Callable[[Taken], int]]:
    """Declare a function as the command `path`.

    Its docstring is the description that --help prints, `help` the line in the list of commands, `words` the metavar of
    its arguments. In an example a comment follows a #. `details` are for --help-all.
    """

    def declare(function: Callable[[Taken], int]) -> Callable[[Taken], int]:
        DECLARED[path] = Command(
            name=path.partition(" ")[2] or path,
            run=f"{function.__module__}:{function.__name__}",
            help=help,
            description=_description(function.__doc__ or help, examples),
            words=words,
            details=details.strip("\n"),
            own_words=own_words,
        )
        return function

    return declare


def options_of(function: Callable[[Taken], int]) -> type[Taken]:
    """The class of options that a command takes: what its one parameter is annotated with."""
    (name,) = [name for parameter, name in function.__annotations__.items() if parameter == "options"]
    declared: type[Taken] = function.__globals__[name]
    return declared


def _description(docstring: str, examples: str) -> str:
    first, *rest = docstring.strip().split("\n")
    indented = all(line.startswith("    ") for line in rest if line)  # Python 3.13 takes it away
    text = "\n".join([first, *(line.removeprefix("    ") if indented else line for line in rest)])
    shown = [f"  {line}" for line in examples.strip().split("\n")]
    return "\n".join([text, "", "\b", "Examples:" if len(shown) > 1 else "Example:", *shown]) if examples else text


def words_of_names(options: tuple[Option, ...], values: Values) -> list[str]:
    """The arguments that options of names say, which are taken out of the values. Raises UsageError for an empty value:
    that of an unset variable of a shell, which would change what a line means if it were taken for none."""
    words: list[str] = []
    for option in options:
        value: Any = values.get(option.name)
        if option.kind == "text" and not option.empty and (value == "" or (option.multiple and value and "" in value)):
            from kcli.errors import UsageError

            flag = option.long
            prints = flag == "-D" and any("--pretty" in one.flags for one in options)
            hint = ", or -f %s for values with nothing between them" if prints else ""
            raise UsageError(f"{flag} is empty; write {flag} {option.metavar or '|'.join(option.choices)}{hint}")
        if option.word and values.pop(option.name, None):
            words += [option.metavar] if option.kind == "flag" else value
    return words


def options_read(command: Command, line: Line) -> Options:
    """What a parser read, as the command's class of options. Raises UsageError."""
    kind = options_of(command.function())
    words = [*words_of_names(command.options, line.values), *line.words]
    if "" in words and not (command.own_words or command.words.startswith("KIND")):  # `configs` says more of it
        from kcli.errors import UsageError

        place = min(words.index(""), command.words.count(" "))
        raise UsageError(f"{command.words.split()[place].strip('[].').partition('[')[0]} must not be empty")
    read: Options = kind(words=words, **line.values)
    return read


def run_command(command: Command, line: Line) -> int:
    """Import the command's module and run it with what a parser read."""
    function = command.function()
    options = options_read(command, line)
    from kcli.cli.parsing.groups import ZoneOptions

    if not isinstance(options, ZoneOptions) or not (options.local or options.utc):
        return function(options)
    from kcli.errors import UsageError
    from kcli.grammar.zone import zone

    if options.local and options.utc:
        raise UsageError("--local and --utc cannot be combined")
    zone.set(local=options.local, utc=options.utc)
    try:
        return function(options)
    finally:
        zone.set(local=False, utc=False)

"""Typer: it reads the lines that the fast parser leaves to it, and prints help and mistakes.

Its commands are made of their descriptions, which the table has: so help imports no command.
"""

from __future__ import annotations

import inspect
import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from kcli.cli.output.messages import complain
from kcli.cli.parsing import mistakes
from kcli.cli.parsing.command import Command, Line, run_command
from kcli.cli.parsing.help.text import (
    about,
    arguments,
    escape,
    explained,
    explained_first,
    foot,
    group_foot,
    others,
    spellings,
    value_of,
)
from kcli.cli.parsing.parser import with_values
from kcli.cli.parsing.registry import SECTIONS, SUBJECTS, declared

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Option

HELPS = {"-h", "--help"}
HELP = {"help_option_names": ["-h", "--help"]}
TOP = """A command line, a dashboard and a sandbox for Apache Kafka.

Name a cluster by -b HOST:PORT, KCLI_BOOTSTRAP or --profile."""
FOOT = """[bold]kcli help[/] lists topics: offsets, where, format, times, patterns and more.
[bold]kcli COMMAND --help[/] shows one command."""


def typer_of(kind: type[TyperGroup] | None = None, name: str = "", **more: Any) -> typer.Typer:
    """A Typer app as all of kcli's are made."""
    return typer.Typer(
        name=name or None,
        cls=kind,
        context_settings=HELP,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        **more,
    )


class Root(TyperGroup):
    """The top: the subjects of the registry, each loaded when it is asked for. Help lists them without that: a name, a
    line and a panel."""

    listed = False

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if not self.listed:
            return load(cmd_name) if cmd_name in SUBJECTS else None
        panel = next(title for title, names in SECTIONS.items() if cmd_name in names)
        return TyperCommand(cmd_name, help=SUBJECTS[cmd_name][1], rich_help_panel=panel)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.listed = True
        super().format_help(ctx, formatter)


def load(name: str) -> Any:
    """The Typer command of a subject, or its group of commands."""
    known = declared(name)
    if isinstance(known, Command):
        return command_of(known, path=name)
    app = typer_of(help=SUBJECTS[name][1], epilog=group_foot(name, known), no_args_is_help=True)

    @app.callback()
    def nothing() -> None:
        """A group by itself does nothing."""

    group: Any = typer.main.get_command(app)
    group.commands.update({verb: command_of(command, path=f"{name} {verb}") for verb, command in known.items()})
    group.help, group.name = SUBJECTS[name][1], name
    return _with_plain_help(group)


def root() -> Any:
    """The whole command line."""
    app = typer_of(Root, "kcli", help=TOP, epilog=FOOT, no_args_is_help=True)

    @app.callback()
    def top(
        version: bool = typer.Option(
            False, "-V", "--version", metavar="", help="Print the version and the record core."
        ),
    ) -> None:
        """`main` answers --version."""

    return _with_plain_help(typer.main.get_command(app))


def command_of(command: Command, *, path: str, page: str = "--help") -> Any:
    """A command as Typer's, with the options of its description, and the texts of a `page`: --help, --help-all or none.

    Calling it returns the line that it read rather than running the command: Typer handles Ctrl-C and a closed pipe in
    its own way while it calls something.
    """

    def line(**values: Any) -> Line:
        words: list[str] = values.pop("words", None) or []
        given = {name: value for name, value in values.items() if value is not None}
        return Line(words=words, values=command.line().values | given)

    app = typer_of()
    everything = page != "--help"
    shown = {option.name for option in command.options} if everything else explained_first(command)
    parameters = [] if command.own_words else [_parameter(option, shown, everything) for option in command.options]
    if command.words:
        parameters.insert(0, _words(command.words))
    line.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    line.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    settings: dict[str, object] = {**HELP}
    if command.own_words:
        settings = {"help_option_names": [], "ignore_unknown_options": True, "allow_interspersed_args": False}
    app.command(
        name=command.name,
        help=about(command, everything) if page else None,
        short_help=command.help,
        epilog=None if everything else foot(path, command, shown),
        context_settings=settings,
    )(line)
    made: Any = typer.main.get_command(app)
    made.collect_usage_pieces = lambda context: ["[OPTIONS]", *([arguments(command)] if command.words else [])]
    by_name = {option.name: option for option in command.options}
    for parameter in made.params:
        if parameter.name in by_name:
            option = by_name[parameter.name]
            parameter.add_to_parser = partial(_add_with, parameter, [*option.flags, *option.also])
            parameter.process_value = partial(_value, option)
        elif parameter.name == "words":
            parameter.process_value = lambda context, value: list(value or ())
    return _with_plain_help(made)


def _with_plain_help(made: Any) -> Any:
    """The command, with a --help that shows no type, and that does not make Typer import Pydantic to read it."""
    parameters = made.get_params

    def plain(parameter: Any) -> Any:
        if parameter.name == "help":
            parameter.metavar = ""
            parameter.process_value = lambda context, given: given and parameter.callback(context, parameter, given)
        return parameter

    made.get_params = lambda context: [plain(parameter) for parameter in parameters(context)]
    return made


def _add_with(parameter: Any, every: list[str], parser: Any, context: Any) -> None:
    """Let Typer's parser know the spellings that its help hides."""
    shown = parameter.opts
    parameter.opts = every
    type(parameter).add_to_parser(parameter, parser, context)
    parameter.opts = shown


def _value(option: Option, context: Any, value: Any) -> Any:
    """The value of an option in its type, in place of Typer, which would import Pydantic for that (100 ms). Raises
    Typer's usage error."""
    if value is None or option.kind == "flag":
        return value or None
    for text in value if option.multiple else [value]:
        problem = mistakes.value(option, text)
        if problem:
            raise typer.BadParameter(problem, ctx=context)
    if option.kind == "int":
        return [int(text) for text in value] if option.multiple else int(value)
    return list(value) if option.multiple else value


def _words(metavar: str) -> inspect.Parameter:
    default = typer.Argument(None, metavar=metavar.removesuffix("..."), show_default=False, hidden=True)
    return inspect.Parameter("words", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=list[str])


def _parameter(option: Option, shown: set[str], everything: bool) -> inspect.Parameter:
    kind: Any = {"flag": bool, "int": int, "text": str}[option.kind]
    if option.choices:
        kind = Literal[option.choices]
    if option.multiple:
        kind = list[kind]
    elif option.kind != "flag":
        kind = kind | None
    default = typer.Option(
        False if option.kind == "flag" else None,
        *spellings(option),
        help=escape(explained(option) + others(option) * everything),
        metavar=value_of(option),
        hidden=option.hidden or option.name not in shown,
        show_default=False,
        rich_help_panel=option.panel or None,
    )
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


Complaint: type[Exception] = typer.BadParameter.__mro__[2]
"""The class of all usage errors, which Typer does not export."""


def read(command: Command, argv: list[str], path: str) -> int:
    """Let Typer read a line, and run the command or print its help. A mistake is printed as one sentence (on a terminal
    in Rich's frame), and the exit code is 2."""
    page = "--help-all" if "--help-all" in argv else "" if HELPS.isdisjoint(argv) else "--help"
    words = ["--help" if word == "--help-all" else word for word in argv] if page == "--help-all" else argv
    made = command_of(command, path=path, page=page)
    line = _called(made, with_values(command, words), path, command)
    return run_command(command, line) if isinstance(line, Line) else line


def print_help(name: str = "") -> int:
    """Print the help of a group of commands, or of all."""
    code = _called(load(name) if name else root(), ["--help"], name)
    assert isinstance(code, int)
    return code


def _called(made: Any, argv: list[str], path: str, command: Command | None = None) -> Line | int:
    """Call a command of Typer's: the line that it read, or an exit code."""
    if not HELPS.isdisjoint(argv):
        _import_rich()
    try:
        return made.main(args=argv, prog_name=f"kcli {path}".rstrip(), standalone_mode=False) or 0
    except typer.Abort:
        return 130
    except SystemExit:
        return 0  # Typer's answer to a closed pipe: the reader of the help is gone
    except Complaint as problem:
        return _complain(problem, path, command)


def _complain(problem: Any, path: str, command: Command | None) -> int:
    """One sentence: `kcli: sandbox: unknown option --bogus; see `kcli sandbox --help``."""
    said = mistakes.worded(problem, command)
    if sys.stderr.isatty():
        _import_rich()
        from typer.rich_utils import rich_format_error

        shown: Any = Complaint(said)  # without the guesses that Typer adds to it
        shown.ctx = getattr(problem, "ctx", None)
        rich_format_error(shown)
        return 2
    more = "" if said.endswith(("?", "`")) else f"; see `kcli {path} --help`"
    complain(f"{path}: {said}{more}")
    return 2


def _import_rich() -> None:
    """Import Typer's printer without what kcli's help does not use: Markdown, tracebacks and attrs (60 ms)."""
    if "typer.rich_utils" in sys.modules:
        return
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback", "attr": ""}
    absent = [name for name in unused if name not in sys.modules]
    for name in absent:
        stand_in: Any = ModuleType(name)
        setattr(stand_in, unused[name] or "_", type(unused[name], (), {}))
        sys.modules[name] = stand_in
    try:
        from typer import rich_utils

        vars(rich_utils)["STYLE_OPTIONS_TABLE_PADDING"] = (0, 1, 0, 0)  # of six columns, two of which are always empty
    finally:
        for name in absent:
            del sys.modules[name]

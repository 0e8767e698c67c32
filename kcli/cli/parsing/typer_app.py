"""Typer, made from our tables. Imported for help, mistakes, completion and the commands that are not hot."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

import typer
from typer.core import TyperGroup

from kcli.cli.app import ALIASES, COMMANDS, help_text
from kcli.cli.parsing.option import Command
from kcli.cli.parsing.record_options import HOT
from kcli.cli.runtime.connection import CONNECTION, Connection

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Option, Values

HELP = {"help_option_names": ["-h", "--help"]}
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": HELP,
}
"""How every Typer app of ours is made: `typer.Typer(cls=Group, help=..., **SETTINGS)`."""


class Group(TyperGroup):
    """A group that knows the aliases (`ls`, `rm`, `topic`), and commands of two words (`features upgrade`)."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        pair = " ".join(args[:2])
        return super().resolve_command(ctx, [pair, *args[2:]] if pair in self.commands else args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))


class Root(Group):
    """The top: `COMMANDS`, each loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        name = cmd_name if cmd_name in COMMANDS else ALIASES.get(cmd_name, cmd_name)
        if name not in COMMANDS:
            return None
        if name not in self.commands:
            self.commands[name] = load(name)
        return self.commands[name]

    def get_help(self, ctx: Any) -> str:
        return help_text().rstrip("\n")


def load(name: str) -> Any:
    """The Typer command of one row of COMMANDS."""
    where, line = COMMANDS[name]
    if where == "hot":
        return command_of(HOT[name])
    module, _, attribute = where.partition(":")
    thing = getattr(import_module(module), attribute)
    if isinstance(thing, dict):
        return _group_of(line, thing)
    if isinstance(thing, Command):
        return command_of(thing)
    if not isinstance(thing, typer.Typer):
        return _words_command(name, line, thing)
    made = typer.main.get_command(thing)
    made.name = name
    return made


def root() -> Any:
    """The whole command line."""
    app = typer.Typer(cls=Root, name="kcli", **SETTINGS)

    @app.callback(invoke_without_command=True)
    def top(
        version: bool = typer.Option(False, "-V", "--version", help="Print the version and the record core."),
    ) -> None:
        if version:
            from kcli.cli.main import print_version

            raise typer.Exit(print_version())

    return typer.main.get_command(app)


def command_of(command: Command) -> Any:
    """A hot command as Typer's, from the same table the quick parser reads."""

    def call(**values: Any) -> int:
        return run(command, command.defaults() | {name: value for name, value in values.items() if value is not None})

    app = typer.Typer(**{**SETTINGS, "no_args_is_help": False})
    parameters = [_parameter(option) for option in command.options]
    if command.words:
        parameters.insert(0, _words(command.words))
    _sign(call, parameters)
    app.command(name=command.name, help=command.description, short_help=command.help, context_settings=HELP)(call)
    return typer.main.get_command(app)


def _group_of(line: str, commands: dict[str, Command]) -> Any:
    """A group of commands of a table."""
    app = typer.Typer(cls=Group, help=line, **SETTINGS)

    @app.callback()
    def nothing() -> None:
        """A group by itself does nothing."""

    group = typer.main.get_command(app)
    group.commands.update({name: command_of(command) for name, command in commands.items()})  # type: ignore[attr-defined]
    group.help = line
    return group


def run(command: Command, values: Values) -> int:
    """Import the command's module and run it."""
    module, _, function = command.run.partition(":")
    return cast(int, getattr(import_module(module), function)(values))


def connected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a Typer function the connection options: its first parameter becomes a `Connection` made from them."""
    signature = inspect.signature(function, eval_str=True)
    own = list(signature.parameters.values())[1:]
    names = [option.name for option in CONNECTION]

    def call(**values: Any) -> Any:
        connection = Connection({name: values.pop(name) for name in names})
        return function(connection, **values)

    call.__doc__ = function.__doc__
    call.__name__ = function.__name__
    shared = [_parameter(option) for option in CONNECTION]
    _sign(call, [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + shared)
    return call


def _sign(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> None:
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters}


def _words(metavar: str) -> inspect.Parameter:
    default = typer.Argument(None, metavar=metavar.removesuffix("..."), show_default=False, hidden=True)
    return inspect.Parameter("words", inspect.Parameter.KEYWORD_ONLY, default=default, annotation=list[str])


def _parameter(option: Option) -> inspect.Parameter:
    kind: Any = {"flag": bool, "int": int, "text": str}[option.kind]
    if option.choices:
        kind = Literal[option.choices]
    if option.multiple:
        kind = list[kind]
    elif option.kind != "flag":
        kind = kind | None
    default = typer.Option(
        False if option.kind == "flag" else None,
        *option.flags,
        help=option.help,
        metavar=option.metavar or None,
        min=option.least,
        hidden=option.hidden,
        show_default=False,
    )
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _words_command(name: str, line: str, function: Callable[[list[str]], int]) -> Any:
    """A command that reads its own words."""

    def call(words: list[str] = typer.Argument(None, metavar="WORD", show_default=False, hidden=True)) -> int:  # noqa: B008
        return function(words or [])

    app = typer.Typer(**{**SETTINGS, "no_args_is_help": False})
    app.command(name=name, help=inspect.getdoc(function) or line, short_help=line, context_settings=HELP)(call)
    return typer.main.get_command(app)


Complaint: type[Exception] = typer.BadParameter.__mro__[2]
"""Typer's own parent of all usage errors, which it does not export."""


def dispatch(argv: list[str]) -> int:
    """Run a command line through Typer. Usage errors become our one sentence and exit code 2."""
    try:
        code = root().main(args=argv, prog_name="kcli", standalone_mode=False)
    except typer.Abort:
        return 130
    except Complaint as problem:
        return _complain(problem)
    return code if isinstance(code, int) else 0


def _complain(problem: Any) -> int:
    """One sentence in our words' order: `kcli: sandbox: no such option: --bogus; see `kcli sandbox --help``."""
    from kcli.cli.main import complain

    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "kcli"
    message = problem.format_message().strip()
    if type(problem).__name__ == "NoArgsIsHelpError":
        print(message)
        return 2
    text = " ".join(message.split()).rstrip(" .")
    name = path.removeprefix("kcli").strip()
    complain(f"{name + ': ' if name else ''}{text[:1].lower()}{text[1:]}; see `{path} --help`")
    return 2

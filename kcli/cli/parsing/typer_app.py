"""Typer, made from the declarations of the commands: help, mistakes, and everything with KCLI_PARSER=typer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import typer
from typer.core import TyperGroup

from kcli.cli.parsing.command import Command, Line, run_command
from kcli.cli.parsing.help.page import columns, group_page, page
from kcli.cli.parsing.help.top import help_text
from kcli.cli.parsing.parser import with_values
from kcli.cli.parsing.registry import SUBJECTS, declared, subject, verb
from kcli.cli.parsing.resolver import command_first, find
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Option
    from kcli.cli.parsing.registry import Verbs

HELP = {"help_option_names": ["-h", "--help"]}


def typer_of(
    kind: type[TyperGroup] | None = None, name: str = "", *, help: str = "", help_alone: bool = True
) -> typer.Typer:
    """A Typer app as all of kcli's are made. `help_alone`: without arguments it prints its help."""
    return typer.Typer(
        name=name or None,
        cls=kind,
        help=help or None,
        add_completion=False,
        no_args_is_help=help_alone,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=HELP,
    )


class Group(TyperGroup):
    """A group that knows the aliases (`ls`, `rm`, `topic`), and commands of two words (`features upgrade`)."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            words = self.in_order(args)
        except UsageError as problem:
            raise typer.BadParameter(str(problem)) from None
        return super().parse_args(ctx, words)

    def in_order(self, args: list[str]) -> list[str]:
        """The words with the command before its options. Raises UsageError."""
        chosen = find([self.name, *args]) if args and args[0][:1] == "-" and self.name in SUBJECTS else None
        return args if chosen is None else [*chosen[2].split()[1:], *chosen[1]]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        pair = " ".join(args[:2])
        return super().resolve_command(ctx, [pair, *args[2:]] if pair in self.commands else args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, verb(cmd_name, self.commands) or cmd_name)


class Root(Group):
    """The top: the subjects of the registry, each loaded when it is asked for."""

    def in_order(self, args: list[str]) -> list[str]:
        return command_first(args)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(SUBJECTS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        name = subject(cmd_name)
        if name is not None and name not in self.commands:
            self.commands[name] = load(name)
        return self.commands.get(name or "")

    def get_help(self, ctx: Any) -> str:
        return help_text().rstrip("\n")


def load(name: str) -> Any:
    """The Typer command of a subject."""
    known = declared(name)
    return command_of(known) if isinstance(known, Command) else _group_of(name, known)


def root() -> Any:
    """The whole command line."""
    app = typer_of(Root, "kcli")

    @app.callback(invoke_without_command=True)
    def top(
        version: bool = typer.Option(False, "-V", "--version", help="Print the version and the record core."),
    ) -> None:
        if version:
            from kcli.cli.output.messages import print_version

            raise typer.Exit(print_version())

    return typer.main.get_command(app)


def command_of(command: Command, act: Callable[[Command, Line], int] = run_command) -> Any:
    """A command as Typer's, from the options that its class declares. What Typer read goes to `act`."""

    def call(**values: Any) -> int:
        words: list[str] = values.pop("words", None) or []
        given = {name: value for name, value in values.items() if value is not None}
        return act(command, Line(words=words, values=command.line().values | given))

    app = typer_of(help_alone=False)
    parameters = [] if command.own_words else [_parameter(option) for option in command.options]
    if command.words:
        parameters.insert(0, _words(command.words))
    _sign(call, parameters)
    settings: dict[str, object] = {**HELP}
    if command.own_words:
        settings = {"help_option_names": [], "ignore_unknown_options": True, "allow_interspersed_args": False}
    app.command(name=command.name, help=command.description, short_help=command.help, context_settings=settings)(call)
    made: Any = typer.main.get_command(app)
    made.get_help = lambda context: page(context.command_path.removeprefix("kcli "), command, columns()).rstrip("\n")
    made.moved = dict(command.moved)
    read = made.parse_args
    made.parse_args = lambda context, argv: read(context, with_values(command, argv))
    _read_also(made, {option.name: option.also for option in command.options if option.also})
    return made


def _read_also(command: Any, spellings: dict[str, tuple[str, ...]]) -> None:
    """Let Typer's parser know the spellings that its help hides."""
    for parameter in command.params:
        if parameter.name in spellings:
            parameter.add_to_parser = partial(_add_with, parameter, spellings[parameter.name])


def _add_with(parameter: Any, also: tuple[str, ...], parser: Any, context: Any) -> None:
    shown = parameter.opts
    parameter.opts = [*shown, *also]
    type(parameter).add_to_parser(parameter, parser, context)
    parameter.opts = shown


def _group_of(name: str, commands: Verbs) -> Any:
    """The group of a subject with many commands."""
    app = typer_of(Group, help=SUBJECTS[name][1])

    @app.callback()
    def nothing() -> None:
        """A group by itself does nothing."""

    group = typer.main.get_command(app)
    group.commands.update({verb: command_of(command) for verb, command in commands.items()})  # type: ignore[attr-defined]
    group.help, group.name = SUBJECTS[name][1], name
    group.get_help = lambda context: group_page(name, SUBJECTS[name][1], commands, columns()).rstrip("\n")  # type: ignore[method-assign,assignment]
    return group


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
        max=option.most,
        hidden=option.hidden,
        show_default=False,
    )
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


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
    from kcli.cli.output.messages import complain

    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "kcli"
    message = problem.format_message().strip()
    if type(problem).__name__ == "NoArgsIsHelpError":
        print(message)
        return 2
    moved = getattr(context and context.command, "moved", {})
    flag = getattr(problem, "option_name", "")
    if flag in moved:
        message = f"{flag} has another name now; use `{moved[flag]}`"
    text = " ".join(message.split()).rstrip(" .")
    name = path.removeprefix("kcli").strip()
    complain(f"{name + ': ' if name else ''}{text[:1].lower()}{text[1:]}; see `{path} --help`")
    return 2

"""Error messages for command lines with a mistake, with what to write instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kcli.cli.parsing import other_tools
from kcli.cli.parsing.parser import HELP, wrong_value
from kcli.cli.parsing.registry import SUBJECTS, every
from kcli.errors import UsageError
from kcli.text.suggest import did_you_mean

if TYPE_CHECKING:
    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option

EXTRA = re.compile(r"unexpected extra arguments?(?:\(s\))? \((.+)\)$")
KCAT = {
    "-C": "kcli consume TOPIC",
    "-P": "kcli produce TOPIC",
    "-G": "kcli consume TOPIC -g GROUP",
    "-L": "kcli topics describe TOPIC",
    "-Q": "kcli offsets TOPIC --at TIME",
    "-l": "kcli produce TOPIC FILE",
    "-T": "tee FILE | kcli produce TOPIC",
    "-m": "-X request.timeout.ms=…",
}
"""kcat's letters that kcli does not have, and kcli's option for the same."""


def worded(problem: Any, command: Command | None) -> str:
    """The message for a usage error of Typer's."""
    if type(problem).__name__ == "BadParameter":
        return str(problem.message)  # of `value`
    said = " ".join(str(problem.format_message()).split()).rstrip(" .")
    flag = getattr(problem, "option_name", None)
    if command is not None and (extra := EXTRA.search(said)):
        return f"unexpected argument {extra[1].split()[0]!r}: {command.name} accepts only options"
    if command is None or flag is None:
        return f"{said[:1].lower()}{said[1:]}"
    option = command.by_flag.get(flag)
    if option is None:
        return unknown(flag, command)
    if option.kind == "flag":
        return f"{flag} does not take a value"
    return f"{flag} needs a value: {flag} {option.metavar or '|'.join(option.choices) or 'TEXT'}"


def value(option: Option, text: str) -> str:
    """The message for a value that an option does not take; "" for one that it takes."""
    problem = wrong_value(option, text)
    if not problem:
        return ""
    if text == "":
        return f"{option.long} is empty; write {option.long} {option.metavar or '|'.join(option.choices)}"
    return f"{option.long} {text}: {problem}{other_tools.choice(option.long, text)}"


def unknown(flag: str, command: Command) -> str:
    """The message for an option that the command does not have."""
    if (now := dict(command.moved).get(flag)) is not None:
        return f"{flag} was renamed; use `{now}`"
    if flag in KCAT:
        return f"{flag} is an option of kcat; in kcli it is `{KCAT[flag]}`"
    by_flag = command.by_flag
    near = did_you_mean(flag, [known for known in by_flag if len(known) > 2], 0.75) if len(flag) > 2 else ""
    return f"unknown option {flag}{other_tools.option(flag, by_flag) or near}"


def before_command(flag: str, known: dict[str, Any]) -> str:
    """The message for an option in front of the command that not all commands share."""
    if flag in KCAT:
        return f"{flag} is an option of kcat; in kcli it is `{KCAT[flag]}`, or `kcli cat {flag} …`"
    if flag in known:
        return f"{flag} needs a value: {flag} {known[flag].metavar or '|'.join(known[flag].choices)}"
    near = did_you_mean(flag, ["--version", *HELP[1:], *known], 0.8) if len(flag) > 3 else ""
    return (
        f"unknown option {flag}{near}"
        if near
        else f"{flag} comes after the command: kcli COMMAND {flag} …; see `kcli --help`"
    )


def no_such_command(words: list[str]) -> UsageError:
    """The error for a first word that is no command, with the nearest command or another tool's."""
    verbs = [path for path, _ in every() if words[0] in path.split()[1:]]
    of_subject = f"; here it is `kcli {verbs[0]}`" if len(verbs) == 1 else ""
    near = other_tools.command(words) or of_subject or did_you_mean(words[0], SUBJECTS)
    return UsageError(f"unknown command {words[0]!r}{near or '; see `kcli --help`'}")

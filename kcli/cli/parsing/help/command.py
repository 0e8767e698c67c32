"""`kcli help`, and with a topic, a command or any word behind it."""

from __future__ import annotations

import re
from textwrap import shorten

from kcli.cli.parsing import other_tools
from kcli.cli.parsing.help.text import columns, explained
from kcli.cli.parsing.help.topics import TOPICS, listed, topic
from kcli.cli.parsing.registry import ALIASES, SUBJECTS, every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.command import Command

ALL = ("--json", "--help-json")


def answer(words: list[str]) -> tuple[str, list[str]]:
    """A topic, a list or what mentions a word; else "" and the line that prints the help of a command. Raises
    UsageError for a word that nothing mentions."""
    if not words:
        return listed(), []
    text = topic(words[0])
    if text is not None:
        note = f"`kcli {words[0]} --help` shows the command.\n\n" if words[0] in SUBJECTS else ""
        return note + text, []
    if words[0] in ALL:
        from kcli.cli.parsing.help.as_json import all_commands

        return all_commands(), []
    if words == ["commands"]:
        return listed_commands(), []
    if words[0] in SUBJECTS or words[0] in ALIASES:
        return "", [*words, "--help"]
    return _searched(words), []


def _searched(words: list[str]) -> str:
    """What mentions a word that is no command and no topic. Raises UsageError where nothing does."""
    from kcli.errors import UsageError
    from kcli.text.suggest import did_you_mean

    if words[0][:1] == "-":  # an option may have a secret
        raise UsageError("help accepts a command, a topic or a word, but no options: kcli help WORD; see `kcli --help`")
    text = found(" ".join(words))
    if text:
        return text
    near = did_you_mean(words[0], [*SUBJECTS, *TOPICS])
    raise UsageError(f"no help for {words[0]!r}{near or '; `kcli help` lists topics, `kcli help commands` commands'}")


# `kcli help WORD`: the commands, options and topics that mention a word, and `kcli help commands`.


MOST = 15
"""The most rows of one kind."""
WHOLE = 1000
"""A width in which nothing is cut: a list of commands is for grep, too."""


def listed_commands() -> str:
    """Every command with its line."""
    rows = [(path, _line(path, command)) for path, command in every()]
    return _table(rows, most=len(rows), width=WHOLE)


def found(word: str) -> str:
    """The commands, options and topics in which a word begins with `word`, as text; "" where there are none."""
    mentions = re.compile(rf"(?<![a-z]){re.escape(word.lower())}")

    def has(*texts: str) -> bool:
        return any(mentions.search(text.lower()) for text in texts)

    commands, deeper, options = [], [], []
    for path, command in every():
        line = _line(path, command)
        if has(path, line):
            commands.append((path, line))
        elif has(command.description):
            deeper.append((path, line))
        for option in command.options:
            if not option.hidden and has(*option.flags, explained(option)):
                options.append((option.flags[-1], explained(option), path))
    by_option: dict[tuple[str, str], list[str]] = {}
    for flag, text, path in options:
        by_option.setdefault((flag, text), []).append(path)
    parts = [
        ("Commands", commands + deeper),
        ("Options", [(f"{flag} ({_some(paths)})", text) for (flag, text), paths in by_option.items()]),
        ("Topics: kcli help TOPIC", [(name, line) for name, (line, text) in TOPICS.items() if has(name, line, text)]),
    ]
    shown = [f"{title}:\n{_table(rows)}" for title, rows in parts if rows]
    here = other_tools.command([word]).removeprefix("; here it is ")
    return "\n".join([*([f"{word}: {here}\n"] if here else []), *shown])


def _line(path: str, command: Command) -> str:
    return command.help or SUBJECTS[path][1]


def _some(paths: list[str]) -> str:
    return ", ".join(paths[:2]) + (f", {len(paths) - 2} more" if len(paths) > 2 else "")


def _table(rows: list[tuple[str, str]], most: int = MOST, width: int = 0) -> str:
    """Rows in lines of the terminal's width, or of `width` columns."""
    width = width or columns()
    few = rows[:most]
    column = min(max(len(left) for left, _ in few), width // 2)
    rooms = [max(width - 4 - max(column, len(left)), 20) for left, _ in few]
    rights = [shorten(right, room, placeholder=" …") for (_, right), room in zip(few, rooms)]
    lines = [f"  {left:<{column}}  {right}" for (left, _), right in zip(few, rights)]
    if len(rows) > len(few):
        lines.append(f"  … and {len(rows) - len(few)} more")
    return "\n".join(lines) + "\n"

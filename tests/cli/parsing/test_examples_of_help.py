"""Every example of every help can be pasted into a shell: its words are a command line, what explains it a comment."""

from __future__ import annotations

import importlib
import shlex

from kcli.cli.app import ALIASES, COMMANDS
from kcli.cli.parsing import parser as quick
from kcli.cli.parsing import verbs
from kcli.cli.parsing.option import Command
from kcli.cli.parsing.record_options import HOT
from tests.each import each

PROSE = {"a", "all", "and", "by", "in", "of", "the"}
ENDS = ("|", ">", "<", "&&", ";", "&")


def declared(name: str) -> object:
    where = COMMANDS[ALIASES.get(name, name)][0]
    if where == "hot":
        return HOT[name]
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)


def commands() -> list[Command]:
    found: list[Command] = []
    for name in COMMANDS:
        one = declared(name)
        found += [one] if isinstance(one, Command) else [*one.values()] if isinstance(one, dict) else []
    return [one for one in found if isinstance(one, Command)]


def lines_of(command: Command) -> list[str]:
    _, _, after = (command.description or "").partition("Example")
    return [line.strip() for line in after.splitlines() if line.strip().startswith("kcli ")]


EXAMPLES = sorted({line for command in commands() for line in lines_of(command)})


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 200


@each("line", EXAMPLES)
def test_an_example_is_a_command_line(line: str) -> None:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    for word in lexer:
        if word.startswith("#") or word in ENDS:
            break
        words.append(word)
    assert "  " not in line.split("#")[0].strip().replace("\\", ""), "an explanation stands behind a #"
    name = words[1]
    one = declared(name)
    if isinstance(one, dict):
        chosen = verbs.choose(name, one, words[1:])
        assert chosen is not None
        command, rest, _ = chosen
    else:
        assert isinstance(one, Command)
        command, rest = one, words[2:]
    values = quick.parse(command, rest)
    assert values is not None
    assert not PROSE & {*values["words"]}, "an explanation stands behind a #"


def test_help_tells_the_isolation_that_holds_where_none_is_given() -> None:
    from kcli.cli.parsing import record_options as options
    from kcli.settings import ConsumerSettings

    assert options.ISOLATION.help.endswith(f"Default: {ConsumerSettings().isolation}.")
    assert all(options.ISOLATION in HOT[name].options for name in ("consume", "tail", "count"))
    for name in ("copy", "redrive"):  # these take what nobody can take back
        command = declared(name)
        assert isinstance(command, Command)
        assert options.COMMITTED in command.options

"""Every example of every help can be pasted into a shell: its words are a command line, what explains it a comment."""

from __future__ import annotations

import shlex

from kcli.cli.parsing import parser, resolver
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.registry import every
from tests.each import each

PROSE = {"a", "all", "and", "by", "in", "of", "the"}
ENDS = ("|", ">", "<", "&&", ";", "&")


def commands() -> list[Command]:
    return [command for _, command in every()]


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
    chosen = resolver.find(words[1:])
    assert chosen is not None
    command, rest, _ = chosen
    read = parser.parse(command, rest)
    assert read is not None
    assert not PROSE & {*read.words}, "an explanation stands behind a #"


def test_help_tells_the_isolation_that_holds_where_none_is_given() -> None:
    told = {path: option.help for path, command in every() for option in command.options if option.name == "isolation"}
    reading = ("consume", "tail", "count", "copy", "redrive", "pipeline export", "pipeline replay")
    assert {told[name] for name in reading} == {"Default: read_committed."}

"""The fast parser: it reads the lines that it understands and leaves all others to Typer, which costs 70 ms to import.

The two agree on every line: the tests run all of theirs through both.
"""

from __future__ import annotations

from operator import length_hint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.parsing.command import Command, Line
    from kcli.cli.parsing.option import Option, Values

HELP = ("-h", "--help", "--help-all", "--help-json")


class Unread(Exception):
    """What the fast parser does not understand: the option at which it stopped."""


def parse(command: Command, argv: list[str]) -> Line | None:
    """The values of a command line (without the command's own name); None where Typer has to read it: it asks for help
    or has a mistake."""
    line = command.line()
    if command.own_words:
        line.words = argv
        return line
    by_flag = command.by_flag
    rest = iter(with_values(command, argv))
    for word in rest:
        if word == "--":
            line.words.extend(rest)
        elif word in HELP:
            return None
        elif len(word) > 1 and word[0] == "-":
            try:
                _option(by_flag, word, rest, line.values)
            except Unread:
                return None
        else:
            line.words.append(word)
    return None if line.words and not command.words else line


def with_values(command: Command, argv: list[str]) -> list[str]:
    """The line, with the values of options that it names alone: `--unused -J` is `--unused=30d -J`."""
    alone = {flag: option.alone for option in command.options if option.alone for flag in option.flags}
    if alone.keys().isdisjoint(argv):
        return argv
    words = argv[: argv.index("--")] if "--" in argv else argv
    following = [*words[1:], "-"]
    return [
        f"{word}={alone[word]}" if word in alone and following[place][:1] == "-" else word
        for place, word in enumerate(words)
    ] + argv[len(words) :]


def options_first(command: Command, argv: list[str]) -> int:
    """How many words at the start of a line are options of the command and their values. Raises Unread for an option
    that it does not have, or that wants a value."""
    by_flag = command.by_flag
    rest = iter(argv)
    for word in rest:
        if len(word) < 2 or word[0] != "-" or word == "--" or word in HELP:
            return len(argv) - length_hint(rest) - 1
        _option(by_flag, word, rest, command.line().values)
    return len(argv)


def _option(by_flag: dict[str, Option], word: str, rest: Iterator[str], values: Values) -> None:
    """Store what one word with `-` says, with its value from `rest`. Raises Unread."""
    if not word.startswith("--"):
        _cluster(by_flag, word, rest, values)
        return
    flag, equals, given = word.partition("=")
    option = by_flag.get(flag)
    if option is None:
        raise Unread(flag)
    _take(option, flag, given if equals else None, rest, values)


def _cluster(by_flag: dict[str, Option], word: str, rest: Iterator[str], values: Values) -> None:
    """`-eq`, `-c10`, `-o -10`: flags until one takes a value, which is what is left of the word or the next one."""
    for place in range(1, len(word)):
        flag = "-" + word[place]
        option = by_flag.get(flag)
        if option is None:
            raise Unread(flag)
        if option.kind != "flag":
            _take(option, flag, word[place + 1 :] or None, rest, values)
            return
        values[option.name] = True


def _take(option: Option, flag: str, given: str | None, rest: Iterator[str], values: Values) -> None:
    """Store one option's value. Raises Unread where it is missing or not of the option's kind."""
    if option.kind == "flag":
        if given is not None:
            raise Unread(flag)
        values[option.name] = True
        return
    text = given if given is not None else next(rest, None)
    if text is None or wrong_value(option, text):
        raise Unread(flag)
    value: object = int(text) if option.kind == "int" else text
    several = values.get(option.name)
    if option.multiple and isinstance(several, list):
        several.append(value)
    else:
        values[option.name] = value


def wrong_value(option: Option, text: str) -> str:
    """What is wrong with a value of an option; "" for nothing."""
    if option.choices and text not in option.choices:
        return f"expected {', '.join(option.choices)}"
    if option.kind != "int":
        return ""
    digits = text[1:] if text[:1] == "-" else text
    if not (digits.isascii() and digits.isdigit()):
        return "expected a whole number"
    if len(digits) > 18 or (option.most is not None and int(text) > option.most):
        return f"the most is {option.most or 10**18 - 1}"
    return f"must be {option.least} or more" if option.least is not None and int(text) < option.least else ""

"""The fast argv parser: every line of a command of our tables is understood here, or refused in one sentence.

Typer costs 80 ms to import, which is more than a whole `consume` may take. So Typer only prints help, and reads the
few commands that are its own; it agrees with what is read here (tests/cli/parsing/test_parser.py holds both together).
"""

from __future__ import annotations

from operator import length_hint

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.parsing.command import Command, Line
    from kcli.cli.parsing.option import Option, Values

HELP = ("-h", "--help", "--help-all", "--help-json")
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


def parse(command: Command, argv: list[str]) -> Line | None:
    """The values of a command line (without the command's own name), or None when it asks for help. Raises UsageError
    with what is wrong and what to do about it."""
    try:
        return _parse(command, argv)
    except UsageError:
        if any(word in HELP for word in argv):
            return None
        raise


def _parse(command: Command, argv: list[str]) -> Line | None:
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
            _option(command, by_flag, word, rest, line.values)
        else:
            line.words.append(word)
    if line.words and not command.words:
        raise UsageError(f"unexpected argument {line.words[0]!r}: {command.name} takes options only")
    return line


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
    """How many words at the start of a line are options of the command and their values. Raises UsageError for an
    option that it does not have, or that wants a value."""
    by_flag = command.by_flag
    rest = iter(argv)
    for word in rest:
        if len(word) < 2 or word[0] != "-" or word == "--" or word in HELP:
            return len(argv) - length_hint(rest) - 1
        _option(command, by_flag, word, rest, command.line().values)
    return len(argv)


def _option(command: Command, by_flag: dict[str, Option], word: str, rest: Iterator[str], values: Values) -> None:
    """Store what one word with `-` says, with its value from `rest`. Raises UsageError."""
    if not word.startswith("--"):
        _cluster(command, by_flag, word, rest, values)
        return
    flag, equals, given = word.partition("=")
    option = by_flag.get(flag)
    if option is None:
        raise _unknown(flag, command, by_flag)
    _take(option, flag, given if equals else None, rest, values)


def _cluster(command: Command, by_flag: dict[str, Option], word: str, rest: Iterator[str], values: Values) -> None:
    """`-eq`, `-c10`, `-o -10`: flags until one takes a value, which is what is left of the word or the next one."""
    for place in range(1, len(word)):
        flag = "-" + word[place]
        option = by_flag.get(flag)
        if option is None:
            raise _unknown(flag, command, by_flag)
        if option.kind != "flag":
            _take(option, flag, word[place + 1 :] or None, rest, values)
            return
        values[option.name] = True


def _take(option: Option, flag: str, given: str | None, rest: Iterator[str], values: Values) -> None:
    """Store one option's value. Raises UsageError when it is missing or not of the option's kind."""
    if option.kind == "flag":
        if given is not None:
            raise UsageError(f"{flag}={given}: {flag} takes no value")
        values[option.name] = True
        return
    text = given if given is not None else next(rest, None)
    if text is None:
        raise UsageError(f"{flag} takes a value: {flag} {option.metavar or '|'.join(option.choices) or 'TEXT'}")
    if option.choices and text not in option.choices:
        from kcli.cli.parsing.other_tools import choice

        raise UsageError(f"{flag} {text}: expected {', '.join(option.choices)}{choice(flag, text)}")
    value: object = _number(option, flag, text) if option.kind == "int" else text
    several = values.get(option.name)
    if option.multiple and isinstance(several, list):
        several.append(value)
    else:
        values[option.name] = value


def _number(option: Option, flag: str, text: str) -> int:
    digits = text[1:] if text[:1] == "-" else text
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise UsageError(f"{flag} {text}: expected a whole number")
    if option.least is not None and int(text) < option.least:
        raise UsageError(f"{flag} {text}: must be {option.least} or more")
    if option.most is not None and int(text) > option.most:
        raise UsageError(f"{flag} {text}: the most is {option.most}")
    return int(text)


def _unknown(flag: str, command: Command, by_flag: dict[str, Option]) -> UsageError:
    now = dict(command.moved).get(flag)
    if now is not None:
        return UsageError(f"{flag} has another name now; use `{now}`")
    if flag in KCAT:
        here = f"`{KCAT[flag]}`" if command.run else f"`{KCAT[flag]}`, or `kcli cat {flag} …`"
        return UsageError(f"{flag} is kcat's; here it is {here}")
    from kcli.cli.parsing import other_tools
    from kcli.text.suggest import did_you_mean

    if not command.run:
        near = did_you_mean(flag, ["--version", *HELP[1:], *by_flag], 0.8) if len(flag) > 3 else ""
        if near:
            return UsageError(f"unknown option {flag}{near}")
        return UsageError(f"{flag} comes after the command: kcli COMMAND {flag} …; see `kcli --help`")

    told = other_tools.option(flag, by_flag)
    if told:
        return UsageError(f"unknown option {flag}{told}")
    near = did_you_mean(flag, [known for known in by_flag if len(known) > 2], 0.75) if len(flag) > 2 else ""
    return UsageError(f"unknown option {flag}{near}")

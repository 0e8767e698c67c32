"""The quick argv parser of the hot commands: sure of every word, or None and Typer decides.

Typer costs 80 ms to import, which is more than a whole `consume` may take. So what is plainly right is read here;
help, mistakes and everything doubtful go to Typer, which prints the help or the one usage error.
It agrees with Typer wherever it answers at all (tests/cli/test_quick.py holds both against each other).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Command, Option, Values


def parse(command: Command, argv: list[str]) -> Values | None:
    """The values of a command line (without the command's own name), or None when Typer must look at it."""
    values = command.defaults()
    by_flag = {flag: option for option in command.options for flag in option.flags}
    rest = iter(argv)
    for word in rest:
        if word == "--":
            values["words"].extend(rest)
        elif word.startswith("--"):
            flag, equals, given = word.partition("=")
            option = by_flag.get(flag)
            if option is None or not _take(option, given if equals else None, rest, values):
                return None
        elif len(word) > 1 and word[0] == "-":
            if not _cluster(by_flag, word, rest, values):
                return None
        else:
            values["words"].append(word)
    return None if values["words"] and not command.words else values


def _cluster(by_flag: dict[str, Option], word: str, rest: object, values: Values) -> bool:
    """`-eq`, `-c10`, `-o -10`: flags until one takes a value, which is what is left of the word or the next one."""
    for place in range(1, len(word)):
        option = by_flag.get("-" + word[place])
        if option is None:
            return False
        if option.kind != "flag":
            return _take(option, word[place + 1 :] or None, rest, values)
        values[option.name] = True
    return True


def _take(option: Option, given: str | None, rest: object, values: Values) -> bool:
    """Store one option's value; False when it is missing or not of the option's kind."""
    if option.kind == "flag":
        values[option.name] = True
        return given is None
    text = given if given is not None else next(rest, None)  # type: ignore[call-overload]
    if text is None or (option.choices and text not in option.choices):
        return False
    value: object = text
    if option.kind == "int":
        digits = text[1:] if text[:1] == "-" else text
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
            return False
        value = int(text)
        if option.least is not None and int(text) < option.least:
            return False
    if option.multiple:
        values[option.name].append(value)
    else:
        values[option.name] = value
    return True

"""Which command of a group a line names: `kcli topics create …`, `kcli config show …`."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.parser import HELP, options_first
from kcli.cli.parsing.registry import ALIASES, declared, subject
from kcli.errors import UsageError

Chosen = tuple[Command, list[str], str]
"""A command, the words after its name, and its whole name."""


def before_command() -> Command:
    """The options that may stand before the command, as a command that has no others."""
    from kcli.cli.parsing.groups import OutputOptions

    return Command(name="kcli", options=OutputOptions.declared, words="COMMAND")


def command_first(words: list[str]) -> list[str]:
    """`-b HOST:PORT topics list` as `topics -b HOST:PORT list`. Raises UsageError for options that all commands do not
    share, and where no command follows."""
    if words[:1] in ([], ["-V"], ["--version"]) or words[0][:1] != "-":
        return words
    count = options_first(before_command(), words)
    if count == len(words):
        raise UsageError(f"which command? kcli {' '.join(words)} COMMAND; see `kcli --help`")
    return words[count:] if words[count] in (*HELP, "help") else [words[count], *words[:count], *words[count + 1 :]]


def find(words: list[str]) -> Chosen | None:
    """The command that a line names; None when it asks for the help of a subject with many. Raises UsageError for a
    word that is no subject, and for one that is none of its commands."""
    name = subject(words[0])
    if name is None:
        from kcli.cli.parsing.help import no_such_command

        raise no_such_command(words)
    known = declared(name)
    return (known, words[1:], name) if isinstance(known, Command) else choose(name, known, words)


def choose(name: str, verbs: dict[str, Command], words: list[str]) -> Chosen | None:
    """What a line names; None when it asks for the help of the group. A group by itself lists, if it can, and its
    options may stand before the verb. Raises UsageError for a verb that is none."""
    verb = words[1] if len(words) > 1 else ""
    if verb in HELP or (not verb and "list" not in verbs):
        return None
    if len(verb) > 1 and verb[0] == "-":
        return _behind_options(name, verbs, words[1:])
    if not verb:
        return verbs["list"], words[1:], f"{name} list"
    found = _named(verbs, words[1:])
    if found is None:
        raise _no_such_verb(name, verb, verbs)
    path, count = found
    return verbs[path], words[1 + count :], f"{name} {path}"


def _named(verbs: dict[str, Command], words: list[str]) -> tuple[str, int] | None:
    """The verb that these words begin with, and of how many words it is: `features upgrade`."""
    pair = " ".join(words[:2])
    if len(words) > 1 and pair in verbs:
        return pair, 2
    verb = ALIASES.get(words[0], words[0])
    return (verb, 1) if verb in verbs else None


def behind_options(verbs: dict[str, Command], words: list[str]) -> tuple[str, list[str]] | None:
    """`-b HOST:PORT list`: the first verb that has nothing before it but options of its own, and the words without
    it."""
    for place in range(1, len(words)):
        found = _named(verbs, words[place:])
        if found is not None and options_of(verbs[found[0]], words, place):
            path, count = found
            return path, words[:place] + words[place + count :]
    return None


def _behind_options(name: str, verbs: dict[str, Command], words: list[str]) -> Chosen:
    """The verb behind options; without any the group lists."""
    found = behind_options(verbs, words)
    if found is not None:
        path, rest = found
        return verbs[path], rest, f"{name} {path}"
    if "list" not in verbs:
        raise UsageError(f"{name}: which command? there are {', '.join(verbs)}")
    _a_word(name, words[0], verbs)
    for place in range(1, len(words)):
        if words[place] not in HELP and options_of(verbs["list"], words, place):
            raise _no_such_verb(name, words[place], verbs)
    return verbs["list"], words, f"{name} list"


def options_of(command: Command, words: list[str], place: int) -> bool:
    """Do options of the command, with their values, fill the words before `place`, where none stands?"""
    try:
        return options_first(command, words) == place
    except UsageError:
        return False


def _no_such_verb(name: str, verb: str, verbs: dict[str, Command]) -> UsageError:
    from kcli.cli.parsing.other_tools import verb as other
    from kcli.text.suggest import did_you_mean

    near = other(name, verb, verbs) or did_you_mean(verb, verbs) or f"; there are {', '.join(verbs)}"
    return UsageError(f"{name}: there is no command {verb!r}{near}")


def _a_word(name: str, verb: str, verbs: dict[str, Command]) -> None:
    """`kcli topics --describe`, as Kafka's own scripts have it. Raises UsageError with the word that it is here."""
    word = verb.removeprefix("--")
    if word == verb or any(verb in option.flags for option in verbs["list"].options):
        return
    from kcli.cli.parsing.other_tools import verb as other

    near = f"; here it is `kcli {name} {word}`" if word in verbs else other(name, word, verbs)
    if near:
        raise UsageError(f"{name}: there is no option {verb}{near}")

"""Which command a line names: `kcli topics create …`, `kcli config show …`. `parser` reads its options."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.parser import HELP, Unread, options_first
from kcli.cli.parsing.registry import declared, subject, verb
from kcli.errors import UsageError

Chosen = tuple[Command, list[str], str]
"""A command, the words after its name, and its whole name."""


def before_command() -> Command:
    """The options that may come before the command, as a command that has no others."""
    from kcli.cli.parsing.groups import OutputOptions

    listing = declared("brokers")
    assert isinstance(listing, dict)
    shared = tuple(option for option in listing["list"].options if option.name in OutputOptions.names)
    return Command(name="kcli", options=shared, words="COMMAND")


def command_first(words: list[str]) -> list[str]:
    """`-b HOST:PORT topics list` as `topics -b HOST:PORT list`. Raises UsageError for options that all commands do not
    share, and where no command follows."""
    if words[:1] in ([], ["-V"], ["--version"]) or words[0][:1] != "-":
        return words
    known = before_command()
    try:
        count = options_first(known, words)
    except Unread as problem:
        from kcli.cli.parsing import mistakes

        raise UsageError(mistakes.before_command(str(problem), known.by_flag)) from None
    if count == len(words):
        raise UsageError("missing command: kcli [OPTIONS] COMMAND; see `kcli --help`")  # an option may have a secret
    return words[count:] if words[count] in (*HELP, "help") else [words[count], *words[:count], *words[count + 1 :]]


def find(words: list[str]) -> Chosen | None:
    """The command that a line names; None when it asks for the help of a subject with many. Raises UsageError for an
    unknown subject or command."""
    name = subject(words[0])
    if name is None:
        from kcli.cli.parsing.mistakes import no_such_command

        raise no_such_command(words)
    known = declared(name)
    return (known, words[1:], name) if isinstance(known, Command) else choose(name, known, words)


def choose(name: str, verbs: dict[str, Command], words: list[str]) -> Chosen | None:
    """What a line names; None when it asks for the help of the group. A group by itself lists, if it can, and its
    options may come before the verb. Raises UsageError for an unknown verb."""
    word = words[1] if len(words) > 1 else ""
    alone = verb("list", verbs)
    if word in HELP or (not word and alone is None):
        return None
    if len(word) > 1 and word[0] == "-":
        return _behind_options(name, verbs, words[1:])
    if not word and alone is not None:
        return verbs[alone], words[1:], f"{name} {alone}"
    named = _named(verbs, words[1:])
    if named is None:
        raise _no_such_verb(name, word, verbs)
    path, count = named
    return verbs[path], words[1 + count :], f"{name} {path}"


def _named(verbs: dict[str, Command], words: list[str]) -> tuple[str, int] | None:
    """The verb that these words begin with, and of how many words it is: `features upgrade`, `voters rm`."""
    if len(words) > 1:
        pairs = {path.partition(" ")[2] for path in verbs if path.startswith(f"{words[0]} ")}
        second = verb(words[1], pairs)
        if second is not None:
            return f"{words[0]} {second}", 2
    path = verb(words[0], verbs)
    return None if path is None else (path, 1)


def behind_options(verbs: dict[str, Command], words: list[str]) -> tuple[str, list[str]] | None:
    """`-b HOST:PORT list`: the first verb that has nothing before it but options of its own, and the words without
    it."""
    for place in range(1, len(words)):
        named = _named(verbs, words[place:])
        if named is not None and only_options_before(verbs[named[0]], words, place):
            path, count = named
            return path, words[:place] + words[place + count :]
    return None


def _behind_options(name: str, verbs: dict[str, Command], words: list[str]) -> Chosen:
    """The verb behind options; without any the group lists."""
    verb_and_rest = behind_options(verbs, words) or _by_option(name, verbs, words)
    if verb_and_rest is not None:
        path, rest = verb_and_rest
        return verbs[path], rest, f"{name} {path}"
    alone = verb("list", verbs)
    if alone is None:
        raise UsageError(f"{name}: missing command; commands: {', '.join(verbs)}")
    for place in range(1, len(words)):
        if words[place] not in HELP and only_options_before(verbs[alone], words, place):
            raise _no_such_verb(name, words[place], verbs)
    return verbs[alone], words, f"{name} {alone}"


def _by_option(name: str, verbs: dict[str, Command], words: list[str]) -> tuple[str, list[str]] | None:
    """`--create --topic orders`, as Kafka's own scripts name what they do: the verb, and the words without it. Raises
    UsageError where that is another command here."""
    from kcli.cli.parsing.other_tools import verb as other
    from kcli.cli.parsing.other_tools import verb_here

    by_word: dict[str, str] = {}
    for word in words:
        action = word.removeprefix("--")
        if action == word or any(word in command.by_flag for command in verbs.values()):
            continue
        path = verb(action, verbs) or verb_here(name, action, verbs)
        if path is not None:
            by_word[word] = path
        elif other(name, action, verbs):
            raise UsageError(f"{name}: unknown option {word}{other(name, action, verbs)}")
    if not by_word:
        return None
    paths = [path for path in by_word.values() if path != "describe"]  # --describe --members
    return paths[0] if paths else "describe", [word for word in words if word not in by_word]


def only_options_before(command: Command, words: list[str], place: int) -> bool:
    """Whether options of the command, with their values, are all the words before `place`."""
    try:
        return options_first(command, words) == place
    except Unread:
        return False


def _no_such_verb(name: str, word: str, verbs: dict[str, Command]) -> UsageError:
    from kcli.cli.parsing.other_tools import verb as other
    from kcli.text.suggest import did_you_mean

    near = other(name, word, verbs) or did_you_mean(word, verbs) or f"; commands: {', '.join(verbs)}"
    return UsageError(f"{name}: unknown command {word!r}{near}")

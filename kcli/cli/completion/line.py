"""A command line that is not finished: which command it is, and what its last word would be."""

from __future__ import annotations

from kcli.cli.completion.place import Place
from kcli.cli.parsing.command import Command, Line
from kcli.cli.parsing.registry import SUBJECTS, declared, subject, verb
from kcli.cli.parsing.resolver import before_command, behind_options, command_first, only_options_before
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.completion.place import Offer
    from kcli.cli.parsing.option import Option
    from kcli.cli.parsing.registry import Verbs

HELP_OFFER = ("--help", "Print help.")
ARGUMENTS = {
    "TOPIC": "topics", "SRC": "topics", "DST": "topics", "DLQ": "topics", "GROUP": "groups", "SOURCE": "groups",
    "TARGET": "groups", "PROFILE": "profiles", "FILE": "files", "PLACE": "places",
    "SHAPE": "shapes", "DIR": "files", "PATH": "files", "WHERE": "files", "KIND": "kinds", "NAME": "named",
    "OTHER": "named", "KEY": "keys", "KEY=VALUE": "assignments", "ID": "ids", "TXN": "transactions",
    "API": "apis", "VOTER": "ids", "BROKER": "ids",
    "OPERATION": "operations", "RESOURCE": "acl kinds", "USER": "users", "TOKEN": "tokens", "PRINCIPAL": "principals",
    "MECHANISM": "mechanisms",
    "FILE|TOPIC": "plans", "WHICH": "asked", "SUBJECT": "subjects", "SCHEMA": "subjects", "CONTEXT": "contexts",
    "FOLDER|FILE": "files", "FOLDER": "files",
    "QUOTA": "quotas", "QUOTA=VALUE": "quota values", "user|client-id|ip": "entities",
}  # fmt: skip
OPTIONS = {
    "bootstrap": "servers", "to_bootstrap": "servers", "profile": "profiles", "to_profile": "profiles",
    "confirm": "profiles", "properties": "properties", "to_properties": "properties", "broker_map": "map",
    "configs": "configs", "states": "states", "types": "types", "compression": "codecs", "offset": "offsets",
    "group": "groups", "from_group": "groups", "trace_file": "files", "report": "files", "groups": "groups",
    "delete_configs": "topic keys", "only": "sections", "operations": "operations", "txn_states": "txn states",
    "columns": "columns", "sort": "columns", "subject": "subjects", "context": "contexts",
    "value_schema": "specs", "key_schema": "specs",
}  # fmt: skip


def split(line: str) -> list[str]:
    """The words of bash's line as far as it is typed, without their quotes; nothing is expanded. The last one is the
    one being typed, "" behind a blank."""
    words, word, quote, escaped = [], "", "", False
    started = False
    for char in line:
        if escaped:
            word, escaped = word + char, False
        elif char == "\\" and quote != "'":
            escaped = started = True
        elif quote:
            word, quote = (word, "") if char == quote else (word + char, quote)
        elif char in "'\"":
            quote, started = char, True
        elif char in " \t\n":
            if started:
                words.append(word)
            word, started = "", False
        else:
            word, started = word + char, True
    return [*words, word]


def place_of(words: list[str]) -> Place:
    """`words` are the program, what follows, and the word being typed."""
    before, text = words[1:-1], words[-1]
    if before[:1] == ["help"]:
        before = before[1:]
    if before and before[0][:1] == "-":
        first = before_command()
        if only_options_before(first, before, len(before)):
            return _in(first, before, text) if text.startswith("-") else Place(offers=_subjects())
        try:
            before = command_first(before)
        except UsageError:
            return _in(first, before, text)  # an option that waits for its value
    if not before:
        offers = [*_subjects(), ("help", "Show help about a command."), ("--version", "")]
        return Place(offers=[*offers, *(_in(before_command(), [], text).offers if text[:1] == "-" else [HELP_OFFER])])
    name = subject(before[0])
    if name is None:
        return Place()
    known, rest = declared(name), before[1:]
    if isinstance(known, Command):
        return _in(known, rest, text)
    if rest and not rest[0].startswith("-"):
        return _behind(known, rest, text)
    behind = behind_options(known, rest)
    if behind is not None:
        return _in(known[behind[0]], behind[1], text)
    alone = known[verb("list", known) or next(iter(known))]
    place = _in(alone, rest, text)
    if not text.startswith("-") and only_options_before(alone, rest, len(rest)):
        place.offers = [(path, command.help) for path, command in known.items() if " " not in path]
    return place


def _subjects() -> list[Offer]:
    return [(name, line) for name, (_, line) in SUBJECTS.items()]


def _behind(verbs: Verbs, rest: list[str], text: str) -> Place:
    """Behind a verb, which may have two words (`features upgrade`)."""
    longer = verbs.get(" ".join(rest[:2])) if len(rest) > 1 else None
    if longer is not None:
        return _in(longer, rest[2:], text)
    named = verb(rest[0], verbs)
    place = _in(verbs[named], rest[1:], text) if named is not None else Place()
    if len(rest) == 1 and not text.startswith("-"):
        seconds = [
            (name.partition(" ")[2], command.help) for name, command in verbs.items() if name.startswith(f"{rest[0]} ")
        ]
        place.offers = [*place.offers, *seconds]
    return place


def _in(command: Command, before: list[str], text: str) -> Place:
    place = _within(command, before, text)
    subject = command.run.split(".")[3:4]
    place.command = ".".join(dict.fromkeys([*subject, *command.name.split(" ")]))
    return place


def _within(command: Command, before: list[str], text: str) -> Place:
    by_flag = command.by_flag
    line, pending, ended = _read(command, by_flag, before)
    if pending is not None:
        return _value(pending, "", text, line)
    if ended or not text.startswith("-"):
        return _word(command, text, line)
    flag, equals, given = text.partition("=")
    if text.startswith("--") and equals:
        option = by_flag.get(flag)
        return _value(option, flag + "=", given, line) if option is not None else Place()
    short = by_flag.get(text[:2])
    if len(text) > 2 and text[1] != "-" and short is not None and short.kind != "flag":
        return _value(short, text[:2], text[2:], line)
    offers: list[Offer] = []
    for option in command.options:
        if not option.hidden and (option.multiple or not line.values.get(option.name)):
            long = [spelling for spelling in option.flags if spelling.startswith("--")]
            offers += [(spelling, option.help) for spelling in (long if len(text) > 2 else long[:1] or option.flags)]
    return Place(offers=[*offers, HELP_OFFER], line=line)


def _read(command: Command, by_flag: dict[str, Option], before: list[str]) -> tuple[Line, Option | None, bool]:
    """What the words before say, as the fast parser reads them, with patience for mistakes; the option that still
    wants its value; whether `--` ended the options."""
    line, pending, ended = command.line(), None, False
    for word in before:
        if pending is not None:
            _put(line, pending, word)
            pending = None
        elif ended or word == "-" or not word.startswith("-"):
            line.words.append(word)
        elif word == "--":
            ended = True
        elif word.startswith("--"):
            flag, equals, given = word.partition("=")
            pending = _take(line, by_flag.get(flag), given if equals else None)
        else:
            for at in range(1, len(word)):
                option = by_flag.get(f"-{word[at]}")
                if option is None or option.kind != "flag":
                    pending = _take(line, option, word[at + 1 :] or None)
                    break
                _put(line, option, "")
    return line, pending, ended


def _take(line: Line, option: Option | None, given: str | None) -> Option | None:
    """Store a value, or return the option that waits for one."""
    if option is None or (given is None and option.kind != "flag"):
        return option
    _put(line, option, given or "")
    return None


def _put(line: Line, option: Option, text: str) -> None:
    if option.kind == "flag":
        line.values[option.name] = True
        return
    several = line.values.get(option.name)
    if option.multiple and isinstance(several, list):
        several.append(text)
    else:
        line.values[option.name] = text


def _value(option: Option, prefix: str, text: str, line: Line) -> Place:
    offers = [(prefix + choice, "") for choice in option.choices]
    kind = "" if option.choices else kind_of(option)
    return Place(offers=offers, kind=kind, prefix=prefix, text=text, option=option, line=line)


def _word(command: Command, text: str, line: Line) -> Place:
    """An argument: TOPIC, [FILE]..., kcat|kaf|…; the last one stands for all that follow."""
    if not command.words or command.run in NEW:
        return Place(line=line)
    expected = command.words.split()
    argument = expected[min(len(line.words), len(expected) - 1)].strip("[].").partition("[")[0]
    if "|" in argument and argument not in ARGUMENTS:
        return Place(offers=[(choice, "") for choice in argument.split("|")], line=line)
    return Place(kind=ARGUMENTS.get(argument, ""), text=text, line=line)


NEW = ("kcli.cli.commands.topics.create:create",)
"""Whose arguments are names that do not exist yet."""


def kind_of(option: Option) -> str:
    """What an option's value names."""
    metavar = option.metavar.partition("[")[0]
    if option.name in OPTIONS:
        return OPTIONS[option.name]
    if metavar == "WHERE":
        return "offsets"
    return ARGUMENTS.get(metavar, "")

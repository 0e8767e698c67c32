"""The parts of a command's help: what Typer and Rich print, and the man page, the reference and JSON too.

`--help` explains a command's own options; those that many commands share are named behind it (`folded`), and explained
by `--help-all`.
"""

from __future__ import annotations

from kcli.cli.parsing.help.topics import see_also

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option
    from kcli.cli.parsing.registry import Verbs

EXAMPLES = "\n\n\b\n"
"""The line of a description before its examples."""
OWN = "Options"
LAST = "Connection"
CLUSTER = " (-b HOST:PORT, --profile NAME, -X KEY=VALUE)"
PLAN = "Plan"
LINES, WIDTH = 50, 80
"""The limits of a --help page: 50 lines on a terminal of 80 columns."""
FRAME = 13
"""How many of its lines are borders, blank lines, usage and --help itself."""
LEAD, SHOWN = 6, 7
"""--help cuts a description of more than LEAD lines to its first paragraph, and examples to SHOWN lines."""
NAMED = 16
"""Choices of up to 16 columns are shown in place of a metavar."""


def about(command: Command, everything: bool) -> str:
    """What a command does, then examples, as Rich's markup."""
    parts = [part for part in command.description.split("\n\n") if part.strip("\b\n")]
    prose = [" ".join(part.split()) for part in parts if not part.startswith("\b")]
    code = [part.split("\n")[1:] for part in parts if part.startswith("\b")]
    if everything and command.details:
        prose += [" ".join(part.split()) for part in command.details.replace("\b\n", "").split("\n\n")]
    elif sum(map(_height, prose)) > LEAD:
        del prose[1:]
    shown = [escape(part) for part in prose]
    for title, *lines in code if everything else sorted(code, key=lambda lines: "Example" not in lines[0])[:1]:
        fit = list(fitted([line.removeprefix("  ") for line in lines], columns() - 2))
        shown.append("\n".join([f"[bold]{escape(title)}[/]", *map(escape, fit if everything else fit[:SHOWN])]))
    return "\n\n".join(shown)


def explained_first(command: Command) -> set[str]:
    """The options that --help explains: those of the plan, then the command's own, as long as the page has room."""
    panels = {title: [one for one in every if not one.folded] for title, every in by_panel(command.options).items()}
    every = [option for options in panels.values() for option in options]
    left = 4 + max((len("".join(spellings(option)[-1:]) + value_of(option)) for option in every), default=0) + 9
    about_lines = about(command, False).split("\n")
    room = LINES - FRAME - sum(map(_height, about_lines)) - _height(", ".join(o.flags[0] for o in panels[OWN]))
    chosen: set[str] = set()
    for title in sorted(panels, key=lambda title: title != PLAN):
        room -= 2 * bool(panels[title])
        for option in panels[title]:
            room -= _height(explained(option), WIDTH - left)
            if room >= 0:
                chosen.add(option.name)
    return chosen


def _height(text: str, width: int = 78) -> int:
    """How many lines a text takes."""
    from textwrap import wrap

    return len(wrap(text, max(width, 20))) or 1


def foot(path: str, command: Command, shown: set[str]) -> str:
    """The last lines of --help: the options that are not `shown`, and where they are explained."""
    lines = []
    panels = by_panel(command.options)
    names = [option.flags[0] for option in panels[OWN] if option.name not in shown]
    if names:
        lines.append(f"[bold]More[/]: {', '.join(names)}")
    titles = [title for title, every in panels.items() if title != OWN and not {o.name for o in every} <= shown]
    if titles:
        lines.append(f"[bold]More under[/] {', '.join(titles)}{CLUSTER * (LAST in titles)}")
    more = [f"[bold]kcli {path} --help-all[/] explains every option."] if lines or command.details else []
    if topics := see_also(command):
        more.append(f"See also: [bold]kcli help {', '.join(topics)}[/].")
    return "\n".join([*lines, " ".join(more)])


def group_foot(name: str, commands: Verbs) -> str:
    """An example of the first commands of a group."""
    every = [line for command in commands.values() for line in _first_example(command)][:5]
    lines = [escape(line) for line in fitted(every, columns() - 4)]
    examples = ["[bold]Examples[/]", *(f"  {line}" for line in lines), ""] if lines else []
    return "\n".join([*examples, f"[bold]kcli {name} COMMAND --help[/] shows a command's options."])


def _first_example(command: Command) -> list[str]:
    lines = command.description.partition(EXAMPLES)[2].split("\n")[1:2]
    return [line.split("  #")[0].strip() for line in lines]


def escape(text: str) -> str:
    """Text that is no markup of Rich's."""
    return text.replace("[", r"\[")


def columns() -> int:
    """How wide help is drawn: as the terminal, from 60 to 100 columns; 80 in a pipe."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((80, 24)).columns, 60), 100)


def by_panel(options: Iterable[Option]) -> dict[str, list[Option]]:
    """Options by the titles of their panels: the command's own first, the connection last."""
    panels: dict[str, list[Option]] = {OWN: []}
    for option in options:
        if not option.hidden:
            panels.setdefault(option.panel or OWN, []).append(option)
    last = panels.pop(LAST, None)
    return panels if last is None else panels | {LAST: last}


def arguments(command: Command) -> str:
    """How usage shows the arguments of a command: as they are declared, and one that may be repeated or left out in
    brackets; "" where it takes none."""
    words = command.words
    return words if not words or words[0] == "[" or " " in words else f"[{words.removesuffix('...')}]..."


def spellings(option: Option) -> list[str]:
    """`-c`, `--count`: the first short one and the first long one."""
    short = [flag for flag in option.flags if not flag.startswith("--")]
    long = [flag for flag in option.flags if flag.startswith("--")]
    return [*short[:1], *long[:1]]


def others(option: Option) -> str:
    """The other spellings of an option, for --help-all; "" where it has none."""
    more = [flag for flag in (*option.flags, *option.also) if flag not in spellings(option)]
    return f" Also {', '.join(more)}." if more else ""


def value_of(option: Option) -> str:
    """How help shows the value of an option: its metavar or its choices, in brackets where the value may be left out;
    "" for a switch."""
    if option.kind == "flag":
        return ""
    choices = "|".join(option.choices)
    if option.alone:
        return f"[{option.metavar}]"
    return option.metavar or (choices if len(choices) <= NAMED else option.name.split("_")[-1].upper())


def explained(option: Option) -> str:
    """The help of an option, followed by its choices where the help and the metavar do not name them."""
    unnamed = [choice for choice in option.choices if choice not in option.help]
    if not unnamed or value_of(option) == "|".join(option.choices):
        return option.help
    return f"{option.help.rstrip('.')} ({', '.join(option.choices)})."


# Examples in lines that fit: comments in one column where there is room, else behind their command or above it.


BEFORE = "  # "
"""What parts a comment from its command."""


def fitted(lines: list[str], width: int) -> Iterator[str]:
    """The lines of an example block, of at most `width` columns: a longer command is continued on the next line, as in
    a shell."""
    pairs = [_parted(line) for line in lines]
    column = _column([pair for pair in pairs if pair[1]], width)
    for line, comment in pairs:
        if not comment:
            yield from continued(line, width)
        elif _fits(column, line, comment, width):
            yield f"{line:<{column}}{BEFORE}{comment}"
        elif _fits(len(line), line, comment, width):
            yield f"{line}{BEFORE}{comment}"
        else:
            yield f"{line[: len(line) - len(line.lstrip())]}# {comment}"
            yield from continued(line, width)


def continued(line: str, width: int) -> list[str]:
    """A command in lines of at most `width` columns, each but the last with a backslash at its end. It is broken in
    front of options and pipes, else at any space; never in quotes."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    lines, rest = [], line
    while len(rest) > width:
        every = [place for place in _spaces(rest) if place > len(indent)]
        places = [place for place in every if place <= width - 2]
        better = [place for place in places if rest[place + 1] in "-|>" and place > width // 2]
        if not every:
            break
        place = max(better or places, default=every[0])
        lines.append(f"{rest[:place].rstrip()} \\")
        rest = f"{indent}  {rest[place + 1 :].lstrip()}"
    return [*lines, rest]


def _spaces(line: str) -> list[int]:
    """The places of spaces that part words, as a shell sees them."""
    places, quote = [], ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == " " and line[:place].strip():
            places.append(place)
    return places


def _column(pairs: list[tuple[str, str]], width: int) -> int:
    """The column at which most comments have room, the least of several."""
    columns = sorted({len(line) for line, _ in pairs})
    return max(columns, key=lambda column: sum(_fits(column, *pair, width) for pair in pairs), default=0)


def _fits(column: int, line: str, comment: str, width: int) -> bool:
    return len(line) <= column and column + len(BEFORE + comment) <= width


def _parted(line: str) -> tuple[str, str]:
    """A command and its comment, "" where it has none."""
    command, _, comment = line.partition(" # ")
    return (command.rstrip(), comment) if command.strip() else (line, "")

"""The help of one command and of a group of commands, from the generated tables; it imports no command.

`--help` shows what the command is about, examples, and its options by panels; panels that many commands share are
folded to the names of their options, the connection last. `--help-all` shows every option and every spelling.
"""

from __future__ import annotations

from kcli.cli.parsing.help.examples import fitted
from kcli.cli.parsing.help.topics import see_also

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option
    from kcli.cli.parsing.registry import Verbs

EXAMPLES = "\n\n\b\n"
"""The line of a description before its examples."""
OWN = "Options"
LAST = "Connection"
LEFT = 26
"""The most columns for an option's spellings; longer ones have a line of their own."""
NAMED = 24
"""The most columns that the choices of an option may take in place of a metavar."""


def page(path: str, command: Command, width: int, everything: bool = False) -> str:
    """The help of the command `path`, in lines of at most `width` columns, except commands that are longer."""
    about, _, examples = command.description.partition(EXAMPLES)
    arguments = f" [{command.words.removesuffix('...')}]..." if command.words else ""
    usage = f"Usage: kcli {path} "
    lines = [*_row(usage, f"[OPTIONS]{arguments}", width), "", *_paragraphs(about, width)]
    if examples:
        lines += ["", *fitted(examples.split("\n"), width)]
    if command.details and everything:
        lines += ["", *_paragraphs(command.details, width)]
    panels = by_panel(command.options)
    for title, options in panels.items():
        lines += _panel(title, [option for option in options if everything or not option.folded], width, everything)
    if not everything:
        lines += ["", *_folded(panels, width)]
    lines += ["", *_more(path, command, width, everything)]
    return "\n".join(lines) + "\n"


def group_page(name: str, about: str, verbs: Verbs, width: int) -> str:
    """The help of a group: its commands, a line each, and an example of the first ones."""
    column = max(map(len, verbs))
    rows = [row for verb, command in verbs.items() for row in _row(f"  {verb:<{column}}  ", command.help, width)]
    examples = [line for command in verbs.values() for line in _first_example(command)][:5]
    lines = [f"Usage: kcli {name} COMMAND [ARGUMENTS]", "", *_paragraphs(about, width)]
    if examples:
        lines += ["", "Examples:", *fitted([f"  {line}" for line in examples], width)]
    lines += ["", "Commands:", *rows, "", f"`kcli {name} COMMAND --help` shows a command's options."]
    return "\n".join(lines) + "\n"


def shown(path: str, command: Command, words: list[str]) -> str:
    """What a command line prints that asks for help: the page, the whole page or JSON."""
    if "--help-json" in words:
        from kcli.cli.parsing.help.as_json import document

        return document(path, command)
    return page(path, command, columns(), "--help-all" in words)


def columns() -> int:
    """How wide help is drawn: as the terminal, from 60 to 100 columns; 80 in a pipe."""
    from shutil import get_terminal_size

    return min(max(get_terminal_size((80, 24)).columns, 60), 100)


def by_panel(options: tuple[Option, ...]) -> dict[str, list[Option]]:
    """Options by the titles of their panels: the command's own first, the connection last."""
    panels: dict[str, list[Option]] = {OWN: []}
    for option in options:
        if not option.hidden:
            panels.setdefault(option.panel or OWN, []).append(option)
    last = panels.pop(LAST, None)
    return panels if last is None else panels | {LAST: last}


def _panel(title: str, options: list[Option], width: int, everything: bool) -> list[str]:
    if not options:
        return []
    left = [_spelling(option, everything) for option in options]
    column = min(max(map(len, left)), LEFT)
    lines = ["", f"{title}:"]
    for spelling, option in zip(left, options):
        text = explained(option)
        if len(spelling) > column:
            lines += _row("  ", spelling, width)
            lines += _row(" " * (column + 4), text, width)
        else:
            lines += _row(f"  {spelling:<{column}}  ", text, width)
    return lines


def _folded(panels: dict[str, list[Option]], width: int) -> list[str]:
    """The folded options of each panel, in as few lines as their shortest spellings take."""
    lines = []
    for title, options in panels.items():
        folded = [f"{option.flags[0]} {value_of(option)}".rstrip() for option in options if option.folded]
        if folded:
            names = ", ".join(name.replace(" ", "\0") for name in folded)
            heading = "More" if title == OWN else title
            lines += [line.replace("\0", " ") for line in _row(f"{heading}: ", names, width, "  ")]
    return lines


def _spelling(option: Option, everything: bool) -> str:
    """`-c, --count N`; every spelling where `everything` is shown."""
    short = [flag for flag in option.flags if not flag.startswith("--")]
    long = [flag for flag in option.flags if flag.startswith("--")]
    flags = [*option.flags, *option.also] if everything else [*short[:1], *long[:1]]
    return f"{', '.join(flags)} {value_of(option)}".rstrip()


def value_of(option: Option) -> str:
    """What stands for the value of an option: its metavar or its choices, in brackets where the value may be missing;
    "" for a switch."""
    choices = "|".join(option.choices)
    if option.alone:
        return f"[{option.metavar}]"
    return option.metavar or (choices if len(choices) <= NAMED else option.name.upper() if choices else "")


def explained(option: Option) -> str:
    """The help of an option, with those of its choices that are named neither before it nor in it."""
    unnamed = [choice for choice in option.choices if choice not in option.help]
    if not unnamed or value_of(option) == "|".join(option.choices):
        return option.help
    return f"{option.help.rstrip('.')} ({', '.join(option.choices)})."


def _more(path: str, command: Command, width: int, everything: bool) -> Iterator[str]:
    topics = see_also(command)
    if not everything and (command.details or any(option.folded for option in command.options)):
        yield from _row("", f"`kcli {path} --help-all` explains every option.", width)
    if topics:
        yield from _row("", f"See also: kcli help {', '.join(topics)}.", width)


def _first_example(command: Command) -> list[str]:
    lines = command.description.partition(EXAMPLES)[2].split("\n")[1:2]
    return [line.split("  #")[0].strip() for line in lines]


def _paragraphs(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for paragraph in text.replace("\b\n", "").split("\n\n"):
        lines += ["", *_row("  ", " ".join(paragraph.split()), width)]
    return lines[1:]


def _row(head: str, text: str, width: int, indent: str | None = None) -> list[str]:
    """Text after `head`, broken between words, with what follows under its beginning."""
    from textwrap import wrap

    under = " " * len(head) if indent is None else indent
    return wrap(
        text, width - 1, initial_indent=head, subsequent_indent=under, break_long_words=False, break_on_hyphens=False
    ) or [head.rstrip()]

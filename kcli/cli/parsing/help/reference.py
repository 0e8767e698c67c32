"""`make reference`: docs/reference, a page for each subject and each topic of the help, from the declarations."""

from __future__ import annotations

import functools
import re
from collections import Counter
from pathlib import Path

from kcli.cli.parsing.help import properties
from kcli.cli.parsing.help.blocks import Block, codes, description, panels, usage
from kcli.cli.parsing.help.text import LAST, explained, value_of
from kcli.cli.parsing.help.topics import EXIT_CODES, TOPICS, see_also
from kcli.cli.parsing.registry import ALIASES, SECTIONS, SUBJECTS, declared, every
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.cli.output.tables.shape import Section
    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option

FOLDER = Path(__file__).parents[4] / "docs/reference"
NOTE = "\n<!-- Made by `make reference`; do not edit. -->\n"
"""Below the text: a page begins with its title, which the site's menu shows."""
INDEX = """# Commands

A page for each command, made of what `kcli COMMAND --help-all` prints. The same as JSON: `kcli help --json`.
Options that most commands share are on the page [connection](connection.md), the properties for `-X` are on the page
[properties](properties.md).

"""
CONNECTION = """# Connection

Options of all commands that connect to a cluster. You can also place them before the command. The page
[clusters](help/clusters.md) explains which cluster is used if you give none of them.

"""
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w.-]*\w|-[A-Za-z](?![\w-]))")
"""An option in a text."""
KINDS = {"moment": "integer", "duration": "number", "strings": "array of strings", "integers": "array of integers"}
"""Kinds of columns that JSON has no word for. A moment is milliseconds since 1970, a duration seconds."""


def pages() -> dict[str, str]:
    """The text of each page by its name in `docs/reference`."""
    made = {f"{name}.md": _subject(name) for name in SUBJECTS}
    made |= {f"help/{name}.md": _topic(name) for name in TOPICS}
    made |= {"README.md": _index(), "connection.md": _connection(), "properties.md": properties.page()}
    return {name: text + NOTE for name, text in made.items()}


def write(folder: Path = FOLDER) -> None:
    """Write the pages that changed, and delete those of what is gone."""
    wanted = {folder / name: text for name, text in pages().items()}
    for path in folder.rglob("*.md"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def nav(text: str) -> str:
    """`mkdocs.yml` with the pages under `Reference` in its menu, which end where the next part begins."""
    sections = SECTIONS | {"Topics": tuple(f"help/{name}" for name in TOPICS)}
    lines = [f"      - reference/{name}.md" for name in ("README", "connection", "properties")]
    for title, names in sections.items():
        lines += [f"      - {title}:", *(f"          - reference/{name}.md" for name in names)]
    before, commands, after = text.partition("  - Reference:\n")
    rest = re.search(r"^  - ", after, re.MULTILINE)
    return before + commands + "\n".join(lines) + "\n" + (after[rest.start() :] if rest else "")


def write_all() -> None:
    """The pages, and the menu of the site."""
    write()
    menu = FOLDER.parents[1] / "mkdocs.yml"
    text = menu.read_text()
    if nav(text) != text:
        menu.write_text(nav(text))


def _index() -> str:
    parts = [
        _rows(title, {f"{name}.md": (f"kcli {name}", SUBJECTS[name][1]) for name in names})
        for title, names in SECTIONS.items()
    ]
    topics = {f"help/{name}.md": (f"kcli help {name}", about) for name, (about, _) in TOPICS.items()}
    return INDEX + "\n".join([*parts, _rows("Topics", topics)])


def _rows(title: str, rows: dict[str, tuple[str, str]]) -> str:
    lines = "".join(f"| [`{name}`]({link}) | {_escape(about)} |\n" for link, (name, about) in rows.items())
    return f"## {title}\n\n| | |\n|---|---|\n{lines}"


def _connection() -> str:
    return CONNECTION + "\n".join(_option(option) for option in shared_connection()) + "\n"


@functools.cache
def shared_connection() -> list[Option]:
    """The options of the connection that most commands have."""
    found = Counter(tuple(panels(command).get(LAST, ())) for _, command in every())
    return next(list(options) for options, _ in found.most_common() if options)


def _topic(name: str) -> str:
    about, text = TOPICS[name]
    return f"# {name}\n\n{_escape(about)} Printed by `kcli help {name}`.\n\n{_fence('text', text.split(chr(10)))}"


def _subject(name: str) -> str:
    commands = declared(name)
    also = sorted(word for word, meant in ALIASES.items() if meant == name)
    head = f"# kcli {name}\n\n{_escape(SUBJECTS[name][1])}"
    head += f" Also: {', '.join(f'`kcli {word}`' for word in also)}.\n" if also else "\n"
    if not isinstance(commands, dict):
        return f"{head}\n{_command(name, commands, '##')}"
    named = {
        f"#{_anchor(f'kcli {name} {verb}')}": (f"{name} {verb}", command.help) for verb, command in commands.items()
    }
    parts = [
        f"## kcli {name} {verb}\n\n{_command(f'{name} {verb}', command, '###')}" for verb, command in commands.items()
    ]
    return "\n".join([head, _rows("Commands", named), *parts])


def _command(path: str, command: Command, level: str) -> str:
    about, examples = description(command)
    parts = [_fence("text", [usage(path, command)]), *map(_block, about), *map(_block, examples)]
    for title, options in panels(command).items():
        if title == LAST and options == shared_connection():
            names = ", ".join(f"`{option.flags[0]}`" for option in options)
            parts.append(f"{level} {title}\n\n[Explained together](connection.md): {names}.\n")
        else:
            parts.append(f"{level} {title}\n\n" + "\n".join(map(_option, options)) + "\n")
    parts += [f"{level} Exit codes\n\n{_codes(command)}", *_json(path, level)]
    if topics := see_also(command):
        parts.append(f"See also: {', '.join(f'[{topic}](help/{topic}.md)' for topic in topics)}.\n")
    return "\n".join(parts)


def _option(option: Option) -> str:
    spellings = [f"`{flag}`" for flag in (*option.flags, *option.also)]
    value = value_of(option)
    if value:
        spellings[-1] = f"{spellings[-1][:-1]} {value}`"
    limits = [f"from {option.least}"] if option.least is not None else []
    limits += [f"to {option.most}"] if option.most is not None else []
    limits += ["repeatable"] if option.multiple and "epeatable" not in option.help else []
    noted = f" ({', '.join(limits)})" if limits else ""
    return f"- {', '.join(spellings)}{noted}: {_escape(explained(option))}"


def _codes(command: Command) -> str:
    shared, told = codes(command)
    meanings = {int(code): text for code, text in re.findall(r"^  (\d)\s+(.+)$", EXIT_CODES, re.MULTILINE)}
    first = "; ".join(f"`{code}` {meanings[code].split(':')[0].split(',')[0]}" for code in shared)
    lines = [f"- {f'`{flag}`: ' if flag else ''}{_escape(sentence)}" for flag, sentence in told]
    return "\n".join([f"{first}. [All exit codes](help/exit-codes.md).", *([""] if lines else []), *lines]) + "\n"


def _json(path: str, level: str) -> Iterator[str]:
    from kcli.cli.commands.schema import find

    try:
        shape = find(path.split())
    except UsageError:
        return
    yield f"{level} JSON\n\n`--format json` prints a document of the schema `{shape.id}` (`kcli schema {path}`).\n"
    yield from (_section(section) for section in shape.sections)


def _section(section: Section) -> str:
    rows = "".join(
        f"| `{column.name}` | {KINDS.get(column.kind, column.kind)}{' or null' if column.null else ''} "
        f"| {_escape(column.about)} |\n"
        for column in section.columns
    )
    return f"In each row of `{section.name}`:\n\n| field | type | meaning |\n|---|---|---|\n{rows}"


def _block(block: Block) -> str:
    if not block.code:
        return f"{_escape(block.text)}\n"
    shell = block.text.startswith("Example")
    return f"{_escape(block.text)}\n\n{_fence('sh' if shell else 'yaml', block.code)}"


def _fence(language: str, lines: list[str] | tuple[str, ...]) -> str:
    body = "\n".join(lines).rstrip("\n")
    return f"```{language}\n{body}\n```\n"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w-]+", "-", title.lower())


def _escape(text: str) -> str:
    """Text between Markdown's own signs. Outside of `code`, what Markdown would read as a sign stays what it is, and
    options become code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _plain(part) for part in parts)


def _plain(text: str) -> str:
    parts = OPTION.split(text)
    signs = (re.sub(r"([\\*_<>|\[\]])", r"\\\1", part) for part in parts[::2])
    named = [f"`{part}`" for part in parts[1::2]]
    return "".join(part for pair in zip(signs, [*named, ""]) for part in pair)


if __name__ == "__main__":
    write_all()

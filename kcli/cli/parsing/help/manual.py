"""`python -m kcli.cli.parsing.help.manual FOLDER`: the man pages, of the same declarations as the help.

A page for kcli, for each subject (`man kcli-consume`) and in section 7 for each topic (`man 7 kcli-offsets`). No
command is imported: wheels are built where nothing is installed.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from kcli.cli.parsing.help.blocks import Block, codes, description, panels, usage
from kcli.cli.parsing.help.text import LAST, OWN, explained, value_of
from kcli.cli.parsing.help.topics import EXIT_CODES, TOPICS, see_also
from kcli.cli.parsing.registry import SECTIONS, SUBJECTS, declared, shapes
from kcli.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option

ABOUT = "command line, dashboard and sandbox for Apache Kafka"
INTRODUCTION = (
    "`kcli COMMAND --help` shows a command with examples, `kcli COMMAND --help-all` every option, `kcli help TOPIC` "
    "what many commands share. `kcli sandbox` starts a broker to try with."
)
FILES = {
    "~/.config/kcli/config.toml": "Profiles: clusters by name. `kcli config add` writes it.",
    ".kcli.toml": "Profiles of a project, up to the root of its repository.",
    "~/.config/kcli/keys.toml": "Keys of the dashboard.",
    "~/.local/state/kcli/journal": "The changes that were made, for `kcli history` and `kcli undo`.",
}
ENVIRONMENT = {
    "KCLI_BOOTSTRAP": "Servers of the cluster, HOST:PORT,…",
    "KCLI_PROFILE": "The profile.",
    "KCLI_*": "A property of Kafka, such as KCLI_SASL_USERNAME.",
    "NO_COLOR": "No colours.",
}


def pages(date: str) -> dict[str, str]:
    """The text of each page by its file name."""
    made = {"kcli.1": _top(date)}
    made |= {f"kcli-{name}.1": _subject(name, date) for name in SUBJECTS}
    return made | {f"kcli-{name}.7": _topic(name, date) for name in TOPICS}


def write(folder: Path, epoch: int | None = None) -> list[Path]:
    """Write the pages into a folder, dated; returns their files."""
    date = (datetime.fromtimestamp(epoch, UTC) if epoch is not None else datetime.now(UTC)).strftime("%Y-%m-%d")
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in pages(date).items():
        (folder / name).write_text(text, encoding="ascii")
        made.append(folder / name)
    return made


def _page(parts: list[str]) -> str:
    """A page of its parts; a paragraph directly under a heading begins by itself."""
    return re.sub(r"^(\.S[HS] .*)\n\.PP$", r"\1", "\n".join(parts), flags=re.MULTILINE) + "\n"


def _head(name: str, section: int, about: str, date: str) -> list[str]:
    first = about.rstrip(".")
    return [
        '.\\" Made of the declarations of the commands.',
        f'.TH {name.upper()} {section} {date} "kcli {__version__}" "kcli"',
        f".SH NAME\n{_text(name)} \\- {_text(first[:1].lower() + first[1:])}",
    ]


def _top(date: str) -> str:
    parts = [*_head("kcli", 1, ABOUT, date), ".SH SYNOPSIS\n\\fBkcli\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]"]
    parts.append(f".SH DESCRIPTION\n{_text(INTRODUCTION)}")
    for title, names in SECTIONS.items():
        parts.append(f".SH {_text(title.upper())}")
        parts += [_item(f"\\fBkcli\\-{_text(name)}\\fR(1)", SUBJECTS[name][1]) for name in names]
    parts.append(".SH TOPICS")
    parts += [_item(f"\\fBkcli\\-{_text(name)}\\fR(7)", about) for name, (about, _) in TOPICS.items()]
    parts.append(".SH EXIT STATUS")
    parts += [_item(code, text) for code, text in _codes().items()]
    for title, rows in (("FILES", FILES), ("ENVIRONMENT", ENVIRONMENT)):
        parts.append(f".SH {title}")
        parts += [_item(f"\\fB{_text(name)}\\fR", text) for name, text in rows.items()]
    return _page(parts)


def _subject(name: str, date: str) -> str:
    commands = declared(name)
    parts = _head(f"kcli-{name}", 1, SUBJECTS[name][1], date)
    if not isinstance(commands, dict):
        parts.append(f".SH SYNOPSIS\n{_usage(name, commands)}")
        parts += _command(name, commands, ".SH DESCRIPTION", (".SH {}", ".SS {}"))
        return _page([*parts, *_also(see_also(commands))])
    usages = [_usage(f"{name} {verb}", command) for verb, command in commands.items()]
    parts += [".SH SYNOPSIS", "\n.br\n".join(usages)]
    connection: list[Option] = []
    for verb, command in commands.items():
        title = f"kcli {name} {verb}"
        parts += _command(f"{name} {verb}", command, f".SH {_quoted(title.upper())}", ("", ".SS {}"))
        connection = max(connection, panels(command).get(LAST, []), key=len)
    if connection:
        parts += [
            f".SH {LAST.upper()}",
            "Options of all commands that connect to a cluster.",
            *map(_option, connection),
        ]
    topics = {topic for command in commands.values() for topic in see_also(command)}
    return _page([*parts, *_also([topic for topic in TOPICS if topic in topics])])


def _command(path: str, command: Command, title: str, headings: tuple[str, str]) -> list[str]:
    """The sections of a command. A command among others has no heading over its options, and no connection."""
    above, panel = headings
    about, examples = description(command)
    parts = [title, *(text for block in about for text in _block(block))]
    if above:
        parts.append(above.format("OPTIONS"))
    for name, options in panels(command).items():
        if above or name != LAST:
            parts += [panel.format(_quoted(name))] if name != OWN or not above else []
            parts += map(_option, options)
    shared, told = codes(command)
    parts.append((above or panel).format(_quoted("EXIT STATUS" if above else "Exit status")))
    parts.append(_text(f"{', '.join(map(str, shared))}: see `man 7 kcli-exit-codes`."))
    parts += [_item(f"\\fB{_text(flag)}\\fR", text) if flag else f".PP\n{_text(text)}" for flag, text in told]
    if path.replace(" ", ".") in shapes():
        parts.append(f".PP\n{_text(f'`kcli schema {path}` prints the schema of its JSON.')}")
    for block in examples:
        parts += [(above or panel).format(_quoted("EXAMPLES" if above else "Examples")), _code(block.code)]
    return parts


def _usage(path: str, command: Command) -> str:
    words = usage(path, command).removeprefix(f"kcli {path}").strip()
    return f"\\fBkcli {_text(path)}\\fR {_text(words)}"


def _option(option: Option) -> str:
    flags = ", ".join(f"\\fB{_text(flag)}\\fR" for flag in (*option.flags, *option.also))
    value = value_of(option)
    repeatable = " Repeatable." if option.multiple and "epeatable" not in option.help else ""
    return _item(f"{flags} \\fI{_text(value)}\\fR" if value else flags, explained(option) + repeatable)


def _topic(name: str, date: str) -> str:
    about, text = TOPICS[name]
    lines = tuple(text.rstrip("\n").split("\n"))
    parts = [*_head(f"kcli-{name}", 7, about, date), ".SH DESCRIPTION", _code(lines, indent="-7")]
    return _page([*parts, *_also([])])


def _also(topics: list[str]) -> list[str]:
    pages = [("kcli", 1), *((f"kcli-{topic}", 7) for topic in topics)]
    return [".SH SEE ALSO", ",\n".join(f"\\fB{_text(name)}\\fR({section})" for name, section in pages)]


def _codes() -> dict[str, str]:
    return dict(re.findall(r"^  (\d+)\s+(.+)$", EXIT_CODES, re.MULTILINE))


def _block(block: Block) -> Iterable[str]:
    yield f".PP\n{_text(block.text)}"
    if block.code:
        yield _code(block.code)


def _code(lines: tuple[str, ...], indent: str = "2") -> str:
    """Lines as they are. A topic has lines of 80 columns: it begins at the left edge."""
    shown = "\n".join(_escape(line) for line in lines)
    return f".PP\n.RS {indent}\n.nf\n{shown}\n.fi\n.RE"


def _item(name: str, text: str) -> str:
    return f".TP\n{name}\n{_text(text)}"


def _quoted(title: str) -> str:
    return f'"{_text(title)}"' if " " in title else _text(title)


def _text(text: str) -> str:
    """A text for roff; what is in `backticks` is bold."""
    parts = re.split(r"`([^`]*)`", text)
    return "".join(f"\\fB{_escape(part)}\\fR" if n % 2 else _escape(part) for n, part in enumerate(parts))


SIGNS = {"\\": "\\e", "-": "\\-", "^": "\\(ha", "~": "\\(ti", "`": "\\(ga", "'": "\\(aq", '"': "\\(dq"}


def _escape(text: str) -> str:
    """Text in which roff finds no sign of its own: neither escapes, nor a request at its beginning."""
    shown = "".join(SIGNS.get(sign, sign if sign < "\x7f" else f"\\[u{ord(sign):04X}]") for sign in text)
    return f"\\&{shown}" if shown.startswith(".") else shown


def main() -> None:
    """Write the pages of today into the folder that the command line names."""
    write(Path(sys.argv[1]))


if __name__ == "__main__":
    main()

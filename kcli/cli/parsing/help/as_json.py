"""`--help-json`: the declaration of a command, or of all, for programs."""

from __future__ import annotations

import json

from kcli.cli.parsing.registry import SECTIONS, declared, every, subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.command import Command
    from kcli.cli.parsing.option import Option
    from kcli.cli.parsing.resolver import Chosen

VERSION = 1


def document(words: list[str], chosen: Chosen | None) -> str:
    """One command, or those of the group that a line names."""
    if chosen is not None:
        command, _, path = chosen
        shown = _command(path, command)
    else:
        name = subject(words[0]) or words[0]
        verbs = declared(name)
        assert isinstance(verbs, dict)
        shown = {"commands": [_command(f"{name} {verb}", command) for verb, command in verbs.items()]}
    return json.dumps({"version": VERSION, **shown}, indent=2, ensure_ascii=False) + "\n"


def all_commands() -> str:
    """Every command, under the headings of the help."""
    sections = {name: title for title, names in SECTIONS.items() for name in names}
    commands = [{**_command(path, command), "section": sections.get(path.split()[0])} for path, command in every()]
    return json.dumps({"version": VERSION, "commands": commands}, indent=2, ensure_ascii=False) + "\n"


def _command(path: str, command: Command) -> dict[str, object]:
    about, _, examples = command.description.partition("\n\n\b\n")
    lines = [line.strip() for line in examples.split("\n")[1:]]
    return {
        "command": path,
        "about": " ".join(about.split("\n\n")[0].split()),
        "description": "\n\n".join(text for text in (about, command.details) if text),
        "arguments": command.words or None,
        "examples": [line for line in lines if line],
        "options": [_option(option) for option in command.options if not option.hidden],
    }


def _option(option: Option) -> dict[str, object]:
    return {
        "name": option.name,
        "spellings": list(option.flags),
        "also": list(option.also),
        "type": {"flag": "boolean", "int": "integer", "text": "string"}[option.kind],
        "repeatable": option.multiple,
        "value": option.metavar or None,
        "value_if_omitted": option.alone or None,
        "choices": list(option.choices) or None,
        "minimum": option.least,
        "maximum": option.most,
        "panel": option.panel or "Options",
        "help": option.help,
    }

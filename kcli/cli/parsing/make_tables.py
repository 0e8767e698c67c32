"""`make tables`: the table of `table.py`, from the declarations of the commands, a module for each subject."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.output.tables.shape import every_column
from kcli.cli.parsing.command import DECLARED, Command, options_of
from kcli.cli.parsing.declarations import commands_of
from kcli.cli.parsing.registry import SUBJECTS, modules
from kcli.cli.parsing.table import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.cli.parsing.option import Option, Options

HEAD = '''"""The commands of `kcli {name}`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

SOURCES = {sources}
'''
SHARED = "kcli.cli.parsing.shared"
EVERYWHERE = (SHARED, *(f"kcli.cli.parsing.{name}" for name in ("registry", "declarations", "command", "option")))
"""Sources of every table."""


def write(folder: Path | None = None, *, installed: bool = False) -> None:
    """Write the table into `folder`, by default that of this package. The table of an installation is not compared with
    its sources, which nobody edits there."""
    folder = folder or Path(PACKAGE, "cli/parsing/tables")
    folder.mkdir(parents=True, exist_ok=True)
    for name in SUBJECTS:
        text = _table(name, () if installed else _stamps(_sources(name)))
        folder.joinpath(f"{name}.py").write_text(text)
    everything = {module for name in SUBJECTS for module in modules(name)}
    stamps = () if installed else _stamps(everything)
    folder.joinpath("shapes.py").write_text(f"SOURCES = {stamps!r}\nCOLUMNS = {every_column()!r}\n")


def _table(name: str, sources: tuple[tuple[str, int, int], ...]) -> str:
    options: dict[Option, str] = {}
    rows = []
    for path, command in commands_of(name).items():
        names = [options.setdefault(option, f"_{len(options)}") for option in command.options]
        fields = {**_fields(command), "options": None}
        shown = ", ".join(f"{field}={value!r}" for field, value in fields.items() if value is not None)
        listed = f"({', '.join(names)}{',' if len(names) == 1 else ''})"
        rows.append(f"    {path!r}: Command({shown}, options={listed}),\n")
    lines = [
        f"{name} = Option({', '.join(f'{field}={value!r}' for field, value in _fields(option).items())})\n"
        for option, name in options.items()
    ]
    return f"{HEAD.format(name=name, sources=sources)}{''.join(lines)}\nCOMMANDS = {{\n{''.join(rows)}}}\n"


def _fields(value: Option | Command) -> dict[str, object]:
    """The fields that differ from their defaults."""
    every = {field.name: (getattr(value, field.name), field.default) for field in value.__fields__}
    return {name: given for name, (given, default) in every.items() if given != default}


def _sources(subject: str) -> set[str]:
    """The modules that declare a subject's commands, their options, and the constants in those."""
    found = {*EVERYWHERE, *_imported(import_module(SHARED).__name__), *modules(subject)}
    for module in modules(subject):
        import_module(module)
        for declared in DECLARED.values():
            if declared.run.startswith(f"{module}:"):
                taken = options_of(declared.function())
                for part in {part for _, part in taken.declarations()}:
                    found |= {part.__module__, *_constants(part)}
    return found


def _constants(part: type[Options]) -> Iterable[str]:
    """The modules of the constants in the annotations of a class."""
    words = set(re.findall(r"\b[A-Z][A-Z_]+\b", " ".join(vars(part).get("__annotations__", {}).values())))
    return [module for module, names in _imported(part.__module__).items() if words & names]


def _imported(module: str) -> dict[str, set[str]]:
    """The modules of kcli that a module imports at its top, each with the names that it takes of them."""
    text = Path(str(sys.modules[module].__file__)).read_text()
    found = re.findall(r"^from (kcli\.\S+) import ([^(\n]+|\([^)]+\))", text, re.MULTILINE)
    return {name: set(re.findall(r"\w+", names)) for name, names in found}


def _stamps(names: Iterable[str]) -> tuple[tuple[str, int, int], ...]:
    """The sizes of the files of modules, and when they were changed."""
    paths = [os.path.relpath(str(import_module(name).__file__), PACKAGE) for name in sorted(names)]
    found = [(path, os.stat(os.path.join(PACKAGE, path))) for path in paths]
    return tuple((path, stat.st_size, stat.st_mtime_ns) for path, stat in found)


if __name__ == "__main__":
    write()

"""The table of descriptions that the fast parser and completion read, so that they import neither Typer nor a command.

`make tables` writes it, and so does the build of a wheel or of an editable installation. Where there is none, or a
source is newer, Typer reads the declarations instead: slower, with the same result.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from kcli.cli.parsing.command import Command

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder of the package kcli, from which the sources of a table are named."""
TABLES = "kcli.cli.parsing.tables"


def read(subject: str) -> dict[str, Command] | None:
    """The commands of a subject by the words after its name; None where there is no table, or an old one."""
    found = _module(subject)
    return None if found is None else found.COMMANDS


def shapes() -> dict[str, str] | None:
    """The names that `kcli schema` takes, each with the columns of its tables; None as for `read`."""
    found = _module("shapes")
    return None if found is None else found.COLUMNS


def _module(name: str) -> ModuleType | None:
    from importlib import import_module

    try:
        found = import_module(f"{TABLES}.{name}")
    except (ImportError, TypeError):  # none, or of a kcli whose descriptions had other fields
        return None
    return found if all(map(_as_it_was, found.SOURCES)) else None


def _as_it_was(source: tuple[str, int, int]) -> bool:
    """Whether a source has the size and the time of change that it had when the table was made."""
    path, size, changed = source
    try:
        found = os.stat(f"{PACKAGE}/{path}")
    except OSError:
        return False
    return (found.st_size, found.st_mtime_ns) == (size, changed)

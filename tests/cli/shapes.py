"""The shapes of commands by their names."""

from __future__ import annotations

from kcli.cli.output.tables.shape import Shape, every


def shape(name: str) -> Shape:
    """The shape of a command."""
    (found,) = [declared for declared in every() if declared.name == name]
    return found

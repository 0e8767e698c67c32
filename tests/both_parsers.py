"""Every command line that a test runs in its process is read by Typer, too: equal values, and what is wrong is wrong.

`main` reads a line by the fast parser; a fixture of the session wraps its `parse` here. A line is compared once.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

from kcli.cli.parsing import parser
from kcli.cli.parsing.command import Command, Line
from kcli.errors import UsageError


class BothParsers:
    """Wraps `parser.parse`."""

    def __init__(self) -> None:
        self._fast: Callable[[Command, list[str]], Line | None] = parser.parse
        self._commands: dict[int, tuple[Command, Any]] = {}  # by id, as a command's hash walks through its options
        self._compared: set[tuple[int, tuple[str, ...]]] = set()
        self._caught: list[Line] = []

    def install(self) -> None:
        parser.parse = self.parse

    def remove(self) -> None:
        parser.parse = self._fast  # type: ignore[assignment]

    def parse(self, command: Command, argv: list[str]) -> Line | None:
        """What the fast parser says. Raises AssertionError where Typer says another thing."""
        try:
            values = self._fast(command, argv)
        except UsageError as problem:
            self._compare(command, argv, problem)
            raise
        if values is not None:  # else help is asked for, which is Typer's anyway
            self._compare(command, argv, values)
        return values

    def _compare(self, command: Command, argv: list[str], ours: Line | UsageError) -> None:
        line = (id(command), tuple(argv))
        if line in self._compared:
            return
        self._compared.add(line)
        theirs = self.through_typer(command, argv)
        if isinstance(ours, UsageError):
            assert theirs is None, f"Typer takes what is refused with {ours}: {argv}"
        else:
            assert theirs == ours, f"Typer reads {argv} as {theirs}"

    def through_typer(self, command: Command, argv: list[str]) -> Line | None:
        """The values that Typer reads; None where it refuses the line."""
        from kcli.cli.parsing import typer_app

        if id(command) not in self._commands:
            self._commands[id(command)] = (command, typer_app.command_of(command, self._catch))
        _, typers = self._commands[id(command)]
        self._caught.clear()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(typer_app.Complaint):
            typers.main(args=list(argv), prog_name="kcli", standalone_mode=False)
        return self._caught[0] if self._caught else None

    def _catch(self, command: Command, line: Line) -> int:
        self._caught.append(line)
        return 0

"""What Typer reads in a line, without running the command."""

from __future__ import annotations

import contextlib
import io
from unittest import mock

from kcli.cli.parsing import typer_app
from kcli.cli.parsing.command import Command, Line

_made: dict[int, object] = {}  # by id, as a command's hash walks through its options


def read_by_typer(command: Command, argv: list[str]) -> Line | None:
    """The values; None where Typer refuses the line or prints help."""
    caught: list[Line] = []

    def catch(_: Command, line: Line) -> int:
        caught.append(line)
        return 0

    with mock.patch.object(typer_app, "run_command", catch), contextlib.redirect_stdout(io.StringIO()):
        with contextlib.redirect_stderr(io.StringIO()):
            typer_app.read(command, list(argv), "PATH")
    return caught[0] if caught else None

"""The whole command line as Typer has it: `python -m typer kcli.cli.app run`, or `KCLI_PARSER=typer kcli …`."""

from __future__ import annotations

from kcli.cli.parsing.typer_app import root

app = root()

"""The whole command line as the click command that Typer makes; `KCLI_PARSER=typer kcli …` runs it."""

from __future__ import annotations

from kcli.cli.parsing.typer_app import root

app = root()

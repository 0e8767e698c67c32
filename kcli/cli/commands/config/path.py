"""`kcli config path`: where config.toml is, or would be."""

from __future__ import annotations

import sys

from kcli.cli.commands.config.options import RemarkOptions
from kcli.cli.parsing.command import command
from kcli.config.profiles import user_file


@command(
    "config path",
    help="Print the path of config.toml.",
    examples="""
$EDITOR "$(kcli config path)\"""",
)
def path(options: RemarkOptions) -> int:
    """Print the path of config.toml, whether it exists or not."""
    sys.stdout.write(f"{user_file()}\n")
    sys.stdout.flush()
    return 0

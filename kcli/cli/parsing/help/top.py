"""The top of the help, and the error for a first word that is no command."""

from __future__ import annotations

from kcli.cli.parsing.registry import SECTIONS, SUBJECTS
from kcli.errors import UsageError

USAGE = "Usage: kcli COMMAND [ARGUMENTS]"


def help_text() -> str:
    """What `kcli --help` prints: the commands under headings, the most used first, a line each."""
    width = max(map(len, SUBJECTS))
    parts = []
    for title, names in SECTIONS.items():
        rows = "\n".join(f"  {name:<{width}}  {SUBJECTS[name][1]}" for name in names)
        parts.append(f"{title}:\n{rows}")
    commands = "\n\n".join(parts)
    return f"""{USAGE}

A command line, a dashboard and a sandbox for Apache Kafka.

{commands}

Options:
  -V, --version  Print the version and which record core is in use.
  -h, --help     Show this help; `kcli COMMAND --help` for one command.

`kcli help` lists topics: offsets, where, format, times, patterns and more.
Name a cluster by -b HOST:PORT, KCLI_BOOTSTRAP or --profile.
"""


def no_such_command(words: list[str]) -> UsageError:
    """The error for a first word that is no command, with the nearest command or another tool's."""
    from kcli.cli.parsing import other_tools
    from kcli.text.suggest import did_you_mean

    name = words[0]
    near = other_tools.command(words) or did_you_mean(name, SUBJECTS)
    return UsageError(f"unknown command {name!r}{near or '; see `kcli --help`'}")

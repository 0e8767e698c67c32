"""The top of the help, and what is said of a first word that is no command."""

from __future__ import annotations

from kcli.cli.parsing.registry import SUBJECTS
from kcli.errors import UsageError

USAGE = "Usage: kcli COMMAND [ARGUMENTS]"


def help_text() -> str:
    """What `kcli --help` prints, made without Typer: it must be as quick as a glance."""
    width = max(map(len, SUBJECTS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in SUBJECTS.items())
    return f"""{USAGE}

kcli is a command line for Apache Kafka.

Commands:
{rows}

Options:
  -V, --version  Print the version and which record core is in use.
  -h, --help     Print this. `kcli COMMAND --help` tells about one command.

The cluster is named by -b HOST:PORT or KCLI_BOOTSTRAP. stdout is data only.
Exit codes: 0 done, 1 failure, 2 usage, 3 an assertion did not hold,
4 timed out, 5 could not connect or authenticate, 130 interrupted,
143 ended by SIGTERM, 129 by SIGHUP.
"""


def no_such_command(words: list[str]) -> UsageError:
    """What to say to somebody whose first word is no command."""
    from kcli.cli.parsing import other_tools as elsewhere
    from kcli.text.suggest import did_you_mean

    name = words[0]
    near = elsewhere.command(words) or did_you_mean(name, SUBJECTS)
    return UsageError(f"there is no command {name!r}{near or '; see `kcli --help`'}")

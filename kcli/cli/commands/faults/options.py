"""`kcli faults`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import OUTPUT

CONTROL = Option(
    name="control",
    flags=("--control",),
    metavar="ADDRESS",
    help="Where the sandbox listens for this, when no broker of it is left to ask.",
)
FAULTS = Command(
    name="faults",
    run="kcli.cli.commands.faults.command:run",
    help="What a sandbox shall do wrong: list, order, take back.",
    description="""Order faults of a running sandbox: lost answers, errors, delays, moved leaders, killed brokers.

Without words it lists the faults there are and those that are still to happen. A fault is ordered by its name, with
what it needs as NAME=VALUE; `clear` takes all back; `kill N` and `start N` are about a broker. A cluster that is no
sandbox is left alone.

\b
Examples:
  kcli faults
  kcli faults never_answer api=Fetch times=3
  kcli faults error api=Produce code=NOT_ENOUGH_REPLICAS topic=orders times=5
  kcli faults kill 1
  kcli faults clear""",
    words="FAULT",
    options=(CONTROL, *OUTPUT),
)

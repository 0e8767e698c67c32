"""`kcli offsets`, declared."""

from __future__ import annotations

from kcli.cli.commands.consume.options import TIMES, VALUE_FORMAT
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import ISOLATION, OUTPUT

OFFSETS = Command(
    name="offsets",
    run="kcli.cli.commands.offsets.offsets:run",
    help="Where logs start and end, by time too.",
    description="""Print start, stable and end offset of each partition.

\b
Examples:
  kcli offsets orders
  kcli offsets orders --at -1h            # the offset an hour ago
  kcli offsets orders --at -1h --time-field event.ts    # by a time in the values
  kcli offsets orders -g billing -J       # with the group's commits and lag""",
    words="TOPIC",
    options=(
        Option(
            name="at",
            flags=("--at",),
            metavar="TIME",
            help="Also the first offset at this time: ISO 8601, epoch s or ms, -1h, now.",
        ),
        *TIMES[2:],
        VALUE_FORMAT,
        Option(name="group", flags=("-g", "--group"), metavar="GROUP", help="Also what this group committed."),
        ISOLATION,
        *OUTPUT,
    ),
)

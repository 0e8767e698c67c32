"""`kcli rollback`, declared."""

from __future__ import annotations

from kcli.cli.commands.groups.options import ALL_TOPICS, NO_UNDO, PAYLOAD_TIME, TOPIC, UNDO_FILE
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, OUTPUT

ROLLBACK = Command(
    name="rollback",
    run="kcli.cli.commands.groups.payload_time:rollback",
    help="Put a group back to a time inside the values.",
    description="""Commit for a group the first offset of each partition whose record has that time or a later one in a
field of its value: what `consume --start TIME --time-field NAME` begins with. It is `groups reset --to @TIME
--time-field NAME` in short: the plan first, --execute does it, an undo file takes it back.

\b
Examples:
  kcli rollback billing -t orders --time-field event.ts --start 2026-03-01T09:00Z             # the plan
  kcli rollback billing -t orders --time-field event.ts --start -2h --jitter 5m --execute""",
    words="GROUP",
    options=(
        Option(name="group", flags=("-g", "--group"), metavar="GROUP", help="The group, instead of an argument."),
        TOPIC,
        ALL_TOPICS,
        Option(name="start", flags=("--start",), metavar="TIME", help="Where to: ISO 8601, epoch s or ms, -1h, now."),
        *PAYLOAD_TIME,
        EXECUTE,
        DRY_RUN,
        UNDO_FILE,
        NO_UNDO,
        *OUTPUT,
    ),
)

"""`kcli leaders`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, INTERNAL, OUTPUT

ALL_TOPICS = Option(name="all_topics", flags=("-a", "--all-topics"), kind="flag", help="Every topic.")

LEADERS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.leaders.command:show",
        help="Partitions that are not led by their preferred replica, or by nobody.",
        description="""Print the partitions whose leader is not the first of their replicas, which is the
preferred one, and those that nobody leads.

\b
Examples:
  kcli leaders
  kcli leaders list --internal -J | jq '.partitions[] | select(.leader == null)'""",
        options=(INTERNAL, *OUTPUT),
    ),
    "elect": Command(
        name="elect",
        run="kcli.cli.commands.leaders.command:elect",
        help="Give partitions back to their preferred leaders; or, unclean, to anybody.",
        description="""Elect leaders: of each partition the first of its replicas, if that is in sync. The plan comes
first; --execute does it. A partition that is led as it should be is no failure.

With --unclean: partitions that nobody leads get a living replica that is not in sync as
leader, and the RECORDS THAT ONLY THE OTHERS HAVE ARE LOST. Try first to get those back.

\b
Examples:
  kcli leaders elect orders                            # the plan
  kcli leaders elect orders:0,3 payments --execute
  kcli leaders elect --all-topics --internal --execute
  kcli leaders elect orders:3 --unclean --execute      # the last resort""",
        words="TOPIC",
        options=(
            ALL_TOPICS,
            INTERNAL,
            Option(
                name="unclean",
                flags=("--unclean",),
                kind="flag",
                help="Where nobody leads: any living replica. Loses records.",
            ),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
}

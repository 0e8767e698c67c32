"""`kcli groups`, declared."""

from __future__ import annotations

from kcli.cli.commands.consume.options import TIMES, VALUE_FORMAT
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.groups import FORMATS
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import (
    CONNECTION,
    DRY_RUN,
    EXECUTE,
    IF_EXISTS,
    ISOLATION,
    JSON,
    OUTPUT,
    STATE,
)

TOPIC = Option(
    name="topics",
    flags=("-t", "--topic"),
    multiple=True,
    metavar="TOPIC[:0,1]",
    help="A topic, all its partitions or those named: orders, orders:0,1, orders:0-5. Repeatable.",
)
ALL_TOPICS = Option(
    name="all_topics", flags=("--all-topics",), kind="flag", help="All topics the group has committed offsets of."
)
UNDO_FILE = Option(
    name="undo_file",
    flags=("--undo-file",),
    metavar="FILE",
    help="Where to keep what was committed before. Default: a new file in ~/.local/state/kcli/undo.",
)
NO_UNDO = Option(name="no_undo", flags=("--no-undo",), kind="flag", help="Keep no undo file.")
FORMS = (
    Option(
        name="to",
        flags=("--to",),
        metavar="WHERE",
        help="beginning, end, stored, N, -N (before the end), +N (after the start), @TIME.",
    ),
    Option(name="to_earliest", flags=("--to-earliest",), kind="flag", help="Where the log starts."),
    Option(name="to_latest", flags=("--to-latest",), kind="flag", help="Where the log ends."),
    Option(name="to_offset", flags=("--to-offset",), kind="int", least=0, metavar="N", help="This offset."),
    Option(
        name="to_datetime",
        flags=("--to-datetime",),
        metavar="TIME",
        help="The first record at or after it: 2026-01-31T10:00:00.000; UTC where no zone is named, as in Kafka.",
    ),
    Option(
        name="by_duration",
        flags=("--by-duration",),
        metavar="DURATION",
        help="The first record of the last so long: PT1H30M, P1DT2H, or 90m.",
    ),
    Option(
        name="shift_by", flags=("--shift-by",), kind="int", metavar="N", help="N after what is committed; -N before it."
    ),
    Option(
        name="to_current",
        flags=("--to-current",),
        kind="flag",
        help="What is committed; the end where nothing is.",
    ),
    Option(
        name="from_file",
        flags=("--from-file",),
        metavar="FILE",
        help="An undo file, an export, or the CSV of kafka-consumer-groups --export; - is stdin.",
    ),
    Option(name="from_group", flags=("--from-group",), metavar="GROUP", help="What another group has committed."),
)

PAYLOAD_TIME = (*TIMES[2:], VALUE_FORMAT)
"""--time-field and what belongs to it."""

GROUPS: dict[str, Command] = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.groups.command:list_all",
        help="List groups of all types.",
        description="""List groups of all types: classic, consumer (KIP-848), share, streams.

\b
Examples:
  kcli groups list
  kcli groups list --state Empty --format plain | cut -f1""",
        options=(
            Option(
                name="types",
                flags=("--type",),
                multiple=True,
                metavar="TYPE",
                help="Only this type: classic, consumer, share, streams.",
            ),
            STATE,
            *OUTPUT,
        ),
    ),
    "describe": Command(
        name="describe",
        run="kcli.cli.commands.groups.command:describe",
        help="Partitions, lag and owners of groups.",
        description="""Print each partition of groups with committed, end, lag, member and host; and the groups.

\b
Examples:
  kcli groups describe billing
  kcli groups describe billing -J | jq .members""",
        words="GROUP",
        options=(ISOLATION, *OUTPUT),
    ),
    "members": Command(
        name="members",
        run="kcli.cli.commands.groups.command:members",
        help="Members of groups and what they own.",
        description="""Print the members of groups, where they run and what they own.

\b
Example:
  kcli groups members billing""",
        words="GROUP",
        options=OUTPUT,
    ),
    "delete": Command(
        name="delete",
        run="kcli.cli.commands.groups.delete:delete",
        help="Delete groups without members.",
        description="""Delete groups that have no members, and their committed offsets, which an undo file keeps.

\b
Examples:
  kcli groups delete billing --dry-run     # what would happen
  kcli groups delete billing --execute""",
        words="GROUP",
        options=(EXECUTE, DRY_RUN, IF_EXISTS, UNDO_FILE, NO_UNDO, *OUTPUT),
    ),
    "reset": Command(
        name="reset",
        run="kcli.cli.commands.groups.reset:reset",
        help="Change the committed offsets of groups.",
        description="""Set the committed offsets of groups that have no members. The plan comes first: old, new and
delta of each partition; --execute does it, and on a terminal you may type the group's name instead.

What was committed before is kept in an undo file, which `--from-file` takes back, also where nothing was committed.
Offsets are clamped to the log, and the row says so. A group that does not exist is made.

\b
Examples:
  kcli groups reset billing --all-topics --to-earliest             # the plan
  kcli groups reset billing -t orders:0,1 --to-offset 4711 --execute
  kcli groups reset billing -t orders --to-datetime 2026-01-31T10:00:00Z --execute
  kcli groups reset billing --all-topics --by-duration PT1H30M --execute
  kcli groups reset billing --all-topics --shift-by -100 --execute
  kcli groups reset billing -t orders --to @-2h --execute          # one grammar: as `consume -o`
  kcli groups reset billing -t orders --to @-2h --time-field event.ts --execute    # by a time in the values
  kcli groups reset --from-file undo.json --execute                # take a reset back
  kcli groups reset billing-2 --from-group billing -t orders --execute""",
        words="GROUP",
        options=(*FORMS, *PAYLOAD_TIME, TOPIC, ALL_TOPICS, EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT),
    ),
    "delete-offsets": Command(
        name="delete-offsets",
        run="kcli.cli.commands.groups.reset:delete_offsets",
        help="Delete committed offsets of groups, topic by topic.",
        description="""Delete what groups committed of some topics. A group may have members, as long as none is
subscribed to the topic.

\b
Examples:
  kcli groups delete-offsets billing -t old-orders                 # the plan
  kcli groups delete-offsets billing -t old-orders:3 --execute""",
        words="GROUP",
        options=(TOPIC, ALL_TOPICS, EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT),
    ),
    "clone": Command(
        name="clone",
        run="kcli.cli.commands.groups.reset:clone",
        help="Copy the committed offsets of a group to another.",
        description="""Commit for TARGET what SOURCE has committed, with leader epochs and metadata. SOURCE may be at
work; TARGET must have no members, and need not exist. Commits of TARGET that SOURCE does not have stay.

\b
Examples:
  kcli groups clone billing billing-2                              # the plan
  kcli groups clone billing billing-2 -t orders --execute""",
        words="SOURCE TARGET",
        options=(TOPIC, EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT),
    ),
    "export": Command(
        name="export",
        run="kcli.cli.commands.groups.export:export",
        help="Print committed offsets, for --from-file.",
        description="""Print what groups have committed, in a form that `groups reset --from-file` reads. All groups, or
those named.

csv is that of Kafka's own `kafka-consumer-groups --export`, which reads it as well: TOPIC,PARTITION,OFFSET, with the
group in front unless one GROUP is named. json keeps leader epochs and metadata too.

\b
Examples:
  kcli groups export billing > billing.csv
  kcli groups export -J > all-groups.json
  kcli groups reset --from-file all-groups.json --dry-run""",
        words="GROUP",
        options=(
            TOPIC,
            Option(name="format", flags=("--format",), choices=FORMATS, help="Default csv, Kafka's own."),
            JSON,
            *CONNECTION,
        ),
    ),
}

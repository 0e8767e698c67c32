"""`kcli topics`, declared."""

from __future__ import annotations

from kcli.cli.commands.configs.options import CHANGING
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, IF_EXISTS, INTERNAL, NO_WAIT, OUTPUT, TIMEOUT, WAIT

TOPICS: dict[str, Command] = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.topics.command:list_topics",
        help="List topics.",
        description="""List topics. Kafka's own are hidden unless --internal.

\b
Examples:
  kcli topics list
  kcli topics list --match 'orders.*' --format plain | cut -f1""",
        options=(
            Option(name="match", flags=("--match",), metavar="REGEX", help="Only topics whose whole name matches."),
            INTERNAL,
            *OUTPUT,
        ),
    ),
    "describe": Command(
        name="describe",
        run="kcli.cli.commands.topics.command:describe",
        help="Partitions, offsets and configs of topics.",
        description="""Print partitions with leader, replicas and offsets, and the topics with the configs set on them.

\b
Examples:
  kcli topics describe orders
  kcli topics describe orders -J | jq '.topics[].configs'""",
        words="TOPIC",
        options=OUTPUT,
    ),
    "create": Command(
        name="create",
        run="kcli.cli.commands.topics.command:create",
        help="Create topics.",
        description="""Create topics. Partitions and replicas default to what the broker is configured with.

\b
Examples:
  kcli topics create orders
  kcli topics create orders -p 12 -r 3 --config retention.ms=86400000
  kcli topics create orders -p 12 --dry-run      # the broker checks, nothing is made""",
        words="TOPIC",
        options=(
            Option(
                name="partitions",
                flags=("-p", "--partitions"),
                kind="int",
                least=-1,
                metavar="N",
                help="How many; -1 is the broker's default.",
            ),
            Option(
                name="replicas",
                flags=("-r", "--replication-factor"),
                kind="int",
                least=-1,
                metavar="N",
                help="Replicas of each partition; -1 is the broker's default.",
            ),
            Option(
                name="configs",
                flags=("--config",),
                multiple=True,
                metavar="KEY=VALUE",
                help="A topic config, also with a unit: retention.ms=7d. Repeatable.",
            ),
            Option(
                name="if_not_exists", flags=("--if-not-exists",), kind="flag", help="A topic that exists is no failure."
            ),
            Option(name="dry_run", flags=("--dry-run",), kind="flag", help="Let the broker check, create nothing."),
            WAIT,
            NO_WAIT,
            TIMEOUT,
            *OUTPUT,
        ),
    ),
    "delete": Command(
        name="delete",
        run="kcli.cli.commands.topics.command:delete",
        help="Delete topics.",
        description="""Delete topics and all their records.

\b
Examples:
  kcli topics delete orders --dry-run      # what would be lost
  kcli topics delete orders --execute""",
        words="TOPIC",
        options=(
            EXECUTE,
            DRY_RUN,
            IF_EXISTS,
            Option(name="internal", flags=("--internal",), kind="flag", help="Kafka's own topics may be deleted."),
            WAIT,
            NO_WAIT,
            TIMEOUT,
            *OUTPUT,
        ),
    ),
    "alter": Command(
        name="alter",
        run="kcli.cli.commands.topics.alter:alter",
        help="More partitions, other configs.",
        description="""Give topics more partitions, and set or delete configs. The plan comes first,
checked by the broker.

With more partitions, records of one key go to another partition than before: order by key is broken once.

\b
Examples:
  kcli topics alter orders -p 12 --execute
  kcli topics alter orders --config retention.ms=86400000 --delete-config segment.ms --execute
  kcli topics alter orders payments -p 12 --dry-run""",
        words="TOPIC",
        options=(
            Option(
                name="partitions",
                flags=("-p", "--partitions"),
                kind="int",
                least=1,
                metavar="N",
                help="How many in all; a topic never gets fewer.",
            ),
            Option(
                name="configs",
                flags=("--config",),
                multiple=True,
                metavar="KEY=VALUE",
                help="Set a topic config, also with a unit: retention.ms=7d. Repeatable.",
            ),
            Option(
                name="delete_configs",
                flags=("--delete-config",),
                multiple=True,
                metavar="KEY",
                help="Take a topic config back to the default. Repeatable.",
            ),
            *CHANGING,
        ),
    ),
    "trim": Command(
        name="trim",
        run="kcli.cli.commands.topics.trim:trim",
        help="Delete the records before an offset.",
        description="""Delete the records of topics before an offset or a time, for good. The plan comes
first: where each log starts and would start, and how many offsets would be gone.

\b
Examples:
  kcli topics trim orders --before @-7d --dry-run       # what is older than a week
  kcli topics trim orders:0,1 --before 4711 --execute
  kcli topics trim orders --before end --execute        # everything that is there now
  kcli topics trim orders --before -1000 --execute      # all but the last 1000 of each partition""",
        words="TOPIC[:0,1]",
        options=(
            Option(
                name="before",
                flags=("--before", "-o"),
                metavar="WHERE",
                help="end, N, -N (before the end), +N (after the start), @TIME.",
            ),
            EXECUTE,
            DRY_RUN,
            *OUTPUT,
        ),
    ),
    "stats": Command(
        name="stats",
        run="kcli.cli.commands.topics.stats:stats",
        help="Size, offsets, rate and last write.",
        description="""Print how large topics are, how fast they grow and when somebody wrote last.

RATE is measured over --over. Brokers before 3.0 do not tell the last write, those before 1.0 no sizes.

\b
Examples:
  kcli topics stats
  kcli topics stats orders payments --over 5s
  kcli topics stats --unused 30d                        # nobody wrote for 30 days, no group has lag
  kcli topics stats --sort size --format plain""",
        words="TOPIC",
        options=(
            INTERNAL,
            Option(
                name="over",
                flags=("--over",),
                metavar="TIME",
                help="Over which time the rate is taken (default 1s).",
            ),
            Option(name="unused", flags=("--unused",), metavar="TIME", help="Only topics not written to for so long."),
            Option(
                name="sort",
                flags=("--sort",),
                choices=("topic", "size", "offsets", "rate", "last_write"),
                help="By what; from the largest. Default: topic.",
            ),
            *OUTPUT,
        ),
    ),
}

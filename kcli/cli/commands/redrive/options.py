"""`kcli redrive`, declared."""

from __future__ import annotations

from kcli.cli.commands.consume.options import COMMITTED, COUNT, FILTERS, OFFSET, PARTITIONS, SKIP_CORRUPT
from kcli.cli.commands.copy.options import EXACTLY_ONCE, NO_RESUME, RATE, RESTART, TRANSACTIONAL_ID
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION, DRY_RUN, FORMAT, JSON

REDRIVE = Command(
    name="redrive",
    run="kcli.cli.commands.redrive.command:run",
    help="Send dead letters back to the topics they came from.",
    description="""Send each record of a dead-letter topic back to its original topic, as its headers name it: those of
Kafka Connect, Kafka Streams, Spring, Spring Cloud Stream and SmallRye are known, others are named by --topic-header.
Without --execute it only shows what would go where.

Key, value, timestamp, the record's own headers and, where the topic still has it, the partition stay; headers about the
error are taken off. The header kcli-redrive-attempts counts how often a record went back; --max-attempts ends a loop.

How far it is, is kept after the records were acknowledged; run again, it goes on there. Other filters, and an -o to
begin at, begin their own count. Records may be published twice after an interruption, and none is left out; with
--exactly-once neither.

\b
Examples:
  kcli redrive orders-dlq                                         # the plan, by target
  kcli redrive orders-dlq --execute
  kcli redrive orders-dlq --execute --where 'matches(headers["__connect.errors.exception.message"], "timeout")'
  kcli redrive orders-dlq --execute --rate 100 --on-error skip
  kcli redrive dead --topic-header source-topic --to unknown --execute""",
    words="DLQ",
    options=(
        *CONNECTION,
        Option(name="execute", flags=("--execute",), kind="flag", help="Do it. Without, only the plan is shown."),
        DRY_RUN,
        PARTITIONS,
        OFFSET,
        COUNT,
        *FILTERS,
        Option(
            name="topic_headers",
            flags=("--topic-header",),
            multiple=True,
            metavar="NAME",
            help="A header that names the original topic. Repeatable.",
        ),
        Option(
            name="partition_headers",
            flags=("--partition-header",),
            multiple=True,
            metavar="NAME",
            help="A header with its partition: digits, or int32 in bytes. Repeatable.",
        ),
        Option(name="to", flags=("--to",), metavar="TOPIC", help="Where records without such a header go."),
        Option(
            name="missing",
            flags=("--missing",),
            choices=("fail", "skip"),
            help="Records without such a header: fail (default), or skip them.",
        ),
        Option(
            name="on_error",
            flags=("--on-error",),
            choices=("stop", "skip"),
            help="At a record that fails: stop in front of it (default), or skip it and exit 1 at the end.",
        ),
        Option(name="keep_headers", flags=("--keep-headers",), kind="flag", help="Headers about the error stay."),
        Option(
            name="max_attempts",
            flags=("--max-attempts",),
            kind="int",
            least=1,
            metavar="N",
            help="Leave out records that went back N times (default 3).",
        ),
        Option(name="repartition", flags=("--repartition",), kind="flag", help="Choose partitions anew, by key."),
        Option(name="now", flags=("--now",), kind="flag", help="The present time instead of the record's."),
        RATE,
        Option(
            name="group",
            flags=("-g", "--group"),
            metavar="NAME",
            help="Under which name the cluster keeps how far this is (default kcli-redrive.DLQ).",
        ),
        RESTART,
        NO_RESUME,
        EXACTLY_ONCE,
        TRANSACTIONAL_ID,
        COMMITTED,
        SKIP_CORRUPT,
        FORMAT,
        JSON,
    ),
)

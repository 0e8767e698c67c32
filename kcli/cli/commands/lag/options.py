"""`kcli lag`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import ISOLATION, OUTPUT, STATE

LAG = Command(
    name="lag",
    run="kcli.cli.commands.lag.command:run",
    help="Who is how far behind: by group, topic or partition.",
    description="""Print how far groups are behind: all groups, or those named.

Lag is end minus committed, in offsets, which are not records: compaction, markers and aborted transactions leave
offsets that nobody is given. --records counts what is left. Committed is read before end. "–" means nothing was
committed.
ORPHANED: lag and no member. LOSING DATA: retention took records before they were read.

\b
Examples:
  kcli lag                                 # all groups, the worst first
  kcli lag billing                         # by topic
  kcli lag billing -p                      # by partition, with member and host
  kcli lag billing -p --records            # and how many records that are, by reading them
  kcli lag billing --max-lag 1000 -q       # exit code 3 when it is more
  kcli lag --watch                         # rates, ETA and time lag, every 5 s; Ctrl-C ends it
  kcli lag billing --watch --format ndjson | jq .eta
  kcli lag billing --max-lag 0 --timeout 5m        # wait until it has caught up, at most so long (else exit 4)
  kcli lag billing --max-time 5m --for 2m          # exit 3 as soon as it does not hold
  kcli lag record > incident.ndjson                # then: kcli lag --replay incident.ndjson
  kcli lag --prometheus :9308                      # metrics, as kafka_exporter names them
  kcli lag --by partition -J | jq '.partitions[] | select(.status == "ORPHANED")'""",
    words="GROUP",
    options=(
        Option(name="partitions", flags=("-p", "--partitions"), kind="flag", help="Short for --by partition."),
        Option(
            name="by",
            flags=("--by",),
            choices=("group", "topic", "partition"),
            help="A row per group (default for all groups), topic (for named ones) or partition.",
        ),
        Option(
            name="topics", flags=("-t", "--topic"), multiple=True, metavar="TOPIC", help="Only this topic. Repeatable."
        ),
        STATE,
        Option(
            name="max_lag",
            flags=("--max-lag",),
            kind="int",
            least=0,
            metavar="N",
            help="Exit with 3 when a group is more than N behind.",
        ),
        Option(
            name="max_time",
            flags=("--max-time",),
            metavar="TIME",
            help="Exit with 3 when the first unread record of a group is older, such as 5m.",
        ),
        Option(name="hold", flags=("--for",), metavar="TIME", help="The assertion has to hold for so long."),
        Option(
            name="timeout",
            flags=("--timeout",),
            metavar="TIME",
            help="Look until the assertion holds, at most so long, then exit with 4.",
        ),
        Option(name="watch", flags=("-w", "--watch"), kind="flag", help="Look again and again: rates, ETA, time lag."),
        Option(name="interval", flags=("--interval",), metavar="TIME", help="Between two looks (default 5s)."),
        Option(name="window", flags=("--window",), metavar="TIME", help="What rates are taken over (default 60s)."),
        Option(name="count", flags=("-n", "--count"), kind="int", least=1, metavar="N", help="So many looks."),
        Option(
            name="exact",
            flags=("--exact",),
            kind="flag",
            help="Time lag by the record's own timestamp, of every partition.",
        ),
        Option(
            name="internal",
            flags=("--internal",),
            kind="flag",
            help="Also the groups in which kcli copy and redrive keep their progress.",
        ),
        Option(name="records", flags=("--records",), kind="flag", help="Count the records behind, by reading them."),
        Option(name="replay", flags=("--replay",), metavar="FILE", help="Look at a recording instead (- is stdin)."),
        Option(
            name="prometheus",
            flags=("--prometheus",),
            metavar="[HOST]:PORT",
            help="Serve /metrics; without HOST for this machine only.",
        ),
        ISOLATION,
        *OUTPUT,
    ),
)

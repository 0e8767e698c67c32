"""`kcli copy`, declared."""

from __future__ import annotations

from kcli.cli.commands.consume.options import COMMITTED, COUNT, FILTERS, OFFSET, PARTITIONS, SKIP_CORRUPT
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION, FORMAT, JSON

RATE = Option(name="rate", flags=("--rate",), metavar="N", help="At most N records a second, or bytes: 500, 10MB.")
EXACTLY_ONCE = Option(
    name="exactly_once",
    flags=("--exactly-once",),
    kind="flag",
    help="Records and positions in one transaction; within one cluster.",
)
TRANSACTIONAL_ID = Option(
    name="transactional_id",
    flags=("--transactional-id",),
    metavar="ID",
    help="Of --exactly-once; a second process with it fences the first. Else the name of the positions.",
)
DRY_RUN = Option(
    name="dry_run", flags=("--dry-run",), kind="flag", help="Publish nothing: how many records, by partition and time."
)
GROUP = Option(
    name="group",
    flags=("-g", "--group"),
    metavar="NAME",
    help="Under which name the source's cluster keeps how far this is (default: a name of its own).",
)
RESTART = Option(name="restart", flags=("--restart",), kind="flag", help="Begin anew, whatever was kept.")
NO_RESUME = Option(name="no_resume", flags=("--no-resume",), kind="flag", help="Keep no positions, and look for none.")

EVERY = Option(
    name="store_every",
    flags=("--commit-interval-ms",),
    kind="int",
    least=1,
    metavar="MS",
    help="How often positions are kept, and transactions committed (default 5000).",
)

TARGET = (
    Option(name="to_profile", flags=("--to-profile",), metavar="NAME", help="The profile of DST's cluster."),
    Option(
        name="to_bootstrap",
        flags=("--to-bootstrap", "--to-bootstrap-server"),
        metavar="HOST:PORT,…",
        help="Where DST's cluster listens.",
    ),
    Option(
        name="to_properties",
        flags=("--to-X", "--to-property"),
        multiple=True,
        metavar="KEY=VALUE",
        help="A property for DST's cluster and producer. Repeatable.",
    ),
)
"""Another cluster to write to."""

COPY = Command(
    name="copy",
    run="kcli.cli.commands.copy.command:run",
    help="Copy records from one topic to another, also between clusters.",
    description="""Copy the records of SRC to DST: key, value, headers, timestamp and partition stay. It ends at the
end as it was at the start, unless --follow. Batches that need no change go on as they are, compressed.

How far it is, is kept in the source's cluster after the records were acknowledged; run again, it goes on there. So
records may be published twice after an interruption, and none is left out; with --exactly-once neither. -o -N counts
from the end: a whole copy of the last N is begun anew when it is run again, one that was cut short goes on. Read is
read_committed unless --isolation says otherwise.

\b
Examples:
  kcli copy orders orders-2
  kcli copy orders orders --to-profile staging --create
  kcli copy orders fixed -o @-1d: --where 'value.total < 0' --dry-run
  kcli copy orders orders-6 --repartition -z zstd --rate 10MB
  kcli copy orders orders-2 --exactly-once --follow""",
    words="SRC DST",
    options=(
        *CONNECTION,
        *TARGET,
        PARTITIONS,
        OFFSET,
        Option(name="follow", flags=("--follow",), kind="flag", help="Go on with what comes, until Ctrl-C."),
        COUNT,
        *FILTERS,
        Option(
            name="repartition",
            flags=("--repartition",),
            kind="flag",
            help="Choose partitions anew, by key.",
        ),
        Option(
            name="compression",
            flags=("-z", "--compression"),
            metavar="CODEC[:LEVEL]",
            help="Compress anew. Else batches stay as they are.",
        ),
        Option(
            name="create",
            flags=("--create",),
            kind="flag",
            help="Make DST with the partitions and configs of SRC, where it is missing.",
        ),
        RATE,
        GROUP,
        RESTART,
        NO_RESUME,
        EVERY,
        EXACTLY_ONCE,
        TRANSACTIONAL_ID,
        DRY_RUN,
        COMMITTED,
        SKIP_CORRUPT,
        FORMAT,
        JSON,
    ),
)

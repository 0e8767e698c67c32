"""`kcli pipeline list|status|stop|drain|checkpoint|finalize`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION, DRY_RUN, EXECUTE, FORMAT, JSON, QUIET, VERBOSE

TOLD = (FORMAT, JSON, QUIET, VERBOSE)
ALL = Option(name="all", flags=("-a", "--all"), kind="flag", help="All of them: every job that runs.")
WAIT = Option(
    name="wait", flags=("--wait",), kind="int", least=0, metavar="SECONDS",
    help="How long to wait for the end, then exit 4 (default 60; 0 does not wait).",
)  # fmt: skip

LIST = Command(
    name="list",
    run="kcli.cli.commands.pipeline.jobs.jobs:show",
    help="The pipelines of this machine: what runs, what ended and how.",
    description="""Jobs of yours on this machine that run or ran, the newest first: each tells every second how it
stands, wherever Spark itself runs. crashed is a job whose process is gone and said nothing.

\b
Examples:
  kcli pipeline list
  kcli pipeline list --running
  kcli pipeline list --format ndjson | jq .lag""",
    options=(
        Option(name="running", flags=("--running",), kind="flag", help="Only those that run."),
        *TOLD,
    ),
)
STATUS = Command(
    name="status",
    run="kcli.cli.commands.pipeline.jobs.jobs:status",
    help="How a pipeline stands: records, rate, lag, checkpoint, log.",
    description="""Everything that is known of a job. NAME is its name or its id, or the beginning of either; of several
runs of one name the newest. Exit 3 unless it runs or ended well.

\b
Examples:
  kcli pipeline status orders-to-lake
  kcli pipeline status 3f2a -J""",
    words="NAME",
    options=TOLD,
)
DRAIN = Command(
    name="drain",
    run="kcli.cli.commands.pipeline.jobs.jobs:drain",
    help="Let a pipeline finish the batch that is under way, then end.",
    description="""The job begins no other batch and ends when the one it is at is whole: nothing is done twice by the
next run. A batch job has nothing to drain, it is cancelled and leaves nothing behind.

\b
Examples:
  kcli pipeline drain orders-to-lake
  kcli pipeline drain --all --wait 300""",
    words="[NAME...]",
    options=(ALL, WAIT, *TOLD),
)
STOP = Command(
    name="stop",
    run="kcli.cli.commands.pipeline.jobs.jobs:stop",
    help="End a pipeline at once; its next run does the batch again.",
    description="""The batch that is under way is given up. What of it is in a topic already is there twice after the
next run (unless that is exactly once); files of it are orphans: `kcli pipeline finalize`.

\b
Example:
  kcli pipeline stop orders-to-lake""",
    words="[NAME...]",
    options=(ALL, WAIT, *TOLD),
)
CHECKPOINT = Command(
    name="checkpoint",
    run="kcli.cli.commands.pipeline.checkpoint.checkpoint:run",
    help="What a checkpoint holds, and where the next run goes on: --reset-to moves that.",
    description="""WHERE is the folder of a checkpoint, or the name of a pipeline. A next run goes on at `offset`; where
`planned` is said, a batch up to there was begun and is done again.

--reset-to moves a pipeline that does not run: back, and records are read again (what they became before stays where it
is); forward, and records are left out. It says how it is undone. Not for SQL with sums and windows, which would be
wrong then. What `copy --exactly-once` has copied its group kcli-NAME knows: see `kcli groups reset`.

\b
Examples:
  kcli pipeline checkpoint orders-to-lake
  kcli pipeline checkpoint /data/checkpoints/orders --format json
  kcli pipeline checkpoint orders-to-lake --reset-to @-1d --dry-run
  kcli pipeline checkpoint orders-to-lake --reset-to beginning -t orders:0,1 --execute
  kcli pipeline checkpoint orders-to-lake --reset-to '{"orders":{"0":42}}' --execute""",
    words="WHERE",
    options=(
        Option(
            name="reset_to", flags=("--reset-to",), metavar="PLACE",
            help="beginning, end, N, -N (before the end), +N (after the start), @TIME, or JSON as in Spark's options.",
        ),
        Option(
            name="topics", flags=("-t", "--topic"), multiple=True, metavar="TOPIC[:0,1]",
            help="Only of this topic, or of these partitions of it. Repeatable.",
        ),
        EXECUTE, DRY_RUN, FORMAT, JSON, *CONNECTION,
    ),
)  # fmt: skip
FINALIZE = Command(
    name="finalize",
    run="kcli.cli.commands.pipeline.finalize:run",
    help="Take away what a crash left in a folder of files, so that anybody reads it once.",
    description="""Spark reads a folder by its log _spark_metadata; everybody else reads all the files, also those of a
batch that a crash cut short and that was done again. They go, and nothing else: files of whole batches stay, and a
later run goes on. Refused while a pipeline writes there.

\b
Examples:
  kcli pipeline finalize out/orders --dry-run
  kcli pipeline finalize out/orders --execute""",
    words="DIR...",
    options=(EXECUTE, DRY_RUN, *TOLD),
)
JOBS = {one.name: one for one in (LIST, STATUS, DRAIN, STOP, CHECKPOINT, FINALIZE)}

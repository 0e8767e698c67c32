"""`kcli pipeline sql|run`, declared."""

from __future__ import annotations

from kcli.cli.commands.consume.options import COMMITTED, OFFSET, PARTITIONS, TIMES
from kcli.cli.commands.copy.options import TARGET
from kcli.cli.commands.pipeline.shared_options import COMMON, DRY_RUN, FORMATS, JSON, NAME, REPORT, SOURCE
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION

FORMAT = Option(
    name="format", flags=("--format",), choices=FORMATS, help="Of the rows on stdout (default table; ndjson streams)."
)
LIMIT_ROWS = Option(
    name="limit", flags=("-n", "--limit"), kind="int", least=1, metavar="N",
    help="At most N rows of each result (a table has 1000 unless this says more).",
)  # fmt: skip
OUTPUTS = (
    FORMAT,
    JSON,
    LIMIT_ROWS,
    Option(name="into", flags=("--into",), metavar="TOPIC", help="Send the last statement's rows to TOPIC."),
    Option(
        name="to", flags=("--to",), choices=("parquet", "json", "csv", "orc"),
        help="Write the last statement's rows as files; --out says where.",
    ),
    Option(name="out", flags=("--out",), metavar="DIR", help="The folder of --to."),
    Option(name="append", flags=("--append",), kind="flag", help="Add to what is in DIR."),
    Option(name="overwrite", flags=("--overwrite",), kind="flag", help="Replace the export that is in DIR."),
    Option(
        name="partition_by", flags=("--partition-by",), metavar="COLUMN,…", help="A folder of files for each value."
    ),
    Option(
        name="compression", flags=("-z", "--compression"), metavar="CODEC",
        help="Of files: zstd, snappy, …; of --into: gzip, snappy, lz4 or zstd.",
    ),
    *TARGET,
)  # fmt: skip
STREAMED = (
    Option(
        name="output_mode", flags=("--output-mode",), choices=("append", "update", "complete"),
        help="Which rows a stream's batch gives; default: append, or what the query allows.",
    ),
    Option(
        name="watermark", flags=("--watermark",), metavar="LENGTH",
        help="How late records may come, such as '10 minutes': windows end by it.",
    ),
)  # fmt: skip

SQL = Command(
    name="sql",
    run="kcli.cli.commands.pipeline.sql:run",
    help="Spark SQL over topics: batch or continuous; to the terminal, a topic or files.",
    description="""Every topic of the cluster is a table: key, value, topic, partition, offset, timestamp, timestampType
and, where they are named, headers. Odd names stand in back-quotes: `orders.eu`. Keys and values are strings unless
--value-format says json: then value.total is a column, of the type that the newest records show or --value-schema says.

Only the topics that a statement names are looked at. Several statements are parted by semicolons; every one sees the
same records. A stream (--once, --continuous) is one statement; what it prints is each batch's rows.

\b
Examples:
  kcli pipeline sql 'SELECT partition, count(*) FROM orders GROUP BY partition'
  kcli pipeline sql 'SELECT value.user, sum(value.total) AS total FROM orders GROUP BY 1' --value-format json
  kcli pipeline sql 'SELECT * FROM `orders.eu` WHERE offset > 1000' -o @-1h: --format ndjson
  kcli pipeline sql -f report.sql --to parquet --out out/report
  kcli pipeline sql 'SELECT key, value FROM orders WHERE value.total > 100' --value-format json --into big --continuous
  kcli pipeline sql 'SELECT window(timestamp, "1 minute") AS minute, count(*) FROM orders GROUP BY 1' --continuous""",
    words="[SQL]",
    options=(
        Option(name="file", flags=("-f", "--file"), metavar="FILE", help="Read the SQL from FILE; - is stdin."),
        *OUTPUTS,
        *STREAMED,
        *(one for one in SOURCE if one.name != "topics"),
        *(one for one in COMMON if one.name not in ("format", "json")),
    ),
)
RUN = Command(
    name="run",
    run="kcli.cli.commands.pipeline.spec.run:run",
    help="A pipeline that is written down: source, steps in SQL, sink, mode.",
    description="""FILE is YAML: what is read, what SQL makes of it, where it goes. ${NAME} is a variable of the
environment, ${NAME:-else} with a default. Passwords are in no such file: it names a profile.

\b
    name: big-orders
    profile: prod
    mode: once                     # batch, once or continuous
    source:
      topic: orders
      value-format: json
    steps:
      - name: big
        sql: SELECT key, value FROM orders WHERE value.total > ${LEAST:-100}
    sink:
      topic: big-orders            # or files: DIR and format: parquet; or print: ndjson

Options of this line go before what the file says.

\b
Examples:
  kcli pipeline run big-orders.yaml
  kcli pipeline run big-orders.yaml --check
  kcli pipeline run big-orders.yaml --batch --dry-run
  LEAST=500 kcli pipeline run big-orders.yaml --continuous""",
    words="FILE",
    options=(
        Option(name="check", flags=("--check",), kind="flag", help="Only read the file and say what is wrong with it."),
        *(one for one in COMMON if one.name != "format"),
        REPORT,
    ),
)
REPLAY = Command(
    name="replay",
    run="kcli.cli.commands.pipeline.replay:run",
    help="Records again, at the pace at which they were written, or faster.",
    description="""Send the records of SRC to DST, each when its time has come: the time between two records is what it
was between their timestamps, divided by --speed. Key, value, headers, timestamp and partition stay, and the order in a
partition; partitions keep step with each other. No Spark is needed.

\b
Examples:
  kcli pipeline replay orders orders-replayed --create
  kcli pipeline replay orders test-orders --speed 10 -o @2026-11-20T09:00:@2026-11-20T10:00
  kcli pipeline replay orders orders --to-profile staging --start -1h --max-gap 5s --now
  kcli pipeline replay orders load-test --speed max -J""",
    words="SRC DST",
    options=(
        Option(
            name="speed", flags=("--speed",), metavar="N",
            help="How many times as fast (default 1); max is as fast as it goes.",
        ),
        Option(
            name="max_gap", flags=("--max-gap",), metavar="LENGTH",
            help="Shorten silences of the original that are longer, such as 10s.",
        ),
        Option(name="now", flags=("--now",), kind="flag", help="Records get the time of sending, not their own."),
        Option(name="repartition", flags=("--repartition",), kind="flag", help="Choose partitions anew, by key."),
        Option(name="create", flags=("--create",), kind="flag", help="Make DST like SRC, where it is missing."),
        Option(
            name="compression", flags=("-z", "--compression"), metavar="CODEC[:LEVEL]",
            help="none, gzip, snappy, lz4 or zstd.",
        ),
        *TARGET,
        OFFSET,
        *TIMES[:2],
        PARTITIONS,
        COMMITTED,
        NAME,
        DRY_RUN,
        REPORT,
        JSON,
        *CONNECTION,
    ),
)  # fmt: skip
PROFILE = Command(
    name="profile",
    run="kcli.cli.commands.pipeline.profile.profile:run",
    help="What is in a topic: sizes, keys, rate over time, fields of JSON; as plots or a page.",
    description="""Count all records of the topic, and look into a sample of the values: how records spread over
partitions, keys and time, how large they are, what is null, where offsets are missing, and of JSON every field with its
types, null share, distinct values, least, most and examples.

\b
Examples:
  kcli pipeline profile orders
  kcli pipeline profile orders -o @-1d: --html orders.html
  kcli pipeline profile orders --json | jq .fields
  kcli pipeline profile orders --sample 0 --top 50         # look into every value""",
    words="TOPIC",
    options=(
        Option(
            name="html", flags=("--html",), metavar="FILE", help="Write a page with pictures that needs no other file.",
        ),
        Option(
            name="top", flags=("--top",), kind="int", least=1, metavar="N", help="Name the N most frequent keys (20).",
        ),
        Option(
            name="sample", flags=("--sample",), kind="int", least=0, metavar="N",
            help="Look into about N values for their fields (default 100000; 0: all).",
        ),
        FORMAT,
        JSON,
        *(one for one in SOURCE if one.name in ("partitions", "offset", "start", "end", "isolation", "skip_lost",
                                                "min_partitions")),
        *(one for one in COMMON if one.name not in ("format", "json")),
    ),
)  # fmt: skip
QUERIES = {one.name: one for one in (SQL, PROFILE, REPLAY, RUN)}

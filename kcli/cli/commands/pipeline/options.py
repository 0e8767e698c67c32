"""`kcli pipeline`, declared. A further command is a row of PIPELINE."""

from __future__ import annotations

from kcli.cli.commands.copy.options import TARGET
from kcli.cli.commands.pipeline.jobs_options import JOBS
from kcli.cli.commands.pipeline.query_options import QUERIES
from kcli.cli.commands.pipeline.shared_options import (
    COMMON,
    CONF,
    JAVA_HOME,
    JSON,
    MEMORY,
    REPORT,
    SELECT,
    SOURCE,
    WHERE,
)
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import QUIET, VERBOSE

FILES = ("parquet", "json", "csv", "orc", "delta")

EXPORT = Command(
    name="export",
    run="kcli.cli.commands.pipeline.export:run",
    help="Topics to parquet, JSON, CSV, ORC or Delta files.",
    description="""Write the records of topics into files in folder DIR: key, value, topic, partition, offset,
timestamp, timestampType and headers, or what --select names. A folder appears when it is whole: whatever ends the run
before leaves nothing behind, and what --overwrite replaces stays until then. A Delta table gets a version more.

--once writes what came since the last run, exactly once; --continuous goes on. Both remember in a checkpoint where they
are. Keys and values are binary in parquet, ORC and Delta, and strings in JSON and CSV, unless told otherwise.
Conditions on partition, offset and timestamp are looked up in the log and not read past.

\b
Examples:
  kcli pipeline export orders --to parquet out/orders
  kcli pipeline export orders --to parquet out -o @-1d: --partition-by date,partition
  kcli pipeline export orders --to csv out --value-format json --select 'key, value.user, value.total'
  kcli pipeline export orders --to json out --where 'partition = 3 AND offset >= 1000' --files 1
  kcli pipeline export orders --to parquet out --once          # again tomorrow: what came since
  kcli pipeline export orders --to parquet out --dry-run       # how much would it be?""",
    words="TOPIC... DIR",
    options=(
        Option(name="to", flags=("--to",), choices=FILES, help="The format of the files (default parquet)."),
        Option(name="out", flags=("--out",), metavar="DIR", help="Where to, instead of the last argument."),
        SELECT,
        WHERE,
        Option(
            name="partition_by",
            flags=("--partition-by",),
            metavar="COLUMN,…",
            help="A folder for each value; date and hour are made of the timestamp.",
        ),
        Option(
            name="compression",
            flags=("-z", "--compression"),
            metavar="CODEC",
            help="zstd, snappy, gzip, lz4, none, … (default zstd in parquet and ORC).",
        ),
        Option(name="files", flags=("--files",), kind="int", least=1, metavar="N", help="Write about N files."),
        Option(name="append", flags=("--append",), kind="flag", help="Add to what is in DIR."),
        Option(name="overwrite", flags=("--overwrite",), kind="flag", help="Replace the export that is in DIR."),
        *SOURCE,
        *COMMON,
    ),
)
IMPORT = Command(
    name="import",
    run="kcli.cli.commands.pipeline.importing:run",
    help="Files to a topic.",
    description="""Send the rows of files as records to TOPIC. What `export` wrote goes back as it was: columns key,
value and headers, and with --keep-partitions and --keep-timestamps those too. Other files: name the columns.

Every row is acknowledged, or the exit code says so; run again after a failure, rows may be there twice.

\b
Examples:
  kcli pipeline import out/orders orders-2
  kcli pipeline import out/orders orders-2 --keep-partitions --keep-timestamps
  kcli pipeline import users.csv users --key-column id --value json
  kcli pipeline import 'logs/*.json' logs --value-column message --where "level = 'ERROR'"
  kcli pipeline import inbox/ orders --from json --once            # files that are new since the last run""",
    words="PATH... TOPIC",
    options=(
        Option(name="source", flags=("--from",), choices=(*FILES, "text"), help="The format; else by names."),
        Option(name="topic", flags=("-t", "--topic"), metavar="TOPIC", help="Where to, instead of the last argument."),
        Option(
            name="key_column", flags=("-k", "--key-column"), metavar="COLUMN", help="The key (default: key, if there)."
        ),
        Option(
            name="value_column", flags=("--value-column",), metavar="COLUMN", help="The value (default: value)."
        ),
        Option(
            name="value", flags=("--value",), choices=("json",), help="json: the whole row as a JSON object."
        ),
        Option(
            name="keep_partitions", flags=("--keep-partitions",), kind="flag",
            help="Rows go to the partition in their column partition, in order of the column offset.",
        ),
        Option(
            name="keep_timestamps", flags=("--keep-timestamps",), kind="flag",
            help="Records get the time in the column timestamp.",
        ),
        SELECT,
        WHERE,
        Option(
            name="compression", flags=("-z", "--compression"), metavar="CODEC[:LEVEL]",
            help="none, gzip, snappy, lz4 or zstd.",
        ),
        Option(
            name="reader", flags=("--reader",), multiple=True, metavar="KEY=VALUE",
            help="An option of Spark's reader, such as sep=; or header=false. Repeatable.",
        ),
        *COMMON,
    ),
)  # fmt: skip
COPY = Command(
    name="copy",
    run="kcli.cli.commands.pipeline.copy:run",
    help="Topic to topic on Spark, also between clusters.",
    description="""Copy the records of SRC to DST: key, value, headers, timestamp and partition stay. `kcli copy` does
the same without Spark; this is for more than one machine can do, and for what --select and --where do on the way.

At least once: a task that fails sends its records again. With --exactly-once a batch and the positions in SRC are
committed in transactions of DST's cluster, so nothing is there twice for those who read committed records.

\b
Examples:
  kcli pipeline copy orders orders-2
  kcli pipeline copy orders orders --to-profile staging --create --continuous
  kcli pipeline copy orders big-orders --value-format json --where 'value.total > 1000' --repartition
  kcli pipeline copy orders orders-2 --once --exactly-once""",
    words="SRC DST",
    options=(
        *TARGET,
        Option(name="repartition", flags=("--repartition",), kind="flag", help="Choose partitions anew, by key."),
        Option(
            name="create", flags=("--create",), kind="flag",
            help="Make DST with the partitions and configs of SRC, where it is missing.",
        ),
        Option(
            name="exactly_once", flags=("--exactly-once",), kind="flag",
            help="Records and positions in transactions of DST's cluster; --name names them.",
        ),
        Option(
            name="compression", flags=("-z", "--compression"), metavar="CODEC[:LEVEL]",
            help="none, gzip, snappy, lz4 or zstd.",
        ),
        SELECT,
        WHERE,
        *SOURCE,
        *COMMON,
    ),
)  # fmt: skip
WARMUP = Command(
    name="warmup",
    run="kcli.cli.commands.pipeline.doctor:warmup",
    help="Make the class-data archive: Spark starts in half the time.",
    description="""Run Spark once, for about half a minute, and keep its classes in ~/.cache/kcli as the JVM has them in
memory. Every later start maps that file. One for each Spark and Java.

\b
Example:
  kcli pipeline warmup""",
    options=(JAVA_HOME, CONF, MEMORY, QUIET, VERBOSE),
)
DOCTOR = Command(
    name="doctor",
    run="kcli.cli.commands.pipeline.doctor:doctor",
    help="Can pipelines run here: PySpark, Java, memory, a tiny job.",
    description="""Look for everything that a pipeline needs: PySpark and its version, pyarrow and NumPy, which Java is
used and why, the class-data archive, memory and disk; then start Spark, and run a tiny job with kcli's own source.

\b
Examples:
  kcli pipeline doctor
  kcli pipeline doctor --java-home /opt/jdk-21 -J""",
    options=(
        Option(name="no_job", flags=("--no-job",), kind="flag", help="Only look; start nothing."),
        JAVA_HOME, CONF, MEMORY, REPORT, JSON, QUIET, VERBOSE,
    ),
)  # fmt: skip

PIPELINE: dict[str, Command] = {one.name: one for one in (EXPORT, IMPORT, COPY, WARMUP, DOCTOR)} | QUERIES | JOBS

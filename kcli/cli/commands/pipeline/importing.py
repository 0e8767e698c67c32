"""`kcli pipeline import`: files into a topic."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import FILES, PipelineOptions, QueryOptions
from kcli.cli.commands.pipeline.session.drive import drive
from kcli.cli.commands.pipeline.session.frame import DELTA_PACKAGE, Frame, conf_of, delta_conf, delta_jars
from kcli.cli.commands.pipeline.session.job import Job, Outcome
from kcli.cli.commands.pipeline.session.stored import store_conf
from kcli.cli.commands.pipeline.session.stream import name_of, trigger_of
from kcli.cli.commands.pipeline.sink.formats import WrittenFormats, WrittenOptions
from kcli.cli.commands.pipeline.sink.target import Target
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.errors import UsageError
from kcli.pipeline.jobs.files import delta
from kcli.pipeline.jobs.files.importing import count_of, files_of, form_of, load, records
from kcli.pipeline.jobs.frames import chosen
from kcli.pipeline.jobs.records import Sink
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress
from kcli.pipeline.sink.storage import as_s3a, in_s3

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer
    from pyspark.sql import SparkSession

    from kcli.cli.parsing.shared import Compression, KcliOption


class FileRow(Row, section="files"):
    path: str = column("Path of the file.", rank=1)
    format: str = column("parquet, json, csv, orc, text or delta.")
    bytes: int = column("Size of the file.", unit="bytes")
    records: int | None = column(
        "Records in it; null if the file does not store their number.", before="bytes", unit="count"
    )
    destination: str = column("Topic the records would be sent to.", table=False, rank=1)


SHAPE = shape("pipeline.files", "What an import would read, file by file.", FileRow)


class ImportOptions(QueryOptions, WrittenOptions, PipelineOptions):
    moved = (("-k", "--key-column COLUMN"), ("--from", "--file-format FORMAT"))
    file_format: Annotated[
        str | None,
        KcliOption("--file-format", choices=(*FILES, "text"), help="The format (default: from the file names)."),
    ] = None
    topic: Annotated[
        str | None,
        typer.Option("-t", "--topic", metavar="TOPIC", help="The destination, instead of the last argument."),
    ] = None
    key_column: Annotated[
        str | None,
        typer.Option("--key-column", metavar="COLUMN", help="Column with the key (default: key, if it exists)."),
    ] = None
    value_column: Annotated[
        str | None, typer.Option("--value-column", metavar="COLUMN", help="Column with the value (default: value).")
    ] = None
    value: Annotated[Literal["json"] | None, typer.Option("--value", help="json: the whole row as a JSON object.")] = (
        None
    )
    keep_partitions: Annotated[
        bool,
        typer.Option(
            "--keep-partitions",
            help="Send each row to the partition in its column partition, in the order of its column offset.",
        ),
    ] = False
    keep_timestamps: Annotated[
        bool, typer.Option("--keep-timestamps", help="Use the time in the column timestamp.")
    ] = False
    create: Annotated[
        bool,
        typer.Option(
            "--create", help="Create TOPIC if it does not exist, with the broker's default number of partitions."
        ),
    ] = False
    compression: Compression = None
    reader: Annotated[
        list[str],
        typer.Option(
            "--reader",
            metavar="KEY=VALUE",
            help="An option of the Spark reader, such as sep=; or header=false. Repeatable.",
        ),
    ]


@command(
    "pipeline import",
    help="Send the rows of files as records.",
    words="PATH... TOPIC",
    examples="""
kcli pipeline import out/orders orders-2
kcli pipeline import out/orders orders-2 --keep-partitions --keep-timestamps
kcli pipeline import users.csv users --create --key-column id --value json
kcli pipeline import 'logs/*.json' logs --value-column message --where "level = 'ERROR'"
kcli pipeline import orders.parquet orders --to-value-format avro       # by the latest schema of orders-value
kcli pipeline import inbox/ orders --file-format json --once            # files added since the last run""",
)
def import_files(options: ImportOptions) -> int:
    """Send the rows of files as records to TOPIC. Files of `export` restore key, value and headers, and with
    --keep-partitions and --keep-timestamps the partitions and timestamps, too. For other files, name the columns.

    Exit 0 only if every row was acknowledged; a run repeated after a failure may send rows twice."""
    frame = Frame(options, "import")
    places, topic = list(options.words), options.topic
    if topic is None and len(places) > 1:
        topic = places.pop()
    if topic is None or not places:
        raise UsageError("missing arguments: kcli pipeline import PATH TOPIC")
    if options.commit_group or options.max_per_batch or options.max_bytes_per_batch:
        raise UsageError("--commit-group, --max-per-batch and --max-bytes-per-batch work only when topics are read")
    job = Importing(frame, options, places, topic)
    if frame.dry_run:
        return _plan(frame, job)
    frame.session(job.name)
    job.prepare()
    return drive(frame, job)


class Importing(Job):
    """What the line says, as a job."""

    name = "import"
    verb = "imported"

    def __init__(self, frame: Frame, options: ImportOptions, places: list[str], topic: str) -> None:
        self.frame = frame
        self.options = options
        self.places = [as_s3a(place) if in_s3(place) else place for place in places]
        self.source = ", ".join(places)
        self.destination = topic
        self.files = files_of(places)
        self.form = options.file_format or form_of(places, self.files)
        if options.create and options.keep_partitions:
            raise UsageError(
                "--create uses the broker's default number of partitions, but --keep-partitions needs the partitions "
                "of the rows: create the topic first (kcli topics create)"
            )
        if options.value and options.value_column:
            raise UsageError(
                "--value json and --value-column cannot be combined: the value is the whole row or one column"
            )
        if options.value and options.to_value_format:
            raise UsageError("--value json and --to-value-format cannot be combined")
        self.formats = WrittenFormats(options, frame)
        self._load_as = self.form
        self.reader = conf_of(options.reader, "--reader")
        self.target = Target(frame, topic, options.compression)
        self.expected = count_of(self.form, self.files) if not options.sql_where else None
        if self.form == "delta":
            self._delta()
        if frame.remote is None and not frame.dry_run:
            for place in self.places:
                self.conf = (*self.conf, *store_conf(place, frame.conf).items())
        if frame.streaming:
            if len(places) > 1:
                raise UsageError(f"--{frame.mode} needs a single folder, and reads the files added to it")
            frame.checkpoint("import")  # its errors come before the first request

    def prepare(self) -> None:
        """Ask the cluster: files that are new to its topic may be old to another's."""
        self.target.check(create=self.options.create)
        if self.frame.streaming:
            place = self.places[0] if "://" in self.places[0] else os.path.abspath(self.places[0])
            name = name_of("import", self.destination, f"{self.target.cluster}/{place}", self.form)
            self._checkpoint = self.frame.checkpoint(name)
            self.checkpoint = str(self._checkpoint)

    def _delta(self) -> None:
        """By Delta's jars where Spark has them, else as its files say."""
        if delta_jars(self.frame):
            self.conf = delta_conf(self.frame)
            return
        delta.check()
        if self.frame.streaming:
            raise UsageError(f"--{self.frame.mode} from a Delta table needs Delta's jars: --packages {DELTA_PACKAGE}")
        if len(self.places) > 1 or self.reader or "://" in self.places[0]:
            raise UsageError("--file-format delta needs one folder on this machine, without --reader")
        self._load_as = "delta-files"

    @property
    def quick(self) -> bool:
        """A count or a size says that it will not take long."""
        return not self.frame.streaming and sum(file.stat().st_size for file in self.files) < 50_000_000

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, with its columns looked up."""
        options, streaming = self.options, self.frame.streaming
        texts = {options.key_column or "key", options.value_column or "value"} if options.value != "json" else ()
        rows = load(spark, self._load_as, self.places, self.reader, streaming=streaming, texts=texts)
        frame = records(
            chosen(rows, options.sql_where, options.select),
            key=options.key_column,
            value=options.value_column,
            whole=options.value == "json",
            partitions=options.keep_partitions,
            timestamps=options.keep_timestamps,
            typed=self.formats.typed,
        )
        if self.frame.connector == "jvm":
            if options.keep_timestamps:
                raise UsageError(
                    "--keep-timestamps requires kcli's connector: Spark's own connector writes no timestamps"
                )
            self._sink = Sink(frame, "kafka", self.target.jvm_options())
        else:
            sink = self.target.options(progress=progress, timestamps=options.keep_timestamps)
            self._sink = Sink(frame, "kcli", self.formats.options(sink))
        if not streaming:
            return self._sink.batch()
        return self._sink.stream(self._checkpoint, trigger_of(self.frame), None)

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """Everything was acknowledged."""
        stood = work.state()
        return Outcome(records=self._sink.rows if stood is None else stood.rows)

    def half(self, seen: Progress) -> str:
        """What is in the topic of a batch that did not end well."""
        return f"up to {seen.written:,} records of {self.source} are in {self.destination}"


def _plan(frame: Frame, job: Importing) -> int:
    """The files, one a row."""
    document = Document(shape=SHAPE, view=frame.view)
    document.of(FileRow).extend(
        FileRow(
            path=str(file),
            format=job.form,
            records=count_of(job.form, [file]),
            bytes=file.stat().st_size,
            destination=job.destination,
        )
        for file in job.files
    )
    write(document, frame.format or "table")
    return 0

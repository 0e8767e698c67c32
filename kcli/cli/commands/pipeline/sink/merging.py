"""--merge: rows of a table that are updated and deleted by a key, and change events that become rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.sink.folder import FolderOptions
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.pipeline.jobs.files.export import FileForm
from kcli.pipeline.jobs.frames import tried
from kcli.pipeline.jobs.lake.merging.latest import MARK, SEEN, Merge
from kcli.pipeline.jobs.lake.staged import MOST_ROWS, USUAL_BYTES, USUAL_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated, Literal

    import typer
    from pyspark.sql import DataFrame

TYPED = ("json", "avro", "protobuf", "json-schema")


class MergeOptions(Options):
    """How rows get into a table, where they are not added to it."""

    merge: Annotated[
        str | None,
        typer.Option(
            "--merge",
            metavar="COLUMN,…",
            help="With delta and iceberg: replace the row with the same key, or add it. The last record of a key wins.",
        ),
    ] = None
    order_by: Annotated[
        str | None,
        typer.Option("--order-by", metavar="COLUMN", help="With --merge: the column that orders the records of a key."),
    ] = None
    delete_when: Annotated[
        str | None,
        typer.Option(
            "--delete-when",
            metavar="SQL",
            help="With --merge: delete the row if this is true, such as 'value IS NULL'.",
        ),
    ] = None
    unwrap: Annotated[
        Literal["debezium"] | None,
        typer.Option(
            "--unwrap",
            help="With --merge: values are change events; `value` is the row, and deletes and tombstones delete it.",
        ),
    ] = None


class Merging:
    """What the line says of a merge. Raises UsageError for options that do not go together."""

    def __init__(self, options: MergeOptions, select: str | None) -> None:
        self._options = options
        self.events = options.unwrap is not None
        """Whether values are change events."""
        self.select = "value.*" if self.events and select is None else select
        for flag, value in (
            ("--order-by", options.order_by),
            ("--delete-when", options.delete_when),
            ("--unwrap", options.unwrap),
        ):
            if value is not None and options.merge is None:
                raise UsageError(f"{flag} requires --merge COLUMN, the key of a row")
        self.merge = merge_of(options)

    def check(self, frame: Frame, form: FileForm, folder: FolderOptions) -> None:
        """Raise UsageError for a sink or a size of batches that cannot be merged. A batch of a stream is limited to
        what the driver holds."""
        if self.merge is None:
            return
        if not form.is_table:
            raise UsageError("--merge requires --file-format delta or iceberg")
        if folder.append or folder.overwrite:
            word = "--append" if folder.append else "--overwrite"
            raise UsageError(f"{word} and --merge cannot be combined: a merge adds and replaces rows")
        if form.size or form.compression:
            flag = "--file-size" if form.size else "-z"
            raise UsageError(f"{flag} cannot be used with --merge: the table's own properties decide about its files")
        if form.form == "delta" and form.jars:
            return  # Spark merges, and the driver holds no rows
        if frame.max_rows > MOST_ROWS:
            raise UsageError(f"--max-per-batch {frame.max_rows}: --merge handles at most {MOST_ROWS:,} records at once")
        if frame.streaming and not frame.max_rows:
            frame.max_rows = USUAL_ROWS
        if frame.streaming and not frame.max_bytes and frame.connector == "kcli":
            frame.max_bytes = USUAL_BYTES

    def check_payload(self, payload: PayloadOptions) -> None:
        """Raise UsageError for a format that cannot be merged."""
        if self.merge is None:
            return
        if payload.on_bad == "null":
            raise UsageError(
                "--on-bad null and --merge cannot be combined: a bad value would look like a tombstone, which "
                "deletes the row; use fail or quarantine"
            )
        if self.events and payload.value_format not in TYPED:
            raise UsageError(f"--unwrap requires --value-format {', '.join(TYPED)}, for the columns of the events")

    def check_topics(self, topics: Sequence[str], *, pattern: bool = False) -> None:
        """Raise UsageError for several topics, or a pattern, without a column that orders their records: offsets of
        two topics cannot be compared."""
        if self.merge is not None and not self.merge.order_by and (pattern or len(topics) > 1):
            raise UsageError(
                f"--merge of several topics ({', '.join(topics)}) needs --order-by COLUMN, such as timestamp: "
                "offsets of two topics do not show which record is later"
            )

    @property
    def texts(self) -> list[str]:
        """SQL that names the columns of records it looks at."""
        if self.merge is None:
            return []
        key = "key value" if self.events else ""
        return ["topic partition offset", key, self._options.delete_when or ""]

    @property
    def beside(self) -> tuple[tuple[str, str], ...]:
        """(name, SQL) of the column that rows have beside those of --select."""
        return () if self.merge is None else ((MARK, SEEN),)

    def seen(self, frame: DataFrame) -> DataFrame:
        """The records, with rows for change events, and a column that says where each is and whether it deletes."""
        if self.merge is None:
            return frame
        from pyspark.sql import functions as f

        gone = "false"
        if self.events:
            from kcli.pipeline.jobs.lake.merging.debezium import unwrapped

            frame, gone = unwrapped(frame), "op = 'd'"
        if self._options.delete_when is not None:
            condition = self._options.delete_when
            tried(f"delete_when {condition}", partial(frame.where, condition))
            gone = f"({gone}) OR coalesce({condition}, false)"
        place = [f.col(name) for name in ("topic", "partition", "offset")]
        return frame.withColumn(SEEN, f.struct(f.expr(gone).alias("deleted"), *place))


def merge_of(options: MergeOptions) -> Merge | None:
    """--merge and --order-by; None without the first. Raises UsageError."""
    if options.merge is None:
        return None
    keys = tuple(name for one in options.merge.split(",") if (name := one.strip()))
    if not keys or len(set(keys)) < len(keys):
        raise UsageError(f"--merge {options.merge}: expected columns, each once, such as id or tenant,id")
    return Merge(keys=keys, order_by=options.order_by or "", delete_when=options.delete_when or "")

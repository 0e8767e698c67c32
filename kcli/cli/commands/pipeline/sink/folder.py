"""How files get into a folder: added, replaced, in a folder for each value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.frame import DELTA_PACKAGE, Frame, delta_conf
from kcli.cli.commands.pipeline.session.stored import store_conf
from kcli.cli.output.messages import complain
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError
from kcli.grammar.durations import seconds
from kcli.grammar.units import bytes_of
from kcli.pipeline.jobs.files.export import FileForm, check
from kcli.pipeline.jobs.files.folder import Folder

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.pipeline.jobs.lake.destination import Destination
    from kcli.pipeline.jobs.lake.merging.latest import Merge
    from kcli.pipeline.jobs.lake.table import Table


class FolderOptions(Options):
    """What becomes of files that are in the folder already."""

    append: Annotated[bool, typer.Option("--append", help="Add files to DIR.")] = False
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the export that is in DIR.")] = False
    warehouse: Annotated[
        str | None,
        typer.Option(
            "--warehouse",
            metavar="DIR|s3://…",
            help="Where --file-format iceberg keeps tables, with a catalog in SQLite (DIR/catalog.db).",
        ),
    ] = None
    file_size: Annotated[
        str | None,
        typer.Option(
            "--file-size",
            metavar="SIZE",
            help="With delta and iceberg: start a new file after this size (default 128MiB).",
        ),
    ] = None
    compact: Annotated[
        str | None,
        typer.Option(
            "--compact",
            metavar="DURATION",
            help="With delta: merge small files after a commit, at most this often (1h).",
        ),
    ] = None
    catalog: Annotated[
        str | None,
        typer.Option(
            "--catalog",
            metavar="URL|NAME",
            help="Use this Iceberg catalog instead: the URL of a REST catalog, or a name in the pyiceberg "
            "configuration.",
        ),
    ] = None


def folder_mode(frame: Frame, options: FolderOptions) -> str:
    """append, overwrite or error, as Spark calls them. Raises UsageError."""
    if options.append and options.overwrite:
        raise UsageError("--append and --overwrite cannot be combined")
    if frame.streaming and options.overwrite:
        raise UsageError(f"--{frame.mode} adds to its earlier output; --overwrite requires --batch")
    return "append" if options.append else "overwrite" if options.overwrite else "error"


def size_of(options: FolderOptions) -> int:
    """--file-size in bytes, 0 where it is not given. Raises UsageError."""
    return 0 if options.file_size is None else max(1, round(bytes_of(options.file_size, "--file-size")))


def compact_of(options: FolderOptions) -> float | None:
    """--compact in seconds. Raises UsageError."""
    return None if options.compact is None else seconds(options.compact, "--compact", 0.0)


def folder_of(
    frame: Frame, options: FolderOptions, form: FileForm, out: str, merge: Merge | None = None
) -> Folder | Destination:
    """The folder that files of this form are written to, or the table. Raises UsageError where the form, the mode and
    the place do not go together."""
    from kcli.pipeline.jobs.lake.destination import Destination

    check(form)
    if form.size and not form.is_table:
        raise UsageError("--file-size requires --file-format delta or iceberg; for files use --files N")
    if form.compact is not None and form.form != "delta":
        why = "pyiceberg has no compaction; use Iceberg's rewrite_data_files in Spark or Trino"
        raise UsageError(f"--compact requires --file-format delta{f': {why}' if form.form == 'iceberg' else ''}")
    if form.form != "iceberg":
        for name, value in (("--warehouse", options.warehouse), ("--catalog", options.catalog)):
            if value is not None:
                raise UsageError(f"{name} requires --file-format iceberg")
    if not form.is_table:
        return Folder(out, folder_mode(frame, options), direct=frame.streaming)
    table = _delta(frame, form, out) if form.form == "delta" else _iceberg(frame, options, form, out)
    return Destination(table, "append" if merge is not None else folder_mode(frame, options))


def _delta(frame: Frame, form: FileForm, place: str) -> Table:
    from kcli.pipeline.jobs.lake.delta import DeltaTable
    from kcli.pipeline.jobs.lake.delta_spark import SparkDeltaTable

    if frame.remote is not None:
        raise UsageError("--file-format delta requires --master: the driver commits, and must run on this machine")
    if form.jars:
        if form.size and form.compact is None:
            raise UsageError("--file-size: Delta's own writer sizes files when it merges them: add --compact 1h")
        return SparkDeltaTable(place, by=form.partition_by, compression=form.codec, size=form.size)
    if frame.on_cluster:
        raise UsageError(f"--file-format delta on a cluster needs Delta's own writer: --packages {DELTA_PACKAGE}")
    sized = {"size": form.size} if form.size else {}
    return DeltaTable(place, by=form.partition_by, compression=form.codec, **sized)


def _iceberg(frame: Frame, options: FolderOptions, form: FileForm, name: str) -> Table:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    if frame.remote is not None:
        raise UsageError("--file-format iceberg requires --master: the driver commits, and must run on this machine")
    place = place_of(options.warehouse, options.catalog)
    sized = {"size": form.size} if form.size else {}
    return IcebergTable(
        name, place, by=form.partition_by, units=form.units, compression=form.codec, tell=told(frame), **sized
    )


def recover(frame: Frame, folder: Folder | Destination) -> None:
    """Before the folder is checked: put away what killed exports left, and say so. Not with --dry-run."""
    for sentence in [] if frame.dry_run else folder.recover():
        told(frame)(sentence)


def told(frame: Frame) -> Callable[[str], None]:
    """Where sentences about killed runs go: to stderr, unless --quiet."""
    return (lambda sentence: None) if frame.quiet else complain


def conf_of(frame: Frame, form: FileForm, folder: Folder | Destination) -> tuple[tuple[str, str], ...]:
    """Settings of Spark for files of this form, and for the store that it writes them to. Raises UsageError where
    nothing brings Spark's client for that."""
    by_spark = form.form == "delta" and form.jars
    settings = delta_conf(frame) if by_spark else ()
    if (folder.table is not None and not by_spark) or frame.remote is not None or frame.dry_run:
        return settings
    return (*settings, *store_conf(folder.place, frame.conf).items())

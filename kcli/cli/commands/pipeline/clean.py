"""`kcli pipeline clean`: files in a table's folder that no version of the table names, planned and then deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PlanOptions
from kcli.cli.runtime.answer import format_of
from kcli.cli.runtime.change import PlannedChange, check, confirmed
from kcli.cli.runtime.views import view_of
from kcli.errors import UsageError
from kcli.grammar.durations import seconds

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.pipeline.jobs.lake.table import Table

OLD = 7 * 86_400.0
LEAST = 3_600_000  # ms: a batch that is being written is in no version yet


class TableRow(Row, section="tables"):
    table: str = column("The table.", rank=1)
    orphans: int = column("Files that no version of the table names.", unit="count", rank=1)
    result: str = column("planned, deleted, or nothing to do.", unit="word", rank=1)


class OrphanRow(Row, section="orphans", table=False):
    path: str = column("A file that no version of the table names.", rank=1)


SHAPE = shape("pipeline.clean", "Files that no version of a table names.", TableRow, OrphanRow)


class CleanOptions(PlanOptions):
    """The words name tables."""

    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than",
            metavar="DURATION",
            help="Only files that are at least this old (default 7d): files that are being written belong to no "
            "version yet.",
        ),
    ] = None
    warehouse: Annotated[
        str | None,
        typer.Option("--warehouse", metavar="DIR|s3://…", help="The tables are Iceberg tables in this warehouse."),
    ] = None
    catalog: Annotated[
        str | None,
        typer.Option("--catalog", metavar="URL|NAME", help="The tables are Iceberg tables in this catalog."),
    ] = None


@command(
    "pipeline clean",
    help="Delete files that killed runs left in the folder of a table.",
    words="TABLE...",
    examples="""
kcli pipeline clean out/orders --dry-run
kcli pipeline clean out/orders s3://lake/orders --execute
kcli pipeline clean raw.orders --warehouse lake --older-than 1d --execute""",
)
def clean(options: CleanOptions) -> int:
    """A killed pipeline leaves data files behind, because no pipeline deletes a file that a table might name. This
    command checks the table: files of all versions in its log stay, so older versions remain readable. TABLE is the
    folder of a Delta table, or NAMESPACE.TABLE of Iceberg with --warehouse or --catalog."""
    if not options.words:
        raise UsageError("missing argument: kcli pipeline clean TABLE")
    check(options)
    older = seconds(options.older_than, "--older-than", OLD, LEAST)
    tables = {word: _table(options, word) for word in options.words}
    orphans = {word: sorted(table.clean(older, delete=False)) for word, table in tables.items()}
    document = Document(shape=SHAPE, view=view_of(options))
    document.of(TableRow).extend(
        TableRow(table=word, orphans=len(found), result="planned" if found else "nothing to do")
        for word, found in orphans.items()
    )
    document.of(OrphanRow).extend(OrphanRow(path=path) for found in orphans.values() for path in found)
    if document.of(OrphanRow) and confirmed(options, document, PlannedChange(names=["clean"], verb="delete")):
        for row in document.of(TableRow):
            if row.orphans:
                tables[row.table].clean(older, delete=True)
                row.result = "deleted"
    if format_of(options) != "table" or document.rows:
        write(document, format_of(options))
    return 1 if document.errors else 0


def _table(options: CleanOptions, word: str) -> Table:
    """The table of a word. Raises UsageError where the library that it takes is missing, or the table is."""
    table: Table
    if options.warehouse is None and options.catalog is None:
        from kcli.pipeline.jobs.files import delta
        from kcli.pipeline.jobs.lake.delta import DeltaTable

        delta.check()
        table = DeltaTable(word)
    else:
        from kcli.pipeline.jobs.lake import catalogs
        from kcli.pipeline.jobs.lake.iceberg import IcebergTable

        catalogs.check()
        table = IcebergTable(word, catalogs.place_of(options.warehouse, options.catalog))
    if not table.exists():
        raise UsageError(f"{word}: this table does not exist")
    return table

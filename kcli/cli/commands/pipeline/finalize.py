"""`kcli pipeline finalize`: the files of batches that were cut short, planned and then taken away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.output.messages import complain
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import write
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PlanOptions
from kcli.cli.runtime.answer import format_of, plural
from kcli.cli.runtime.change import PlannedChange, check, confirmed
from kcli.cli.runtime.views import view_of
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from kcli.pipeline.jobs.files.finalize import UnfinishedBatches


class FolderRow(Row, section="folders"):
    folder: str = column("The folder.", rank=1)
    committed: int = column("Files of complete batches.", unit="count")
    orphans: int = column("Files that belong to no complete batch.", unit="count")
    bytes: int = column("Bytes of those files.", unit="bytes")
    missing: int = column("Files of complete batches that are missing.", unit="count")
    result: str = column("planned, removed, or nothing to do.", unit="word", rank=1)


class OrphanRow(Row, section="orphans", table=False):
    path: str = column("A file that belongs to no complete batch, or the folder of a killed export.", rank=1)
    bytes: int = column("Its size.", unit="bytes")


SHAPE = shape("pipeline.finalize", "Files that belong to no complete batch.", FolderRow, OrphanRow)


class FinalizeOptions(PlanOptions):
    """The words name folders."""


@command(
    "pipeline finalize",
    help="Delete the duplicate files that a crash left in an export.",
    words="DIR...",
    examples="""
kcli pipeline finalize out/orders --dry-run
kcli pipeline finalize out/orders --execute""",
)
def finalize(options: FinalizeOptions) -> int:
    """Spark reads a folder by its log _spark_metadata; other programs read all files, including those of a batch that
    was interrupted by a crash and then repeated. Only these files are deleted: files of complete batches stay, and a
    later run resumes. kcli refuses while a pipeline writes to the folder."""
    from kcli.pipeline.jobs.files.finalize import find_leftovers, remove

    if not options.words:
        raise UsageError("missing argument: kcli pipeline finalize DIR")
    check(options)
    folders = {word: find_leftovers(Path(word)) for word in options.words}
    document = _planned(folders)
    document.view = view_of(options)
    if document.of(OrphanRow) and confirmed(options, document, PlannedChange(names=["remove"], verb="delete")):
        for row, folder in zip(document.of(FolderRow), folders.values(), strict=True):
            remove(folder)
            row.result = "removed" if folder.orphans else "nothing to do"
    if format_of(options) != "table" or document.rows:
        write(document, format_of(options))
    for problem in document.errors:
        complain(str(problem["message"]))
    return 1 if document.errors else 0


def _planned(folders: dict[str, UnfinishedBatches]) -> Document:
    """What would be removed; a file of a whole batch that is missing is an error."""
    document = Document(shape=SHAPE)
    document.of(FolderRow).extend(
        FolderRow(
            folder=name,
            committed=folder.committed,
            orphans=len(folder.orphans),
            bytes=sum(folder.sizes.values()),
            missing=len(folder.missing),
            result="planned" if folder.orphans else "nothing to do",
        )
        for name, folder in folders.items()
    )
    document.of(OrphanRow).extend(
        OrphanRow(path=str(path), bytes=folder.sizes[path]) for folder in folders.values() for path in folder.orphans
    )
    for name, folder in folders.items():
        if folder.missing:
            files = plural(len(folder.missing), "file")
            document.fail(KcliError(f"{name}: {files} of complete batches are missing: {folder.missing[0]}"), name)
    return document

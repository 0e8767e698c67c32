"""`kcli registry export`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.commands.registry.transfer import files
from kcli.cli.commands.registry.transfer.selection import taken
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import OutputOptions, OverwriteOptions, PatternOptions
from kcli.cli.runtime.answer import answer, format_of, plural, say
from kcli.errors import UsageError
from kcli.registry.listing.names import subject_names

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document


class ExportedRow(Row, section="schemas"):
    subject: str = column("Name of the subject.", rank=1)
    version: int = column("The version.", rank=1)
    id: int | None = column("Id of the schema.", rank=1)
    type: str = column("AVRO, PROTOBUF or JSON.", unit="word")
    level: str | None = column("The subject's own compatibility level; null where it inherits one.", unit="word")
    deleted: bool | None = column("true: it is soft-deleted.", sparse=True, unit="word", rank=2)


SHAPE = shape("registry.export", "Versions that were exported, one a row.", ExportedRow)


class RegistryExportOptions(RegistryOptions, PatternOptions, OutputOptions, OverwriteOptions):
    """What is exported is named by words."""


@command(
    "registry export",
    help="Write subjects to a folder or a file.",
    words="FOLDER|FILE [SUBJECT]",
    examples="""
kcli registry export schemas/
kcli registry export schemas.yaml 'orders-*'
kcli registry export - -q > schemas.yaml
kcli consume orders --schema-registry file:schemas""",
)
def export(options: RegistryExportOptions) -> int:
    """Write all versions of subjects, soft-deleted ones too, with their ids, references and settings: to a FOLDER,
    which kcli can read instead of a registry (file:FOLDER), or to one FILE that ends with .yaml or .json, or - for
    stdout. Other subjects that a schema refers to are exported, too. `kcli registry import` reads both. Files in the
    folder with the same content are left alone; --force overwrites files that differ.
    """
    if not options.words:
        raise UsageError("missing argument: kcli registry export FOLDER, or FILE.yaml")
    path, *words = options.words
    if path == "-" and format_of(options) != "table":
        raise UsageError("- writes the document to stdout, so it cannot be combined with --format")
    files.check(path, force=options.force)
    names = subject_names(words, literal=options.literal)

    async def work(registry: Registry, document: Document) -> None:
        snapshot = await taken(registry.client, names, document)
        if document.errors:
            return
        written = files.write(path, snapshot, force=options.force)
        if path != "-":
            document.of(ExportedRow).extend(
                ExportedRow(
                    subject=one.subject,
                    version=one.version,
                    id=one.id if one.id >= 0 else None,
                    type=one.kind,
                    level=snapshot.levels.get(one.subject),
                    deleted=(one.subject, one.version) in snapshot.deleted or None,
                )
                for one in snapshot.schemas
            )
        place = "stdout" if path == "-" else path
        say(options, f"{plural(len(snapshot.schemas), 'version')} exported to {place} ({plural(written, 'file')})")

    return answer(options, SHAPE, work, opened=opened(options))

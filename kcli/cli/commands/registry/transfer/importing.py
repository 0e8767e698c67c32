"""`kcli registry import`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.cli.commands.registry.opened import Registry, RegistryOptions, opened
from kcli.cli.commands.registry.transfer import files
from kcli.cli.commands.registry.transfer.moves import COPIED, planned
from kcli.cli.commands.registry.transfer.selection import part, taken
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import PatternOptions, UndoOptions
from kcli.cli.runtime.change import make_change
from kcli.errors import UsageError
from kcli.registry.folder import FolderSchemas
from kcli.registry.listing.names import subject_names
from kcli.registry.moving.folder_client import FolderClient
from kcli.registry.settings import RegistrySettings
from kcli.text.names import Names

if TYPE_CHECKING:
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import KeptIds
    from kcli.cli.runtime.change import PlannedChange
    from kcli.registry.moving.snapshot import Snapshot

SHAPE = shape("registry.import", "Schemas that were registered, or would be, one a row.", *COPIED)


class ImportOptions(RegistryOptions, PatternOptions, UndoOptions):
    ids: KeptIds = None


@command(
    "registry import",
    help="Register the subjects of a folder or a file.",
    words="FOLDER|FILE [SUBJECT]",
    examples="""
kcli registry import schemas/
kcli registry import schemas.yaml 'orders-*' --execute
kcli registry import schemas/ --ids new --execute""",
)
def import_all(options: ImportOptions) -> int:
    """Register the subjects that `kcli registry export` wrote, in the order of their references, with their versions,
    ids and settings. To keep ids, kcli sets each subject to the mode IMPORT meanwhile; a registry without that mode
    (Apicurio) requires --ids new, and the plan shows what is lost. A schema that already exists is left alone; another
    schema under the same id or version is a conflict, and nothing is changed. The plan comes first, --execute applies
    it.
    """
    if not options.words:
        raise UsageError("missing argument: kcli registry import FOLDER, or FILE.yaml")
    path, *words = options.words
    names = subject_names(words, literal=options.literal)
    read = files.read(path) if path == "-" or os.path.isfile(path) or files.is_file(path) else None

    async def make_plan(registry: Registry, document: Document) -> PlannedChange | None:
        snapshot = part(read, names, document) if read is not None else await _of_folder(path, names, document)
        if document.errors:
            return None
        return await planned(options, registry, document, snapshot, keep=options.ids != "new")

    return make_change(options, SHAPE, make_plan, opened(options))


async def _of_folder(path: str, names: Names, document: Document) -> Snapshot:
    folder = RegistrySettings(folder=path, kind="file")
    return await taken(FolderClient(folder, FolderSchemas(path)), names, document)

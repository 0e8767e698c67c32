"""ACLs from a file: those of an undo file, to be restored, and those of `kcli acls list`."""

from __future__ import annotations

from kcli.acls import Acl
from kcli.changes.acls import SCHEMA
from kcli.cli.commands.acls.change import ChangeRow, change
from kcli.cli.commands.acls.parse import checked
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.journal import read_undo_file
from kcli.errors import UsageError
from kcli.model import Cluster
from kcli.text.json_object import JsonObject

LIST = "kcli.acls.list/1"
RESTORE = shape("undo.acls", "ACLs that were added or removed, or would be.", ChangeRow)


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Remove added ACLs and add removed ACLs, as an undo file has them. Raises ValueError."""
    added, removed = _acls(document, "added"), _acls(document, "removed")

    async def wanted(cluster: Cluster) -> tuple[list[Acl], list[Acl]]:
        return removed, added

    return change(options, RESTORE, wanted)


def listed(path: str) -> list[Acl]:
    """The ACLs that `kcli acls list` printed, or that an undo file says were removed. Raises UsageError."""
    document = read_undo_file(path)
    try:
        schema = document.text("schema")
        if schema not in (LIST, SCHEMA):
            raise ValueError(f"its schema is {schema}, expected {LIST} or {SCHEMA}")
        return _acls(document, "acls" if schema == LIST else "removed")
    except ValueError as error:
        raise UsageError(f"{path}: not a list of ACLs ({error})") from None


def _acls(whole: JsonObject, section: str) -> list[Acl]:
    acls = [Acl(*map(row.text, Acl._fields)) for row in whole.objects(section)]
    return list(dict.fromkeys(checked(acl, known=True) for acl in acls))

"""What ACLs a change added and removed, in a file that `kcli acls restore` reads; and ACLs of `kcli acls list`."""

from __future__ import annotations

from kcli.acls import Acl
from kcli.admin.acls.undo import SCHEMA, document
from kcli.cli.commands.acls.parse import checked
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.undo import UndoFile, undo_document
from kcli.model import Cluster
from kcli.text.json_object import JsonObject

LIST = "kcli.acls.list/1"


async def keep(options: UndoOptions, cluster: Cluster, added: list[Acl], removed: list[Acl]) -> None:
    """Write what will be added and removed, and say how to take the change back."""
    await UndoFile(options).keep(cluster, "acls", document(added, removed), "kcli acls restore {}")


def read(path: str) -> tuple[list[Acl], list[Acl]]:
    """The ACLs that were added, and those that were removed. Raises UsageError for a file that is none."""
    with undo_document(path, "ACLs", SCHEMA) as whole:
        return _acls(whole, "added"), _acls(whole, "removed")


def listed(path: str) -> list[Acl]:
    """The ACLs that `kcli acls list` printed, or that an undo file says were removed. Raises UsageError."""
    with undo_document(path, "ACLs", LIST, SCHEMA) as whole:
        return _acls(whole, "acls" if whole.text("schema") == LIST else "removed")


def _acls(whole: JsonObject, section: str) -> list[Acl]:
    acls = [Acl(*map(row.text, Acl._fields)) for row in whole.objects(section)]
    return list(dict.fromkeys(checked(acl, known=True) for acl in acls))

"""`kcli acls restore`."""

from __future__ import annotations

from kcli.cli.commands.acls import undo as acls_undo
from kcli.cli.commands.acls.change import ChangeRow, planned
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import UsageError
from kcli.model import Cluster

SHAPE = shape("acls.restore", "ACLs that were added or removed, or would be.", ChangeRow)


@command(
    "acls restore",
    help="Revert changes from their undo file.",
    words="FILE",
    examples="""
kcli acls restore ~/.local/state/kcli/undo/acls-20260131T100000Z.json --execute""",
)
def restore(options: UndoOptions) -> int:
    """Remove added ACLs and add removed ACLs, as recorded in an undo file."""
    if len(options.words) != 1:
        raise UsageError("missing argument: kcli acls restore FILE")
    added, removed = acls_undo.read(options.words[0])

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        return await planned(options, cluster, document, removed, added)

    return make_change(options, SHAPE, make_plan)

"""Changes of ACLs: some are added, others removed."""

from __future__ import annotations

from kcli.acls import Acl, AclFilter, block_of
from kcli.admin.acls import create_acls, delete_acls, find_acls, takes_blocks
from kcli.changes.change import Plan, Row, Undo
from kcli.errors import KcliError
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.model import Cluster

SCHEMA = "kcli.acls.undo/1"
"""Schema of the undo document."""


class AclRow(Row):
    """An ACL to add or remove. `result` is would add, added or exists; would remove, removed or absent."""

    acl: Acl = field()
    adds: bool = True

    def as_json(self) -> dict[str, object]:
        return {**self.acl._asdict(), "result": self.result}


class NoBlocks(KcliError):
    """The cluster supports only single addresses as hosts of ACLs."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host}: this cluster does not support blocks of addresses; they need metadata.version 4.4-IV1"
        )


async def plan(cluster: Cluster, adding: Sequence[Acl], removing: Sequence[Acl]) -> Plan:
    """Return the plan: a row for each ACL, those to add first. ACLs that already exist, or are already gone, are not
    sent."""
    there = set(await find_acls(cluster, _around([*adding, *removing])))
    rows = [AclRow(acl=acl, words=("would add", "exists", "added")) for acl in adding]
    rows += [AclRow(acl=acl, adds=False, words=("would remove", "absent", "removed")) for acl in removing]
    for row in rows:
        row.about = f"{row.acl.kind} {row.acl.name}"
        row.settle(None, unchanged=(row.acl in there) is row.adds)
    blocks = [row for row in rows if row.adds and row.is_open and block_of(row.acl.host) is not None]
    if blocks and not await takes_blocks(cluster):
        for row in blocks:
            row.settle(NoBlocks(row.acl.host))
    open_rows = [row for row in rows if row.is_open]
    made = Plan(rows=list(rows))
    if not open_rows:
        return made
    new, old = ([row.acl for row in open_rows if row.adds is adds] for adds in (True, False))

    async def apply(cluster: Cluster) -> None:
        for adds, outcomes in ((True, await create_acls(cluster, new)), (False, await delete_acls(cluster, old))):
            for row in open_rows:
                if row.adds is adds:
                    row.settle(outcomes[row.acl])

    made.apply, made.undo = apply, Undo(document=document(new, old), file="acls")
    return made


def document(added: Iterable[Acl], removed: Iterable[Acl]) -> dict[str, object]:
    """Return the document that undoes adding and removing these."""
    return {
        "schema": SCHEMA,
        "added": [acl._asdict() for acl in added],
        "removed": [acl._asdict() for acl in removed],
    }


def _around(acls: Sequence[Acl]) -> list[AclFilter]:
    """Return filters that find these ACLs if they exist: one for each name."""
    named = dict.fromkeys((acl.kind, acl.name, acl.pattern) for acl in acls)
    return [AclFilter(kind=kind, name=name, pattern=pattern) for kind, name, pattern in named]

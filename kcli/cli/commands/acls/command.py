"""`kcli acls list`: the ACLs there are, as rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import describe_acls
from kcli.cli.commands.acls.words import filters
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

FEW = 20
"""Up to so many filters are asked one by one; more are looked up in all ACLs, which are asked for once."""


def list_all(values: Values) -> int:
    """`kcli acls list`."""
    wanted = filters(values, "match")

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["acls"] = [row(one) for one in await find(cluster, wanted)]

    return answer(values, "acls.list", work)


async def find(cluster: Cluster, wanted: Sequence[AclFilter]) -> list[Acl]:
    """The ACLs that match any of the filters, each once, in order."""
    if len(wanted) > FEW:
        every = await describe_acls(cluster)
        return [one for one in every if any(filter.matches(one) for filter in wanted)]
    parts = await asyncio.gather(*(describe_acls(cluster, one) for one in wanted))
    return sorted({one for part in parts for one in part})


def row(one: Acl) -> Row:
    """An ACL as a row."""
    return dict(one._asdict())

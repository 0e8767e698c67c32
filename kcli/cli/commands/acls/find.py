"""The ACLs there are, as rows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import describe_acls
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row

FEW = 20
"""Up to so many filters are asked one by one; more are looked up in all ACLs, which are asked for once."""


async def find_acls(cluster: Cluster, wanted: Sequence[AclFilter]) -> list[Acl]:
    """The ACLs that match any of the filters, each once, in order."""
    if len(wanted) > FEW:
        acls = await describe_acls(cluster)
        return [acl for acl in acls if any(filter.matches(acl) for filter in wanted)]
    parts = await asyncio.gather(*(describe_acls(cluster, filter) for filter in wanted))
    return sorted({acl for part in parts for acl in part})


def acl_row(acl: Acl) -> Row:
    """An ACL as a row."""
    return dict(acl._asdict())

"""ACLs of the cluster by filters, and the row of an ACL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from kcli.acls import Acl, AclFilter
from kcli.admin.acls.acls import describe_acls
from kcli.cli.output.tables.rows import Row, column
from kcli.model import Cluster

FEW = 20
"""Up to this number of filters there is a request for each; beyond it one request lists all ACLs."""


class AclRow(Row, section="acls"):
    kind: str = column("topic, group, cluster, transactional-id, delegation-token or user.", unit="word", rank=1)
    name: str = column("Name of the resource, or how names begin; * is all.", rank=1)
    pattern: str = column("literal or prefixed.", unit="word")
    principal: str = column("Principal: User:bob; User:* means all users.", rank=1)
    host: str = column("Client address; * is any.")
    operation: str = column("read, write, create, delete, alter, describe, all, …", unit="word", rank=1)
    permission: str = column("allow or deny.", unit="word", rank=1)


async def find_acls(cluster: Cluster, wanted: Sequence[AclFilter]) -> list[Acl]:
    """The ACLs that match any of the filters, each once, in order."""
    if len(wanted) > FEW:
        acls = await describe_acls(cluster)
        return [acl for acl in acls if any(filter.matches(acl) for filter in wanted)]
    parts = await asyncio.gather(*(describe_acls(cluster, filter) for filter in wanted))
    return sorted({acl for part in parts for acl in part})

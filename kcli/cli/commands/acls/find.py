"""The row of an ACL."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class AclRow(Row, section="acls"):
    kind: str = column("topic, group, cluster, transactional-id, delegation-token or user.", unit="word", rank=1)
    name: str = column("Name of the resource, or how names begin; * is all.", rank=1)
    pattern: str = column("literal or prefixed.", unit="word")
    principal: str = column("Principal: User:bob; User:* means all users.", rank=1)
    host: str = column("Client address, or block of addresses; * is any.")
    operation: str = column("read, write, create, delete, alter, describe, all, …", unit="word", rank=1)
    permission: str = column("allow or deny.", unit="word", rank=1)

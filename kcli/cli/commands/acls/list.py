"""`kcli acls list`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.acls import find_acls
from kcli.cli.commands.acls.parse import FilterOptions, filters
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer


class AclRow(Row, section="acls"):
    kind: str = column("topic, group, cluster, transactional-id, delegation-token or user.", unit="word", rank=1)
    name: str = column("Name of the resource, or a prefix of names; * means all.", rank=1)
    pattern: str = column("literal or prefixed.", unit="word")
    principal: str = column("Principal: User:bob; User:* means all users.", rank=1)
    host: str = column("Client address, or block of addresses; * means any.")
    operation: str = column("read, write, create, delete, alter, describe, all, …", unit="word", rank=1)
    permission: str = column("allow or deny.", unit="word", rank=1)


SHAPE = shape("acls.list", "ACLs, one a row; `kcli acls add --from` reads them.", AclRow, empty="no ACLs")


class ListOptions(FilterOptions, ReadOptions):
    pattern: Annotated[
        Literal["match", "any", "literal", "prefixed"] | None,
        typer.Option(
            "--pattern",
            "--resource-pattern-type",
            help="Pattern type of the names (default: match, all ACLs that apply).",
        ),
    ] = None


@command(
    "acls list",
    help="List ACLs, all or those that match.",
    examples="""
kcli acls
kcli acls list --topic orders
kcli acls list --principal bob --operation write
kcli acls list --topic orders- --pattern prefixed
kcli acls list -J > acls.json                 # `kcli acls add --from` reads it""",
)
def list_all(options: ListOptions) -> int:
    """Print ACLs. If you name a resource, print only the ACLs that apply to it, including wildcards and prefixes.
    --pattern any, literal or prefixed compares the name with the name in the ACL instead.
    """
    wanted = filters(options, options.pattern, "match")

    async def work(cluster: Cluster, document: Document) -> None:
        document.empty = "no ACL matches" * any(name in options.given() for name in FilterOptions.names)
        document.of(AclRow)[:] = [AclRow(**acl._asdict()) for acl in await find_acls(cluster, wanted)]

    return answer(options, SHAPE, work)

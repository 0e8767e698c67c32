"""`kcli acls remove`: the ACLs that match, or that --producer and --consumer stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import Acl, principal
from kcli.admin.acls import find_acls
from kcli.cli.commands.acls.change import ChangeRow, change
from kcli.cli.commands.acls.parse import FilterOptions, NeedOptions, filters, has_filter, has_need, needed
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import say
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

SHAPE = shape("acls.remove", "ACLs that were added or removed, or would be.", ChangeRow)


class RemoveOptions(FilterOptions, NeedOptions, UndoOptions):
    pattern: Annotated[
        Literal["match", "any", "literal", "prefixed"] | None,
        typer.Option(
            "--pattern",
            "--resource-pattern-type",
            help="Pattern type of the names (default: literal; without a name: any).",
        ),
    ] = None
    all: Annotated[bool, typer.Option("--all", help="All ACLs of the cluster; cannot be combined with filters.")] = (
        False
    )


@command(
    "acls remove",
    help="Remove ACLs that match.",
    examples="""
kcli acls remove --principal bob --topic orders --dry-run
kcli acls remove --principal bob --execute    # all that bob has
kcli acls remove --consumer --principal bob --topic orders --group billing --execute
kcli acls remove --topic orders --pattern match --permission deny --execute""",
)
def remove(options: RemoveOptions) -> int:
    """Remove the ACLs that match all options. A name matches ACLs with exactly this name; with --pattern match, it also
    matches ACLs whose wildcard or prefix covers it. The plan is shown first; --execute removes exactly the ACLs of the
    plan and `kcli undo` adds them again.
    """
    exact = _needed_acls(options)
    if exact is None and not has_filter(options) and not options.all:
        raise UsageError("missing filter: --principal, --topic, …; --all removes every ACL of the cluster")
    if options.all and (has_filter(options) or exact is not None):
        raise UsageError("--all and filters cannot be combined")
    asked = filters(options, options.pattern, "literal")

    async def found(cluster: Cluster) -> tuple[list[Acl], list[Acl]]:
        wanted = exact if exact is not None else await find_acls(cluster, asked)
        if not wanted:
            say(options, "no ACL matches; --pattern match also finds wildcard and prefixed ACLs that cover a name")
        return [], wanted

    return change(options, SHAPE, found)


def _needed_acls(options: RemoveOptions) -> list[Acl] | None:
    """The ACLs of --producer and --consumer that `kcli acls remove` names; None without these. Raises UsageError."""
    if not has_need(options):
        return None
    if not options.principals or options.operations or options.permission or options.pattern in ("match", "any"):
        raise UsageError(
            "--producer and --consumer require --principal and literal or prefixed names, and imply the operations"
        )
    who = [(principal(name), host, "allow") for name in options.principals for host in options.hosts or ["*"]]
    return needed(options, who, options.pattern)

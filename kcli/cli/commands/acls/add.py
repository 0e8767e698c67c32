"""`kcli acls add`: the ACLs that a line spells out, or those of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.acls import Acl, principal
from kcli.cli.commands.acls.change import ChangeRow, change, listed
from kcli.cli.commands.acls.parse import NeedOptions, has_need, needed, operations, resources, rules, spoken
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import UndoOptions
from kcli.errors import UsageError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

SHAPE = shape("acls.add", "ACLs that were added or removed, or would be.", ChangeRow)


class AddOptions(NeedOptions, UndoOptions):
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow",
            "--allow-principal",
            metavar="PRINCIPAL",
            help="Allow a principal: User:bob, bob, User:*. Repeatable.",
        ),
    ]
    deny: Annotated[
        list[str],
        typer.Option("--deny", "--deny-principal", metavar="PRINCIPAL", help="Deny this principal. Repeatable."),
    ]
    allow_hosts: Annotated[
        list[str],
        typer.Option(
            "--allow-host",
            metavar="HOST",
            help="Client address, or block such as 10.1.0.0/16, for --allow (default: *, any). Repeatable.",
        ),
    ]
    deny_hosts: Annotated[
        list[str],
        typer.Option(
            "--deny-host",
            metavar="HOST",
            help="Client address, or block such as 10.1.0.0/16, for --deny (default: *, any). Repeatable.",
        ),
    ]
    pattern: Annotated[
        Literal["literal", "prefixed"] | None,
        typer.Option("--pattern", "--resource-pattern-type", help="Pattern type of the names (default: literal)."),
    ] = None
    from_file: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--from-file",
            metavar="FILE",
            help="Read the ACLs from a file: the output of `kcli acls list -J`, or an undo file with removed ACLs; - "
            "is stdin.",
        ),
    ] = None


@command(
    "acls add",
    help="Allow or deny principals access to a resource.",
    words="[OPERATION RESOURCE NAME]",
    examples="""
kcli acls add write topic orders --allow bob --execute
kcli acls add --allow bob --operation read --topic orders --execute
kcli acls add --allow bob --producer --topic orders- --pattern prefixed --execute
kcli acls add --allow bob --consumer --topic orders --group billing --execute
kcli acls add --deny 'User:*' --deny-host 10.0.0.7 --operation all --topic orders --execute
kcli acls add --deny 'User:*' --deny-host 10.9.0.0/16 --operation all --topic orders --execute   # Kafka 4.4
kcli acls add --from acls.json --execute""",
)
def add(options: AddOptions) -> int:
    """Add ACLs that allow (or deny) each principal, from each host, each operation on each resource. Existing ACLs are
    marked in the plan and not sent. The plan comes first; --execute applies it, and `kcli undo` removes them again.
    """
    if options.from_file is not None:
        _check_alone(options)
        wanted = listed(options.from_file)
    else:
        wanted = spelled(options)

    async def both(cluster: Cluster) -> tuple[list[Acl], list[Acl]]:
        return wanted, []

    return change(options, SHAPE, both)


def spelled(options: AddOptions) -> list[Acl]:
    """The ACLs that `kcli acls add` names. Raises UsageError for what no broker takes, and what is not said."""
    named, asked = resources(options), operations(options)
    if options.words:
        operation, kind, name = spoken(options.words, "add")
        named, asked = [*named, (kind, name)], [*asked, operation]
    permissions = (
        ("allow", options.allow, options.allow_hosts),
        ("deny", options.deny, options.deny_hosts),
    )
    who = [
        (principal(name), host, permission)
        for permission, names, hosts in permissions
        for name in names
        for host in hosts or ["*"]
    ]
    if not who:
        raise UsageError("missing principal: --allow PRINCIPAL or --deny PRINCIPAL, such as --allow User:bob")
    for permission, names, hosts in permissions:
        if hosts and not names:
            raise UsageError(f"--{permission}-host requires --{permission}")
    if has_need(options):
        if options.deny:
            raise UsageError("--producer and --consumer work only with --allow")
        return needed(options, who, options.pattern)
    if not named:
        raise UsageError(
            "missing resource: --topic, --group, --transactional-id, --cluster, --delegation-token or --user"
        )
    if not asked:
        raise UsageError("missing operation: --operation read, write, …, or all; or the sets --producer and --consumer")
    return [acl for at in named for operation in asked for acl in rules(at, operation, who, options.pattern)]


def _check_alone(options: AddOptions) -> None:
    """Raises UsageError where a line names ACLs beside a file of them."""
    who = options.allow or options.deny or options.allow_hosts or options.deny_hosts
    what = options.words or options.operations or resources(options) or options.pattern
    if who or what or options.producer or options.consumer or options.idempotent:
        raise UsageError("--from names the ACLs; remove the other options")

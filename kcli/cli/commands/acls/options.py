"""`kcli acls`, declared. The flags are those of kafka-acls where it has them."""

from __future__ import annotations

from kcli.cli.commands.configs.options import NO_UNDO, UNDO_FILE
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import DRY_RUN, EXECUTE, OUTPUT


def _named(name: str, flags: tuple[str, ...], metavar: str, line: str) -> Option:
    return Option(name=name, flags=flags, multiple=True, metavar=metavar, help=f"{line} Repeatable.")


RESOURCES = (
    _named("topics", ("-t", "--topic"), "TOPIC", "A topic; * is all."),
    _named("groups", ("-g", "--group"), "GROUP", "A group; * is all."),
    _named("transactional_ids", ("--transactional-id",), "NAME", "A transactional id; * is all."),
    Option(name="cluster", flags=("--cluster",), kind="flag", help="The cluster."),
    _named("delegation_tokens", ("--delegation-token",), "NAME", "A delegation token, by its id; * is all."),
    _named("users", ("--user", "--user-principal"), "PRINCIPAL", "A user, who has delegation tokens; * is all."),
)
OPERATION = Option(
    name="operations",
    flags=("--operation",),
    multiple=True,
    metavar="OPERATION",
    help="read, write, create, delete, alter, describe, all, … Repeatable.",
)
_FILTER = (
    *RESOURCES,
    _named("principals", ("--principal",), "PRINCIPAL", "Of whom: User:bob, or bob; User:* is everybody's."),
    _named("hosts", ("--host",), "HOST", "From where; * is what holds for any host."),
    OPERATION,
    Option(name="permission", flags=("--permission",), choices=("allow", "deny"), help="Only those that do this."),
)


def _pattern(choices: tuple[str, ...], line: str) -> Option:
    return Option(name="pattern", flags=("--pattern", "--resource-pattern-type"), choices=choices, help=line)


_SETS = (
    Option(
        name="producer",
        flags=("--producer",),
        kind="flag",
        help="What a producer needs: write, describe, create on --topic; write, describe on --transactional-id.",
    ),
    Option(
        name="consumer",
        flags=("--consumer",),
        kind="flag",
        help="What a consumer needs: read, describe on --topic; read on --group.",
    ),
    Option(
        name="idempotent",
        flags=("--idempotent",),
        kind="flag",
        help="With --producer: idempotent-write on the cluster, which brokers before 3.0 want.",
    ),
)
_CHANGING = (EXECUTE, DRY_RUN, UNDO_FILE, NO_UNDO, *OUTPUT)
_PLAN = "The plan comes first; --execute does it, and keeps an undo file for `kcli acls restore`."

ACLS = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.acls.command:list_all",
        help="The ACLs there are, all or those that match.",
        description="""Print ACLs. With a resource named, those that hold for it: wildcards and prefixes too
(--pattern any, literal or prefixed takes the name as it is written in the ACL).

\b
Examples:
  kcli acls
  kcli acls list --topic orders
  kcli acls list --principal bob --operation write
  kcli acls list --topic orders- --pattern prefixed
  kcli acls list -J > acls.json                 # `kcli acls add --from` reads it""",
        options=(
            *_FILTER,
            _pattern(("match", "any", "literal", "prefixed"), "Default match: what holds for the resource."),
            *OUTPUT,
        ),
    ),
    "add": Command(
        name="add",
        run="kcli.cli.commands.acls.change:add",
        help="Allow or deny somebody something.",
        description=f"""Add ACLs: each principal, from each host, may do (or not do) each operation on each
resource. What is there already is shown as such and not sent. {_PLAN}

\b
Examples:
  kcli acls add --allow bob --operation read --topic orders --execute
  kcli acls add --allow bob --producer --topic orders- --pattern prefixed --execute
  kcli acls add --allow bob --consumer --topic orders --group billing --execute
  kcli acls add --deny 'User:*' --deny-host 10.0.0.7 --operation all --topic orders --execute
  kcli acls add --from acls.json --execute""",
        options=(
            _named("allow", ("--allow", "--allow-principal"), "PRINCIPAL", "Who may: User:bob, or bob; User:*."),
            _named("deny", ("--deny", "--deny-principal"), "PRINCIPAL", "Who may not."),
            _named("allow_hosts", ("--allow-host",), "HOST", "From where --allow holds (default *, any)."),
            _named("deny_hosts", ("--deny-host",), "HOST", "From where --deny holds (default *, any)."),
            OPERATION,
            *RESOURCES,
            _pattern(("literal", "prefixed"), "How names are meant; default literal."),
            *_SETS,
            Option(
                name="from_file",
                flags=("--from", "--from-file"),
                metavar="FILE",
                help="The ACLs of a file: of `kcli acls list -J`, or what an undo file says was removed; - is stdin.",
            ),
            *_CHANGING,
        ),
    ),
    "remove": Command(
        name="remove",
        run="kcli.cli.commands.acls.change:remove",
        help="Remove ACLs that match.",
        description=f"""Remove the ACLs that match all that is said; exactly those that the plan shows. A name is
taken as it is written in the ACL (--pattern match: all that hold for it, wildcards and
prefixes too). {_PLAN}

\b
Examples:
  kcli acls remove --principal bob --topic orders --dry-run
  kcli acls remove --principal bob --execute    # all that bob has
  kcli acls remove --consumer --principal bob --topic orders --group billing --execute
  kcli acls remove --topic orders --pattern match --permission deny --execute""",
        options=(
            *_FILTER,
            _pattern(
                ("literal", "prefixed", "match", "any"),
                "How names are meant; default literal. Without a name any.",
            ),
            *_SETS,
            Option(name="all", flags=("--all",), kind="flag", help="All ACLs of the cluster, if nothing else is said."),
            *_CHANGING,
        ),
    ),
    "restore": Command(
        name="restore",
        run="kcli.cli.commands.acls.change:restore",
        help="Take changes back from their undo file.",
        description="""Remove what was added and add what was removed, as an undo file says.

\b
Examples:
  kcli acls restore ~/.local/state/kcli/undo/acls-20260131T100000Z.json --execute""",
        words="FILE",
        options=_CHANGING,
    ),
    "who-can": Command(
        name="who-can",
        run="kcli.cli.commands.acls.who:run",
        help="Who may do something to a resource, and which ACL says so.",
        description="""Print who may do an OPERATION to a resource: literal, prefixed and wildcard ACLs together,
denials first. With --principal: whether that one may; exit code 3 when not.

\b
A RESOURCE is topic, group, cluster, transactional-id, delegation-token or user.

\b
Examples:
  kcli acls who-can write topic orders
  kcli acls who-can read group billing --principal bob
  kcli acls who-can read topic orders --principal bob --host 10.0.0.7 && echo yes
  kcli acls who-can create cluster""",
        words="OPERATION RESOURCE [NAME]",
        options=(
            Option(name="principal", flags=("--principal",), metavar="PRINCIPAL", help="Whether this one may."),
            Option(
                name="host", flags=("--host",), metavar="HOST", help="From this address; default one that no ACL names."
            ),
            *OUTPUT,
        ),
    ),
}

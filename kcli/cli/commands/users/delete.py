"""`kcli users delete`."""

from __future__ import annotations

from kcli.admin.users.users import alter_credentials
from kcli.cli.commands.users.credentials import ChangeRow, find_users, finish, mechanisms_of, planned
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, if_exists
from kcli.cli.parsing.option import texts
from kcli.cli.runtime.answer import plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.errors import KcliError
from kcli.model import Cluster

SHAPE = shape("users.delete", "SCRAM credentials that were changed, or would be.", ChangeRow)


class DeleteOptions(ChangeOptions):
    mechanisms = texts("--mechanism", metavar="MECHANISM", help="Only this mechanism. Repeatable.")
    if_exists = if_exists()


@command(
    "users delete",
    help="Delete users, or one of their mechanisms.",
    words="USER",
    examples="""
kcli users delete bob --dry-run
kcli users delete bob alice --execute
kcli users delete bob --mechanism SCRAM-SHA-256 --execute""",
)
def delete(options: DeleteOptions) -> int:
    """Delete SCRAM credentials: the user can no longer log in with them. Open connections and ACLs stay.
    The plan comes first; --execute applies it.
    """
    names, wanted = words_of(options, "USER"), mechanisms_of(options.mechanisms)

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        users = await find_users(cluster, names, document, unknown_too=options.if_exists)
        rows = document.of(ChangeRow)
        for name, has in users.items():
            there = [mechanism for mechanism in sorted(has) if not wanted or mechanism in wanted]
            rows += [planned(name, mechanism, has[mechanism], None, "would delete") for mechanism in there]
            absent = [mechanism for mechanism in wanted if mechanism not in has]
            rows += [planned(name, mechanism, None, None, "absent") for mechanism in (absent if has else [None])]
            if has and absent and not options.if_exists:
                document.fail(KcliError(f"user {name} has no {' and no '.join(absent)}"), name)
        ready = [row for row in rows if row.result == "would delete"]
        if not ready:
            return None

        async def carry_out() -> int | None:
            done = await alter_credentials(
                cluster, remove=[(row.user, row.mechanism) for row in ready if row.mechanism is not None]
            )
            finish(document, ready, done, "deleted")
            say(options, f"{plural(sum(row.result == 'deleted' for row in rows), 'credential')} deleted")
            return None

        return PlannedChange(
            names=list(dict.fromkeys(row.user for row in ready)), verb="delete", noun="user", carry_out=carry_out
        )

    return make_change(options, SHAPE, make_plan)

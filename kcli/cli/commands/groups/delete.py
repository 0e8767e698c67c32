"""`kcli groups delete`: groups without members, and what they have committed."""

from __future__ import annotations

from kcli.admin.groups.committed import committed_offsets
from kcli.admin.groups.groups import delete_groups, find_groups, group_names, who
from kcli.admin.groups.rows import GroupInUse, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.cli.commands.groups.undo import undo_of
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions, if_exists
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import missing, plural, say, words_of
from kcli.cli.runtime.change import PlannedChange, make_change
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.groups.rows import Described
    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition

    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]


class GroupRow(Row, section="groups"):
    group: str = column("Name of the group.", rank=1)
    result: str = column("would delete, deleted, refused, absent, or failed.", unit="word", rank=1)
    state: str | None = column("State of the group; null when the broker is too old to say.", unit="word", rank=1)
    members: int | None = column("Members it has.", unit="count")
    partitions: int | None = column("Partitions with a committed offset that goes with it.", unit="count")
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")
    internal_topics: list[str] | None = column(
        "Internal topics of a streams group that are deleted with it; null without --delete-internal-topics.",
        sparse=True,
        rank=3,
    )


SHAPE = shape("groups.delete", "Deletions, applied or planned.", GroupRow)


class DeleteOptions(NamedGroups, EveryGroup, PatternOptions, UndoOptions):
    if_exists = if_exists()
    internal_topics = flag(
        "--delete-internal-topics",
        help="Delete the changelogs and repartition topics of streams groups, too.",
        also=("--delete-all-internal-topics",),
    )


@command(
    "groups delete",
    help="Delete groups without members.",
    words="GROUP",
    examples="""
kcli groups delete billing --dry-run     # the plan
kcli groups delete billing --execute
kcli groups delete 'ci-*' --dry-run      # all that match
kcli groups delete wordcount --delete-internal-topics --execute""",
)
def delete(options: DeleteOptions) -> int:
    """Delete groups that have no members, and their committed offsets. `kcli undo` restores the offsets; a share group,
    which commits none, cannot be restored.
    """
    groups = names_of(options, words_of(options, "GROUP"))

    async def make_plan(cluster: Cluster, document: Document) -> PlannedChange | None:
        coordinators = Coordinators(cluster)
        names = await group_names_of(cluster, groups, changes=True, empty=options.if_exists)
        rows, commits = await _plan(cluster, coordinators, names, options, document)
        document.of(GroupRow)[:] = rows
        ready = [row.group for row in rows if row.result == "would delete"]
        if not ready:
            return None
        topics = sum(len(row.internal_topics or ()) for row in rows if row.group in ready)
        if topics:
            say(options, f"{plural(topics, 'internal topic')} with all records cannot be restored by `kcli undo`")

        lost = [(name, at, commit) for name in ready for at, commit in sorted(good(commits.get(name) or {}).items())]

        async def carry_out() -> int | None:
            _settle(rows, await delete_groups(coordinators, ready), options, document)
            await _delete_topics(cluster, rows, document)
            return None

        return PlannedChange(
            names=ready,
            verb="delete",
            noun="group",
            by_pattern=bool(groups.patterns),
            final=any(row.partitions is None or row.internal_topics for row in rows if row.group in ready),
            undo=undo_of(lost),
            carry_out=carry_out,
        )

    return make_change(options, SHAPE, make_plan)


def _settle(
    rows: list[GroupRow], results: dict[str, bool | KcliError], options: DeleteOptions, document: Document
) -> None:
    """Put the outcome of each deletion into its row."""
    for row in rows:
        result = results.get(row.group)
        if result is True:
            row.result = "deleted"
        elif isinstance(result, GroupMissing) and options.if_exists:
            row.result = "absent"
        elif isinstance(result, KcliError):
            _failed(row, result, document)


async def _delete_topics(cluster: Cluster, rows: list[GroupRow], document: Document) -> None:
    """Delete the internal topics of groups that are deleted. One that does not exist is no error: a member may have
    stopped before it was created."""
    from kcli.admin.topics.topics import delete_topics
    from kcli.asking.leaders import TopicMissing

    gone = [row for row in rows if row.result == "deleted" and row.internal_topics]
    results = await delete_topics(cluster, [name for row in gone for name in row.internal_topics or ()]) if gone else {}
    for row in gone:
        for name in row.internal_topics or ():
            result = results[name]
            if isinstance(result, KcliError) and not isinstance(result, TopicMissing):
                row.error = f"the group is deleted, its topic {name} is not: {result}"
                document.fail(result, name)


async def _plan(
    cluster: Cluster, coordinators: Coordinators, groups: list[str], options: DeleteOptions, document: Document
) -> tuple[list[GroupRow], dict[str, Commits]]:
    """A row per group: whether it can go, and what goes with it; and what each has committed."""
    answers, _ = await find_groups(coordinators, groups)
    others = [name for name, group in good(answers).items() if group.type != "share"]
    commits = await committed_offsets(coordinators, others)
    rows: list[GroupRow] = []
    for name in dict.fromkeys(groups):
        group = answers[name]
        empty = dict.fromkeys(("state", "members", "partitions", "internal_topics", "error"))
        row = GroupRow(group=name, result="would delete", **empty)
        rows.append(row)
        if isinstance(group, GroupMissing) and options.if_exists:
            row.result = "absent"
        elif isinstance(group, GroupMissing):
            _failed(row, group, document)
            document.errors.pop()
            missing(document, name, group, await group_names(cluster))
        elif isinstance(group, KcliError):
            _failed(row, group, document)
        else:
            _decide(row, group, commits.get(name), options, document)
    return rows, good(commits)


def _decide(
    row: GroupRow, group: Described, commits: Commits | KcliError | None, options: DeleteOptions, document: Document
) -> None:
    """Fill the row of a group that exists."""
    row.state, row.members = group.state or None, len(group.members)
    row.partitions = len(commits) if isinstance(commits, dict) else None
    if group.type == "streams" and options.internal_topics:
        row.internal_topics = group.internal_topics
    elif group.internal_topics:
        count = plural(len(group.internal_topics), "internal topic")
        say(options, f"{group.group}: {count} stay; --delete-internal-topics deletes them, too")
    if group.type == "share" and not group.members:
        say(options, f"{group.group}: a share group cannot be restored by `kcli undo`")
    if group.members:
        _failed(row, GroupInUse(group.group, [who(member) for member in group.members]), document)
    elif not options.no_undo and group.type != "share":
        problem = _unread(group.group, commits)
        if problem is not None:
            _failed(row, problem, document)


def _unread(group: str, commits: Commits | KcliError | None) -> KcliError | None:
    """The error where not all is known that a group committed: `kcli undo` could not restore it."""
    problem = next(iter(bad(commits).values()), None) if isinstance(commits, dict) else commits
    if problem is None:
        return None
    return KcliError(
        f"{group}: its committed offsets cannot be read, so `kcli undo` could not restore them ({problem}); "
        "--no-undo deletes it without one"
    )


def _failed(row: GroupRow, error: KcliError, document: Document) -> None:
    row.result = "refused" if isinstance(error, GroupInUse) else "failed"
    row.error = str(error)
    document.fail(error, row.group)

"""`kcli groups reset`, `clone` and `delete-offsets`: the plan, the question, the undo file, the change, row by row."""

from __future__ import annotations

from kcli.admin.groups.groups import group_names
from kcli.admin.groups.reset import Change
from kcli.admin.groups.reset_deletion import plan_deletion
from kcli.admin.groups.reset_plan import execute, targets
from kcli.admin.groups.rows import GroupMissing
from kcli.admin.topics.topics import describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.groups import plans as groups_plans
from kcli.cli.commands.groups import undo as groups_undo
from kcli.cli.commands.groups.forms import chosen, form_of, now_ms
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.timestamps import utc
from kcli.cli.runtime.answer import answer, confirm, excluding, missing, say, words_of
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster

    Planned = Callable[[Coordinators, Document], Awaitable[list[Change]]]


def reset(values: Values) -> int:
    """`kcli groups reset GROUP...`."""
    scope, name = _checked(values), chosen(values)
    if name == "from_file":
        saved, groups = groups_undo.saved_offsets(values)
        return _run(
            values, "groups.reset", lambda at, document: groups_plans.from_file(values, at, saved, groups, scope)
        )
    groups = words_of(values, "GROUP")
    if name == "from_group":
        source = values["from_group"]
        return _run(
            values, "groups.reset", lambda at, doc: groups_plans.from_group(values, at, source, groups, scope, doc)
        )
    if scope.empty:
        raise UsageError("of which topics? --topic TOPIC, or --all-topics for all that the group has committed")
    prepare, moment = form_of(name, values, now_ms())
    if moment is not None:
        _say_moment(values, moment)
    return _run(values, "groups.reset", lambda at, document: groups_plans.by_form(values, at, groups, scope, prepare))


def clone(values: Values) -> int:
    """`kcli groups clone SOURCE TARGET`."""
    scope, words = _checked(values), values["words"]
    if len(words) != 2:
        raise UsageError("which groups? kcli groups clone SOURCE TARGET")
    source, target = words
    if source == target:
        raise UsageError(f"{source} is the same group: name another TARGET")
    return _run(
        values, "groups.clone", lambda at, doc: groups_plans.from_group(values, at, source, [target], scope, doc)
    )


def delete_offsets(values: Values) -> int:
    """`kcli groups delete-offsets GROUP...`."""
    scope, groups = _checked(values), words_of(values, "GROUP")
    if scope.empty:
        raise UsageError("of which topics? --topic TOPIC, or --all-topics")

    async def planned(coordinators: Coordinators, document: Document) -> list[Change]:
        found = await targets(coordinators, groups)
        changes: list[Change] = []
        for target in found.values():
            if target.described is None and target.refusal is None:
                error = GroupMissing(target.group)
                missing(document, target.group, error, await group_names(coordinators.cluster))
                continue
            partitions = await scope.partitions(coordinators.cluster, target.commits)
            named = [at for at in partitions if at in target.commits or scope.topics.get(at.topic)]
            changes += plan_deletion(target, named)
        return changes

    return _run(values, "groups.delete-offsets", planned)


def _checked(values: Values) -> Scope:
    excluding(values)
    UndoFile(values).check()
    return Scope(values["topics"], all_topics=values.all_topics)


def _say_moment(values: Values, moment: int) -> None:
    """A time without a zone means something else to everybody: say which one is meant."""
    say(values, f"to {utc(moment)}")


# -- the way from a plan to what became of it -------------------------------------------------------------------------


def _run(values: Values, name: str, planned: Planned) -> int:
    async def work(cluster: Cluster, document: Document) -> int | None:
        coordinators = Coordinators(cluster)
        try:
            changes = await planned(coordinators, document)
        except TopicMissing as error:
            missing(document, error.topic, error, await describe_topics(cluster, internal=False))
            return None
        _show(changes, document)
        ready = [change for change in changes if change.open]
        if not ready:
            if not document.errors:
                say(
                    values, "there is nothing to change" if changes else "nothing is committed there: nothing to change"
                )
            return None
        if values["dry_run"]:
            return None
        groups = sorted({change.group for change in ready})
        if not confirm(values, document, groups[0] if len(groups) == 1 else f"change {len(groups)} groups"):
            document.rows.clear()
            return 1
        await groups_undo.keep(values, cluster, [(one.group, one.at, one.old) for one in ready])
        await execute(coordinators, ready)
        document.errors.clear()
        _show(changes, document)
        _summary(values, changes)
        return None

    return answer(values, name, work)


def _summary(values: Values, changes: list[Change]) -> None:
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.result] = counts.get(change.result, 0) + 1
    say(values, "offsets: " + ", ".join(f"{count} {result}" for result, count in counts.items()))


def _show(changes: list[Change], document: Document) -> None:
    """Rows and errors of the document; an error that all partitions of a group share stands there once."""
    document.rows["partitions"] = [_row(change) for change in changes]
    told: set[int] = set()
    for change in changes:
        if change.error is not None and id(change.error) not in told:
            told.add(id(change.error))
            document.fail(change.error, change.group)


def _row(change: Change) -> Row:
    old, new = change.old, change.new
    return {
        "group": change.group,
        "topic": change.at.topic,
        "partition": change.at.partition,
        "old": None if old is None else old.offset,
        "new": None if new is None else new.offset,
        "delta": change.delta,
        "lag": None if new is None or change.end is None else max(change.end - new.offset, 0),
        "result": change.result,
        "note": "; ".join(change.notes) or None,
        "start": change.start,
        "end": change.end,
        "error": None if change.error is None else str(change.error),
    }

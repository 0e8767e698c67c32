"""`kcli reassign cancel`: moves under way are taken back, and with them their throttles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.reassignments import Ongoing, about, alter_reassignments, list_reassignments
from kcli.admin.storage.disks import Replica, alter_log_dirs
from kcli.admin.storage.log_dirs import log_dirs
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.reassign.plan import file_of
from kcli.cli.commands.reassign.throttle import clean
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, plural, say
from kcli.cli.runtime.undo import UndoFile
from kcli.errors import UsageError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def cancel(values: Values) -> int:
    """`kcli reassign cancel`."""
    words, undo = values["words"], UndoFile(values)
    path = None if values["all_topics"] else file_of(values)
    wanted, dirs = assignment_file.read(path) if path is not None else (None, {})
    if bool(words) == values["all_topics"]:
        raise UsageError("cancel what? FILE, topics such as orders or orders:0,1, or --all-topics")
    scope = Scope([] if path is not None else words)
    excluding(values)
    undo.check()

    async def work(cluster: Cluster, document: Document) -> int | None:
        ongoing = await list_reassignments(cluster)
        meant = {at: one for at, one in ongoing.items() if (scope.has(at) if wanted is None else at in wanted)}
        if not meant and scope.topics:
            await scope.partitions(cluster, ())  # whoever mistyped a name shall not believe that nothing moves
        rows = {at: _row(at, one) for at, one in meant.items()}
        document.rows["partitions"] = list(rows.values())
        back = await _on_disks(cluster, dirs)
        if not rows and not back:
            say(values, "none of these is being moved")
        if values["dry_run"] or (not rows and not back and not values["execute"]):
            return None
        if (rows or back) and not confirm(values, document, f"cancel {plural(len(rows) or len(back), 'move')}"):
            document.rows.clear()
            return 1
        if rows:
            targets = {at: one.target for at, one in meant.items()}
            await undo.keep(cluster, "reassign", assignment_file.document(targets), "kcli reassign execute {}")
        for at, problem in (await alter_reassignments(cluster, dict.fromkeys(rows))).items():
            rows[at]["result"], rows[at]["error"] = ("cancelled", None) if problem is None else ("failed", str(problem))
            if problem is not None:
                document.fail(problem, about(at))
        for replica, problem in (await alter_log_dirs(cluster, back)).items():
            if problem is not None:
                document.fail(problem, f"{replica.topic} [{replica.partition}]")
        if not values["keep_throttle"]:
            topics = sorted({at.topic for at in wanted or meant})
            await clean(cluster, values, document, topics if wanted is not None or scope.topics else None)
        return None

    return answer(values, "reassign.cancel", work)


def _row(at: TopicPartition, one: Ongoing) -> Row:
    return {
        "topic": at.topic, "partition": at.partition, "old": one.replicas, "new": one.sources, "adding": one.adding,
        "removing": one.removing, "result": "would cancel", "error": None,
    }  # fmt: skip


async def _on_disks(cluster: Cluster, dirs: dict[Replica, str]) -> dict[Replica, str]:
    """Replicas that are on their way to another directory, and the one they are in."""
    if not dirs:
        return {}
    places, _ = await log_dirs(cluster, brokers={at.broker for at in dirs})
    here: dict[Replica, str] = {}
    moving: set[Replica] = set()
    for place in places:
        for one in place.replicas:
            at = Replica(one.topic, one.partition, one.broker)
            if one.future:
                moving.add(at)
            else:
                here[at] = place.directory
    return {at: here[at] for at in dirs if at in moving and at in here}

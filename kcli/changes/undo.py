"""Undo of a change in the journal: finds the change, plans the restoration, and checks that the cluster is still as the
change left it."""

from __future__ import annotations

import json
import shlex

from kcli.acls import Acl
from kcli.admin.groups import offset_files
from kcli.admin.reassign import assignment_file
from kcli.changes import acls, configs, journal, moves, offsets, quotas, schemas
from kcli.errors import KcliError, UsageError
from kcli.redact import HIDDEN
from kcli.text.json_object import JsonObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from kcli.changes.change import Plan
    from kcli.changes.journal import Entry
    from kcli.model import Cluster


def undoable(where: Collection[str]) -> list[Entry]:
    """Return the changes of these clusters and registries that can be undone and were not, the newest first. Undos are
    left out; a change whose undo was undone counts again. Raises UsageError if the journal cannot be read."""
    entries = [entry for entry in journal.entries() if entry.cluster in where]
    undoes: dict[int, int] = {}
    undone: set[int] = set()
    for entry in entries:
        words = shlex.split(entry.command)
        number = next((int(word) for word in words[2:] if word.isdecimal()), 0) if words[1:2] == ["undo"] else 0
        if words[1:2] == ["undo"]:
            undoes[entry.number] = number
        if number and entry.changed:
            undone.add(number)
            undone.discard(undoes.get(number, 0))
    return [one for one in reversed(entries) if one.undoable and one.number not in undone and one.number not in undoes]


async def plan(entry: Entry, target: Any, *, registry: bool = False) -> Plan:
    """Return the plan that undoes a change. `target` is a Cluster, or with `registry` an OpenRegistry.

    Raises UsageError if the journal saved no undo data, and for another cluster or registry than that of the change;
    KcliError if a value was changed again since.
    """
    rows, document = entry.details()
    if document is None:
        raise UsageError(f"change {entry.number} cannot be undone: it kept no previous state ({entry.command})")
    undoes = ChangeToUndo(f"change {entry.number}", entry.cluster, rows, force=False, topic_ids=entry.topic_ids)
    await undoes.check(target)
    made = await _restoring(document, target, registry=registry)
    for error, _ in undoes.conflicts([row.as_json() for row in made.rows]):
        raise KcliError(error.args[0]).hinted("undo-by-force", number=entry.number)
    return made


async def _restoring(document: Mapping[str, Any], target: Any, *, registry: bool) -> Plan:
    """Return the plan for an undo document. Raises UsageError if it is invalid."""
    read = JsonObject(fields=document)
    restore: dict[str, Callable[[], Awaitable[Plan]]] = {
        acls.SCHEMA: lambda: acls.plan(target, *(_acls(read, section) for section in ("removed", "added"))),
        configs.SCHEMA: lambda: configs.plan(target, configs.read_undo(read)),
        quotas.SCHEMA: lambda: quotas.plan(target, quotas.read_undo(read)),
        schemas.SCHEMA: lambda: schemas.plan_restore(target, schemas.read_undo(read)),
        offset_files.SCHEMA: lambda: _offsets(target, document),
        "kcli.declared/1": lambda: _declared(document, target, registry=registry),
    }
    schema = str(document.get("schema"))
    try:
        if schema in restore:
            return await restore[schema]()
        if "partitions" in document and "version" in document:  # Kafka's own file has no schema
            return await moves.plan(target, await moves.read_layout(target), *assignment_file.read_document(document))
    except ValueError as error:
        raise UsageError(f"not an undo file ({error})") from None
    raise UsageError(f"not an undo file (its schema is {schema})")


def _acls(read: JsonObject, section: str) -> list[Acl]:
    return [Acl(*map(row.text, Acl._fields)) for row in read.objects(section)]


async def _offsets(cluster: Cluster, document: Mapping[str, Any]) -> Plan:
    saved = offset_files.read(json.dumps(document), "undo file")
    return await offsets.plan_restore(cluster, saved.groups, create=True)


async def _declared(document: Mapping[str, Any], target: Any, *, registry: bool) -> Plan:
    from kcli.changes.declared.plan import ClusterPlan
    from kcli.declared.reading import declared

    both = (target, None)
    if registry:  # schemas alone: no broker is asked
        both = (None, target.client)
    wanted = declared([("undo file", document)])
    made = ClusterPlan(cluster=both[0], registry=both[1], declared=wanted, prune="absent" in document)
    await made.prepare(keep_going=False, wait=False)
    if registry and (apply := made.apply) is not None:
        made.apply = lambda opened: apply((None, opened.client))
    return made


VALUES = frozenset(
    "old new old_value new_value delta lag start end bytes adding removing leader result note error change file "
    "level mode value source".split()
)
"""Columns with what a row was, is, or becomes; the others identify what it is about."""
OLD = ("old", "level", "mode", "value")
"""Columns with the previous value: settings of a registry have different ones."""


class ChangeToUndo:
    """A change to undo: `name` is its description, `where` the cluster or registry, None if unknown. `rows` are those
    of the journal, None for an undo file, which has none; `topic_ids` those of the topics that it created, by name."""

    def __init__(
        self,
        name: str,
        where: str | None,
        rows: Sequence[Mapping[str, object]] | None,
        *,
        force: bool,
        topic_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._name, self._where, self._force = name, where, force
        self._topic_ids = topic_ids or {}
        self._left = None if rows is None else {_about(row): row.get("new") for row in map(_as_applied, rows)}

    async def check(self, target: object) -> None:
        """Raise UsageError on another cluster, or another registry, than the change was made on."""
        if self._where is None or (self._force and self._left is None):
            return
        if isinstance(target, tuple) and target[1] is not None and target[1].settings.name == self._where:
            return  # schemas alone: no broker is asked
        where = await journal.where_of(target, None)
        if where != self._where:
            made = f"{self._name} was made on {self._where or 'a cluster without an id'}"
            raise UsageError(f"{made}, but this is {where or 'a cluster without an id'}").hinted("name-cluster")
        if self._topic_ids and not self._force:
            await self._check_topics(target[0] if isinstance(target, tuple) else target)

    async def _check_topics(self, cluster: Any) -> None:
        """Raise UsageError if a topic that the change created was recreated since."""
        from kcli.admin.topics.topics import describe_topics
        from kcli.asking.fan_out import good

        for name, topic in good(await describe_topics(cluster, self._topic_ids)).items():
            if topic.topic_id and topic.topic_id != self._topic_ids[name]:
                again = f"topic {name} has been deleted and created again since {self._name}"
                raise UsageError(again).hinted("force-delete")

    def conflicts(self, rows: Iterable[Mapping[str, object]]) -> list[tuple[UsageError, str]]:
        """Return an error for each row of the plan whose value was changed again since, and the row's subject."""
        if self._force or self._left is None:
            return []
        found = []
        for row in rows:
            old = next((name for name in OLD if name in row), "")
            if not str(row["result"]).startswith("would ") or not old:
                continue
            about, is_now = _about(row), row[old]
            left = self._left.get(about)
            if about in self._left:
                inherits = left is None and ("config" in row or "source" in row)  # its value then is that of the broker
                moved = isinstance(left, list) and isinstance(is_now, list) and sorted(left) == sorted(is_now)
                same = left == is_now or moved or inherits or HIDDEN in (left, is_now)
            else:
                same = old != "old" or is_now in (None, "", "0", 0)  # the change left nothing there
            if not same:
                what = item_of(row)
                became = f"{what} is {_text(is_now)} now; {self._name} left {_text(left)}"
                makes = f"makes it {_text(row['new'])}"
                if row["result"] == "would delete" and "config" in row:
                    now = f"{row['config']}: {is_now} now, {left or 'none'} after {self._name}"
                    became = f"topic {row['name']} was changed again ({now})"
                    makes = "deletes the topic"
                found.append((UsageError(f"{became}, and undoing it {makes}").hinted("force-undo"), what))
        return found


def item_of(row: Mapping[str, object]) -> str:
    """Return what a row is about."""
    return " ".join(str(value) for name, value in row.items() if value is not None and name not in VALUES)


def _as_applied(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row of `topics create` in the form of `apply`, which undoes it; others unchanged."""
    if "topic_id" not in row:
        return row
    count = row["partitions"] and str(row["partitions"])
    return {"kind": "topic", "name": row["topic"], "config": "partitions", "new": count}


def _about(row: Mapping[str, object]) -> tuple[tuple[str, object], ...]:
    named = {name: value for name, value in row.items() if name not in VALUES}
    # `topics alter` has other names for what `configs set` calls kind and name
    if "topic" in named and "config" in named:
        named |= {"kind": "topic", "name": named.pop("topic")}
    named["of"] = next((name for name in ("level", "mode") if name in row), "")  # a subject has both
    return tuple((name, value if isinstance(value, (str, int)) else None) for name, value in sorted(named.items()))


def _text(value: object) -> str:
    return "unset" if value is None else str(value)

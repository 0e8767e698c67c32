"""A command's change in the journal: written before the change is sent, its outcome afterwards."""

from __future__ import annotations

import json
import time
from shlex import quote

from kcli import cli
from kcli.admin.cluster.cluster import cluster_id
from kcli.changes import journal
from kcli.changes.change import Undo
from kcli.cli.documents.input_file import read_file
from kcli.cli.output.written import check
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.runtime.answer import say
from kcli.errors import KcliError, UsageError
from kcli.redact import HIDDEN
from kcli.secret import without_login
from kcli.system.files import DOCUMENT, new_file
from kcli.text.json_object import read_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.groups import OutputOptions
    from kcli.text.json_object import JsonObject

    Outcome = TypeVar("Outcome")


async def journaled(
    options: OutputOptions,
    target: object,
    rows: Callable[[], Sequence[dict[str, object]]],
    undo: Undo | None,
    work: Callable[[], Awaitable[Outcome]],
) -> Outcome:
    """Do the work of a change between its two lines in the journal, and say how to undo what was changed. Where it was
    not finished, rows that were only planned may have been changed. Raises KcliError, before anything is sent, where
    what undoes it cannot be kept."""
    keeps = undo is not None and bool(undo.document) and isinstance(options, UndoOptions) and options.keeps_undo
    needs = keeps and isinstance(options, UndoOptions) and options.needs_undo
    where = await _where(target, undo)
    if undo is not None and isinstance(options, UndoOptions):
        write_undo_file(options, undo, where)

    def undoes(number: int) -> None:
        if needs:
            say(options, f"to undo this: kcli undo {number}{_where_of(options)} --execute")

    try:
        return await journal.recorded(
            *(cli.typed, where, rows, undo if keeps else None, work),
            must=needs and not getattr(options, "undo_file", None),
            say=lambda sentence: say(options, sentence),
            undoes=undoes,
        )
    except journal.NotWritten as problem:
        raise KcliError(f"{problem}; --undo-file FILE keeps what undoes it, --no-undo keeps nothing") from None


def rows_of(document: Document) -> list[dict[str, object]]:
    """The rows of all sections that have a result."""
    return [row for section in document.shape.sections for row in document.all(section) if "result" in row]


async def _where(target: Any, undo: Undo | None) -> str:
    """The cluster id, or the address of the registry that is changed."""
    if undo is not None and undo.where:
        return undo.where
    if isinstance(target, tuple):  # a cluster and its registry
        target = target[0]
    name = getattr(target, "name", None)
    if isinstance(name, str):
        return name
    return await cluster_id(target) or ""


def _where_of(options: OutputOptions) -> str:
    """The options that name the same cluster again; those with secrets in them are left out."""
    given = [("-b", options.bootstrap), ("--profile", options.profile), ("-F", options.config_file)]
    registry = getattr(options, "schema_registry", None)
    given += [("--schema-registry", registry)] if registry and registry == without_login(registry) else []
    return "".join(f" {flag} {quote(value)}" for flag, value in given if value)


VALUES = frozenset(
    "old new old_value new_value delta lag start end bytes adding removing leader result note error change file "
    "level mode value source".split()
)
"""Columns that say what a row was, is, or becomes; the others say what it is about."""
OLD = ("old", "level", "mode", "value")
"""Columns with the value before: the settings of a registry have their own."""


class ChangeToUndo:
    """A change that is to be undone: `name` is what it is called, `where` the cluster or the registry it was made on,
    None where that is not known. `rows` are those of the journal, None for an undo file, which has none; `topic_ids`
    those of the topics that it created, by name."""

    def __init__(
        self,
        name: str,
        where: str | None,
        rows: list[dict[str, object]] | None,
        *,
        force: bool,
        topic_ids: Mapping[str, str] | None = None,
    ) -> None:
        self._name, self._where, self._force = name, where, force
        self._topic_ids = topic_ids or {}
        self._left = None if rows is None else {_about(row): row.get("new") for row in map(_as_applied, rows)}

    async def check(self, target: object) -> None:
        """Raises UsageError on another cluster, or another registry, than the change was made on."""
        if self._where is None or (self._force and self._left is None):
            return
        if isinstance(target, tuple) and target[1] is not None and target[1].settings.name == self._where:
            return  # schemas alone: no broker is asked
        where = await _where(target, None)
        if where != self._where:
            made = f"{self._name} was made on {self._where or 'a cluster without an id'}"
            raise UsageError(f"{made}, and this is {where or 'a cluster without an id'}; name that one with -b")
        if self._topic_ids and not self._force:
            await self._check_topics(target[0] if isinstance(target, tuple) else target)

    async def _check_topics(self, cluster: Any) -> None:
        """Raises UsageError where a topic that the change created was created again since."""
        from kcli.admin.topics.topics import describe_topics
        from kcli.asking.fan_out import good

        for name, topic in good(await describe_topics(cluster, self._topic_ids)).items():
            if topic.topic_id and topic.topic_id != self._topic_ids[name]:
                again = f"topic {name} was deleted and created again since {self._name}"
                raise UsageError(f"{again}; --force deletes it all the same")

    def differs(self, document: Document) -> bool:
        """Put an error into the document for each value that was changed again since; whether there was one."""
        if self._force or self._left is None:
            return False
        found = False
        for row in rows_of(document):
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
                what = " ".join(str(value) for name, value in row.items() if value is not None and name not in VALUES)
                became = f"{what} is {_text(is_now)} now; {self._name} left {_text(left)}"
                makes = f"makes it {_text(row['new'])}"
                if row["result"] == "would delete" and "config" in row:
                    now = f"{row['config']}: {is_now} now, {left or 'none'} after {self._name}"
                    became = f"topic {row['name']} was changed again ({now})"
                    makes = "deletes the topic"
                error = UsageError(f"{became}, and undoing it {makes}; --force does that")
                document.fail(error, what)
                found = True
        return found


def _as_applied(row: dict[str, object]) -> dict[str, object]:
    """A row of `topics create` as `apply` has it, which undoes it; others as they are."""
    if "topic_id" not in row:
        return row
    count = row["partitions"] and str(row["partitions"])
    return {"kind": "topic", "name": row["topic"], "config": "partitions", "new": count}


def _about(row: dict[str, object]) -> tuple[tuple[str, object], ...]:
    named = {name: value for name, value in row.items() if name not in VALUES}
    if "topic" in named and "config" in named:  # as `topics alter` has what `configs set` calls kind and name
        named |= {"kind": "topic", "name": named.pop("topic")}
    named["of"] = next((name for name in ("level", "mode") if name in row), "")  # a subject has both
    return tuple((name, value if isinstance(value, (str, int)) else None) for name, value in sorted(named.items()))


def _text(value: object) -> str:
    return "unset" if value is None else str(value)


def check_undo_file(options: UndoOptions) -> None:
    """Raises UsageError for options that contradict each other, and for a file that exists."""
    if options.undo_file is None:
        return
    if options.no_undo:
        raise UsageError("--undo-file and --no-undo exclude each other")
    if not options.plan_only:
        check(options.undo_file, "--undo-file")


def write_undo_file(options: UndoOptions, kept: Undo, where: str | None) -> None:
    """Write what `--undo-file` asks for, if there is anything to undo. Raises KcliError."""
    path = options.undo_file
    if path is None or not kept.document:
        return
    taken = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": where}
    text = json.dumps({**kept.document, "taken": [taken]}, ensure_ascii=False, indent=1) + "\n"
    try:
        with new_file(path, mode=0o600) as out:
            out.write(text.encode())
    except OSError as error:
        raise KcliError(f"nothing was changed: the undo file {path} cannot be written ({error.strerror})") from None


def read_undo_file(path: str) -> JsonObject:
    """The document of an undo file; `-` is stdin. Raises UsageError."""
    try:
        return read_object(read_file(path, DOCUMENT).decode("utf-8-sig"))
    except RecursionError:
        raise UsageError(f"{path}: not an undo file (nested too deeply)") from None
    except ValueError as error:
        raise UsageError(f"{path}: not an undo file ({error})") from None

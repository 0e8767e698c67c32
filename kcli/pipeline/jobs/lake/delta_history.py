"""Reads the versions in a Delta table's log, whichever writer made them: the commits of a query, restores, the last
compaction. Also merges with deltalake.

Both writers store the text of a commit under `userMetadata` of a version's commitInfo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.merging.latest import DELETED
from kcli.pipeline.jobs.lake.table import Commit, NotCommitted
from kcli.values import Frozen

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa

    from kcli.pipeline.jobs.lake.merging.latest import Merge

TEXT = "userMetadata"
"""Field of a version with the text of its commit."""
FIRST, MORE = 8, 8
"""Number of versions read at first, and the factor for each further read."""


class Version(Frozen):
    """A version of a table. `time` is in milliseconds since 1970."""

    number: int = 0
    operation: str = ""
    parameters: Mapping[str, Any] = {}
    text: str = ""
    time: int = 0


class Last(Frozen):
    """A query's newest commit in a table. `version` is the newest version that the query wrote, even if a restore
    removed it; -1 for none."""

    commit: Commit | None = None
    version: int = -1


def newest_first(read: Callable[[int], list[Version]]) -> Iterator[Version]:
    """Iterate over the versions of a table; `read` returns the newest N, and is called for more only as needed."""
    limit, seen = FIRST, 0
    while True:
        found = read(limit)
        yield from found[seen:]
        if len(found) < limit:
            return
        seen, limit = len(found), limit * MORE


def last_of(versions: Iterable[Version], query: str) -> Last:
    """Return the newest commit of a query. Commits that a RESTORE removed do not count. Raises KcliError for a RESTORE
    without a target."""
    newest, bound = -1, Version(number=1 << 62, time=1 << 62)
    for one in versions:
        commit = Commit.of(one.text)
        ours = commit is not None and commit.query == query
        if ours and newest < 0:
            newest = one.number
        if one.number > bound.number or one.time > bound.time:
            continue
        if ours:
            return Last(commit=commit, version=newest)
        if one.operation == "RESTORE":
            bound = _restored(one)
    return Last(version=newest)


def _restored(one: Version) -> Version:
    """Return the version, or the time, to which a RESTORE went back."""
    number = one.parameters.get("version")
    if number not in (None, "", "null"):
        return Version(number=int(str(number).strip('"')), time=1 << 62)
    text = one.parameters.get("timestamp") or one.parameters.get("datetime")
    try:
        return Version(number=one.number - 1, time=_milliseconds(text))
    except (TypeError, ValueError):
        raise KcliError(
            f"version {one.number} of the table is a RESTORE to "
            f"{text or 'a version that its log does not name'}, so kcli cannot "
            "tell which records the table has"
        ) from None


def _milliseconds(text: Any) -> int:
    """Return a time in a log, a number of milliseconds or ISO 8601 (Spark writes a space), in UTC by default."""
    from datetime import UTC, datetime

    if isinstance(text, int) or str(text).isdigit():
        return int(text)
    found = datetime.fromisoformat(str(text))
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * 1000)


def check_next(label: str, last: Last, commit: Commit) -> None:
    """Raise NotCommitted unless the commit follows the query's last one."""
    expected = 0 if last.commit is None else last.commit.epoch + 1
    if commit.epoch != expected:
        there = "no batch" if last.commit is None else f"batch {last.commit.epoch}"
        raise NotCommitted(
            f"{label} has {there} of this pipeline, so the next batch must be {expected}, not {commit.epoch}: "
            "another process uses the "
            "checkpoint, or the table was restored; nothing was committed"
        )


def has(versions: Iterable[Version], commit: Commit) -> bool:
    """Whether a commit is in the table; only commits that are not older are searched."""
    for one in versions:
        found = Commit.of(one.text)
        if found is not None and found.query == commit.query:
            if found.epoch < commit.epoch:
                return False
            if (found.epoch, found.id) == (commit.epoch, commit.id):
                return True
    return False


def compaction_due(versions: Iterable[Version], every: float, now: float) -> bool:
    """Whether the last compaction, or the table's first version, is `every` seconds ago. Older versions are not
    read."""
    for one in versions:
        old = now - one.time / 1000 >= every
        if old or one.operation == "OPTIMIZE":
            return old
    return False


def merge_rows(
    known: deltalake.DeltaTable, rows: pa.Table, merge: Merge, about: deltalake.CommitProperties | None
) -> None:
    """Replace or delete rows with existing keys, and add others. A row that is older than the table's by `order_by`
    changes nothing. A batch without changes creates no version. Raises deltalake's errors."""
    columns = {quoted(name): f"s.{quoted(name)}" for name in rows.column_names if name != DELETED}
    same = " AND ".join(f"t.{quoted(key)} = s.{quoted(key)}" for key in merge.keys)
    gone, later = f"s.{DELETED}", ""
    if merge.order_by:
        name = quoted(merge.order_by)
        later = f" AND (t.{name} IS NULL OR s.{name} >= t.{name})"
    merger = known.merge(rows, same, source_alias="s", target_alias="t", commit_properties=about)
    merger.when_matched_delete(gone + later)
    merger.when_matched_update(columns, predicate=f"NOT {gone}{later}")
    merger.when_not_matched_insert(columns, predicate=f"NOT {gone}")
    merger.execute()


def quoted(name: str) -> str:
    """Quote a column name for SQL."""
    return f"`{name.replace('`', '``')}`"

"""What kcli asks of a table of a lake, and how a batch of a stream gets into it once.

The table's own library writes it. kcli adds one thing: every commit of a stream says which offsets it holds. Before a
query starts, the table's last commit is compared with the checkpoint, and before each batch with the batch's offsets.
So a restored checkpoint, a reset one, and a second driver on the same checkpoint neither lose nor repeat records: the
numbers of Spark's batches decide nothing. Two commits with the same epoch conflict, and the table's own concurrency
control refuses the second.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.pipeline.jobs.checkpoints import Beside, Checkpoint, batch_of, begun, read
from kcli.pipeline.jobs.files.rewinding import skip_to
from kcli.pipeline.offset_options import from_offsets, to_json
from kcli.values import Frozen, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from kcli.pipeline.jobs.lake.merging.latest import Merge

COMMIT = "kcli.commit"
"""The key of a commit's text in what a table keeps of a commit: Delta's userMetadata, properties of a snapshot."""
Offsets = Mapping[TopicPartition, int]


class NotCommitted(KcliError):
    """A commit that is certainly not in the table. After any other error it may be there."""


class Written(Value):
    """What a commit put into a table: files, their bytes, and the seconds that the table's library took for the commit
    itself; -1 where the library does not say."""

    files: int = 0
    bytes: int = 0
    commit: float = 0.0


class Commit(Frozen):
    """What a commit of a stream says of itself. `query` is Spark's id of the query, which its checkpoint keeps.
    `generation` changes when the checkpoint is reset. `epoch` counts the commits of the query from 0. The batch holds
    the records from `start` to before `end`; a partition that is not in `start` began at its first record. `topics` are
    the ids of the topics. `id` is of this attempt alone."""

    query: str = ""
    generation: str = ""
    epoch: int = 0
    start: Mapping[TopicPartition, int] = {}
    end: Mapping[TopicPartition, int] = {}
    topics: Mapping[str, str] = {}
    id: str = ""

    def text(self) -> str:
        """As the table keeps it."""
        return json.dumps(
            {
                "query": self.query,
                "generation": self.generation,
                "epoch": self.epoch,
                "start": to_json(self.start),
                "end": to_json(self.end),
                "topics": dict(self.topics),
                "id": self.id,
            },
            separators=(",", ":"),
        )

    @classmethod
    def of(cls, text: str | None) -> Commit | None:
        """A commit out of what a table keeps; None for what another program wrote there."""
        try:
            known: dict[str, Any] = json.loads(text or "")
            return cls(
                query=str(known["query"]),
                generation=str(known["generation"]),
                epoch=int(known["epoch"]),
                start=from_offsets(known["start"]),
                end=from_offsets(known["end"]),
                topics={str(name): str(one) for name, one in known["topics"].items()},
                id=str(known["id"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None


class Table(Protocol):
    """A table, written by its own library. `label` names it in sentences, `where` is its folder or URI."""

    label: str
    where: str

    def exists(self) -> bool | None:
        """Whether the table is there; None where only Spark can tell, which does not run yet. Raises KcliError where
        its store cannot be read."""
        ...

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Before anything is written: raise UsageError where the rows do not fit to a table that is there."""
        ...

    def last(self, query: str) -> Commit | None:
        """The newest commit of a query that the table has, None without one. Raises KcliError."""
        ...

    def write(self, rows: DataFrame, mode: str, commit: Commit | None, *, evolve: bool) -> Written:
        """The rows, as one commit; `mode` is error, append or overwrite. With `evolve` the table gets the columns and
        wider types of the rows. A batch without rows is a commit too, so that the table knows its offsets. Raises
        UsageError where the rows do not fit, NotCommitted where the table refuses them (a constraint, another writer, a
        commit of the same query and epoch), KcliError where the commit may be in the table or not."""
        ...

    def merge(self, rows: DataFrame, merge: Merge, commit: Commit | None, *, evolve: bool) -> Written:
        """One commit in which each row replaces or deletes (`merging.latest.DELETED`) the row of its key, or is added.
        `rows` have each key once. Raises as `write`."""
        ...

    def compact(self, every: float) -> None:
        """The table's own maintenance, where the last is `every` seconds ago. Raises KcliError."""
        ...

    def clean(self, older: float, *, delete: bool) -> Sequence[str]:
        """Files in the table's folder that no version of the table names and that are `older` seconds old; `delete`
        removes them. Raises KcliError."""
        ...


class Batches:
    """The batches of one run of a stream into a table. `begin` before the query starts, then `commit` for each batch,
    and `done` after its commit. `checkpoint` is a folder of this machine or in s3a://."""

    def __init__(self, table: Table, checkpoint: Path | str) -> None:
        self._table = table
        self._checkpoint = checkpoint
        self._generation = ""
        self._last: Commit | None = None
        self._next: Offsets = {}

    def begin(self) -> str:
        """Compare the table with the checkpoint. Where the table is ahead, the checkpoint is moved to where the table
        is, and a sentence says so; else "". Raises KcliError where one of them does not continue the other."""
        state = read(self._checkpoint) if begun(self._checkpoint) else Checkpoint()
        reset = Reset.of(self._checkpoint)
        self._generation, self._next = reset.id, state.offsets
        last = self._last = self._table.last(state.query) if state.query else None
        fresh = state.committed < 0 if not reset.id else state.committed == reset.batch
        if last is None or last.generation != reset.id:
            if fresh and (last is None or last.generation == reset.before):
                return ""
            raise self._apart(state, last)
        self._same_topics(state, last)
        if last.end in (state.offsets, state.planned):
            return ""
        if not _ahead(last.end, state.planned or state.offsets):
            raise self._apart(state, last)
        skip_to(state, last.end)
        self._next = last.end
        return (
            f"{self._table.label} is ahead of {state.where}: its records up to {said(last.end)} are in the table, and "
            "are not written again"
        )

    def commit(self, number: int) -> Commit | None:
        """What the commit of a batch says; None where the table has the batch. Raises NotCommitted where the batch does
        not begin where the table ends."""
        batch, last = batch_of(self._checkpoint, number), self._last
        start, end = batch.offsets, batch.planned
        if last is not None and last.generation == self._generation and last.end == end:
            self._next = end
            return None
        if start != self._next:
            raise NotCommitted(
                f"{self._table.label}: the batch begins at {said(start)}, and the table ends at {said(self._next)}: "
                "another process uses this checkpoint; nothing was committed"
            )
        return Commit(
            query=batch.query,
            generation=self._generation,
            epoch=0 if last is None else last.epoch + 1,
            start=start,
            end=end,
            topics=batch.notes.get("topics") or {},
            id=uuid4().hex,
        )

    def done(self, commit: Commit) -> None:
        """The commit is in the table."""
        self._last, self._next = commit, commit.end

    def _same_topics(self, state: Checkpoint, last: Commit) -> None:
        """Raise KcliError where a topic of the checkpoint was created again since the table's commit."""
        ids = state.notes.get("topics") or {}
        for topic, one in last.topics.items():
            if ids.get(topic, one) != one:
                raise KcliError(
                    f"{self._table.label} has the records of {topic} with the topic id {one}, and {state.where} is of "
                    f"the topic id {ids[topic]}: start over with another checkpoint and table"
                )

    def _apart(self, state: Checkpoint, last: Commit | None) -> KcliError:
        there = "has no commit of this pipeline" if last is None else f"has its records up to {said(last.end)}"
        if last is not None and last.generation != self._generation:
            there += ", written with another reset of the checkpoint"
        return KcliError(
            f"{self._table.label} {there}, and {state.where} says that the next begins at {said(state.offsets)}: they "
            "do not belong together, and nothing was written; restore both from the same time"
        ).hinted("start-over")


def _ahead(table: Offsets, checkpoint: Offsets) -> bool:
    """Whether the table has everything that the checkpoint has read."""
    return all(table.get(at, -1) >= offset for at, offset in checkpoint.items())


def said(offsets: Offsets) -> str:
    """Offsets in a sentence: `orders[0] 12, orders[1] 9`; the first few of many."""
    first = [f"{at.topic}[{at.partition}] {offsets[at]}" for at in sorted(offsets)[:4]]
    more = f" and {len(offsets) - 4} more partitions" if len(offsets) > 4 else ""
    return ", ".join(first) + more if first else "the beginning"


class Reset(Frozen):
    """That a checkpoint was reset, in a file beside it. `batch` is the last whole batch after the reset, `id` is of
    the reset, and `before` of the one before it ("" for none)."""

    id: str = ""
    before: str = ""
    batch: int = -1

    @classmethod
    def of(cls, checkpoint: Path | str) -> Reset:
        """The last reset of a checkpoint. Raises UsageError for a file that says none."""
        known = Beside(checkpoint, "reset", "the reset of a checkpoint").known
        return cls(id=known.get("id", ""), before=known.get("before", ""), batch=int(known.get("batch", "-1")))

    @classmethod
    def note(cls, checkpoint: Path | str, batch: int) -> None:
        """Write down that `batch` is the last whole batch after a reset. Raises UsageError."""
        kept = Beside(checkpoint, "reset", "the reset of a checkpoint")
        kept.keep({"id": uuid4().hex, "before": kept.known.get("id", ""), "batch": str(batch)})

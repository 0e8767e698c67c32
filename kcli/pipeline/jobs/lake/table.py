"""The interface of lake tables, and how each batch of a stream is committed to one exactly once.

The table's own library writes it. kcli adds one thing: every commit of a stream records its offsets. Before a query
starts, the table's last commit is compared with the checkpoint, and before each batch with the batch's offsets. So a
restored checkpoint, a reset one, and a second driver on the same checkpoint neither lose nor repeat records,
independently of Spark's batch numbers. Two commits with the same epoch conflict, and the table's own concurrency
control rejects the second.
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
"""The key of a commit's text in the table: in Delta's userMetadata, or in a snapshot's properties."""
Offsets = Mapping[TopicPartition, int]


class NotCommitted(KcliError):
    """A commit that is certainly not in the table. After any other error it may be."""


class Written(Value):
    """The effect of a commit on a table: files, their size, and the seconds that the table's library took for the
    commit itself; -1 if not reported."""

    files: int = 0
    bytes: int = 0
    commit: float = 0.0


class Commit(Frozen):
    """The text of a stream's commit. `query` is Spark's id of the query, which its checkpoint keeps. `generation`
    changes when the checkpoint is reset. `epoch` counts the commits of the query from 0.

    The batch holds the records from `start` to before `end`; a partition that is not in `start` began at its first
    record. `topics` are the ids of the topics. `id` identifies this attempt.
    """

    query: str = ""
    generation: str = ""
    epoch: int = 0
    start: Mapping[TopicPartition, int] = {}
    end: Mapping[TopicPartition, int] = {}
    topics: Mapping[str, str] = {}
    id: str = ""

    def text(self) -> str:
        """Return it as stored in the table."""
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
        """Parse what a table stores; None if another program wrote it."""
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
    """A table, written by its own library. `label` is its name in messages, `where` its folder or URI."""

    label: str
    where: str

    def exists(self) -> bool | None:
        """Whether the table exists; None if only Spark can tell, which is not running yet. Raises KcliError if its
        store cannot be read."""
        ...

    def check(self, frame: DataFrame, *, evolve: bool) -> None:
        """Raise UsageError before anything is written if the rows do not match an existing table."""
        ...

    def last(self, query: str) -> Commit | None:
        """Return a query's newest commit in the table, None without one. Raises KcliError."""
        ...

    def write(self, rows: DataFrame, mode: str, commit: Commit | None, *, evolve: bool) -> Written:
        """Write the rows as one commit; `mode` is error, append or overwrite.

        With `evolve` the table gets the columns and wider types of the rows. A batch without rows is also committed, so
        that the table records its offsets. Raises UsageError if the rows do not match, NotCommitted if the table
        rejects them (a constraint, another writer, a commit of the same query and epoch), KcliError if the commit may
        or may not be in the table.
        """
        ...

    def merge(self, rows: DataFrame, merge: Merge, commit: Commit | None, *, evolve: bool) -> Written:
        """Write one commit in which each row replaces or deletes (`merging.latest.DELETED`) the row with its key, or is
        added. `rows` have each key once. Raises like `write`."""
        ...

    def compact(self, every: float) -> None:
        """Run the table's own maintenance, if the last run is `every` seconds ago. Raises KcliError."""
        ...

    def clean(self, older: float, *, delete: bool) -> Sequence[str]:
        """Return files in the table's folder that no version of the table lists and that are older than `older`
        seconds; `delete` removes them. Raises KcliError."""
        ...


class Batches:
    """The batches of one run of a stream into a table. Call `begin` before the query starts, then `commit` for each
    batch, and `done` after its commit. `checkpoint` is a local folder or in s3a://."""

    def __init__(self, table: Table, checkpoint: Path | str) -> None:
        self._table = table
        self._checkpoint = checkpoint
        self._generation = ""
        self._last: Commit | None = None
        self._next: Offsets = {}

    def begin(self) -> str:
        """Compare the table with the checkpoint. If the table is ahead, the checkpoint is moved to its offsets, and a
        sentence about it is returned; else "". Raises KcliError if neither continues the other."""
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
            f"{self._table.label} is ahead of {state.where}: the table already has the records up to "
            f"{said(last.end)}, which are not written again"
        )

    def commit(self, number: int) -> Commit | None:
        """Return the commit for a batch; None if the table already has the batch. Raises NotCommitted if the batch does
        not begin where the table ends."""
        batch, last = batch_of(self._checkpoint, number), self._last
        start, end = batch.offsets, batch.planned
        if last is not None and last.generation == self._generation and last.end == end:
            self._next = end
            return None
        if start != self._next:
            raise NotCommitted(
                f"{self._table.label}: the batch starts at {said(start)}, but the table ends at {said(self._next)}: "
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
        """Record that the commit is in the table."""
        self._last, self._next = commit, commit.end

    def _same_topics(self, state: Checkpoint, last: Commit) -> None:
        """Raise KcliError if a topic of the checkpoint was recreated since the table's commit."""
        ids = state.notes.get("topics") or {}
        for topic, one in last.topics.items():
            if ids.get(topic, one) != one:
                raise KcliError(
                    f"{self._table.label} has records of {topic} with topic id {one}, but {state.where} has topic id "
                    f"{ids[topic]}: start over with another checkpoint and table"
                )

    def _apart(self, state: Checkpoint, last: Commit | None) -> KcliError:
        there = (
            "has no commit of this pipeline" if last is None else f"has this pipeline's records up to {said(last.end)}"
        )
        if last is not None and last.generation != self._generation:
            there += ", written under a different reset of the checkpoint"
        return KcliError(
            f"{self._table.label} {there}, but according to {state.where} the next batch starts at "
            f"{said(state.offsets)}: table and checkpoint do not match, and nothing was written; restore both "
            "to the same time"
        ).hinted("start-over")


def _ahead(table: Offsets, checkpoint: Offsets) -> bool:
    """Whether the table has everything that the checkpoint has read."""
    return all(table.get(at, -1) >= offset for at, offset in checkpoint.items())


def said(offsets: Offsets) -> str:
    """Return offsets for a sentence: `orders[0] 12, orders[1] 9`; of many only the first few."""
    first = [f"{at.topic}[{at.partition}] {offsets[at]}" for at in sorted(offsets)[:4]]
    more = f" and {len(offsets) - 4} more partitions" if len(offsets) > 4 else ""
    return ", ".join(first) + more if first else "the beginning"


class Reset(Frozen):
    """The record of a checkpoint's reset, in a file beside it. `batch` is the last complete batch after the reset, `id`
    identifies the reset, and `before` the previous one ("" for none)."""

    id: str = ""
    before: str = ""
    batch: int = -1

    @classmethod
    def of(cls, checkpoint: Path | str) -> Reset:
        """Return the last reset of a checkpoint. Raises UsageError for an invalid file."""
        known = Beside(checkpoint, "reset", "the reset of a checkpoint").known
        return cls(id=known.get("id", ""), before=known.get("before", ""), batch=int(known.get("batch", "-1")))

    @classmethod
    def note(cls, checkpoint: Path | str, batch: int) -> None:
        """Record that `batch` is the last complete batch after a reset. Raises UsageError."""
        kept = Beside(checkpoint, "reset", "the reset of a checkpoint")
        kept.keep({"id": uuid4().hex, "before": kept.known.get("id", ""), "batch": str(batch)})

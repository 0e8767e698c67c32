"""What a pipeline command hands to `drive`: a job, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kcli.cli.output.messages import complain
from kcli.model import TopicPartition
from kcli.pipeline.errors import busy, record_of
from kcli.pipeline.jobs.work import Action, Again, Stream, StreamState
from kcli.pipeline.progress import Progress
from kcli.values import Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.cli.commands.pipeline.session.frame import Frame
    from kcli.cli.commands.pipeline.source.source import Source
    from kcli.pipeline.jobs.bad import BadRows
    from kcli.pipeline.jobs.lake.table import Written
    from kcli.pipeline.jobs.sql import Script


class Outcome(Value):
    """What a job did. `records` is what was written, -1 where it was not counted; `bad` are those that did not fit the
    format and are null, or in quarantine; `unknown` had fields that no column has."""

    records: int = -1
    bytes: int = -1
    bad: int = 0
    unknown: int = 0


TRIES = 3
"""Times that work is begun again because the machine was too busy to start a Python process for it."""


def again_of(
    frame: Frame,
    work: Action | Stream,
    clear: Callable[[], None],
    other: Callable[[Exception], Callable[[], Any] | None] | None = None,
) -> Again:
    """What becomes of work that failed: the same again where Spark gave up a Python process, after `clear` took away
    what is half written, else what `other` says."""
    left = TRIES

    def again(problem: Exception) -> Callable[[], Any] | None:
        nonlocal left
        if not busy(problem):
            return None if other is None else other(problem)
        if not left:
            return None
        left -= 1
        clear()
        if not frame.quiet:
            complain("Spark gave up on a Python process that did not start within ten seconds: starting again")
        return work.begin

    return again


def widening(
    frame: Frame, sources: Sequence[Source], clear: Callable[[], None], made: Callable[[], Action | Stream]
) -> Callable[[Exception], Callable[[], Any] | None]:
    """What to begin instead of work that ended at a record that the schema does not fit: what is `made` with another
    schema, where --schema-mode is evolve, after `clear` took away what is half written."""

    def again(problem: Exception) -> Callable[[], Any] | None:
        found = record_of(problem)
        source = next((one for one in sources if found is not None and found[0].topic in one.topics), None)
        if found is None or source is None or not source.widen(*found):
            return None
        before = source.schema
        clear()
        begin = made().begin
        if source.schema == before:
            return None
        at, offset = found
        if not frame.quiet:
            complain(f"{at.topic}[{at.partition}] offset {offset} has new fields: started again with columns for them")
        return begin

    return again


def with_unknown(frame: Frame, outcome: Outcome, seen: StreamState | BadRows | Script | None) -> Outcome:
    """The outcome with what was `seen` of records that have fields which no column has; they are told."""
    if seen is not None and seen.unknown:
        outcome.unknown = seen.unknown
        many = f"{seen.unknown:,} records have" if seen.unknown > 1 else "1 record has"
        if not frame.quiet:
            complain(
                f"{many} fields without a column, which were left out: {', '.join(seen.fields)}; --value-schema "
                "names them, --schema-mode evolve adds columns"
            )
    return outcome


class Job:
    """What a command hands to `drive`: subclass it. `spans` are the ranges of a batch, None for a stream."""

    name = ""
    verb = ""
    source = ""
    destination = ""
    writes_to = ""
    """The folder or table that is written, where there is one."""
    exclusive = ""
    """The same of a folder of files, which one run at a time writes."""
    spans: Mapping[TopicPartition, tuple[int, int]] | None = None
    packages: tuple[str, ...] = ()
    conf: tuple[tuple[str, str], ...] = ()
    checkpoint = ""
    expected: int | None = None
    """Records that will be written, where the number is known."""
    quarantine = ""
    """The folder of bad records, where they are kept."""
    prints = False
    """Whether its rows go to stdout: then no words or bars come between them."""

    def begin(self, spark: SparkSession, progress: str) -> Action | Stream:
        """The work, not yet started; `progress` is the source's progressAddr."""
        raise NotImplementedError

    def finish(self, work: Action | Stream, seen: Progress) -> Outcome:
        """After a good end, also of a stream that drained: make it last."""
        return Outcome(records=seen.whole.rows)

    def bad_rows(self) -> int:
        """After a batch: the records that did not fit their format and are null, or in quarantine."""
        return 0

    def undo(self) -> None:
        """After any other end of a batch: leave nothing behind."""

    def half(self, seen: Progress) -> str:
        """What is left of a batch that was cut short, in a few words."""
        return "nothing was kept"

    @property
    def written(self) -> Mapping[int, Written]:
        """What each batch put into a table, by its number; -1 where the run is one batch."""
        return {}

    @property
    def quick(self) -> bool:
        """Whether the job is over in seconds: then the JVM compiles for a quick start."""
        return self.spans is not None and sum(end - start for start, end in self.spans.values()) < 1_000_000

"""What a pipeline command hands to `drive`: a job, and what it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcli.model import TopicPartition
from kcli.pipeline.jobs.work import Action, Stream
from kcli.pipeline.progress import Progress
from kcli.values import Value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kcli.pipeline.jobs.files.timed import Written


class Outcome(Value):
    """What a job did. `records` is what was written, -1 where it was not counted; `bad` are those that did not fit the
    format and are null, or in quarantine."""

    records: int = -1
    bytes: int = -1
    bad: int = 0


class Job:
    """What a command hands to `drive`: subclass it. `spans` are the ranges of a batch, None for a stream."""

    name = ""
    verb = ""
    source = ""
    destination = ""
    writes_to = ""
    """The folder of files that is written, where there is one."""
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

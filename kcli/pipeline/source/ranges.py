"""The range of offsets of one partition that a task reads, and splitting into ranges of about equal size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql.datasource import InputPartition

from kcli.model import TopicPartition
from kcli.pipeline.source.task_sizes import shares


class Range(InputPartition):
    """[start, end) of a partition. `start` -1 is an empty range, because Spark needs at least one task."""

    def __init__(self, topic: str, partition: int, start: int, end: int) -> None:
        super().__init__((topic, partition, start, end))
        self.topic, self.partition, self.start, self.end = topic, partition, start, end

    @property
    def at(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    def __len__(self) -> int:
        return max(self.end - self.start, 0)

    def __repr__(self) -> str:
        return f"{self.topic}[{self.partition}] {self.start}..{self.end}"


NOTHING = Range("", -1, -1, -1)


def ranges_of(
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
    *,
    least: int = 0,
    most: int = 0,
    parts: Mapping[TopicPartition, int] | None = None,
) -> list[Range]:
    """Return a range for each partition with a backlog, split into at least `least` in total (fewer if there are fewer
    offsets; 0: no splitting), each with at most `most` offsets (0: any), and each partition into at least as many as in
    `parts`. Never empty: [NOTHING] then."""
    spans = [Range(*at, starts[at], end) for at, end in sorted(ends.items()) if end > starts[at]]
    if most or parts:
        cuts = [max(-(-len(span) // most) if most else 1, (parts or {}).get(span.at, 1)) for span in spans]
        spans = [part for whole, number in zip(spans, cuts, strict=True) for part in _cut(whole, number)]
    if least > len(spans):
        cuts = shares([len(span) for span in spans], least)
        spans = [part for whole, number in zip(spans, cuts, strict=True) for part in _cut(whole, number)]
    return spans or [NOTHING]


def _cut(whole: Range, parts: int) -> Iterable[Range]:
    size = len(whole)
    for part in range(parts):
        yield Range(
            whole.topic, whole.partition, whole.start + size * part // parts, whole.start + size * (part + 1) // parts
        )

"""The tables of a topic's page: its partitions with what is in each, and the groups that read it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.text.numbers import rate, size
from kcli.tui.screens.columns import lag_column, status_column
from kcli.tui.screens.groups import until
from kcli.tui.text.formatting import bar, exact
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column

if TYPE_CHECKING:
    from kcli.admin.topics.topics import Partition
    from kcli.admin.topics.topics import Topic as Described

BAR = 16


class PartitionRow(NamedTuple):
    """A partition, where its log starts and ends, its leader's bytes, and its share of the largest partition."""

    partition: Partition
    start: int | None
    end: int | None
    size: int | None
    share: float


def partition_rows(topic: Described, starts: Any, ends: Any, sizes: dict[tuple[int, int], int]) -> list[PartitionRow]:
    """Partitions with their offsets and sizes; the share is of bytes, else of offsets."""

    def offset(answers: Any, partition: int) -> int | None:
        one = answers.get(TopicPartition(topic.topic, partition))
        return None if one is None or isinstance(one, KcliError) or one.offset < 0 else one.offset

    raw = [
        (
            partition,
            offset(starts, partition.partition),
            offset(ends, partition.partition),
            sizes.get((partition.partition, partition.leader)),
        )
        for partition in topic.partitions
    ]
    weights = [float(bytes_ if bytes_ is not None else (end or 0) - (start or 0)) for _, start, end, bytes_ in raw]
    most = max(weights, default=0.0)
    return [PartitionRow(*one, weight / most if most else 0.0) for one, weight in zip(raw, weights, strict=True)]


def number_of(row: PartitionRow) -> int:
    """A partition's number."""
    return row.partition.partition


def partition_columns() -> list[Column]:
    return [
        Column("partition", "P", lambda r: r.partition.partition, right=True, letter="P", rank=0),
        Column(
            "leader",
            "LEADER",
            lambda r: r.partition.leader,
            draw=lambda r: Cell(
                str(r.partition.leader) if r.partition.leader >= 0 else "none", "" if r.partition.leader >= 0 else "bad"
            ),
            right=True,
            letter="L",
        ),
        Column("replicas", "REPLICAS", lambda r: len(r.partition.isr), draw=_replicas, letter="R", rank=3),
        Column("start", "START", lambda r: r.start, exact, right=True, rank=4),
        Column("end", "END", lambda r: r.end, exact, right=True, letter="E", rank=2),
        Column("size", "SIZE", lambda r: r.size, size, right=True, letter="S"),
        Column(
            "skew", "OF THE LARGEST", lambda r: r.share, draw=lambda r: Cell(bar(r.share, BAR), "accent"), letter="K"
        ),
    ]


def _replicas(row: PartitionRow) -> Cell:
    """All replicas; those that are behind are named."""
    behind = [node for node in row.partition.replicas if node not in row.partition.isr]
    text = " ".join(map(str, row.partition.replicas))
    return Cell(f"{text} (behind: {' '.join(map(str, behind))})", "bad") if behind else Cell(text)


def group_columns() -> list[Column]:
    return [
        Column("group", "GROUP", lambda g: g.described.group, printable, letter="N", rank=0, name=True),
        status_column(),
        lag_column(),
        Column("out", "OUT/S", lambda g: g.out_rate, rate, right=True, letter="O"),
        Column("eta", "ETA", lambda g: g.eta, draw=until, right=True, letter="E"),
    ]

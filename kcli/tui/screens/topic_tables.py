"""The tables of a topic's page: its partitions with what is in each, and the groups that read it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kcli.errors import KcliError
from kcli.lag.status import SEVERITY
from kcli.model import TopicPartition
from kcli.tui.screens.groups import until
from kcli.tui.text.formatting import DASH, bar, count, rate, size, status_of
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
        (one, offset(starts, one.partition), offset(ends, one.partition), sizes.get((one.partition, one.leader)))
        for one in topic.partitions
    ]
    weights = [float(bytes_ if bytes_ is not None else (end or 0) - (start or 0)) for _, start, end, bytes_ in raw]
    most = max(weights, default=0.0)
    return [PartitionRow(*one, weight / most if most else 0.0) for one, weight in zip(raw, weights, strict=True)]


def number_of(row: PartitionRow) -> int:
    """A partition's number."""
    return row.partition.partition


def partition_columns() -> list[Column]:
    return [
        Column("partition", "P", lambda r: Cell(str(r.partition.partition)), lambda r: r.partition.partition, True,
               "P", 0),
        Column("leader", "LEADER", lambda r: Cell(str(r.partition.leader) if r.partition.leader >= 0 else "none",
               "" if r.partition.leader >= 0 else "bad"), lambda r: r.partition.leader, True, "L", 1),
        Column("replicas", "REPLICAS", _replicas, lambda r: len(r.partition.isr), letter="R", rank=3),
        Column("start", "START", lambda r: Cell(_exact(r.start)), lambda r: r.start, True, rank=4),
        Column("end", "END", lambda r: Cell(_exact(r.end)), lambda r: r.end, True, "E", 2),
        Column("size", "SIZE", lambda r: Cell(size(r.size)), lambda r: r.size, True, "S", 1),
        Column("skew", "OF THE LARGEST", lambda r: Cell(bar(r.share, BAR), "accent"), lambda r: r.share, letter="K"),
    ]  # fmt: skip


def _replicas(row: PartitionRow) -> Cell:
    """All replicas; those that are behind are named."""
    behind = [node for node in row.partition.replicas if node not in row.partition.isr]
    text = " ".join(map(str, row.partition.replicas))
    return Cell(f"{text} (behind: {' '.join(map(str, behind))})", "bad") if behind else Cell(text)


def group_columns() -> list[Column]:
    return [
        Column("group", "GROUP", lambda g: Cell(printable(g.described.group)), lambda g: g.described.group, letter="N",
               rank=0, wide=True),
        Column("status", "STATUS", lambda g: Cell(*status_of(g.total)), lambda g: SEVERITY.index(g.status), letter="S"),
        Column("lag", "LAG", lambda g: Cell(count(g.total.lag)), lambda g: g.total.lag, True, "L"),
        Column("out", "OUT/S", lambda g: Cell(rate(g.out_rate)), lambda g: g.out_rate, True, "O"),
        Column("eta", "ETA", until, lambda g: g.eta, True, "E"),
    ]  # fmt: skip


def _exact(value: int | None) -> str:
    return DASH if value is None else f"{value:,}"

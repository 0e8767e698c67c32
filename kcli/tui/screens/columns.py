"""Columns that several pages have: the partition of a row, the status of a partition, of a group or of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.lag.figures import lag_text
from kcli.lag.status import SEVERITY
from kcli.text.numbers import count
from kcli.tui.text.formatting import status, status_of
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column

if TYPE_CHECKING:
    from kcli.lag.partition_lag import PartitionFigures


def partition_columns() -> list[Column]:
    """Topic and partition of rows with a TopicPartition `at`."""
    return [
        Column(
            "topic",
            "TOPIC",
            lambda r: (r.at.topic, r.at.partition),
            draw=lambda r: Cell(printable(r.at.topic)),
            letter="N",
            rank=0,
            wide=True,
        ),
        Column("partition", "P", lambda r: r.at.partition, right=True, letter="P", rank=0),
    ]


def place_of(standing: PartitionFigures) -> tuple[str, int]:
    """Topic and partition of a partition's lag."""
    return standing.lag.sample.topic, standing.lag.sample.partition


def standing_columns() -> list[Column]:
    """Topic, partition, status and lag of a partition's lag."""
    return [
        Column(
            "topic",
            "TOPIC",
            place_of,
            draw=lambda p: Cell(printable(p.lag.sample.topic)),
            letter="N",
            rank=0,
            name=True,
        ),
        Column("partition", "P", lambda p: p.lag.sample.partition, right=True, letter="P", rank=0),
        Column(
            "status",
            "STATUS",
            lambda p: SEVERITY.index(p.status),
            draw=lambda p: Cell(*status(p.status)),
            letter="S",
            rank=0,
            glyph=True,
        ),
        Column("lag", "LAG", lambda p: p.lag.lag, count, right=True, letter="L", rank=0),
    ]


def lag_column(rank: int = 1) -> Column:
    """The lag of a group, or of a topic of it."""
    return Column(
        "lag", "LAG", lambda g: g.total.lag, draw=lambda g: Cell(lag_text([g.total])), right=True, letter="L", rank=rank
    )


def status_column(rank: int = 1) -> Column:
    """The status of a group, or of a topic of it, with the share of its partitions."""
    return Column(
        "status",
        "STATUS",
        lambda g: SEVERITY.index(g.status),
        draw=lambda g: Cell(*status_of(g.total)),
        letter="S",
        rank=rank,
        glyph=True,
    )

"""What rows about the producers of a partition have in common."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class ProducerRow(Row):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    producer_id: int = column("Id of the producer.", rank=1)
    epoch: int = column("Epoch of the producer.", rank=3)
    coordinator_epoch: int = column("Epoch of the coordinator that wrote the last marker; -1 before the first.", rank=3)

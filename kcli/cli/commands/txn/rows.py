"""What rows about the producers of a partition have in common."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class ProducerRow(Row):
    topic: str = column("Name of the topic.")
    partition: int = column("Number of the partition.")
    producer_id: int = column("Id of the producer.")
    epoch: int = column("Epoch of the producer.")
    coordinator_epoch: int = column("Epoch of the coordinator that wrote the last marker; -1 before the first.")

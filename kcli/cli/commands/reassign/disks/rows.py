"""The rows of `kcli reassign disks`."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class ReplicaRow(Row, section="replicas"):
    broker: int = column("Id of the broker.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: str = column("The log directory before.", rank=1)
    new: str = column("The log directory after.", rank=1)
    bytes: int = column("Bytes of the replica.", unit="bytes")
    result: str = column("would move, moving, done or failed.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")

"""The rows of `kcli reassign disks`."""

from __future__ import annotations

from kcli.cli.output.tables.rows import Row, column


class ReplicaRow(Row, section="replicas"):
    broker: int = column("Id of the broker.")
    topic: str = column("Name of the topic.")
    partition: int = column("Number of the partition.")
    old: str = column("The log directory before.")
    new: str = column("The log directory after.")
    bytes: int = column("Bytes of the replica.")
    result: str = column("would move, moving, done or failed.")
    error: str | None = column("Why there are no figures; null when there are.", table=False)

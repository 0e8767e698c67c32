"""Whether a partition is led by its preferred replica, and why that cannot lead."""

from __future__ import annotations

from kcli.admin.topics.topics import Partition


def is_preferred(partition: Partition) -> bool:
    """Whether the first of the replicas, which is the preferred one, leads."""
    return bool(partition.replicas) and partition.leader == partition.replicas[0]


def why_not_preferred(partition: Partition) -> str:
    """Why the preferred replica cannot lead now."""
    if partition.replicas and partition.replicas[0] in partition.offline:
        return f"broker {partition.replicas[0]} is offline"
    in_sync = bool(partition.replicas) and partition.replicas[0] in partition.isr
    return "" if in_sync else "the preferred replica is not in sync"

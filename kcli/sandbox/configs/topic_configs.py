"""The sandbox's configuration: Kafka's names, defaults and types. The right column marks those with an effect."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError

BOOLEAN, STRING, INT, LONG, DOUBLE, LIST = 1, 2, 3, 5, 6, 7
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
TOPIC, BROKER = 2, 4

TOPIC_CONFIGS: dict[str, tuple[int, str]] = {
    "cleanup.policy": (LIST, "delete"),
    "compression.type": (STRING, "producer"),
    "delete.retention.ms": (LONG, "86400000"),
    "file.delete.delay.ms": (LONG, "60000"),
    "follower.replication.throttled.replicas": (LIST, ""),  # obeyed by moves
    "flush.messages": (LONG, "9223372036854775807"),
    "flush.ms": (LONG, "9223372036854775807"),
    "index.interval.bytes": (INT, "4096"),
    "leader.replication.throttled.replicas": (LIST, ""),  # obeyed by moves
    "max.compaction.lag.ms": (LONG, "9223372036854775807"),
    "max.message.bytes": (INT, "1048588"),  # obeyed
    "message.timestamp.after.max.ms": (LONG, "3600000"),
    "message.timestamp.before.max.ms": (LONG, "9223372036854775807"),
    "message.timestamp.type": (STRING, "CreateTime"),  # obeyed
    "min.cleanable.dirty.ratio": (DOUBLE, "0.5"),
    "min.compaction.lag.ms": (LONG, "0"),
    "min.insync.replicas": (INT, "1"),
    "preallocate": (BOOLEAN, "false"),
    "retention.bytes": (LONG, "-1"),  # obeyed, by whole segments
    "retention.ms": (LONG, "604800000"),
    "segment.bytes": (INT, "1073741824"),
    "segment.index.bytes": (INT, "10485760"),
    "segment.jitter.ms": (LONG, "0"),
    "segment.ms": (LONG, "604800000"),
    "unclean.leader.election.enable": (BOOLEAN, "false"),
}
CHOICES = {
    "cleanup.policy": {"delete", "compact"},
    "compression.type": {"producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"},
    "message.timestamp.type": {"CreateTime", "LogAppendTime"},
}
BROKER_CONFIGS: dict[str, tuple[int, str]] = {
    "auto.create.topics.enable": (BOOLEAN, "true"),
    "default.replication.factor": (INT, "1"),
    "group.initial.rebalance.delay.ms": (INT, "50"),
    "message.max.bytes": (INT, "1048588"),
    "num.partitions": (INT, "1"),
    "socket.request.max.bytes": (INT, "104857600"),
}
CONTROL = "kcli.sandbox.control"
"""The broker config that says where a sandbox listens to control.py."""


def checked(name: str, value: str | None) -> str:
    """A topic configuration value that may be set. Raises BrokerError INVALID_CONFIG."""
    if name not in TOPIC_CONFIGS:
        raise BrokerError(codes.INVALID_CONFIG, message=f"unknown topic config name: {name}")
    if value is None:
        raise BrokerError(codes.INVALID_CONFIG, message=f"null value not supported for topic config {name}")
    kind = TOPIC_CONFIGS[name][0]
    try:
        if kind in (INT, LONG):
            int(value)
        elif kind == DOUBLE:
            float(value)
    except ValueError as broken:
        raise BrokerError(codes.INVALID_CONFIG, message=f"{name}: {value!r} is not a number") from broken
    if kind == BOOLEAN and value not in ("true", "false"):
        raise BrokerError(codes.INVALID_CONFIG, message=f"{name}: {value!r} is neither true nor false")
    given = set(value.split(",")) if kind == LIST else {value}
    if name in CHOICES and not given <= CHOICES[name]:
        raise BrokerError(codes.INVALID_CONFIG, message=f"{name}: {value!r} is none of {', '.join(CHOICES[name])}")
    return value


def altered(current: dict[str, str], operations: Iterable[tuple[str, int, str | None]]) -> dict[str, str]:
    """`current` with incremental operations (name, SET…SUBTRACT, value) applied. Raises BrokerError INVALID_CONFIG."""
    changed = dict(current)
    for name, operation, value in operations:
        if name not in TOPIC_CONFIGS:
            raise BrokerError(codes.INVALID_CONFIG, message=f"unknown topic config name: {name}")
        kind, default = TOPIC_CONFIGS[name]
        if operation == DELETE:
            changed.pop(name, None)
        elif operation == SET:
            changed[name] = checked(name, value)
        elif operation in (APPEND, SUBTRACT) and kind == LIST:
            have = [part for part in changed.get(name, default).split(",") if part]
            parts = (value or "").split(",")
            if operation == APPEND:
                have += [part for part in parts if part not in have]
            else:
                have = [part for part in have if part not in parts]
            changed[name] = checked(name, ",".join(have))
        else:
            raise BrokerError(codes.INVALID_CONFIG, message=f"operation {operation} is not possible on {name}")
    return changed

"""Configurations of topics: all that Apache Kafka 4.4 has. `OBEYED` are those with an effect here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.definitions import BOOLEAN, DOUBLE, INT, LIST, LONG, LONGEST, STRING, Definition, Operation

OBEYED = (
    "cleanup.policy",
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "retention.bytes",
)
CODECS = ("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd")


def _places(text: str) -> bool:
    """Whether it is * or a list of partition:broker."""
    pairs = [part.split(":") for part in text.split(",") if part]
    return text == "*" or all(len(pair) == 2 and all(map(str.isdecimal, pair)) for pair in pairs)


def _level_of_gzip(text: str) -> bool:
    return int(text) != 0


TOPIC_CONFIGS: dict[str, Definition] = {
    "cleanup.policy": Definition(
        LIST,
        "delete",
        "What becomes of old records: delete, compact, both.",
        "log.cleanup.policy",
        choices=("compact", "delete"),
    ),
    "compression.gzip.level": Definition(
        INT,
        "-1",
        "Level of gzip; -1 is the default of the codec.",
        "compression.gzip.level",
        -1,
        9,
        fits=_level_of_gzip,
    ),
    "compression.lz4.level": Definition(INT, "9", "Level of lz4.", "compression.lz4.level", 1, 17),
    "compression.type": Definition(
        STRING,
        "producer",
        "Codec of the stored records; producer keeps the producer's.",
        "compression.type",
        choices=CODECS,
    ),
    "compression.zstd.level": Definition(INT, "3", "Level of zstd.", "compression.zstd.level", -131072, 22),
    "delete.retention.ms": Definition(
        LONG, "86400000", "How long compaction keeps a tombstone, in ms.", "log.cleaner.delete.retention.ms", 0
    ),
    "errors.deadletterqueue.group.enable": Definition(
        BOOLEAN, "false", "Whether share groups may write their dead letters to the topic (KIP-1191)."
    ),
    "file.delete.delay.ms": Definition(
        LONG, "60000", "Time before a deleted file goes from the disk, in ms.", "log.segment.delete.delay.ms", 0
    ),
    "flush.messages": Definition(
        LONG, LONGEST, "Records between two calls of fsync.", "log.flush.interval.messages", 1
    ),
    "flush.ms": Definition(LONG, LONGEST, "Time between two calls of fsync, in ms.", "log.flush.interval.ms", 0),
    "follower.replication.throttled.replicas": Definition(
        LIST, "", "Replicas, as partition:broker or *, whose fetches are throttled.", fits=_places
    ),
    "index.interval.bytes": Definition(
        INT, "4096", "Bytes between two entries of the offset index.", "log.index.interval.bytes", 0
    ),
    "leader.replication.throttled.replicas": Definition(
        LIST, "", "Replicas, as partition:broker or *, whose leaders are throttled.", fits=_places
    ),
    "local.retention.bytes": Definition(
        LONG,
        "-2",
        "Bytes kept on the local disk with tiered storage; -2: retention.bytes.",
        "log.local.retention.bytes",
        -2,
    ),
    "local.retention.ms": Definition(
        LONG,
        "-2",
        "Time kept on the local disk with tiered storage, in ms; -2: retention.ms.",
        "log.local.retention.ms",
        -2,
    ),
    "max.compaction.lag.ms": Definition(
        LONG,
        LONGEST,
        "Time after which a record is compacted for certain, in ms.",
        "log.cleaner.max.compaction.lag.ms",
        1,
    ),
    "max.decompressed.message.bytes": Definition(
        INT, "2147483639", "Largest batch when it is decompressed, in bytes.", "max.decompressed.message.bytes", 1
    ),
    "max.message.bytes": Definition(INT, "1048588", "Largest batch, in bytes.", "message.max.bytes", 0),
    "message.timestamp.after.max.ms": Definition(
        LONG,
        "3600000",
        "How far a timestamp may be after the broker's clock, in ms.",
        "log.message.timestamp.after.max.ms",
        0,
    ),
    "message.timestamp.before.max.ms": Definition(
        LONG,
        LONGEST,
        "How far a timestamp may be before the broker's clock, in ms.",
        "log.message.timestamp.before.max.ms",
        0,
    ),
    "message.timestamp.type": Definition(
        STRING,
        "CreateTime",
        "Whose time a record has: of its producer or of the broker.",
        "log.message.timestamp.type",
        choices=("CreateTime", "LogAppendTime"),
    ),
    "min.cleanable.dirty.ratio": Definition(
        DOUBLE,
        "0.5",
        "Share of the log that must be new before compaction begins.",
        "log.cleaner.min.cleanable.ratio",
        0,
        1,
    ),
    "min.compaction.lag.ms": Definition(
        LONG, "0", "Time in which a record is not compacted, in ms.", "log.cleaner.min.compaction.lag.ms", 0
    ),
    "min.insync.replicas": Definition(
        INT, "1", "Replicas in sync that a write with acks=all needs.", "min.insync.replicas", 1
    ),
    "preallocate": Definition(BOOLEAN, "false", "Whether files have their full size at once.", "log.preallocate"),
    "remote.copy.lag.bytes": Definition(
        LONG, "-1", "Bytes that may wait for tiered storage.", "log.remote.copy.lag.bytes", -2
    ),
    "remote.copy.lag.ms": Definition(
        LONG, "0", "Time that segments may wait for tiered storage, in ms.", "log.remote.copy.lag.ms", -2
    ),
    "remote.log.copy.disable": Definition(BOOLEAN, "false", "Whether nothing more is copied to tiered storage."),
    "remote.log.delete.on.disable": Definition(
        BOOLEAN, "false", "Whether disabling tiered storage deletes what is there."
    ),
    "remote.storage.enable": Definition(
        BOOLEAN,
        "false",
        "Whether the topic uses tiered storage, which this broker has not.",
        fits=lambda text: text.strip().lower() == "false",
    ),
    "retention.bytes": Definition(
        LONG, "-1", "Bytes of a partition before old segments are deleted; -1: any.", "log.retention.bytes"
    ),
    "retention.ms": Definition(
        LONG, "604800000", "Age at which segments are deleted, in ms; -1: never.", "log.retention.ms", -1
    ),
    "segment.bytes": Definition(INT, "1073741824", "Largest segment, in bytes.", "log.segment.bytes", 1024 * 1024),
    "segment.index.bytes": Definition(INT, "10485760", "Size of an offset index.", "log.index.size.max.bytes", 4),
    "segment.jitter.ms": Definition(
        LONG, "0", "Random part of segment.ms, so that segments do not roll together.", "log.roll.jitter.ms", 0
    ),
    "segment.ms": Definition(LONG, "604800000", "Age at which a new segment begins, in ms.", "log.roll.ms", 1),
    "unclean.leader.election.enable": Definition(
        BOOLEAN, "false", "Whether a replica that is not in sync may lead.", "unclean.leader.election.enable"
    ),
}

HIDDEN = {"internal.segment.bytes": Definition(INT, "", "Largest segment of a test of Kafka's own, in bytes.", low=1)}
"""What may be set, and is not described."""


def checked(configs: Mapping[str, str | None]) -> dict[str, str]:
    """All overrides of a topic, if they may be set. Raises BrokerError INVALID_CONFIG."""
    return altered({}, [(name, definitions.SET, value) for name, value in configs.items()])


def altered(current: Mapping[str, str], operations: Iterable[Operation]) -> dict[str, str]:
    """`current` with incremental operations applied. Raises BrokerError INVALID_CONFIG."""
    changed = definitions.altered(TOPIC_CONFIGS | HIDDEN, current, operations, "topic")
    shortest, longest = (
        int(changed.get(name, TOPIC_CONFIGS[name].default))
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
    )
    if shortest > longest:
        raise definitions.invalid(f"min.compaction.lag.ms {shortest} exceeds max.compaction.lag.ms {longest}")
    return changed

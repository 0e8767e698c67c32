"""The properties that are fields of our settings, and the conversion of their texts to values."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.settings import ASSIGNORS, CODECS, JAVA_ASSIGNORS, PARTITIONERS
from kcli.text.checked import LONGEST

CLIENT, PRODUCER, CONSUMER, GROUP = "client", "producer", "consumer", "group"
EVERYWHERE = (CLIENT, PRODUCER, CONSUMER)

# name: (which settings, field, unit). Units: ms, KiB, int, bool, text, or a mapping of words.
_ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}
_RESET = {
    "earliest": "earliest",
    "smallest": "earliest",
    "beginning": "earliest",
    "latest": "latest",
    "largest": "latest",
    "end": "latest",
    "none": "none",
    "error": "none",
}
_ISOLATION = {"read_committed": "read_committed", "read_uncommitted": "read_uncommitted"}
_PARTITIONERS = {name: name for name in PARTITIONERS}
_PROTOCOLS = {"classic": "classic", "consumer": "consumer"}
_CODECS = {codec: codec for codec in CODECS}

KNOWN: dict[str, tuple[tuple[str, ...], str, object]] = {
    "client.id": ((CLIENT,), "client_id", "text"),
    "client.rack": ((CLIENT, GROUP), "rack", "text"),
    "request.timeout.ms": (EVERYWHERE, "request_timeout", "ms"),
    "socket.timeout.ms": (EVERYWHERE, "request_timeout", "ms"),
    "socket.connection.setup.timeout.ms": ((CLIENT,), "connect_timeout", "ms"),
    "socket.connection.setup.timeout.max.ms": ((CLIENT,), "connect_timeout_max", "ms"),
    "reconnect.backoff.ms": ((CLIENT,), "reconnect_backoff", "ms"),
    "reconnect.backoff.max.ms": ((CLIENT,), "reconnect_backoff_max", "ms"),
    "retry.backoff.ms": (EVERYWHERE, "retry_backoff", "ms"),
    "retry.backoff.max.ms": (EVERYWHERE, "retry_backoff_max", "ms"),
    "metadata.max.age.ms": ((CLIENT,), "metadata_max_age", "ms"),
    "metadata.recovery.rebootstrap.trigger.ms": ((CLIENT,), "rebootstrap_trigger", "ms"),
    "metadata.cluster.check.enable": ((CLIENT,), "check_cluster", "bool"),
    "connections.max.idle.ms": ((CLIENT,), "idle_timeout", "ms"),
    "max.in.flight.requests.per.connection": ((CLIENT, PRODUCER), "max_in_flight", "int"),
    "max.in.flight": ((CLIENT, PRODUCER), "max_in_flight", "int"),
    "receive.message.max.bytes": ((CLIENT,), "max_frame", "int"),
    "allow.auto.create.topics": ((CLIENT,), "auto_create_topics", "bool"),
    "enable.metrics.push": ((CLIENT,), "metrics_push", "bool"),
    "default.api.timeout.ms": ((CLIENT,), "deadline", "ms"),
    "acks": ((PRODUCER,), "acks", _ACKS),
    "request.required.acks": ((PRODUCER,), "acks", _ACKS),
    "enable.idempotence": ((PRODUCER,), "idempotence", "bool"),
    "partitioner": ((PRODUCER,), "partitioner", _PARTITIONERS),
    "partitioner.availability.timeout.ms": ((PRODUCER,), "partitioner_availability_timeout", "ms"),
    "transactional.id": ((PRODUCER,), "transactional_id", "text"),
    "transaction.timeout.ms": ((PRODUCER,), "transaction_timeout", "ms"),
    "linger.ms": ((PRODUCER,), "linger", "ms"),
    "queue.buffering.max.ms": ((PRODUCER,), "linger", "ms"),
    "batch.size": ((PRODUCER,), "batch_size", "int"),
    "batch.num.messages": ((PRODUCER,), "batch_records", "int"),
    "compression.type": ((PRODUCER,), "compression", _CODECS),
    "compression.codec": ((PRODUCER,), "compression", _CODECS),
    "compression.level": ((PRODUCER,), "compression_level", "int"),
    "buffer.memory": ((PRODUCER,), "buffer_memory", "int"),
    "queue.buffering.max.kbytes": ((PRODUCER,), "buffer_memory", "KiB"),
    "queue.buffering.max.messages": ((PRODUCER,), "buffer_records", "int"),
    "max.block.ms": ((PRODUCER,), "max_block", "ms"),
    "max.request.size": ((PRODUCER,), "max_request_size", "int"),
    "max.decompressed.bytes": ((CONSUMER, PRODUCER), "max_decompressed", "int"),
    "message.max.bytes": ((PRODUCER,), "max_request_size", "int"),
    "delivery.timeout.ms": ((PRODUCER,), "delivery_timeout", "ms"),
    "message.timeout.ms": ((PRODUCER,), "delivery_timeout", "ms"),
    "retries": ((PRODUCER,), "retries", "int"),
    "message.send.max.retries": ((PRODUCER,), "retries", "int"),
    "isolation.level": ((CONSUMER,), "isolation", _ISOLATION),
    "fetch.min.bytes": ((CONSUMER,), "fetch_min_bytes", "int"),
    "fetch.max.wait.ms": ((CONSUMER,), "fetch_max_wait", "ms"),
    "fetch.wait.max.ms": ((CONSUMER,), "fetch_max_wait", "ms"),
    "fetch.max.bytes": ((CONSUMER,), "fetch_max_bytes", "int"),
    "max.partition.fetch.bytes": ((CONSUMER,), "partition_max_bytes", "int"),
    "fetch.message.max.bytes": ((CONSUMER,), "partition_max_bytes", "int"),
    "queued.max.messages.kbytes": ((CONSUMER,), "buffer_bytes", "KiB"),
    "check.crcs": ((CONSUMER,), "check_crcs", "bool"),
    "auto.offset.reset": ((CONSUMER,), "reset", _RESET),
    "group.id": ((GROUP,), "group", "text"),
    "group.instance.id": ((GROUP,), "instance_id", "text"),
    "group.protocol": ((GROUP,), "protocol", _PROTOCOLS),
    "group.remote.assignor": ((GROUP,), "remote_assignor", "text"),
    "session.timeout.ms": ((GROUP,), "session_timeout", "ms"),
    "heartbeat.interval.ms": ((GROUP,), "heartbeat_interval", "ms"),
    "max.poll.interval.ms": ((GROUP,), "max_poll_interval", "ms"),
    "rebalance.timeout.ms": ((GROUP,), "rebalance_timeout", "ms"),
    "enable.auto.commit": ((GROUP,), "auto_commit", "bool"),
    "auto.commit.interval.ms": ((GROUP,), "auto_commit_interval", "ms"),
    "partition.assignment.strategy": ((GROUP,), "assignors", "names"),
}
CLASSIC = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
SERVERS = ("bootstrap.servers", "metadata.broker.list")
_ASSIGNORS = {**{name: name for name in ASSIGNORS}, **JAVA_ASSIGNORS}


def convert(key: str, text: str, unit: object, where: str) -> object:
    """Convert a property's text to a value of its unit. Raises UsageError."""
    if isinstance(unit, dict):
        if text.lower() not in unit:
            raise UsageError(f"{where}: {key} must be one of {', '.join(unit)}")
        return unit[text.lower()]
    if unit == "bool":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"{where}: {key} must be true or false")
        return text.lower() == "true"
    if unit == "text":
        return text
    if unit == "names":
        names = [name.strip() for name in text.split(",")]
        unknown = [name for name in names if name.lower() not in _ASSIGNORS]
        if unknown:
            raise UsageError(f"{where}: unknown assignor {unknown[0]}")
        return tuple(dict.fromkeys(_ASSIGNORS[name.lower()] for name in names))
    try:
        number = float(text) if unit == "ms" else int(text)
    except ValueError:
        raise UsageError(f"{where}: {key} must be a number") from None
    if not -1 <= number < 2**53:
        raise UsageError(f"{where}: {key} is out of range")
    if key == "connections.max.idle.ms" and number <= 0:
        return LONGEST  # no limit, as in Java and librdkafka
    return number / 1000 if unit == "ms" else int(number) * (1024 if unit == "KiB" else 1)

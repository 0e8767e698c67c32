"""`-X key=value` and `.properties` files: the Java and the librdkafka names of the settings we have.

A name that nobody knows is refused with the nearest one: a mistyped setting that is silently ignored costs more
than an error. Names that are about something else (serializers) are accepted in files, where they are usual.
"""

from __future__ import annotations

from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from kcli.profiles import Profile

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
_PARTITIONERS = {
    name: name
    for name in (
        "murmur2", "murmur2_random", "consistent", "consistent_random", "fnv1a", "fnv1a_random", "random", "roundrobin",
    )
}  # fmt: skip
_PROTOCOLS = {"classic": "classic", "consumer": "consumer", "CLASSIC": "classic", "CONSUMER": "consumer"}
_CODECS = {codec: codec for codec in ("none", "gzip", "snappy", "lz4", "zstd")}

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
    "connections.max.idle.ms": ((CLIENT,), "idle_timeout", "ms"),
    "max.in.flight.requests.per.connection": ((CLIENT, PRODUCER), "max_in_flight", "int"),
    "max.in.flight": ((CLIENT, PRODUCER), "max_in_flight", "int"),
    "receive.message.max.bytes": ((CLIENT,), "max_frame", "int"),
    "allow.auto.create.topics": ((CLIENT,), "auto_create_topics", "bool"),
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
_CLASSIC = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
SERVERS = ("bootstrap.servers", "metadata.broker.list")
BESIDE_THE_POINT = ("key.serializer", "value.serializer", "key.deserializer", "value.deserializer")
_SECURE = ("security.protocol", "sasl.", "ssl.")
_ASSIGNORS = {
    "range": "range",
    "roundrobin": "roundrobin",
    "sticky": "sticky",
    "cooperative-sticky": "cooperative-sticky",
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}


class Properties:
    """Fields to replace in each of the settings."""

    def __init__(self) -> None:
        self.bootstrap: str | None = None
        self.client: dict[str, Any] = {}
        self.producer: dict[str, Any] = {}
        self.consumer: dict[str, Any] = {}
        self.group: dict[str, Any] = {}

    def member(self) -> dict[str, Any]:
        """What is said of the membership. Raises UsageError for what does not go with group.protocol (E61)."""
        modern = self.group.get("protocol") == "consumer"
        for name in _CLASSIC if modern else ("group.remote.assignor",):
            if KNOWN[name][1] in self.group:
                raise UsageError(
                    f"{name} does not go with group.protocol=consumer: the group's coordinator decides it"
                    if modern
                    else f"{name} takes group.protocol=consumer"
                )
        return self.group

    def put(self, key: str, text: str, where: str) -> None:
        """Understand one property; a later one wins. `where` opens the UsageError."""
        if key in SERVERS:
            self.bootstrap = text
            return
        if key.startswith(_SECURE):
            if key == "security.protocol" and text.upper() == "PLAINTEXT":
                return
            raise UsageError(
                f"{where}: {key}={text if key == 'security.protocol' else '…'}: "
                "TLS and SASL are not supported yet; only security.protocol=PLAINTEXT is"
            )
        known = KNOWN.get(key)
        if known is None:
            raise UsageError(f"{where}: no property is named {key}{_nearest(key)}")
        settings, field, unit = known
        value = _convert(key, text, unit, where)
        for name in settings:
            getattr(self, name)[field] = value


def read_properties(path: str | None, given: list[str], profile: Profile | None = None) -> Properties:
    """A profile's properties, then a file's, then those of the command line. Raises UsageError, naming the line."""
    found = Properties()
    if profile is not None:
        for key, text in profile.properties:
            found.put(key, text, profile.where)
        found.bootstrap = None  # `bootstrap` is the name a profile has for it
    if path is not None:
        for number, key, text in _file_lines(path):
            if key not in BESIDE_THE_POINT:
                found.put(key, text, f"{path}:{number}")
    for item in given:
        key, equals, text = item.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"-X {item}: expected KEY=VALUE")
        found.put(key.strip(), text.strip(), f"-X {item.strip()}")
    return found


def _file_lines(path: str) -> Iterator[tuple[int, str, str]]:
    """(line number, key, value) of a Java properties file: comments, `=` or `:`, and continued lines."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "is not UTF-8 text"
        raise UsageError(f"--command-config {path}: {reason}") from problem
    held, first = "", 0
    for number, line in enumerate(lines, 1):
        text = line.lstrip()
        if not held and (not text or text[0] in "#!"):
            continue
        first = first if held else number
        if text.endswith("\\") and not text.endswith("\\\\"):
            held += text[:-1]
            continue
        text, held = held + text, ""
        cut = min((at for at in (text.find("="), text.find(":")) if at >= 0), default=-1)
        if cut <= 0:
            raise UsageError(f"{path}:{first}: expected KEY=VALUE")
        yield first, text[:cut].strip(), text[cut + 1 :].strip()


def _convert(key: str, text: str, unit: object, where: str) -> object:
    if isinstance(unit, dict):
        if text not in unit:
            raise UsageError(f"{where}: {key} is one of {', '.join(unit)}")
        return unit[text]
    if unit == "bool":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"{where}: {key} is true or false")
        return text.lower() == "true"
    if unit == "text":
        return text
    if unit == "names":
        names = [name.strip() for name in text.split(",")]
        unknown = [name for name in names if name not in _ASSIGNORS]
        if unknown:
            raise UsageError(f"{where}: no assignor is named {unknown[0]}")
        return tuple(dict.fromkeys(_ASSIGNORS[name] for name in names))
    try:
        number = float(text) if unit == "ms" else int(text)
    except ValueError:
        raise UsageError(f"{where}: {key} is a number") from None
    if not -1 <= number < 2**53:
        raise UsageError(f"{where}: {key} is out of range")
    return number / 1000 if unit == "ms" else int(number) * (1024 if unit == "KiB" else 1)


def _nearest(key: str) -> str:
    from kcli.cli.nearest import did_you_mean

    return did_you_mean(key, [*KNOWN, *SERVERS])

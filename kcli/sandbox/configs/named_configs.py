"""Configuration of client metrics (KIP-714), which are kept, and of brokers' loggers (KIP-412), which end with the
process: Kafka's names, defaults and refusals. Nothing here is pushed or logged by them."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.grammar.durations import iso_duration
from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.definitions import BOOLEAN, DELETE, INT, LIST, SET, STRING, Definition, Operation

SELECTORS = (
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
LEVELS = ("FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE")
ROOT = "root"
LOGGERS = (
    ROOT,
    "kafka",
    "kafka.controller",
    "kafka.log.LogCleaner",
    "kafka.network.Processor",
    "kafka.request.logger",
    "kafka.server.KafkaApis",
    "org.apache.kafka",
)
SHORTEST, LONGEST = 100, 3_600_000  # interval.ms
OBEYED = ("share.auto.offset.reset", "share.delivery.count.limit", "share.record.lock.duration.ms")
SESSION = "Time without a heartbeat after which a member is removed, in ms."
HEARTBEAT = "Time between two heartbeats of a member, in ms."
ASSIGNMENT = "Shortest time between two runs of the assignor, in ms."
EARLIEST, LATEST, BY_DURATION = "earliest", "latest", "by_duration:"


class NamedConfigs:
    """Overrides: of client metrics by subscription, of loggers by broker id."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[str, str]] = {}
        self.loggers: dict[int, dict[str, str]] = {}

    def level(self, node: int, logger: str) -> str:
        """In force: its own, or that of root."""
        mine = self.loggers.get(node, {})
        return mine.get(logger) or mine.get(ROOT) or "INFO"

    def metrics_altered(self, name: str, operations: Iterable[Operation]) -> dict[str, str]:
        """What a subscription would be after these operations. Raises BrokerError INVALID_REQUEST, INVALID_CONFIG."""
        if not name:
            raise BrokerError(codes.INVALID_REQUEST, message="Subscription name can't be empty")
        operations = list(operations)
        for key, operation, _ in operations:
            if operation not in (SET, DELETE):  # Kafka's controller knows no list among them
                raise definitions.invalid(f"Can't append or subtract to config key {key}: it is not a list.")
            if key not in CLIENT_METRICS_CONFIGS:
                words = f"Unknown client metrics configuration: {key}"
                raise BrokerError(codes.INVALID_REQUEST, message=words)
        changed = definitions.altered(CLIENT_METRICS_CONFIGS, self.metrics.get(name, {}), operations, "client metrics")
        interval = int(changed.get("interval.ms", SHORTEST))
        if not SHORTEST <= interval <= LONGEST:
            words = f"Invalid value {interval} for interval.ms: it is between {SHORTEST} and {LONGEST}"
            raise BrokerError(codes.INVALID_REQUEST, message=words)
        return changed

    def loggers_altered(self, node: int, operations: Iterable[Operation]) -> dict[str, str]:
        """The levels of a broker after these operations (logger, SET or DELETE, level). Raises BrokerError
        INVALID_REQUEST or INVALID_CONFIG."""
        changed = dict(self.loggers.get(node, {}))
        for logger, operation, level in operations:
            if logger not in LOGGERS:
                raise BrokerError(codes.INVALID_CONFIG, message=f"Logger {logger} does not exist!")
            if operation == SET and level in LEVELS:
                changed[logger] = level
            elif operation == SET:
                problem = f"{level} is not one of the log levels {', '.join(LEVELS)}"
                raise BrokerError(codes.INVALID_CONFIG, message=f"Cannot set the log level of {logger}: {problem}")
            elif operation == DELETE and logger == ROOT:
                raise BrokerError(
                    codes.INVALID_REQUEST, message="Removing the log level of the root logger is not allowed"
                )
            elif operation == DELETE:
                changed.pop(logger, None)
            else:
                raise BrokerError(codes.INVALID_REQUEST, message=f"operation {operation} is not allowed for loggers")
        return changed


def _matches(text: str) -> bool:
    """Whether it is a list of selector=pattern."""
    parts = [part.partition("=") for part in text.split(",") if part]
    return all(name.strip() in SELECTORS and pattern and _compiles(pattern.strip()) for name, _, pattern in parts)


def _compiles(pattern: str) -> bool:
    from kcli.sandbox.groups.re2 import Invalid, pattern_of

    try:
        pattern_of(pattern)
    except Invalid:
        return False
    return True


CLIENT_METRICS_CONFIGS: dict[str, Definition] = {
    "interval.ms": Definition(INT, "300000", "Time between two pushes of a client, in ms."),
    "match": Definition(LIST, "", "Which clients push: a list of selector=pattern.", fits=_matches),
    "metrics": Definition(LIST, "", "Beginnings of the names of metrics that are pushed."),
}


def _reset(text: str) -> bool:
    """Whether it is a place where a share group can begin."""
    return text in (EARLIEST, LATEST) or started(text) is not None


def started(text: str) -> int | None:
    """How long ago a share group begins, by by_duration:PT1H, in ms; None for other words."""
    if not text.startswith(BY_DURATION):
        return None
    length = iso_duration(text.removeprefix(BY_DURATION))
    return length if length is not None and length >= 0 else None


GROUP_CONFIGS: dict[str, Definition] = {
    "consumer.assignment.interval.ms": Definition(
        INT, "1000", ASSIGNMENT, "group.consumer.assignment.interval.ms", 0, 15_000
    ),
    "consumer.heartbeat.interval.ms": Definition(
        INT, "1000", HEARTBEAT, "group.consumer.heartbeat.interval.ms", 100, 15_000
    ),
    "consumer.session.timeout.ms": Definition(INT, "45000", SESSION, "group.consumer.session.timeout.ms", 1000, 60_000),
    "errors.deadletterqueue.copy.record.enable": Definition(
        BOOLEAN, "false", "Whether dead letters have the key and the value of the record (KIP-1191)."
    ),
    "errors.deadletterqueue.topic.name": Definition(
        STRING, "", "The topic of the group's dead letters.", fits=lambda text: not text.startswith("__")
    ),
    "share.assignment.interval.ms": Definition(
        INT, "1000", ASSIGNMENT, "group.share.assignment.interval.ms", 0, 15_000
    ),
    "share.auto.offset.reset": Definition(
        STRING, LATEST, "Where the group begins: earliest, latest or by_duration:PT1H.", fits=_reset
    ),
    "share.delivery.count.limit": Definition(
        INT, "5", "How often a record is delivered before it is archived.", "group.share.delivery.count.limit", 2, 10
    ),
    "share.heartbeat.interval.ms": Definition(INT, "1000", HEARTBEAT, "group.share.heartbeat.interval.ms", 100, 15_000),
    "share.isolation.level": Definition(
        STRING,
        "read_uncommitted",
        "Whether records of aborted transactions are delivered.",
        choices=("read_uncommitted", "read_committed"),
    ),
    "share.partition.max.record.locks": Definition(
        INT,
        "2000",
        "How many records of a partition may be acquired at once.",
        "group.share.partition.max.record.locks",
        100,
        10_000,
    ),
    "share.record.lock.duration.ms": Definition(
        INT, "30000", "How long a record stays acquired, in ms.", "group.share.record.lock.duration.ms", 100, 60_000
    ),
    "share.renew.acknowledge.enable": Definition(BOOLEAN, "true", "Whether members may renew the locks of records."),
    "share.session.timeout.ms": Definition(INT, "45000", SESSION, "group.share.session.timeout.ms", 1000, 60_000),
    "streams.assignment.interval.ms": Definition(
        INT, "1000", ASSIGNMENT, "group.streams.assignment.interval.ms", 0, 15_000
    ),
    "streams.assignor.name": Definition(STRING, "sticky", "The assignor of tasks.", "group.streams.assignors"),
    "streams.heartbeat.interval.ms": Definition(
        INT, "5000", HEARTBEAT, "group.streams.heartbeat.interval.ms", 5000, 15_000
    ),
    "streams.initial.rebalance.delay.ms": Definition(
        INT,
        "3000",
        "Time that the first rebalance waits for members, in ms.",
        "group.streams.initial.rebalance.delay.ms",
        0,
    ),
    "streams.num.standby.replicas": Definition(
        INT, "0", "Standby replicas of each task.", "group.streams.num.standby.replicas", 0, 2
    ),
    "streams.rack.aware.assignment.tags": Definition(
        LIST, "", "Tags of clients that keep replicas apart.", "group.streams.rack.aware.assignment.tags"
    ),
    "streams.session.timeout.ms": Definition(INT, "45000", SESSION, "group.streams.session.timeout.ms", 45_000, 60_000),
}


HIDDEN = {
    f"{kind}.assignor.offload.enable": Definition(BOOLEAN, "", "Whether the assignor runs in a thread of its own.")
    for kind in ("consumer", "share", "streams")
}
"""What may be set, and is not described."""


class GroupConfigs:
    """Overrides by group."""

    def __init__(self) -> None:
        self.by_group: dict[str, dict[str, str]] = {}

    def value(self, group: str, name: str) -> str:
        """The value in force."""
        return self.by_group.get(group, {}).get(name, GROUP_CONFIGS[name].default)

    def altered(self, group: str, operations: Iterable[Operation]) -> dict[str, str]:
        """What would be set after these operations. Raises BrokerError INVALID_CONFIG."""
        changed = definitions.altered(GROUP_CONFIGS | HIDDEN, self.by_group.get(group, {}), operations, "group")
        for kind in ("consumer", "share", "streams"):
            session, heartbeat = (
                int(changed.get(name, GROUP_CONFIGS[name].default))
                for name in (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
            )
            if session <= heartbeat:
                raise definitions.invalid(f"{kind}.session.timeout.ms must be greater than its heartbeat interval")
        return changed

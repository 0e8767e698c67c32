"""Configuration of client metrics (KIP-714), which are kept, and of brokers' loggers (KIP-412), which end with the
process: Kafka's names, defaults and refusals. Nothing here is pushed or logged by them."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.definitions import DELETE, INT, LIST, SET, Definition, Operation

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

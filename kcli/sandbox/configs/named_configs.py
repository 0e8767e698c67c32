"""Configuration of client metrics (KIP-714), which are kept, and of brokers' loggers (KIP-412), which end with the
process: Kafka's names, defaults and refusals. Nothing here is pushed or logged by them."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.configs import APPEND, DELETE, INT, LIST, SET, SUBTRACT

LOGGER, CLIENT_METRICS = 8, 16  # types of resource
CLIENT_METRICS_CONFIGS: dict[str, tuple[int, str]] = {
    "interval.ms": (INT, "300000"),
    "match": (LIST, ""),
    "metrics": (LIST, ""),
}
INTERVALS = range(100, 3_600_001)
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


class NamedConfigs:
    """Overrides: of client metrics by subscription, of loggers by broker id."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[str, str]] = {}
        self.loggers: dict[int, dict[str, str]] = {}

    def level(self, node: int, logger: str) -> str:
        """In force: its own, or that of root."""
        mine = self.loggers.get(node, {})
        return mine.get(logger) or mine.get(ROOT) or "INFO"

    def metrics_altered(self, name: str, operations: Iterable[tuple[str, int, str | None]]) -> dict[str, str]:
        """What a subscription would be after these operations (name, SET…SUBTRACT, value). Raises BrokerError
        INVALID_REQUEST, INVALID_CONFIG."""
        if not name:
            raise BrokerError(codes.INVALID_REQUEST, message="Subscription name can't be empty")
        changed = dict(self.metrics.get(name, {}))
        for key, operation, value in operations:
            if key not in CLIENT_METRICS_CONFIGS:
                raise BrokerError(codes.INVALID_CONFIG, message=f"Unknown client metrics configuration: {key}")
            if operation == DELETE:
                changed.pop(key, None)
                continue
            if operation in (APPEND, SUBTRACT) and CLIENT_METRICS_CONFIGS[key][0] == LIST:
                value = _listed(changed.get(key, ""), operation, value or "")
            elif operation != SET:
                raise BrokerError(codes.INVALID_CONFIG, message=f"operation {operation} is not possible on {key}")
            changed[key] = _checked(key, value)
        return changed

    def loggers_altered(self, node: int, operations: Iterable[tuple[str, int, str | None]]) -> dict[str, str]:
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


def _listed(have: str, operation: int, value: str) -> str:
    parts, given = [part for part in have.split(",") if part], [part for part in value.split(",") if part]
    if operation == APPEND:
        return ",".join(parts + [part for part in given if part not in parts])
    return ",".join(part for part in parts if part not in given)


def _checked(key: str, value: str | None) -> str:
    if value is not None and CLIENT_METRICS_CONFIGS[key][0] == LIST:
        return value
    if value is not None and value.isascii() and value.isdigit() and int(value) in INTERVALS:
        return value
    lowest, highest = INTERVALS[0], INTERVALS[-1]
    raise BrokerError(
        codes.INVALID_REQUEST, message=f"Invalid value {value} for {key}: it is between {lowest} and {highest}"
    )

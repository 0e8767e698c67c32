"""Configuration of brokers that can be changed while they run: the throttles, all obeyed by moves.py, and some that
are kept and change nothing here."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.configs import DELETE, INT, LONG, SET

LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
DISK_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
NO_LIMIT = "9223372036854775807"
DYNAMIC_CONFIGS: dict[str, tuple[int, str]] = {
    **dict.fromkeys((LEADER_RATE, FOLLOWER_RATE, DISK_RATE), (LONG, NO_LIMIT)),
    "log.cleaner.backoff.ms": (LONG, "15000"),
    "log.cleaner.threads": (INT, "1"),
    "num.io.threads": (INT, "8"),
    "num.network.threads": (INT, "3"),
}
ALL = ""  # the name of all brokers


class BrokerConfigs:
    """Overrides by broker id as text; `ALL` applies to brokers without their own."""

    def __init__(self) -> None:
        self.by_broker: dict[str, dict[str, str]] = {}

    def rate(self, node: int, name: str) -> float | None:
        """Bytes a second; None for no limit."""
        text = self.by_broker.get(str(node), {}).get(name) or self.by_broker.get(ALL, {}).get(name) or NO_LIMIT
        return None if text == NO_LIMIT else float(text)

    def altered(self, broker: str, operations: Iterable[tuple[str, int, str | None]]) -> dict[str, str]:
        """What would be set after these operations (name, SET or DELETE, value). Raises BrokerError INVALID_REQUEST or
        INVALID_CONFIG."""
        changed = dict(self.by_broker.get(broker, {}))
        for name, operation, value in operations:
            if name not in DYNAMIC_CONFIGS:
                raise BrokerError(codes.INVALID_REQUEST, message=f"Cannot update these configs dynamically: {name}")
            if operation == DELETE:
                changed.pop(name, None)
            elif operation == SET:
                if value is None or not (value.isascii() and value.isdigit() and int(value) > 0):
                    raise BrokerError(codes.INVALID_CONFIG, message=f"Invalid value {value} for configuration {name}")
                changed[name] = value
            else:
                raise BrokerError(codes.INVALID_CONFIG, message=f"operation {operation} is not possible on {name}")
        return changed

"""Configuration of groups: Kafka's names and defaults, all obeyed. A group need not exist to be configured."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.cluster.configs import DELETE, INT, SET, STRING

GROUP = 32  # the type of resource
GROUP_CONFIGS: dict[str, tuple[int, str]] = {
    "share.auto.offset.reset": (STRING, "latest"),
    "share.record.lock.duration.ms": (INT, "30000"),
    "share.delivery.count.limit": (INT, "5"),
}
RESETS = ("earliest", "latest")


class GroupConfigs:
    """Overrides by group. `note` journals a change."""

    def __init__(self) -> None:
        self.by_group: dict[str, dict[str, str]] = {}

    def value(self, group: str, name: str) -> str:
        """The value in force."""
        return self.by_group.get(group, {}).get(name) or GROUP_CONFIGS[name][1]

    def altered(self, group: str, operations: Iterable[tuple[str, int, str | None]]) -> dict[str, str]:
        """What would be set after these operations (name, SET or DELETE, value). Raises BrokerError INVALID_CONFIG."""
        changed = dict(self.by_group.get(group, {}))
        for name, operation, value in operations:
            if name not in GROUP_CONFIGS:
                raise BrokerError(codes.INVALID_CONFIG, message=f"unknown group config name: {name}")
            if operation == DELETE:
                changed.pop(name, None)
            elif operation == SET:
                changed[name] = _checked(name, value)
            else:
                raise BrokerError(codes.INVALID_CONFIG, message=f"operation {operation} is not possible on {name}")
        return changed


def _checked(name: str, value: str | None) -> str:
    kind = GROUP_CONFIGS[name][0]
    if value is not None and kind == STRING and value in RESETS:
        return value
    if value is not None and kind == INT and value.isascii() and value.isdigit() and int(value) > 0:
        return value
    raise BrokerError(codes.INVALID_CONFIG, message=f"Invalid value {value} for configuration {name}")

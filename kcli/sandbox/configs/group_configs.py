"""Configurations of groups: Kafka's names, defaults and ranges. A group need not exist to be configured. Those in
`OBEYED` have an effect, the others are kept."""

from __future__ import annotations

from collections.abc import Iterable

from kcli.grammar.durations import iso_duration
from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.definitions import BOOLEAN, INT, STRING, Definition, Operation

OBEYED = ("share.auto.offset.reset", "share.delivery.count.limit", "share.record.lock.duration.ms")
SESSION = "Time without a heartbeat after which a member is removed, in ms."
HEARTBEAT = "Time between two heartbeats of a member, in ms."
ASSIGNMENT = "Shortest time between two runs of the assignor, in ms."
EARLIEST, LATEST, BY_DURATION = "earliest", "latest", "by_duration:"


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
    "streams.session.timeout.ms": Definition(INT, "45000", SESSION, "group.streams.session.timeout.ms", 45_000, 60_000),
}


class GroupConfigs:
    """Overrides by group."""

    def __init__(self) -> None:
        self.by_group: dict[str, dict[str, str]] = {}

    def value(self, group: str, name: str) -> str:
        """The value in force."""
        return self.by_group.get(group, {}).get(name, GROUP_CONFIGS[name].default)

    def altered(self, group: str, operations: Iterable[Operation]) -> dict[str, str]:
        """What would be set after these operations. Raises BrokerError INVALID_CONFIG."""
        changed = definitions.altered(GROUP_CONFIGS, self.by_group.get(group, {}), operations, "group")
        for kind in ("consumer", "share", "streams"):
            session, heartbeat = (
                int(changed.get(name, GROUP_CONFIGS[name].default))
                for name in (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
            )
            if session <= heartbeat:
                raise definitions.invalid(f"{kind}.session.timeout.ms must be greater than its heartbeat interval")
        return changed

"""Configurations of brokers: the names of Kafka 4.3 with their defaults, and what is set while they run. The throttles
are obeyed by moves.py, and topics without a value of their own take the one of all brokers; the others are kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.broker_names import NAMES
from kcli.sandbox.configs.definitions import APPEND, DELETE, LIST, LONG, LONGEST, SUBTRACT, Definition, Operation
from kcli.sandbox.configs.topic_configs import TOPIC_CONFIGS

LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
DISK_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
THROTTLES = (LEADER_RATE, FOLLOWER_RATE, DISK_RATE)
THROTTLE = Definition(LONG, LONGEST, "Bytes a second.", low=0)
ALL = ""  # the name of all brokers
MIN_ISR = "min.insync.replicas"
THREADS = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
)
"""Numbers of threads: one change doubles or halves them at most."""
AT_LEAST = {
    "log.cleaner.backoff.ms": 0,
    "log.cleaner.dedupe.buffer.size": 1024 * 1024,
    "max.connection.creation.rate": 0,
    "max.connections": 0,
    "max.connections.per.ip": 0,
    "message.max.bytes": 0,
}
"""The lowest value, where it is not that of a topic's config."""
PER_BROKER = ("advertised.listeners", "listeners", "listener.security.protocol.map", "listener.name.")
"""Names, and beginnings of names, that may differ between brokers and so are not set for all."""
PER_LISTENER = ("ssl.", "sasl.", "principal.builder.class")
"""Beginnings of names that are set with listener.name.NAME. before them only."""


WORDS = {
    "advertised.listeners": "The addresses that clients connect to.",
    "auto.create.topics.enable": "Whether a topic is created when a client asks for it.",
    "background.threads": "Threads for background work.",
    "broker.id": "The id of the broker.",
    "default.replication.factor": "Replicas of topics that do not say how many.",
    "group.consumer.heartbeat.interval.ms": "Time between two heartbeats of a member, in ms.",
    "group.initial.rebalance.delay.ms": "Time that the first rebalance of a group waits for more members, in ms.",
    "group.share.heartbeat.interval.ms": "Time between two heartbeats of a member, in ms.",
    "listeners": "The addresses that the broker listens on.",
    "log.dirs": "The directories of the logs.",
    "node.id": "The id of the node.",
    "num.io.threads": "Threads that answer requests.",
    "num.network.threads": "Threads that read and write sockets.",
    "num.partitions": "Partitions of topics that do not say how many.",
    "process.roles": "The roles of the node: broker, controller or both.",
    "socket.request.max.bytes": "Largest request, in bytes.",
}


class BrokerName(NamedTuple):
    """A name that Kafka's brokers know."""

    definition: Definition
    read_only: bool
    sensitive: bool
    has_default: bool


@cache
def names() -> dict[str, BrokerName]:
    """The names of Kafka's brokers, without the throttles, which a broker describes only when they are set."""
    topics = {topic.broker: topic for topic in TOPIC_CONFIGS.values() if topic.broker}
    found = {}
    for line in NAMES.strip().splitlines():
        name, kind, flags, *default = line.split(" ", 3)
        topic = topics.get(name, Definition(int(kind), ""))
        value = default[0].replace('""', "") if default else ""
        low = AT_LEAST.get(name, topic.low if default else None)
        words = WORDS.get(name, topic.words)
        definition = Definition(int(kind), value, words, low=low, high=topic.high, choices=topic.choices)
        found[name] = BrokerName(definition, flags.startswith("r"), "s" in flags, bool(default))
    return found


class BrokerConfigs:
    """Overrides by broker id as text; `ALL` applies to brokers without their own."""

    def __init__(self) -> None:
        self.by_broker: dict[str, dict[str, str]] = {ALL: {}}

    def rate(self, node: int, name: str) -> float | None:
        """Bytes a second; None for no limit."""
        text = self.by_broker.get(str(node), {}).get(name) or self.by_broker.get(ALL, {}).get(name)
        return None if text is None else float(text)

    def topic_default(self, name: str) -> str:
        """The value of topics without an override."""
        definition = TOPIC_CONFIGS[name]
        return self.by_broker[ALL].get(definition.broker, definition.default)

    def altered(self, broker: str, operations: Iterable[Operation]) -> dict[str, str]:
        """What would be set after these operations. Raises BrokerError INVALID_REQUEST or INVALID_CONFIG."""
        changed = dict(self.by_broker.get(broker, {}))
        for name, operation, value in operations:
            known = names().get(name)
            if known is not None and (known.read_only or name.startswith(PER_LISTENER)):
                raise _refused(f"Cannot update these configs dynamically: {name}")
            if broker == ALL and name.startswith(PER_BROKER):
                raise _refused(f"Cannot update these configs at default cluster level: {name}")
            definition = known.definition if known is not None else THROTTLE if name in THROTTLES else None
            if operation in (APPEND, SUBTRACT):
                if definition is None or definition.kind != LIST:
                    raise definitions.invalid(f"Can't append or subtract to config key {name}: it is not a list.")
                value = definitions.listed(changed.get(name, definition.default), operation, value or "")
            if operation == DELETE:
                changed.pop(name, None)
            else:
                changed[name] = _fitting(definition, name, value or "")
                if name in THREADS:
                    self._check_threads(broker, name, int(value or ""))
            if name == MIN_ISR and (broker != ALL or operation == DELETE):
                raise definitions.invalid("min.insync.replicas of a broker cannot be altered: KIP-966 is in force.")
        return changed

    def _check_threads(self, broker: str, name: str, count: int) -> None:
        """Raises BrokerError INVALID_REQUEST for less than half as many, or more than twice."""
        default = names()[name].definition.default
        now = int(self.by_broker.get(broker, {}).get(name) or self.by_broker[ALL].get(name) or default)
        if count < 1 or count < now // 2 or count > now * 2:
            raise _refused(f"Dynamic thread count update validation failed for {name}={count}: it is {now} now")


def _fitting(definition: Definition | None, name: str, value: str) -> str:
    """The value, if it may be set; any value of a name that the broker does not know. Raises BrokerError
    INVALID_REQUEST."""
    try:
        if definition is not None:
            definition.check(name, value)
    except ValueError as wrong:
        raise _refused(str(wrong)) from wrong
    return value


def _refused(words: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=words)

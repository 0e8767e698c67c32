"""The faults of one sandbox: what a broker may do wrong, ordered before it happens. All of them run out
(`times`) or are removed (`clear`). APIs are named as Kafka names them: "Produce", "Fetch", "JoinGroup"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.codes import ErrorCode
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.cluster import ClusterFaults
from kcli.sandbox.faults.logs import LogFaults
from kcli.sandbox.faults.planned import FOREVER, Planned
from kcli.sandbox.faults.wire import RegistryFaults, WireFaults
from kcli.sandbox.groups.groups import Groups
from kcli.sandbox.wire.client_rules import ClientRules
from kcli.sandbox.wire.share_sessions import ShareSessions

__all__ = ["FOREVER", "NAMESPACES", "Faults"]
NAMESPACES = ("wire", "cluster", "logs", "registry")


class Faults:
    """`error` here; faults of connections and answers in `wire`, of leaders, coordinators and brokers in `cluster`, of
    records and producers' state in `logs`, of the schema registry in `registry`. Brokers read `planned`. `producer`
    finds or makes the (id, epoch) of a transactional id, or of None."""

    def __init__(
        self,
        brokers: Brokers,
        topics: Topics,
        rules: ClientRules,
        groups: Callable[[], Groups],
        share_sessions: dict[int, ShareSessions],
        producer: Callable[[str | None], tuple[int, int]],
        registry: RegistryFaults,
    ) -> None:
        self.planned = Planned()
        self._brokers = brokers
        self._topics = topics
        self._rules = rules
        self._groups = groups
        self._share_sessions = share_sessions
        self._producer = producer
        self.registry = registry
        self._wire: WireFaults | None = None
        self._cluster: ClusterFaults | None = None
        self._logs: LogFaults | None = None

    @property
    def wire(self) -> WireFaults:
        """Faults of requests, responses and connections."""
        if self._wire is None:
            from kcli.sandbox.faults.wire import WireFaults

            self._wire = WireFaults(self.planned, self._brokers)
        return self._wire

    @property
    def cluster(self) -> ClusterFaults:
        """Faults of leaders, coordinators, groups and whole brokers."""
        if self._cluster is None:
            from kcli.sandbox.faults.cluster import ClusterFaults

            self._cluster = ClusterFaults(self.planned, self._brokers, self._topics, self._groups, self._share_sessions)
        return self._cluster

    @property
    def logs(self) -> LogFaults:
        """Faults of partitions: records, producers' state, history."""
        if self._logs is None:
            from kcli.sandbox.faults.logs import LogFaults

            self._logs = LogFaults(self.planned, self._topics, self._rules, self._producer)
        return self._logs

    def error(
        self,
        api: str,
        code: ErrorCode,
        *,
        times: int = 1,
        topic: str | None = None,
        partition: int | None = None,
        broker: int | None = None,
    ) -> None:
        """The next `times` answers of `api` carry `code`: for a topic, a partition, or the first one asked about.
        Errors for the same thing stack: they happen in the order they were asked for."""
        self.planned.plan("error", api, code, times=times, broker=broker, topic=topic, partition=partition)

    def clear(self) -> None:
        """Remove every fault that has not happened yet, and what brokers were made to believe or to speak."""
        self.planned.clear()
        self.registry.clear()
        self.wire.close_idle(None)

    @property
    def pending(self) -> int:
        """How many faults are still to happen."""
        return self.planned.pending + self.registry.pending

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to happen, as plain values; `times` None is until `clear`."""
        return [*self.planned.waiting(), *self.registry.waiting()]

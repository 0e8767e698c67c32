"""The faults of one sandbox: what a broker may do wrong, ordered before it happens (engine.md I). All of them run out
(`times`) or are taken back (`clear`). APIs are named as Kafka names them: "Produce", "Fetch", "JoinGroup"."""

from __future__ import annotations

from kcli.sandbox.faults.planned import FOREVER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.codes import ErrorCode
    from kcli.sandbox.faults.cluster import ClusterFaults
    from kcli.sandbox.faults.logs import LogFaults
    from kcli.sandbox.faults.planned import Planned
    from kcli.sandbox.faults.wire import WireFaults

__all__ = ["FOREVER", "NAMESPACES", "Faults"]
NAMESPACES = ("wire", "cluster", "logs")


class Faults:
    """`error` here; faults of connections and answers in `wire`, of leaders, coordinators and brokers in `cluster`, of
    records and producers' state in `logs`. Brokers read `planned`."""

    def __init__(self, planned: Planned, wire: WireFaults, cluster: ClusterFaults, logs: LogFaults) -> None:
        self.planned = planned
        self.wire = wire
        self.cluster = cluster
        self.logs = logs

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
        """Take back everything that has not happened yet, and what brokers were told to believe or to speak."""
        self.planned.clear()
        self.wire.close_idle(None)

    @property
    def pending(self) -> int:
        """How many faults are still to happen."""
        return self.planned.pending

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to happen, as plain values; `times` None is until `clear`."""
        return self.planned.waiting()

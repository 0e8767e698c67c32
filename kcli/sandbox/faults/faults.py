"""Faults to order: what a broker may do wrong, said before it happens (engine.md I). All of them run out (`times`)
or are taken back (`clear`). APIs are named as Kafka names them: "Produce", "Fetch", "JoinGroup"."""

from __future__ import annotations

from kcli.sandbox.faults.cluster import ClusterFaults
from kcli.sandbox.faults.logs import LogFaults
from kcli.sandbox.faults.planned import FOREVER
from kcli.sandbox.faults.wire import ConnectionFaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode

__all__ = ["FOREVER", "Faults"]


class Faults(ConnectionFaults, ClusterFaults, LogFaults):
    """The scripted faults of one sandbox, in the order they were asked for."""

    def error(self, api: str, code: ErrorCode, *, times: int = 1, topic: str | None = None,
              partition: int | None = None, broker: int | None = None) -> None:  # fmt: skip
        """The next `times` answers of `api` carry `code`: for a topic, a partition, or the first one asked about.
        Errors for the same thing stack: they happen in the order they were asked for."""
        self._plan("error", api, code, times, broker, topic, partition)

"""Messages about a broker that is unreachable for a while: its address, the reason, that kcli keeps trying, and the
end of the outage; and about a long throttle."""

from __future__ import annotations

import asyncio

from kcli.cli.output.messages import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster

LONG = 5.0
"""Seconds without a connection before the message; a leader that restarts or moves is away for less."""
LOOK = 1.0
RECENT = 10.0
"""Seconds without a connection attempt after which a broker's outage is no longer reported."""


class Outages:
    """`look` says what is new, and comes again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._told: set[int] = set()
        self._silent: set[int] = set()

    def look(self) -> None:
        loop = asyncio.get_running_loop()
        now, failing = loop.time(), self._cluster.failing()
        for node_id, (since, tried, problem) in sorted(failing.items()):
            if now - since >= LONG and now - tried <= RECENT and node_id not in self._told:
                self._told.add(node_id)
                complain(f"{problem}; retrying")
        for node_id in sorted(self._told - failing.keys()):
            self._told.discard(node_id)
            complain(f"broker {node_id} is back, or no longer needed")
        silencing = self._cluster.silencing()
        for node_id in sorted(silencing.keys() - self._silent):
            complain(
                f"broker {node_id} asks for {silencing[node_id]:,.0f} s without requests (throttle_time_ms); kcli asks "
                "it again after a request's time-out. Quotas of users and clients: kcli quotas list"
            )
        self._silent = set(silencing)
        loop.call_later(LOOK, self.look)

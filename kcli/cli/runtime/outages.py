"""Messages about a broker that is unreachable for a while: its address, the reason, that kcli keeps trying, and the
end of the outage; about partitions that stay without a leader; and about a long throttle."""

from __future__ import annotations

import asyncio

from kcli.cli.output.messages import complain
from kcli.cli.output.text import partition_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.model import Cluster, TopicPartition

LONG = 3.0
"""Seconds without a connection or a leader before the message."""
LOOK = 1.0
RECENT = 10.0
"""Seconds without a connection attempt after which a broker's outage is no longer reported."""


class Outages:
    """`look` says what is new, and comes again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._told: set[int] = set()
        self._leaderless: set[TopicPartition] = set()
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
        self._look_for_leaders()
        silencing = self._cluster.silencing()
        for node_id in sorted(silencing.keys() - self._silent):
            complain(
                f"broker {node_id} asks for {silencing[node_id]:,.0f} s without requests (throttle_time_ms); kcli asks "
                "it again after a request's time-out. Quotas of users and clients: kcli quotas list"
            )
        self._silent = set(silencing)
        loop.call_later(LOOK, self.look)

    def _look_for_leaders(self) -> None:
        leaderless = self._cluster.leaderless()
        new = {at for at, seconds in leaderless.items() if seconds >= LONG} - self._leaderless
        if new:
            complain(f"{partition_names(new)} {'has' if len(new) == 1 else 'have'} no leader; retrying")
        back = self._leaderless - leaderless.keys()
        if back:
            complain(f"{partition_names(back)} {'has' if len(back) == 1 else 'have'} a leader again")
        self._leaderless = (self._leaderless | new) - back

"""A member of a KIP-848 group, as its coordinator knows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcli.proto.messages.join_group import JoinGroupRequest
from kcli.sandbox.groups.consumer.assignors import Place

SESSION_END, REVOKED_BY, JOIN_BY, SYNC_BY = "session", "revoke", "join", "sync"
"""What a member has time for: its next heartbeat, what it gives up, and the two requests of the classic protocol."""


class ConsumerMember:
    """`assigned` is what it may own, `revoking` what it has yet to give up, `owned` what it last said it owns.
    `classic` is the last JoinGroup of a member that uses the classic protocol, None for one of KIP-848."""

    def __init__(self, member_id: str, client_id: str, host: str) -> None:
        self.id, self.client_id, self.host = member_id, client_id, host
        self.instance_id: str | None = None
        self.rack: str | None = None
        self.assignor: str | None = None
        self.topics: list[str] = []
        self.regex = ""
        self.epoch = self.previous = 0
        self.rebalance_timeout = 60.0
        self.assigned: set[Place] = set()
        self.revoking: set[Place] = set()
        self.owned: set[Place] = set()
        self.sent_assignment: set[Place] | None = None
        self.classic: JoinGroupRequest | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start_timer(self, name: str, seconds: float, then: Callable[[ConsumerMember], None]) -> None:
        """Call `then` with this member after `seconds`, unless the timer of that name is started anew or stopped."""
        self.stop_timer(name)
        self._timers[name] = asyncio.get_running_loop().call_later(seconds, then, self)

    def waits_for(self, name: str) -> bool:
        """Whether the timer of that name runs."""
        return name in self._timers

    def stop_timer(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()

    def stop_timers(self) -> None:
        for name in list(self._timers):
            self.stop_timer(name)

"""Requests to a group's coordinator, which is looked up when needed and discarded when it proves wrong."""

from __future__ import annotations

from itertools import count

from kcli import codes
from kcli.asking.ask import ask_broker
from kcli.backoff import Backoff, repeat
from kcli.errors import ConnectError, DeadlineExceeded, KcliError
from kcli.model import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from kcli.model import Broker, Cluster
    from kcli.proto.schema import Request

    R = TypeVar("R")

REBALANCING = (11, 14)
"""JoinGroup and SyncGroup wait for all members. Each member of a client uses a separate connection for them, because
two on one connection would wait for each other."""
LEAVE_TRIES = 3
LEAVE_TIMEOUT = 5.0  # seconds per attempt
_members = count(1)


class Coordinator:
    """The coordinator of one group. `retry_backoff` and `retry_backoff_max` are seconds."""

    def __init__(
        self, cluster: Cluster, group: str, *, request_timeout: float, retry_backoff: float, retry_backoff_max: float
    ) -> None:
        self.group = group
        self.request_timeout = request_timeout
        self._cluster = cluster
        self._of = Group(group)
        self._lane = f"join {next(_members)}"
        self._backoff = retry_backoff, retry_backoff_max

    async def ask(self, request: Request[R], *, timeout: float | None = None) -> R:
        """Send one request, without retries. Raises the errors of the look-up and the broker."""
        return await self.ask_version(lambda _: request, 0, timeout=timeout)

    async def ask_version(self, build: Callable[[int], Request[R]], api_key: int, *, timeout: float | None = None) -> R:
        """Like `ask`, for a request that is built for the highest version of `api_key` that the coordinator
        supports."""
        broker: Broker = await self._cluster.coordinator(self._of)
        try:
            highest = (await broker.versions()).get(api_key, (0, 0))[1] if api_key else 0
            request = build(highest)
            lane = self._lane if request.api_key in REBALANCING else None
            return await ask_broker(broker, request, timeout=timeout, lane=lane)
        except (ConnectError, DeadlineExceeded):
            self.moved()
            raise

    def moved(self) -> None:
        """Discard the coordinator."""
        self._cluster.coordinator_moved(self._of)

    def pauses(self) -> Backoff:
        """Return new pauses for one operation."""
        return Backoff(*self._backoff)

    async def leave(self, build: Callable[[int], Request[R]], api_key: int, code_of: Callable[[R], int]) -> None:
        """Tell the coordinator that a member leaves, with at most three attempts, because the session timeout removes
        it anyway. Raises errors that a retry cannot fix."""
        left = LEAVE_TRIES

        async def once() -> bool:
            nonlocal left
            left -= 1
            try:
                answer = await self.ask_version(build, api_key, timeout=LEAVE_TIMEOUT)
            except KcliError as error:
                if not error.retriable:
                    raise
                return not left
            if codes.of(code_of(answer)).forget != "coordinator":
                return True
            self.moved()
            return not left

        await repeat(once, self.pauses())

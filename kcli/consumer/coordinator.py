"""Asking a group's coordinator: found when needed, forgotten when it turns out to be wrong (C15)."""

from __future__ import annotations

import asyncio
from itertools import count

from kcli import codes
from kcli.backoff import after
from kcli.errors import AuthError, BrokerError, Closed, ConnectError, DeadlineExceeded, DecodeError
from kcli.model import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from kcli.model import Broker, Cluster
    from kcli.proto.schema import Request

    R = TypeVar("R")

REBALANCING = (11, 14)
"""JoinGroup and SyncGroup wait for all members. Each member of a client waits on a connection of its own: two behind
each other would wait for one another (B8)."""
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
        self._backoff = retry_backoff
        self._backoff_max = retry_backoff_max

    async def ask(self, request: Request[R], *, timeout: float | None = None) -> R:
        """One question, one answer, no retry. Raises what the look-up and the broker raise."""
        return await self.ask_version(lambda _: request, 0, timeout=timeout)

    async def ask_version(self, build: Callable[[int], Request[R]], api_key: int, *, timeout: float | None = None) -> R:
        """As `ask`, for a request that is built for the highest version the coordinator has of `api_key`."""
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
        """Forget who the coordinator is."""
        self._cluster.coordinator_moved(self._of)

    async def pause(self, attempt: int) -> None:
        """Wait before attempt number `attempt` + 1: longer each time, never in step with others."""
        await asyncio.sleep(after(attempt, self._backoff, self._backoff_max))


async def ask_broker(
    broker: Broker, request: Request[R], *, timeout: float | None = None, lane: str | None = None
) -> R:
    """As `Broker.ask`, but a connection that was closed or spoke nonsense is a ConnectError: the way was lost. The
    client that was closed is known by the look-up of a broker, which raises Closed; that does not pass."""
    try:
        return await broker.ask(request, timeout=timeout, lane=lane)
    except (Closed, DecodeError) as problem:
        raise ConnectError(str(problem), sent=True) from problem


def transient(error: Exception) -> bool:
    """True when the same question may get an answer later."""
    if isinstance(error, BrokerError):
        return error.code.retriable or error.code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE)
    return isinstance(error, ConnectError | DeadlineExceeded) and not isinstance(error, AuthError)

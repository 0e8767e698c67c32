"""What the broker tests share: quick settings, a broker at a fake's address, questions that can be told apart."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from typing import Any

from kcli.broker.broker import NetworkBroker
from kcli.model import Address
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.settings import ClientSettings
from tests.fakes.scripted import Scripted

QUICK: dict[str, Any] = {"reconnect_backoff": 0.005, "reconnect_backoff_max": 0.05, "retry_backoff": 0.01}


def settings(**given: Any) -> ClientSettings:
    return ClientSettings(**{**QUICK, **given})


def echo(request: Any) -> FindCoordinatorResponse:
    """The answer carries the question's key, so that it can be told whose it is."""
    return FindCoordinatorResponse(coordinators=[Coordinator(key=key) for key in request.coordinator_keys])


def question(key: object) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(coordinator_keys=[str(key)])


async def answer(broker: NetworkBroker, key: object, **how: Any) -> str:
    return (await broker.ask(question(key), **how)).coordinators[0].key


async def lost(broker: NetworkBroker) -> None:
    """Until it has seen that its connections are closed."""
    async with asyncio.timeout(10):
        while broker.connected:  # noqa: ASYNC110 - nothing tells of it, as nobody but a test waits for it
            await asyncio.sleep(0.001)


def beat(n: int = 0) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=n, member_id="m")


@contextlib.asynccontextmanager
async def pair(node_id: int = 1, *, spoken: Any = None, **given: Any) -> AsyncIterator[tuple[Scripted, NetworkBroker]]:
    """A scripted broker that echoes, and our end of it; at the end nothing may be left unretrieved."""
    async with Scripted(spoken=spoken) as far:
        far.sound["FindCoordinator"] = echo
        near = NetworkBroker(Address(far.host, far.port), node_id, settings(**given))
        try:
            yield far, near
        finally:
            await near.close()
            gc.collect()

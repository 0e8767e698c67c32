"""kcli without async: one event loop, driven by `asyncio.Runner`, behind plain functions."""

from __future__ import annotations

import asyncio

from kcli.client import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType
    from typing import Self, TypeVar

    from kcli.settings import ClientSettings

    T = TypeVar("T")


class SyncClient:
    """`with SyncClient(settings) as kafka: kafka.run(lambda client: client.cluster.topics())`."""

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._runner = asyncio.Runner()
        self._client: Client | None = None

    def __enter__(self) -> Self:
        async def make() -> Client:
            return await Client(self._settings).__aenter__()

        self._client = self._runner.run(make())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._runner.run(self._client.__aexit__(kind, error, trace))
            self._client = None
        self._runner.close()

    def run(self, what: Callable[[Client], Awaitable[T]]) -> T:
        """The result of `what(client)`, awaited on our loop."""
        client = self._client
        assert client is not None, "use it in a with block"

        async def call() -> T:
            return await what(client)

        return self._runner.run(call())

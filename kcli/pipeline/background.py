"""A client whose event loop runs in a thread of its own, so that it receives and sends while Spark is busy with us."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar

from kcli.client import Client
from kcli.settings import ClientSettings

T = TypeVar("T")


class Background:
    """`with Background(settings) as kafka: kafka.run(something(kafka.client))`."""

    client: Client

    def __init__(self, settings: ClientSettings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kcli", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()

        async def make() -> Client:
            return await Client(self._settings).__aenter__()

        self.client = self.run(make())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.run(self.client.__aexit__(kind, error, trace))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin something on the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of something on the loop. Interrupted, it is cancelled."""
        doing = self.start(work)
        try:
            return doing.result()
        except BaseException:
            doing.cancel()
            raise

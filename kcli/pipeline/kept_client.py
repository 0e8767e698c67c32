"""A client that one of Spark's Python processes keeps for its next task: a stream's batches follow one another, and
connecting takes longer than a small batch."""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from hashlib import sha256
from time import monotonic
from types import TracebackType
from typing import Any, Self, TypeVar

from kcli.client import Client
from kcli.pipeline.connection import Sealed, plain
from kcli.settings import ClientSettings

MOST = 4
"""Number of clients kept. Beyond this the least recently used one is closed, because its settings may no longer be in
use."""
IDLE = 300.0
"""Seconds after which an unused client is discarded, because brokers close idle connections."""
_kept: list[tuple[bytes, float, Background]] = []
"""Digest of a client's settings, and since when it is unused, in that order. A task that reads and sends has two with
the same settings."""
T = TypeVar("T")


@contextmanager
def client_of(sealed: Sealed) -> Iterator[Background]:
    """Yield a connected client. Outside a task it ends with the block; in any case it ends if the block raised. Raises
    the client's errors."""
    key = sha256(pickle.dumps(plain(sealed))).digest() if in_task() else b""
    kafka = _taken(key) or _made(sealed)
    done = False
    try:
        yield kafka
        done = True
    finally:
        if done and key:
            _keep(key, kafka)
        else:
            kafka.__exit__(None, None, None)


def close() -> None:
    """Close the kept clients."""
    while _kept:
        _end_oldest()


def in_task() -> bool:
    """Whether this process runs a Spark task."""
    from pyspark import TaskContext

    return TaskContext.get() is not None


def _keep(key: bytes, kafka: Background) -> None:
    while len(_kept) >= MOST:
        _end_oldest()
    _kept.append((key, monotonic(), kafka))


def _taken(key: bytes) -> Background | None:
    """Return the most recently used client with these settings, and close those that are too old."""
    while _kept and monotonic() - _kept[0][1] > IDLE:
        _end_oldest()
    for place in reversed(range(len(_kept))):
        if _kept[place][0] == key:
            return _kept.pop(place)[2]
    return None


def _end_oldest() -> None:
    kafka = _kept.pop(0)[2]
    try:
        kafka.__exit__(None, None, None)
    except Exception as problem:  # noqa: BLE001 - of an earlier task, whose work is done: this one must not fail by it
        print(f"kcli: the client of an earlier task did not close cleanly: {problem!r}", file=sys.stderr)


def _made(sealed: Sealed) -> Background:
    kafka = Background(sealed.client)
    kafka.__enter__()
    return kafka


class Background:
    """A client on an event loop in a thread: `with Background(settings) as kafka:
    kafka.run(something(kafka.client))`."""

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
        """Start a coroutine on the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine on the loop. If interrupted, it is cancelled."""
        doing = self.start(work)
        try:
            return doing.result()
        except BaseException:
            doing.cancel()
            raise

"""Caches responses, shares one request between concurrent callers, and does not repeat failures.

Immutable responses are kept permanently, others for a limited time. "Does not exist" is kept for a minute. A registry
that fails is not asked for a while, longer each time, so it costs one timeout instead of one per record.
"""

from __future__ import annotations

import asyncio

from kcli import backoff
from kcli.errors import ConnectError, KcliError
from kcli.registry.errors import Forbidden
from kcli.tasks import retrieve, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from typing import Any, TypeVar

    R = TypeVar("R")

FOR_EVER = float("inf")
ABSENT = 60.0  # seconds for which a rejection is kept
FAILED, FAILED_MAX = 5.0, 60.0  # seconds for which a failing registry is not asked
MOST = 10_000
"""Number of cached responses. Keys may come from records: a topic of garbage must not fill the memory."""


class Cache:
    """The cached responses of one registry, on one event loop."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[float, Any, KcliError | None]] = {}
        self._under_way: dict[Hashable, asyncio.Task[Any]] = {}
        self._failures = backoff.Backoff(FAILED, FAILED_MAX)
        self._failure: ConnectError | None = None
        self._alone_until = 0.0

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[R]], keep: float = FOR_EVER) -> R:
        """Return the response for a key, calling `ask` if it is not cached; it is cached for `keep` seconds. Raises the
        error of `ask`, and repeats it for a while."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        until, value, error = self._kept.get(key, (0.0, None, None))
        if now < until:
            if error is not None:
                raise error.with_traceback(None)
            typed: R = value
            return typed
        task = self._under_way.get(key)
        if task is None:
            if self._failure is not None and now < self._alone_until:
                raise self._failure.with_traceback(None)
            task = loop.create_task(self._asked(key, ask, keep), name="look a schema up")
            self._under_way[key] = task
            task.add_done_callback(retrieve)
        result: R = await share(task)
        return result

    async def _asked(self, key: Hashable, ask: Callable[[], Awaitable[R]], keep: float) -> R:
        loop = asyncio.get_running_loop()
        try:
            answer = await ask()
        except Forbidden as refusal:  # for this subject only: permissions can differ by subject
            self.put(key, None, ABSENT, refusal)
            raise
        except ConnectError as failure:
            if self._failure is None or loop.time() >= self._alone_until:  # otherwise others failed at the same time
                self._alone_until = loop.time() + self._failures.next()
            self._failure = failure
            raise
        except KcliError as refusal:
            self._well()
            self.put(key, None, ABSENT, refusal)
            raise
        else:
            self._well()
            self.put(key, answer, keep)
            return answer
        finally:
            del self._under_way[key]

    def _well(self) -> None:
        self._failures.reset()
        self._failure = None

    def put(self, key: Hashable, value: object, keep: float = FOR_EVER, error: KcliError | None = None) -> None:
        """Cache a response from another source."""
        self._kept.pop(key, None)
        self._kept[key] = asyncio.get_running_loop().time() + keep, value, error
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]

    def forget(self, key: Hashable) -> None:
        self._kept.pop(key, None)

    async def close(self) -> None:
        """Cancel requests in progress; their callers get Closed."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

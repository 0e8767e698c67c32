"""A broker that does what a script says, and remembers what it saw. For what a well-meaning sandbox would not do.

`script["Metadata"]` is a queue of steps for the requests of that API; when it is empty the broker answers as a sound
one would. A step is a Response, a callable of the request that makes one, or one of the step classes below.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, Self

from kcli.proto.messages import REQUESTS, api_name
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsResponse
from kcli.proto.schema import Response
from kcli.proto.session import Received, ServerSession

Ranges = dict[int, tuple[int, int]]
SPOKEN: Ranges = {0: (3, 13), 1: (4, 17), 2: (1, 10), 3: (0, 13), 10: (0, 6), 11: (0, 9), 12: (0, 4), 18: (0, 4)}


class Step:
    """What to do instead of, or around, the sound answer."""

    def __init__(
        self, answer: Any = None, *, delay: float = 0.0, until: asyncio.Event | None = None, silent: bool = False,
        drop_after: int | None = None, byte_at_a_time: bool = False, correlation_shift: int = 0,
        raw: bytes | None = None, reset: bool = False, throttle_ms: int = 0,
    ) -> None:  # fmt: skip
        self.answer = answer
        self.delay = delay
        self.until = until
        self.silent = silent
        self.drop_after = drop_after  # so many bytes of the answer, then the connection closes
        self.byte_at_a_time = byte_at_a_time
        self.correlation_shift = correlation_shift
        self.raw = raw  # these bytes instead of an answer
        self.reset = reset  # close without an answer
        self.throttle_ms = throttle_ms


class Link:
    """One connection as the broker sees it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.seen: list[Received] = []

    def drop(self) -> None:
        self.writer.close()


class Scripted:
    """`async with Scripted() as broker:`. `spoken` are the API ranges it advertises."""

    def __init__(self, node_id: int = 1, *, spoken: Ranges | None = None, host: str = "127.0.0.1") -> None:
        self.node_id = node_id
        self.host = host
        self.spoken = dict(SPOKEN if spoken is None else spoken)
        self.script: defaultdict[str, deque[Any]] = defaultdict(deque)
        self.sound: dict[str, Callable[[Any], Response]] = {}
        self.seen: list[Received] = []  # without ApiVersions
        self.times: list[float] = []  # loop time of each entry of `seen`
        self.greetings: list[Received] = []
        self.accepted: list[float] = []
        self.links: list[Link] = []
        self.reading = asyncio.Event()  # cleared: it does not read any more
        self.reading.set()
        self.refuses = 0  # so many connections are closed as soon as they come
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self.host, self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        self._server = None
        for link in self.links:
            link.drop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def names(self) -> list[str]:
        """What was asked, in order."""
        return [api_name(one.api_key) for one in self.seen]

    async def saw(self, count: int, seconds: float = 3.0) -> None:
        """Wait until so many requests were seen."""
        async with asyncio.timeout(seconds):
            while len(self.seen) < count:
                self._news.clear()
                await self._news.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.accepted.append(asyncio.get_running_loop().time())
        link = Link(reader, writer)
        self.links.append(link)
        try:
            if self.refuses > 0:
                self.refuses -= 1
                return
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                while await self._one(link):
                    pass
        except asyncio.CancelledError:
            pass  # the end of the test; asyncio's streams would log it
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _one(self, link: Link) -> bool:
        await self.reading.wait()
        size = int.from_bytes(await link.reader.readexactly(4), "big")
        session = ServerSession()
        asked = session.receive(await link.reader.readexactly(size))
        link.seen.append(asked)
        if asked.api_key == 18:
            self.greetings.append(asked)
        else:
            self.seen.append(asked)
            self.times.append(asyncio.get_running_loop().time())
            self._news.set()
        name = api_name(asked.api_key)
        planned = self.script[name].popleft() if self.script[name] else None
        step = planned if isinstance(planned, Step) else Step(planned)
        if step.until is not None:
            await step.until.wait()
        if step.delay:
            await asyncio.sleep(step.delay)
        if step.reset:
            return False
        if step.silent:
            return True
        return await self._reply(link, session, asked, step)

    async def _reply(self, link: Link, session: ServerSession, asked: Received, step: Step) -> bool:
        data = step.raw
        if data is None:
            answer, version = self._answer(asked, step)
            if step.throttle_ms:
                answer.throttle_time_ms = step.throttle_ms  # type: ignore[attr-defined]
            asked.correlation_id += step.correlation_shift
            data = b"".join(bytes(part) for part in session.respond(asked, answer, version))
        if step.drop_after is not None:
            link.writer.write(data[: step.drop_after])
            await link.writer.drain()
            return False
        if step.byte_at_a_time:
            for n in range(len(data)):
                link.writer.write(data[n : n + 1])
                await link.writer.drain()
                await asyncio.sleep(0)
        else:
            link.writer.write(data)
            await link.writer.drain()
        return True

    def _answer(self, asked: Received, step: Step) -> tuple[Response, int]:
        name = api_name(asked.api_key)
        if step.answer is not None:
            answer = step.answer(asked.request) if callable(step.answer) else step.answer
            return answer, asked.version
        if asked.api_key == 18:
            return self._versions(asked)
        if name in self.sound:
            return self.sound[name](asked.request), asked.version
        request = REQUESTS[asked.api_key]
        raise AssertionError(f"the script has no answer for {request}")

    def _versions(self, asked: Received) -> tuple[ApiVersionsResponse, int]:
        """An unknown version is refused at v0, as KIP-511 says."""
        low, high = self.spoken[18]
        rows = [ApiVersion(api_key=key, min_version=a, max_version=b) for key, (a, b) in self.spoken.items()]
        if low <= asked.version <= high and asked.request is not None:
            return ApiVersionsResponse(api_keys=rows), asked.version
        return ApiVersionsResponse(error_code=35, api_keys=rows), 0

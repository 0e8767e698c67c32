"""Telling a sandbox in another process what to do wrong: lines of JSON over a connection on loopback.

A sandbox that takes faults listens on a port of its own and says where as the broker config `kcli.sandbox.control`:
`127.0.0.1:PORT/TOKEN`. Whoever may read its configs may inject faults; a real broker has no such config. A line is
{"token": …, "do": "look" | "fault" | "clear" | "stop" | "start", …}, and so is the answer: {"error": …} or what
`look` shows. It keeps listening when every broker is stopped, so that one can be started again.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from collections.abc import Callable
from typing import Any

from kcli.errors import KcliError, UsageError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.catalogue import call_of, rows
from kcli.sandbox.faults.faults import Faults
from kcli.sandbox.wire.listener import Listener

LONGEST = 64 * 1024  # bytes of a line
DEEPEST = 100  # brackets of a line: deeply nested JSON goes beyond the interpreter's recursion
HOST = "127.0.0.1"
MOST = 16  # connections
PATIENCE = 10.0  # seconds for the first line


class Control:
    """The listening side. `full` is called when the system gives no more files."""

    def __init__(self, faults: Faults, brokers: Brokers, topics: Topics, full: Callable[[OSError], None]) -> None:
        self._faults = faults
        self._brokers = brokers
        self._topics = topics
        self._full = full
        self._token = secrets.token_urlsafe(16)
        self._port = 0
        self._listener: Listener | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        """What the broker config says; "" before `start`."""
        return f"{HOST}:{self._port}/{self._token}" if self._listener is not None else ""

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        listener = Listener(self._met, self._admits, self._full)
        self._port = await listener.open(HOST, 0)
        self._listener = listener

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._listener is not None:
            listener, self._listener = self._listener, None
            await listener.close()
        for writer in list(self._writers):
            writer.transport.abort()

    def _met(self) -> asyncio.StreamReaderProtocol:
        loop = asyncio.get_running_loop()
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(LONGEST, loop), self._serve, loop)

    def _admits(self) -> bool:
        return len(self._writers) < MOST

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            async with asyncio.timeout(PATIENCE):
                line = await reader.readline()
            while line:
                answer = await self._answer(line)
                if answer is None:
                    break  # whoever has no token hears nothing
                writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
                await writer.drain()
                line = await reader.readline()
        except (ConnectionError, ValueError, TimeoutError):
            pass  # it is gone, its line has no end, or it says nothing
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any] | None:
        if line.count(b"[") + line.count(b"{") > DEEPEST:
            return None
        try:
            message = json.loads(line)
            token = message["token"]
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        try:
            await self._do(message)
        except LookupError as missing:
            return {"error": f"unknown group {missing.args[0]}"}
        except (KcliError, ValueError, OSError) as problem:
            return {"error": str(problem)}
        return self._look()

    async def _do(self, message: dict[str, Any]) -> None:
        what = message.get("do")
        if what == "fault":
            given = message.get("with") or {}
            if not isinstance(given, dict):
                raise UsageError("the parameters of a fault must be an object: values by name")
            call_of(self._faults, self._brokers, self._topics, str(message.get("name")), given)()
        elif what == "clear":
            self._faults.clear()
        elif what == "stop":
            await self._faults.cluster.stop_broker(_node(message))
        elif what == "start":
            node = _node(message)
            if not any(broker.node_id == node and broker.alive for broker in self._brokers):
                await self._faults.cluster.start_broker(node)
        elif what != "look":
            raise UsageError(f"a sandbox does not know how to {what!r}")

    def _look(self) -> dict[str, Any]:
        return {
            "brokers": [{"id": broker.node_id, "port": broker.port, "alive": broker.alive} for broker in self._brokers],
            "pending": self._faults.waiting(),
            "faults": rows(),
        }


def _node(message: dict[str, Any]) -> int:
    node = message.get("broker")
    if not isinstance(node, int):
        raise UsageError("missing argument: the number of a broker")
    return node

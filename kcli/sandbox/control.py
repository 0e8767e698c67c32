"""Telling a sandbox in another process what to do wrong: lines of JSON over a connection on loopback.

A sandbox that may be told listens on a port of its own and says where as the broker config `kcli.sandbox.control`:
`127.0.0.1:PORT/TOKEN`. Who may read its configs may tell it; a real broker has no such config. A line is
{"token": …, "do": "look" | "fault" | "clear" | "stop" | "start", …}, and so is the answer: {"error": …} or what
`look` shows. It goes on listening when every broker is stopped, so that one can be started again.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets

from kcli.errors import KcliError, UsageError
from kcli.sandbox.catalogue import call_of, rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.sandbox.sandbox import Sandbox

LONGEST = 64 * 1024  # bytes of a line
HOST = "127.0.0.1"


class Control:
    """The listening side."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._token = secrets.token_urlsafe(16)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> str:
        """What the broker config says; "" before `start`."""
        if self._server is None:
            return ""
        return f"{HOST}:{self._server.sockets[0].getsockname()[1]}/{self._token}"

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.start_server(self._serve, HOST, 0, limit=LONGEST)

    async def close(self) -> None:
        """Stop listening and end all connections."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while line := await reader.readline():
                answer = await self._answer(line)
                if answer is None:
                    break  # whoever has no token hears nothing
                writer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError):
            pass  # it is gone, or its line has no end
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any] | None:
        try:
            told = json.loads(line)
            token = told["token"]
        except (ValueError, TypeError, KeyError):
            return None
        if not isinstance(token, str) or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        try:
            await self._do(told)
        except LookupError as missing:
            return {"error": f"there is no group {missing.args[0]}"}
        except (KcliError, ValueError, OSError) as problem:
            return {"error": str(problem)}
        return self._look()

    async def _do(self, told: dict[str, Any]) -> None:
        what = told.get("do")
        if what == "fault":
            call_of(self._sandbox, str(told.get("name")), told.get("with") or {})()
        elif what == "clear":
            self._sandbox.faults.clear()
        elif what == "stop":
            await self._sandbox.stop_broker(_node(told), elect=True)
        elif what == "start":
            node = _node(told)
            if not any(one.node_id == node and one.alive for one in self._sandbox.brokers):
                await self._sandbox.start_broker(node)
        elif what != "look":
            raise UsageError(f"a sandbox does not know how to {what!r}")

    def _look(self) -> dict[str, Any]:
        return {
            "brokers": [{"id": one.node_id, "port": one.port, "alive": one.alive} for one in self._sandbox.brokers],
            "pending": self._sandbox.faults.waiting(),
            "faults": rows(),
        }


def _node(told: dict[str, Any]) -> int:
    node = told.get("broker")
    if not isinstance(node, int):
        raise UsageError("which broker? its number, please")
    return node

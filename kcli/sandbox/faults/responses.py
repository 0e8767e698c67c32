"""An answer as a scripted fault wants it on the wire."""

from __future__ import annotations

import asyncio
from asyncio import Transport
from collections import deque
from typing import Any, Protocol

from kcli.proto.buffer import Buffer
from kcli.proto.encoding import Writer
from kcli.proto.schema import Response
from kcli.proto.session import Received, ServerSession
from kcli.sandbox.faults.planned import Conduct
from kcli.sandbox.wire.peer import CloseConnection, Outgoing
from kcli.values import Field, Value


class Outlet(Protocol):
    """What a fault needs of a connection. `frames` are requests that wait."""

    transport: Transport
    session: ServerSession
    frames: deque[memoryview]
    outgoing: Outgoing

    def go_deaf(self, seconds: float) -> None: ...
    async def next_frame(self, seconds: float | None) -> None: ...


TOGETHER = 0.05  # seconds that an answer waits for the next one
FOREIGN = ((9_000, b"from a later Kafka"), (9_001, b""))  # unknown tags, in ascending order


async def misbehave(outlet: Outlet, asked: Received, response: Response, conduct: Conduct) -> None:
    """Send `response` to `asked`, or what is to be sent instead. Raises CloseConnection."""
    if conduct.deaf:
        outlet.go_deaf(conduct.deaf)
    if conduct.silent:
        await asyncio.get_running_loop().create_future()
    if conduct.throttle_ms:
        response.throttle_time_ms = conduct.throttle_ms  # type: ignore[attr-defined]
    if conduct.alter is not None:
        conduct.alter(response)
    asked.correlation_id += conduct.correlation_shift
    parts = _parts(outlet, asked, response, conduct)
    if conduct.cut_after is not None:
        outlet.transport.write(b"".join(parts)[: conduct.cut_after])
        raise CloseConnection
    if conduct.dribble:
        for byte in b"".join(parts):
            outlet.transport.write(bytes([byte]))
            await asyncio.sleep(0)
    elif conduct.hold and not await _more_comes(outlet):
        await outlet.outgoing.write(parts)
    elif conduct.hold:
        outlet.outgoing.held += [bytes(part) for part in parts]
    else:
        await outlet.outgoing.write(parts)


def _parts(outlet: Outlet, asked: Received, response: Response, conduct: Conduct) -> list[Buffer]:
    if conduct.raw is not None:
        return [conduct.raw]
    if not conduct.tags:
        return outlet.session.respond(asked, response)
    parts = outlet.session.respond(asked, response)
    flexible = asked.version in type(response).flexible
    plain = sum(len(part) for part in response.encode(asked.version))
    head = b"".join(parts)[4 : sum(len(part) for part in parts) - plain]
    body = b"".join(Foreign(type(response), asked.version, flexible=flexible).function()(response))
    if flexible and len(head) > 4:  # response header v1: a correlation id, then tags
        head = head[:4] + _foreign()
    return [(len(head) + len(body)).to_bytes(4, "big"), head, body]


async def _more_comes(outlet: Outlet) -> bool:
    """Whether another request waits, or comes soon."""
    if not outlet.frames:
        await outlet.next_frame(TOGETHER)
    return bool(outlet.frames)


def _foreign() -> bytes:
    from kcli.proto.varint import encode_unsigned

    return encode_unsigned(len(FOREIGN)) + b"".join(
        encode_unsigned(tag) + encode_unsigned(len(data)) + data for tag, data in FOREIGN
    )


class Foreign(Writer):
    """An encoder that gives every struct of a flexible version two tagged fields more than we know."""

    def compiled(self, prefix: str) -> Any:
        """As in the base, and not kept beside the bytecode: only a fault wants it."""
        self._struct(self.message)
        exec(compile("\n".join(self.lines) + "\n", f"<{self.label} with foreign tags>", "exec"), self.names)
        return self.names[f"{prefix}_{self.message.__name__}"]

    def _write_tags(self, struct: type[Value], tagged: list[tuple[Field, Any]]) -> None:
        super()._write_tags(struct, tagged)
        last = self.lines.pop()  # the line that writes the tags: after it, or instead of it, come ours
        self.names["foreign"] = list(FOREIGN)
        self.lines.append(" write_tags(tags + foreign, out)" if tagged else " write_tags(foreign, out)")
        assert "out(" in last or "write_tags" in last, last

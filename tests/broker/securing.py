"""What the tests of secured connections share: a sandbox behind them, a broker at its address, a server that lies."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from kcli.broker.broker import NetworkBroker
from kcli.broker.security.access import Access
from kcli.model import Address
from kcli.proto.messages.metadata import MetadataRequest
from kcli.sandbox.access.tls import ServerTls
from kcli.sandbox.sandbox import Sandbox
from kcli.secret import Secret
from kcli.security import Sasl, Security, Tls
from tests.certificates import Issued

from .peers import settings

ALICE = {"alice": "correct horse", "bob": "battery staple"}
CANARY = "canary-7b1f"


def served(issued: Issued, **given: Any) -> ServerTls:
    return ServerTls(certificate=str(issued.certificate), key=str(issued.key), **given)


def password(mechanism: str = "SCRAM-SHA-256", said: str = ALICE["alice"], **given: Any) -> Sasl:
    return Sasl(mechanism=mechanism, username="alice", password=Secret(said), **given)


def near(sandbox: Sandbox, tls: Tls | None = None, sasl: Sasl | None = None, **given: Any) -> NetworkBroker:
    """Our end of the first broker of a sandbox; `host` is how we call it."""
    security = Security(tls=tls, sasl=sasl) if tls is not None or sasl is not None else None
    address = Address(given.pop("host", "localhost"), sandbox.brokers[0].port)
    return NetworkBroker(address, 1, settings(security=security, **given))


async def topics(broker: NetworkBroker) -> list[str]:
    """Ask it something."""
    answer = await broker.ask(MetadataRequest(topics=None))
    return [topic.name or "" for topic in answer.topics]


@contextlib.asynccontextmanager
async def connected(broker: NetworkBroker) -> AsyncIterator[NetworkBroker]:
    try:
        yield broker
    finally:
        await broker.close()


@contextlib.asynccontextmanager
async def listening(serve: Any) -> AsyncIterator[int]:
    """A TCP server that does what `serve(reader, writer)` does; its port. At the end it hangs up."""
    at_work: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        at_work[task] = writer
        try:
            await serve(reader, writer)
        except asyncio.CancelledError:
            pass  # the end of the test; asyncio's streams would log it
        finally:
            writer.close()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in at_work:
            task.cancel()
        hung_up = (writer.wait_closed() for writer in at_work.values())
        await asyncio.gather(*hung_up, return_exceptions=True)  # however the other side has ended it
        await asyncio.gather(*at_work)


__all__ = ["ALICE", "CANARY", "Access", "connected", "listening", "near", "password", "served", "topics"]

"""One address and the ways to open a connection there: the doctor's, with the pieces of the engine."""

from __future__ import annotations

import asyncio
from typing import Any

from kcli.broker.connection.connection import Connection
from kcli.broker.connection.resolve import mapped, open_socket
from kcli.broker.connection.versions import Ranges
from kcli.broker.security.access import Access
from kcli.errors import ConnectError
from kcli.model import Address
from kcli.settings import ClientSettings


class Endpoint:
    """`there` is where to connect instead (a broker map), `reached` the socket address that answered, `connection` is
    open, with its `versions`."""

    def __init__(self, address: Address, settings: ClientSettings, access: Access | None, seconds: float) -> None:
        self.address = address
        self.there = mapped(address, settings.broker_map)
        self.settings = settings
        self.access = access
        self.seconds = seconds
        self.reached: tuple[int, tuple[Any, ...]] | None = None
        self.connection: Connection | None = None
        self.versions: Ranges = {}

    @property
    def name(self) -> str:
        return shown(self.address)

    async def open(self, kind: type[Connection] | None = None) -> Connection:
        """A new TCP connection to where one stood before. Raises ConnectError."""
        assert self.reached is not None
        loop = asyncio.get_running_loop()
        family, where = self.reached
        sock = open_socket(family)

        def make() -> Connection:
            return (kind or self._kind())(self.name, "kcli-doctor", self.settings.max_frame, 1000, _nobody)

        try:
            await loop.sock_connect(sock, where)
            _, connection = await loop.create_connection(make, sock=sock)
        except OSError as problem:
            sock.close()
            raise ConnectError(f"{self.name}: {reason(problem)[0]}") from problem
        return connection

    def _kind(self) -> type[Connection]:
        kind: type[Connection] = Connection
        if self.access is not None:
            from kcli.broker.security.secured import SecuredConnection

            kind = SecuredConnection
        if self.settings.trace:
            from kcli.broker.connection.tracing import traced

            kind = traced(self.settings.trace, kind)
        return kind

    async def dial(self) -> Connection:
        """A new connection with TLS where it is wanted. Raises ConnectError."""
        connection = await self.open()
        if self.access is None or self.access.context is None:
            return connection
        from kcli.broker.security.secured import SecuredConnection

        assert isinstance(connection, SecuredConnection)
        try:
            await self.access.secure(connection, self.address.host, self.seconds)
        except BaseException:
            connection.close()
            raise
        return connection


def shown(address: Address) -> str:
    """host:port."""
    return f"[{address.host}]:{address.port}" if ":" in address.host else f"{address.host}:{address.port}"


def reason(problem: OSError) -> tuple[str, str]:
    """What a person reads, and the fault."""
    if isinstance(problem, ConnectionRefusedError):
        return "connection refused: nothing listens there", "refused"
    if isinstance(problem, TimeoutError):
        return "no answer", "dead"
    from os import strerror

    return strerror(problem.errno) if problem.errno else str(problem), "unreachable"


def _nobody(connection: Connection) -> None:
    """These connections are not tracked."""

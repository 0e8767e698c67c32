"""One broker of the sandbox: a listening port and its connections."""

from __future__ import annotations

import asyncio

from kcli.sandbox.call import Call, CloseConnection
from kcli.sandbox.link import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.fetch_sessions import FetchSession
    from kcli.sandbox.sandbox import Sandbox
    from kcli.sandbox.share_sessions import ShareSessions

__all__ = ["Call", "CloseConnection", "SandboxBroker"]


class SandboxBroker:
    """A node: `port` 0 takes a free one and keeps it over stop and start. Connections on which nothing comes for
    `idle` seconds are closed (None: never, connections.max.idle.ms)."""

    def __init__(self, sandbox: Sandbox, node_id: int, host: str, port: int) -> None:
        self.sandbox = sandbox
        self.node_id = node_id
        self.host = host
        self.port = port
        self.idle: float | None = None
        self.sessions: dict[int, FetchSession] = {}
        self._share_sessions: ShareSessions | None = None
        self._server: asyncio.Server | None = None
        self._links: set[Link] = set()

    @property
    def share_sessions(self) -> ShareSessions:
        """Imported when the first member of a share group comes."""
        if self._share_sessions is None:
            from kcli.sandbox.share_sessions import ShareSessions

            self._share_sessions = ShareSessions(self.sandbox, self.node_id)
        return self._share_sessions

    @property
    def alive(self) -> bool:
        return self._server is not None

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Link(self), self.host, self.port, ssl=self.sandbox.tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and break all connections, as a process that dies."""
        if self._server is None:
            return
        self._server.close()
        self._server = None
        self.sessions.clear()
        links = list(self._links)
        self.drop_links()
        for link in links:
            await link.ended()

    def drop_links(self) -> None:
        for link in list(self._links):
            link.abort()

    def close_idle_after(self, seconds: float | None) -> None:
        """For the connections that are open too."""
        self.idle = seconds
        for link in self._links:
            link.used()

    def linked(self, link: Link) -> None:
        self._links.add(link)

    def unlinked(self, link: Link) -> None:
        self._links.discard(link)
        if self._share_sessions is not None:
            self._share_sessions.unlinked(link)

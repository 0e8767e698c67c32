"""One broker of the sandbox: a listening port and its connections."""

from __future__ import annotations

from kcli.sandbox.wire.connection import Link
from kcli.sandbox.wire.listener import Door
from kcli.sandbox.wire.request_context import Call, CloseConnection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.sandbox.sandbox import Sandbox
    from kcli.sandbox.wire.fetch_sessions import FetchSession
    from kcli.sandbox.wire.share_sessions import ShareSessions

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
        self.registered = True  # not, when it was unregistered while it is down
        self.sessions: dict[int, FetchSession] = {}
        self._share_sessions: ShareSessions | None = None
        self._door: Door | None = None
        self._links: dict[Link, None] = {}  # the oldest first

    @property
    def share_sessions(self) -> ShareSessions:
        """Imported when the first member of a share group comes."""
        if self._share_sessions is None:
            from kcli.sandbox.wire.share_sessions import ShareSessions

            self._share_sessions = ShareSessions(self.sandbox, self.node_id)
        return self._share_sessions

    @property
    def alive(self) -> bool:
        return self._door is not None

    @property
    def connections(self) -> int:
        """How many there are, with those that are not done with TLS."""
        return len(self._links) + (self._door.coming if self._door is not None else 0)

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        door = Door(lambda: Link(self), self.sandbox.admits, self.sandbox.no_more_files, self.sandbox.tls)
        self.port = await door.open(self.host, self.port)
        self._door = door
        self.registered = True

    async def stop(self) -> None:
        """Stop listening and break all connections, as a process that dies."""
        if self._door is None:
            return
        door, self._door = self._door, None
        await door.close()
        self.sessions.clear()
        links = list(self._links)
        self.drop_links()
        for link in links:
            await link.ended()

    def drop_links(self) -> None:
        for link in list(self._links):
            link.abort()

    def quiet_link(self) -> Link | None:
        """The oldest connection that has asked for nothing yet."""
        return next((link for link in self._links if not link.asked), None)

    def turn_away(self) -> bool:
        """Whoever began to connect first and is not done with TLS goes; whether there was anybody."""
        return self._door is not None and self._door.turn_away()

    def close_idle_after(self, seconds: float | None) -> None:
        """For the connections that are open too."""
        self.idle = seconds
        for link in self._links:
            link.used()

    def linked(self, link: Link) -> None:
        self._links[link] = None

    def unlinked(self, link: Link) -> None:
        self._links.pop(link, None)
        if self._share_sessions is not None:
            self._share_sessions.unlinked(link)

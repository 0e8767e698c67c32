"""One broker of the sandbox: a listening port and its connections."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcli.sandbox.wire.fetch_sessions import FetchSessions
from kcli.sandbox.wire.listener import Listener
from kcli.sandbox.wire.peer import Peer


class SandboxBroker:
    """A node: `port` 0 takes a free one and keeps it over stop and start. `listen` makes its listener. Connections on
    which nothing comes for `idle` seconds are closed (None: never, connections.max.idle.ms). `on_disconnect` is called
    with each connection that ended."""

    def __init__(
        self,
        node_id: int,
        host: str,
        port: int,
        rack: str | None,
        session_ids: Iterator[int],
        listen: Callable[[SandboxBroker], Listener],
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.idle: float | None = None
        self.registered = self.controls = True  # as a broker, as a controller: not, when unregistered while it is down
        self.sessions = FetchSessions(session_ids)
        self.on_disconnect: list[Callable[[Peer], None]] = []
        self._listen = listen
        self._listener: Listener | None = None
        self._peers: dict[Peer, None] = {}  # the oldest first

    @property
    def alive(self) -> bool:
        return self._listener is not None

    @property
    def connections(self) -> int:
        """How many there are, with those that are not done with TLS."""
        return len(self._peers) + (self._listener.coming if self._listener is not None else 0)

    async def start(self) -> None:
        """Listen. Raises OSError when the port is taken."""
        listener = self._listen(self)
        self.port = await listener.open(self.host, self.port)
        self._listener = listener
        self.registered = self.controls = True

    async def stop(self) -> None:
        """Stop listening and break all connections, as a process that dies."""
        if self._listener is None:
            return
        listener, self._listener = self._listener, None
        await listener.close()
        self.sessions.clear()
        peers = list(self._peers)
        self.drop_connections()
        for peer in peers:
            await peer.ended()

    def drop_connections(self) -> None:
        for peer in list(self._peers):
            peer.abort()

    def quiet_connection(self) -> Peer | None:
        """The oldest connection that has asked for nothing yet."""
        return next((peer for peer in self._peers if not peer.asked), None)

    def turn_away(self) -> bool:
        """Close the oldest connection that is not done with TLS; whether there was one."""
        return self._listener is not None and self._listener.turn_away()

    def close_idle_after(self, seconds: float | None) -> None:
        """For the connections that are open too."""
        self.idle = seconds
        for peer in self._peers:
            peer.used()

    def connected(self, peer: Peer) -> None:
        self._peers[peer] = None

    def disconnected(self, peer: Peer) -> None:
        self._peers.pop(peer, None)
        for call in self.on_disconnect:
            call(peer)

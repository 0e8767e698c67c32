"""The sandbox: an embedded Kafka cluster in one process, for experiments and tests. Not a production broker.

In memory it ends with the process. With `data` it is stored in a directory: every acknowledged record, topic, committed
offset, producer sequence and step of a transaction survives the death of the process (kill -9), because it was passed
to the operating system with write() before it was acknowledged. fsync is only called at a clean close: a power failure
may lose the last seconds. After a restart a decided transaction is completed, and an open one aborted at its timeout.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.log.recovery import Journal
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.connection import Connection, Traffic
from kcli.sandbox.wire.fetch_sessions import session_ids
from kcli.sandbox.wire.listener import Listener, possible

if TYPE_CHECKING:
    from ssl import SSLContext

    from kcli.sandbox.registry.registry import Registry
    from kcli.sandbox.registry.rest.server import RegistryServer

FIRST_NODE = 1
AGAIN = 60.0  # seconds until a notice of the same kind may be repeated


class Sandbox:
    """An embedded cluster: `async with Sandbox(topics={"t": 3}) as sandbox:`, then connect to `sandbox.bootstrap`.

    Takes `SandboxSettings`, or their fields as keyword arguments, or both: then the arguments override the settings.
    With `registry=True` a schema registry listens on `registry_url`. `cluster` has all parts; `topics`, `brokers` and
    `faults` are also available here. `seen` counts requests by API key. Raises UsageError for a host that is not
    loopback, an unsupported feature or a directory in use, and OSError for a port in use.
    """

    def __init__(self, settings: SandboxSettings | None = None, **options: Any) -> None:
        self.settings = settings = (settings or SandboxSettings()).replace(**options)
        settings.check()
        self.tls = _context(settings)
        self.traffic = Traffic()
        self.seen = self.traffic.seen
        self.brokers = Brokers()
        limit = possible() if settings.connections is None else settings.connections
        self._admission = Admission(self.brokers, limit, Notices(settings.tell))
        ids = session_ids()
        for number in range(settings.brokers):
            port = settings.port + number if settings.port else 0
            rack = settings.rack(number)
            self.brokers.add(SandboxBroker(FIRST_NODE + number, settings.host, port, rack, ids, self._listener))
        self.cluster = SandboxCluster(settings, self.brokers, Journal(settings.data))
        self.topics = self.cluster.topics
        self.faults = self.cluster.faults
        if settings.control:
            from kcli.sandbox.faults.control import Control

            self.cluster.control = Control(self.faults, self.brokers, self.topics, self._admission.no_more_files)
        self._registry = self._registry_server(self.cluster.registry) if self.cluster.registry is not None else None

    def _registry_server(self, registry: Registry) -> RegistryServer:
        from kcli.sandbox.registry.rest.server import RegistryServer

        full, failed = self._admission.no_more_files, self.traffic.failures.append
        return RegistryServer(registry, self.faults.registry, full, failed, self.settings.sasl, self.tls)

    def _listener(self, broker: SandboxBroker) -> Listener:
        return Listener(
            lambda: Connection(self.cluster, broker, self.traffic),
            self._admission.admits,
            self._admission.no_more_files,
            self.tls,
        )

    @property
    def bootstrap(self) -> str:
        """host:port of every broker, separated by commas."""
        host = self.settings.advertised_host
        literal = f"[{host}]" if ":" in host else host
        return ",".join(f"{literal}:{broker.port}" for broker in self.brokers)

    @property
    def registry_url(self) -> str:
        """The address of the schema registry; "" without one."""
        return "" if self._registry is None else self._registry.url(self.settings.advertised_host)

    @property
    def violations(self) -> list[str]:
        """Protocol violations of kcli's own client in this sandbox; see wire/client_rules.py."""
        return self.cluster.client_rules.violations

    async def start(self) -> None:
        """Recover the state on disk, then listen."""
        try:
            self.cluster.open()
            if self._registry is not None:
                await self._registry.start(self.settings.host, self.settings.registry_port)
            for broker in self.brokers:
                await broker.start()
            if self.cluster.control is not None:
                await self.cluster.control.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Stop listening, flush to disk, and release the directory. Raises the first failure of a request that was a
        bug of the sandbox."""
        if self.cluster.control is not None:
            await self.cluster.control.close()
        if self._registry is not None:
            await self._registry.close()
        for broker in self.brokers:
            await broker.stop()
        self.cluster.close()
        if self.traffic.failures:
            raise self.traffic.failures[0]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _context(settings: SandboxSettings) -> SSLContext | None:
    """Return the TLS context of the listeners, None without TLS. Raises UsageError for unusable files."""
    if settings.tls is None:
        return None
    from kcli.sandbox.access.tls import server_context

    return server_context(settings.tls)


class Notices:
    """Sentences for `tell`, each kind at most once a minute."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self._tell = tell
        self._last: dict[str, float] = {}

    def say(self, kind: str, sentence: str) -> None:
        now = time.monotonic()
        if self._tell is not None and now - self._last.get(kind, -AGAIN) >= AGAIN:
            self._last[kind] = now
            self._tell(sentence)


class Admission:
    """Limits the connections to all brokers together to `limit`."""

    def __init__(self, brokers: Brokers, limit: int, notices: Notices) -> None:
        self._brokers = brokers
        self._limit = limit
        self._notices = notices

    def admits(self) -> bool:
        """Whether another connection is allowed. At the limit, the oldest connection that has sent no request is
        closed; without such a connection, the new one is refused."""
        if sum(broker.connections for broker in self._brokers) < self._limit:
            return True
        quiet = [peer for broker in self._brokers if (peer := broker.quiet_connection()) is not None]
        room = bool(quiet) or any(broker.turn_away() for broker in self._brokers)
        what = "the oldest that asked for nothing was closed" if room else "no more are let in"
        self._notices.say("connections", f"{self._limit} connections are open, as many as there may be: {what}")
        if not quiet:
            return room
        oldest = min(quiet, key=lambda peer: peer.since)
        oldest.forget()  # now, because more may arrive before it is gone
        oldest.abort()
        return True

    def no_more_files(self, problem: OSError) -> None:
        """The system has no more files for the process."""
        self._notices.say(
            "files", f"no connection can be taken for now: {problem.strerror} (`ulimit -n` says how many)"
        )

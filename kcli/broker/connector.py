"""Opens a connection: address, TCP, ApiVersions and login, within one time budget, after a backoff.

The caller's request is written only afterwards, so no error from here is `sent`.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import Backoff
from kcli.broker.connection.connection import Connection
from kcli.broker.connection.handshake import API_VERSIONS, OLD, WITH_IDENTITY, OtherForm, agree_on_versions, misrouted
from kcli.broker.connection.resolve import not_a_port, open_socket, resolve
from kcli.errors import ConnectError, DeadlineExceeded, KcliError, LoginFailed, Misrouted, Unreached
from kcli.proto.messages.api_versions import versions_request
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.broker.connection.versions import Ranges
    from kcli.broker.security.access import Access
    from kcli.broker.security.secured import SecuredConnection
    from kcli.metrics.observer import BrokerObserver
    from kcli.model import Address
    from kcli.proto.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
    from kcli.settings import ClientSettings

LOG = Log("broker")
HIGHEST = WITH_IDENTITY
LADDER = (HIGHEST, HIGHEST, 0)
"""Versions of ApiVersions to try with a peer that closes the connection: twice our highest, then the lowest."""


class Identity:
    """What a client knows about its cluster, to name the broker that a connection must lead to (KIP-1242).

    `newest` is the ApiVersions version of the brokers met so far. It starts below the version that carries the
    identity, because the node id of a bootstrap server is not known yet, and brokers before Kafka 4.4 would reject that
    version, which costs each connection a round trip.
    """

    def __init__(self, cluster_id: Callable[[], str | None]) -> None:
        self.cluster_id = cluster_id
        self.newest = OLD

    def learn(self, versions: Ranges) -> None:
        """Note the versions that a broker supports."""
        self.newest = max(OLD, min(HIGHEST, versions.get(API_VERSIONS, (0, 0))[1]))


class IdentityCheck:
    """Receives the response of a broker that was asked for its identity, and closes the connection if it is the wrong
    one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def done(self) -> bool:
        return False

    def set_result(self, answer: ApiVersionsResponse, /) -> None:
        if answer.error_code == codes.REBOOTSTRAP_REQUIRED.number:
            self._connection.close(misrouted(self._connection.name))

    def set_exception(self, problem: Exception, /) -> None:
        """The connection ended with all its requests."""


class Opening:
    """Opens the connections to one address. `name` is the broker's name in messages."""

    def __init__(
        self, address: Address, name: str, settings: ClientSettings, client_id: str, access: Access | None = None
    ) -> None:
        self._address = address
        self._there = address  # where to connect; differs from the address with a broker map
        self._name = name
        self._settings = settings
        self._access = access
        self._kind: type[Connection] = Connection
        if access is not None:
            from kcli.broker.security.secured import SecuredConnection

            self._kind = SecuredConnection
        if settings.broker_map:
            self._take_another_way(settings.broker_map)
        if settings.trace:
            from kcli.broker.connection.tracing import traced

            self._kind = traced(settings.trace, self._kind)
        if settings.dump >= 0:
            from kcli.broker.connection.tracing import dumping

            self._kind = dumping(settings.dump, self._kind)
        self._client_id = client_id
        self._backoff = Backoff(settings.reconnect_backoff, settings.reconnect_backoff_max)
        self._budget = settings.connect_timeout
        self._ladder: tuple[int, ...] = LADDER
        self.hint = ""  # added to errors until the first connection to this address
        self.versions: Ranges = {}  # of the last connection
        self.not_before = 0.0
        self.last_attempt = 0.0
        self.failing: tuple[float, KcliError] | None = None  # since when, and the last error; None after a success
        self.met = False  # whether any broker has responded here
        self.observer: BrokerObserver | None = None
        self.identity: Identity | None = None
        self.node_id = -1

    def _versions_request(self) -> ApiVersionsRequest:
        """Return the first request; to a known node it names the expected identity."""
        if self.node_id < 0 or self.identity is None:
            return versions_request()
        return versions_request(self.identity.cluster_id(), self.node_id)

    def check_identity(self, connection: Connection, timeout: float) -> None:
        """Ask the peer of an open connection for its identity before the next request. Brokers before Kafka 4.4 cannot
        tell."""
        if self.identity is None or connection.versions.get(API_VERSIONS, (0, 0))[1] < WITH_IDENTITY:
            return
        if not connection.post([(self._versions_request(), IdentityCheck(connection), None)], timeout):
            connection.close(ConnectError(f"{self._name}: a new connection will be checked"))

    def rename(self, name: str, node_id: int) -> str:
        """Return a new name for messages, including a broker map; the seed is a node now."""
        self.node_id = node_id
        self._name = name if self._there == self._address else self._by_way(name)
        if self.observer is not None:
            self.observer.rename(name, node_id)
        return self._name

    def _take_another_way(self, rules: tuple[tuple[str, str], ...]) -> None:
        from kcli.broker.connection.resolve import mapped

        self._there = mapped(self._address, rules)
        if self._there != self._address:
            self._name = self._by_way(self._name)

    def _by_way(self, name: str) -> str:
        return f"{name} via {self._there.host}:{self._there.port}"

    async def connect(self, in_flight: int, on_lost: Callable[[Connection], None]) -> Connection:
        """Return a connection with negotiated versions. Raises ConnectError (AuthError), KcliError."""
        loop = asyncio.get_running_loop()
        if (wait := self.not_before - loop.time()) > 0:
            await asyncio.sleep(wait)
        one_of_many = self._access is not None and self._begin_login(self._access)
        self.last_attempt = loop.time()
        try:
            connection = await self._climb(loop.time() + self._budget, in_flight, on_lost)
        except KcliError as problem:
            self.not_before = loop.time() + self._backoff.next()
            self._budget = min(self._budget * 2, self._settings.connect_timeout_max)
            self._ladder = LADDER
            self.failing = (self.failing[0] if self.failing is not None else self.last_attempt), problem
            if not isinstance(problem, LoginFailed):  # already logged
                LOG.warning("%s: no connection: %s", self._name, problem)
            if self.observer is not None:
                self.observer.refused(loop.time() - self.last_attempt, problem)
            if isinstance(problem, ConnectError) and problem.retriable:
                kind = type(problem) if isinstance(problem, LoginFailed | Misrouted | Unreached) else ConnectError
                hint = "" if kind is Misrouted else self.hint
                raise kind(f"{problem}{hint}") from problem
            raise
        finally:
            if one_of_many and self._access is not None:
                self._access.logins.end()
        self._backoff.reset()  # not when TCP connects: only a broker that responds is back
        self._budget = self._settings.connect_timeout
        self.hint = ""
        self.met, self.failing = True, None
        LOG.debug("%s: connected in %.1f ms", self._name, 1000 * (loop.time() - self.last_attempt))
        self.versions = connection.versions
        if self.identity is not None:
            self.identity.learn(self.versions)
        connection.opened(loop.time() - self.last_attempt)
        return connection

    def _begin_login(self, access: Access) -> bool:
        """See `Logins.begin`."""
        try:
            return access.sasl is not None and access.logins.begin()
        except KcliError as problem:
            now = asyncio.get_running_loop().time()
            self.failing = (now if self.failing is None else self.failing[0]), problem
            self.not_before = now + self._backoff.next()
            raise

    async def _climb(self, end: float, in_flight: int, on_lost: Callable[[Connection], None]) -> Connection:
        for step, version in enumerate(self._ladder):
            if step:
                await self._backoff.pause()
            connection = await self._dial(end, in_flight, on_lost)
            if self._access is not None:
                await self._secure(connection, end)
            try:
                await self._greet(connection, end, version)
                await self._introduce(connection, end)
            except BaseException as problem:
                connection.close()
                if isinstance(problem, OtherForm):
                    continue
                if isinstance(problem, Misrouted):
                    raise
                if isinstance(problem, ConnectError) and connection.hung_up and not connection.versions:
                    self._explain(connection, problem)
                    continue
                raise
            self._ladder = self._ladder[step:]
            return connection
        what = "expect TLS or SASL (security.protocol)"
        if self._access is not None and self._access.context is not None:
            what = "require a client certificate (ssl.keystore.location)"
        raise ConnectError(
            f"{self._name} closed the connection on the first request: it may {what}, or it is not a Kafka listener"
        )

    async def _greet(self, connection: Connection, end: float, version: int) -> None:
        left = max(0.001, end - asyncio.get_running_loop().time())
        newest = self.identity.newest if self.identity is not None else OLD
        try:
            connection.versions = await agree_on_versions(
                connection, left, min(version, newest), self._versions_request()
            )
        except DeadlineExceeded as slow:
            raise ConnectError(
                f"{self._name} accepts connections but does not answer ApiVersions: is it a Kafka listener?"
            ) from slow

    async def _secure(self, connection: Connection, end: float) -> None:
        """Start TLS, if configured."""
        assert self._access is not None
        left = max(0.001, end - asyncio.get_running_loop().time())
        try:
            await self._access.secure(cast_secured(connection), self._address.host, left)
        except BaseException:
            connection.close()
            raise

    async def _introduce(self, connection: Connection, end: float) -> None:
        """Authenticate, if configured."""
        if self._access is None or self._access.sasl is None:
            connection.greeted()
            return
        from kcli.broker.security.authentication import introduce

        left = max(0.001, end - asyncio.get_running_loop().time())
        again = self._settings.connect_timeout_max
        await introduce(cast_secured(connection), self._access, self._address.host, left, again)

    def _explain(self, connection: Connection, problem: ConnectError) -> None:
        """Raise TlsError if TLS is what permanently prevents the connection."""
        access = self._access
        error = access.fault(cast_secured(connection), self._address.host) if access is not None else None
        if error is not None:
            raise error from problem

    async def _dial(self, end: float, in_flight: int, on_lost: Callable[[Connection], None]) -> Connection:
        def make() -> Connection:
            connection = self._kind(self._name, self._client_id, self._settings.max_frame, in_flight, on_lost)
            connection.observer = self.observer
            return connection

        return await dial(self._there, self._name, end, make)


def cast_secured(connection: Connection) -> SecuredConnection:
    """Cast for type checkers: with an access, every connection is a SecuredConnection."""
    return connection  # type: ignore[return-value]


async def dial(there: Address, name: str, end: float, make: Callable[[], Connection]) -> Connection:
    """Connect to the first of the host's addresses that responds before `end` (loop time). `name` is the broker's name
    in messages. Raises Unreached with each address's error."""
    loop = asyncio.get_running_loop()
    host, port = there
    if wrong := not_a_port(port):
        raise ConnectError(f"{name}: {wrong}")
    try:
        async with asyncio.timeout_at(end):
            addresses = await resolve(host, port)
    except TimeoutError:
        raise Unreached(f"{name}: the host name {host} could not be resolved in time") from None
    except OSError as problem:
        raise Unreached(f"{name}: the host name {host} does not resolve ({problem.strerror})") from problem
    reasons: dict[str, str] = {}
    for n, (family, where) in enumerate(addresses):
        share = (end - loop.time()) / (len(addresses) - n)  # a dead address leaves time for the next one
        try:
            async with asyncio.timeout(share):
                return await _reach(family, where, make)
        except OSError as problem:
            reasons[str(where[0])] = _reason(problem)
    if len(set(reasons.values())) == 1:
        raise Unreached(f"{name}: {next(iter(reasons.values()))}")
    raise Unreached(f"{name}: {'; '.join(f'{where}: {why}' for where, why in reasons.items())}")


async def _reach(family: int, where: tuple[Any, ...], make: Callable[[], Connection]) -> Connection:
    loop = asyncio.get_running_loop()
    sock = open_socket(family)
    try:
        await loop.sock_connect(sock, where)
        _, connection = await loop.create_connection(make, sock=sock)
        return connection
    except BaseException:
        sock.close()
        raise


def _reason(problem: OSError) -> str:
    if isinstance(problem, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    if isinstance(problem, TimeoutError):
        return "no response: the address may be wrong or behind a firewall"
    from os import strerror

    return strerror(problem.errno) if problem.errno else str(problem)

"""HTTP/1.1 to the addresses of a registry, by the standard library's client in threads: connections are kept, time is
bounded, answers too, and redirects are not followed.

A read goes to the next address, and is tried again after a pause, when the registry fails for the moment. What changes
something is sent once; only a registration, which is idempotent, is tried again.
"""

from __future__ import annotations

import asyncio
import socket

from kcli import backoff
from kcli.errors import ConnectError, KcliError, TlsError
from kcli.registry.answers import Answer
from kcli.registry.auth import Credentials
from kcli.registry.errors import UNAVAILABLE, NoRegistry, NotInTime, TooLarge, Unavailable, error_of, harmless
from kcli.system.sockets import is_readable
from kcli.tasks import in_daemon_thread
from kcli.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from http.client import HTTPConnection
    from ssl import SSLContext
    from typing import Protocol, TypeVar

    from kcli.registry.settings import Origin, RegistrySettings
    from kcli.security import Tls

    R = TypeVar("R")
    Refusal = Callable[[Answer, str, str, str], KcliError]

    class Shown(Protocol):
        """How kcli shows itself to a registry; as `Credentials`."""

        async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]: ...
        def name(self, origin: Origin) -> str: ...
        def refused(self) -> bool: ...


LARGEST = 16 * 1024 * 1024
AT_ONCE = 8  # connections; all of them are kept
LONGEST_WAIT = 30.0  # seconds that a registry may ask us to wait
MEDIA = "application/vnd.schemaregistry.v1+json"
OURS = "our client certificate"
ACCEPT = f"{MEDIA}, application/json;q=0.5"


class Http:
    """The connections to one registry, on one event loop."""

    def __init__(
        self, settings: RegistrySettings, credentials: Shown | None = None, refusal: Refusal = error_of
    ) -> None:
        """`refusal` makes the error of an answer that is none of success."""
        self._settings = settings
        self._credentials: Shown = credentials or Credentials(settings)
        self._refusal = refusal
        self._context: SSLContext | None = None
        self._idle: dict[Origin, list[Connection]] = {}
        self._busy: set[Connection] = set()
        self._best = 0  # the address that answered last
        self.server = ""  # what that calls itself
        self._permits = asyncio.Semaphore(AT_ONCE)

    async def close(self) -> None:
        """Close the connections; a request under way ends with ConnectError."""
        for kept in self._idle.values():
            for connection in kept:
                connection.close()
        self._idle.clear()
        for connection in tuple(self._busy):
            connection.abort()

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        repeat: bool,
        about: str = "the registry",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """The answer with a status of success. `repeat`: whether the request may reach the registry more than once.
        Raises what `error_of` returns (`about` is for it), ConnectError (`.sent`: it may have been done), AuthError,
        NoRegistry."""
        more = headers or {}
        failures, renewed = 0, False
        while True:
            answer, error = await self._round(method, path, body, repeat, more)
            if answer is None:
                assert error is not None
            elif answer.status == 401 and not renewed and self._credentials.refused():
                renewed = True
                continue
            elif 200 <= answer.status < 300:
                return answer
            else:
                origin = answer.origin
                error = self._refusal(answer, about, origin.url, self._credentials.name(origin))
            wait = error.wait if isinstance(error, Unavailable) else 0.0
            again = error.retriable and not isinstance(error, NotInTime) and wait <= LONGEST_WAIT
            if not (repeat and again and failures < self._settings.retries):
                raise error
            settings = self._settings
            pause = backoff.after(failures, settings.retry_backoff, settings.retry_backoff_max, backoff.full())
            await asyncio.sleep(max(pause, wait))
            failures += 1

    async def _round(
        self, method: str, path: str, body: bytes | None, repeat: bool, more: Mapping[str, str]
    ) -> tuple[Answer | None, KcliError | None]:
        """The answer of the first address that gives one that counts, else the last one, else the last error."""
        answer: Answer | None = None
        error: KcliError | None = None
        for number, origin in self._turn():
            try:
                answer = await self._ask(origin, method, path, body, repeat, more)
            except ConnectError as problem:  # AuthError and NoRegistry too: the next address may be well
                error = problem
                if problem.sent and not repeat:
                    return None, problem
                continue
            if answer.status not in UNAVAILABLE or not repeat:
                self._best = number
                return answer, None
        return answer, error

    def _turn(self) -> Iterator[tuple[int, Origin]]:
        origins = self._settings.origins
        for step in range(len(origins)):
            number = (self._best + step) % len(origins)
            yield number, origins[number]

    async def _ask(
        self, origin: Origin, method: str, path: str, body: bytes | None, repeat: bool, more: Mapping[str, str]
    ) -> Answer:
        """One request to one address. A kept connection may have ended meanwhile: what may be repeated is then sent on
        a new one; what may not is always sent on a new one."""
        headers = {"Accept": ACCEPT, "User-Agent": f"kcli/{__version__}"}
        if body is not None:
            headers["Content-Type"] = MEDIA
        headers |= more
        headers |= await self._credentials.headers(origin, headers, body)
        async with self._permits:
            connection = self._kept(origin) if repeat else None
            if connection is not None:
                try:
                    return await self._exchange(connection, origin, method, path, body, headers)
                except NotInTime:
                    raise
                except ConnectError as problem:
                    if isinstance(problem, NoRegistry):
                        raise
            return await self._exchange(await self._open(origin), origin, method, path, body, headers)

    def _kept(self, origin: Origin) -> Connection | None:
        """A connection on which nothing came since its last answer, not even its end."""
        kept = self._idle.get(origin, [])
        while kept:
            connection = kept.pop()
            if connection.quiet():
                return connection
            connection.close()
        return None

    async def _open(self, origin: Origin) -> Connection:
        if origin.secure and self._context is None:
            self._context = self._make_context()
        connection = Connection(origin, self._context, self._settings.tls)
        await self._in_thread(connection, connection.open, self._settings.connect_timeout, "accept a connection", False)
        return connection

    def _make_context(self) -> SSLContext:
        from kcli.errors import UsageError
        from kcli.registry.settings import of_registry
        from kcli.security import Tls
        from kcli.security.tls import client_context

        try:
            return client_context(self._settings.tls or Tls())
        except UsageError as problem:
            raise UsageError(of_registry(str(problem))) from None

    async def _exchange(
        self,
        connection: Connection,
        origin: Origin,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
    ) -> Answer:
        def exchange(seconds: float) -> Answer:
            return connection.exchange(method, path, body, headers, seconds)

        answer = await self._in_thread(connection, exchange, self._settings.read_timeout, "answer", True)
        self.server = answer.headers.get("server", "")
        kept = self._idle.setdefault(origin, [])
        if connection.reusable and len(kept) < AT_ONCE:
            kept.append(connection)
        else:
            connection.close()
        return answer

    async def _in_thread(
        self, connection: Connection, work: Callable[[float], R], seconds: float, what: str, sent: bool
    ) -> R:
        """`work(seconds)`, which ends in time, whatever the other side does."""

        def to_its_end(seconds: float) -> R:
            try:
                return work(seconds)
            finally:
                connection.rest()

        self._busy.add(connection)
        connection.at_work = True
        done = False
        try:
            async with asyncio.timeout(seconds):
                result = await in_daemon_thread("registry", to_its_end, seconds)
            done = True
            return result
        except TimeoutError:
            raise NotInTime(f"{connection.url} did not {what} within {seconds:g} s", sent=sent) from None
        finally:
            self._busy.discard(connection)
            if not done:
                connection.abort()


class Connection:
    """One connection. `open` and `exchange` run in a thread, one at a time; both close what failed. `reusable`: whether
    another request may be sent after the last answer; `at_work`: whether a thread is on it."""

    def __init__(self, origin: Origin, context: SSLContext | None, tls: Tls | None) -> None:
        self.url = origin.url
        self.reusable = False
        self.at_work = False
        self._origin = origin
        self._context = context if origin.secure else None
        self._server_name = tls.server_name if tls is not None else ""
        self._certificate = tls.client_certificate if tls is not None else ""
        self._http: HTTPConnection | None = None
        self._socket: socket.socket | None = None
        self._aborted = False
        self._answered = False
        self._path = ""

    def open(self, seconds: float) -> None:
        """Connect, with TLS if the address is https. Raises ConnectError, TlsError, NotInTime."""
        from http.client import HTTPConnection, HTTPSConnection
        from urllib.parse import quote, urlsplit

        parts = urlsplit(self.url)
        name = self._server_name or parts.hostname or ""
        host, port = parts.hostname or "", parts.port or (443 if self._origin.secure else 80)
        self._path = quote(parts.path, safe="/%:@!$&'()*+,;=~-._")
        try:
            self._socket = socket.create_connection((host, port), seconds)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                self._socket = self._context.wrap_socket(self._socket, server_hostname=name.rstrip("."))
        except TimeoutError:
            self.close()
            raise NotInTime(f"{self.url} did not accept a connection within {seconds:g} s") from None
        except (OSError, UnicodeError) as problem:
            fault = self._fault(problem, name, sent=False)
            self.close()
            raise fault from None
        kind = HTTPSConnection if self._origin.secure else HTTPConnection
        self._http = kind(host, port)
        self._http.auto_open = 0
        self._http.sock = self._socket
        if self._aborted:
            self.close()

    def exchange(self, method: str, path: str, body: bytes | None, headers: dict[str, str], seconds: float) -> Answer:
        """Send a request and read the answer. Raises ConnectError (sent), NoRegistry, NotInTime."""
        from http.client import HTTPException, IncompleteRead, NotConnected, RemoteDisconnected

        response, whole = None, False
        try:
            if self._http is None or self._socket is None:
                raise NotConnected
            self._socket.settimeout(seconds)
            self._http.request(method, f"{self._path}{path}", body, headers)
            response = self._http.getresponse()
            data = response.read(LARGEST + 1)
            if len(data) > LARGEST:
                raise TooLarge(
                    f"{self.url}: the answer is larger than {LARGEST // 1024**2} MiB; it is not used", sent=True
                )
            if response.length:
                raise IncompleteRead(data, response.length)
            self._answered = True
            self.reusable = whole = not response.will_close
            response_headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, response_headers, data, self._origin)
        except TimeoutError:
            raise NotInTime(f"{self.url} did not answer within {seconds:g} s", sent=True) from None
        except (RemoteDisconnected, IncompleteRead, NotConnected):
            raise ConnectError(f"{self.url} closed the connection before its answer was complete", sent=True) from None
        except HTTPException as problem:
            reason = harmless(str(problem))
            raise NoRegistry(
                f"{self.url} does not speak HTTP on this port ({reason or 'no answer'})", sent=True
            ) from None
        except OSError as problem:
            raise self._fault(problem, "", sent=True) from None
        finally:
            if not whole:
                self.reusable = False
                if response is not None:
                    response.close()
                self.close()

    def _fault(self, problem: Exception, name: str, *, sent: bool) -> ConnectError:
        """What TLS has to do with it, before the first answer: in TLS 1.3 our certificate is refused after we think
        that all is well."""
        if self._context is not None and self._socket is not None and not self._answered:
            from kcli.registry.settings import of_registry
            from kcli.security.tls_faults import explain

            fault = explain(problem, self.url, name, "registry")
            text = of_registry(str(fault)).replace(OURS, f"{OURS} {self._certificate}".rstrip())
            return type(fault)(text, sent=sent and not isinstance(fault, TlsError))
        reason = harmless(getattr(problem, "strerror", None) or str(problem))
        if sent:
            return ConnectError(f"{self.url}: the connection broke ({reason})", sent=True)
        return ConnectError(f"{self.url} cannot be reached: {reason}")

    def quiet(self) -> bool:
        """Whether nothing came since the last answer: a server's end of the connection would be something."""
        if self._socket is None:
            return False
        return not is_readable(self._socket)

    def abort(self) -> None:
        """Have the thread that works on it end; called from another one. The last of the two closes it."""
        self._aborted = True
        open_one = self._socket
        if open_one is not None:
            try:
                socket.socket.shutdown(open_one, socket.SHUT_RDWR)
            except OSError:  # it is closed, or never was open
                pass
        if not self.at_work:
            self.close()

    def rest(self) -> None:
        """The thread has done its work; called by it."""
        self.at_work = False
        if self._aborted:
            self.close()

    def close(self) -> None:
        open_one, self._socket = self._socket, None
        if open_one is not None:
            open_one.close()

"""An HTTP/1.1 client on urllib3 and threads, shared by registries, token URLs and webhooks.

- Responses are limited in time and size; the size limit applies to decompressed data, too.
- Redirects are not followed, so credentials are only sent to configured addresses.
- The proxy comes from the settings or the environment; this machine is reached without one.
- If the server fails temporarily, a repeatable request is sent to the next address, and again after a pause. Any other
  request is sent once, on a new connection.
- Every response becomes a result or a one-sentence error, with the server's text shortened and without control
  characters.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from urllib.parse import quote, urlsplit

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager, Retry, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import (
    DecodeError,
    HTTPError,
    InvalidHeader,
    LocationParseError,
    NewConnectionError,
    ProxyError,
)

from kcli import backoff
from kcli.errors import ConnectError, KcliError, TlsError, UsageError
from kcli.security import Tls
from kcli.security.http import (
    UNAVAILABLE,
    Answer,
    NotInTime,
    TooLarge,
    Unavailable,
    WrongAddress,
    named_for,
    proxy_at,
)
from kcli.security.tls import client_context
from kcli.security.tls_faults import explain
from kcli.tasks import in_daemon_thread
from kcli.text.escape import printable
from kcli.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from ssl import SSLContext
    from typing import Protocol

    from urllib3 import BaseHTTPResponse, HTTPResponse

    from kcli.security.http import Origin, Service

    Refusal = Callable[[Answer, str, str, str], KcliError]

    class Shown(Protocol):
        """The credentials that kcli sends to a server."""

        async def headers(self, origin: Origin, headers: Mapping[str, str], body: bytes | None) -> dict[str, str]: ...
        def name(self, origin: Origin) -> str: ...
        def refused(self) -> bool: ...


AT_ONCE = 8  # connections per address; all are kept open
LONGEST_WAIT = 30.0  # longest time in seconds that a server may ask us to wait
PIECE = 64 * 1024
OURS = "our client certificate"
BEFORE = {"registry": "", "token URL": "the token URL ", "webhook": "the webhook at "}
"""Text before an address in a message."""
_here = threading.local()


class HttpClient:
    """The connections to one server, on one event loop."""

    def __init__(self, service: Service, credentials: Shown | None, refusal: Refusal) -> None:
        """Without `credentials`, the login in the address is used. `refusal` creates the error for a response that is
        neither a success nor a redirect."""
        self._service = service
        self._credentials = credentials
        self._refusal = refusal
        self._context: SSLContext | None = None
        self._kept: dict[Origin, PoolManager] = {}
        self._busy: set[Exchange] = set()
        self._best = 0  # index of the address that responded last
        self.server = ""  # value of its Server header
        self._permits = asyncio.Semaphore(AT_ONCE)

    async def close(self) -> None:
        """Close the connections; pending requests fail with ConnectError."""
        for manager in self._kept.values():
            manager.clear()
        for exchange in tuple(self._busy):
            exchange.abort()

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        repeat: bool,
        about: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request and return the successful response. `repeat`: the request may reach the server more than once.
        `about` is passed to `refusal`.

        Raises:
            ConnectError: no response; with `.sent`, the request may have been executed. AuthError, TlsError and
                WrongAddress are subclasses.
            KcliError: the error created by `refusal`.
        """
        more = headers or {}
        failures, renewed = 0, False
        while True:
            answer, error = await self._round(method, path, body, repeat, more)
            if answer is None:
                assert error is not None
            elif answer.status == 401 and not renewed and self._credentials is not None and self._credentials.refused():
                renewed = True
                continue
            elif 200 <= answer.status < 300:
                return answer
            else:
                error = self._refused(answer, about)
            wait = _retry_after(answer) if answer is not None and isinstance(error, Unavailable) else 0.0
            again = error.retriable and not isinstance(error, NotInTime) and wait <= LONGEST_WAIT
            if not (repeat and again and failures < self._service.retries):
                raise error
            service = self._service
            pause = backoff.after(failures, service.retry_backoff, service.retry_backoff_max, backoff.full())
            await asyncio.sleep(max(pause, wait))
            failures += 1

    def _refused(self, answer: Answer, about: str) -> KcliError:
        origin, status = answer.origin, answer.status
        if 300 <= status < 400:
            return WrongAddress(
                f"{BEFORE[self._service.peer]}{origin.url} sends us to "
                f"{printable(answer.headers.get('location', 'elsewhere'))} (HTTP {status}); redirects are not "
                "followed, because credentials go to configured addresses only: name the right address"
            )
        shown = self._credentials.name(origin) if self._credentials is not None else origin.user
        return self._refusal(answer, about, origin.url, shown)

    async def _round(
        self, method: str, path: str, body: bytes | None, repeat: bool, more: Mapping[str, str]
    ) -> tuple[Answer | None, KcliError | None]:
        """Return the first conclusive response of an address, else the last response, else the last error."""
        answer: Answer | None = None
        error: KcliError | None = None
        for number, origin in self._turn():
            try:
                answer = await self._ask(origin, method, path, body, repeat, more)
            except ConnectError as problem:  # includes AuthError and WrongAddress: the next address may work
                error = problem
                if problem.sent and not repeat:
                    return None, problem
                continue
            if answer.status not in UNAVAILABLE or not repeat:
                self._best = number
                return answer, None
        return answer, error

    def _turn(self) -> Iterator[tuple[int, Origin]]:
        origins = self._service.origins
        for step in range(len(origins)):
            number = (self._best + step) % len(origins)
            yield number, origins[number]

    async def _ask(
        self, origin: Origin, method: str, path: str, body: bytes | None, repeat: bool, more: Mapping[str, str]
    ) -> Answer:
        """Send one request to one address. A request that must not be repeated gets a new connection: a kept connection
        may have been closed meanwhile, which looks the same as a lost response."""
        service = self._service
        headers = {"Accept": service.accept, "Accept-Encoding": "gzip", "User-Agent": f"kcli/{__version__}"}
        if body is not None:
            headers["Content-Type"] = service.media
        headers |= more
        if self._credentials is None:
            headers |= origin.basic()
        else:
            headers |= await self._credentials.headers(origin, headers, body)
        odd = next((name for name, value in headers.items() if not (value.isascii() and value.isprintable())), None)
        if odd is not None:
            raise UsageError(f"{BEFORE[service.peer]}{origin.url}: {odd} may only contain printable ASCII characters")

        def exchange(manager: PoolManager, *, again: bool = False) -> Exchange:
            return Exchange(service, origin, manager, method, path, body, headers, again)

        async with self._permits:
            answer = None
            if not repeat:
                manager = self._manager(origin)
                try:
                    answer = await self._in_time(exchange(manager))
                finally:
                    manager.clear()
            else:
                if origin not in self._kept:
                    self._kept[origin] = self._manager(origin)
                manager = self._kept[origin]
                answer = await self._in_time(exchange(manager, again=True))
                if answer is None:
                    manager.clear()
                    answer = await self._in_time(exchange(manager))
        assert answer is not None
        self.server = answer.headers.get("server", "")
        return answer

    async def _in_time(self, exchange: Exchange) -> Answer | None:
        """Run `exchange.run()` in a thread with a time limit that holds whatever the server does."""
        loop, service = asyncio.get_running_loop(), self._service
        limit = asyncio.timeout(service.connect_timeout)
        ended = False

        def connected() -> None:
            if not ended and not limit.expired():
                limit.reschedule(loop.time() + service.read_timeout)

        exchange.connected = lambda: loop.call_soon_threadsafe(connected)
        self._busy.add(exchange)
        try:
            async with limit:
                answer = await in_daemon_thread(service.peer, exchange.run)
            ended = True
            return answer
        except TimeoutError:
            raise exchange.too_slow() from None
        finally:
            self._busy.discard(exchange)
            if not ended:
                ended = True
                exchange.abort()

    def _manager(self, origin: Origin) -> PoolManager:
        """Return the connection pool of an address. Raises UsageError for invalid TLS files and proxies."""
        given: dict[str, object] = {"maxsize": AT_ONCE}
        tls = self._service.tls or Tls()
        if origin.secure:
            if self._context is None:
                try:
                    self._context = client_context(tls)
                except UsageError as problem:
                    raise UsageError(named_for(str(problem), self._service.peer)) from None
            given["ssl_context"] = self._context
            given["server_hostname"] = tls.server_name or None
            given["assert_hostname"] = None if tls.verify and tls.verify_host else False
        proxy = proxy_of(self._service, origin)
        if proxy is None:
            manager = PoolManager(**given)  # type: ignore[arg-type]
        else:
            login = proxy.basic().get("Authorization")
            shown = {"Proxy-Authorization": login} if login else None
            manager = ProxyManager(proxy.url, proxy_headers=shown, **given)  # type: ignore[arg-type]
        manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
        return manager


class Exchange:
    """One request and its response. `run` is called in a thread, `abort` from another one."""

    def __init__(
        self,
        service: Service,
        origin: Origin,
        manager: PoolManager,
        method: str,
        path: str,
        body: bytes | None,
        headers: dict[str, str],
        again: bool,
    ) -> None:
        """With `again`, `run` returns None if a kept connection turns out to be closed, and the caller sends the
        request again."""
        self.connected: Callable[[], object] = lambda: None
        """Called when the connection is ready for the request."""
        self._service = service
        self._origin = origin
        self._manager = manager
        self._request = (method, path, body, headers)
        self._name = BEFORE[service.peer] + origin.url
        self._again = again
        self._socket: socket.socket | None = None
        self._new = self._ready = self._answered = self._aborted = False

    def run(self) -> Answer | None:
        """Return the response, or None (see `again`). Raises ConnectError."""
        _here.exchange = self
        response: BaseHTTPResponse | None = None
        whole = False
        try:
            response = self._send()
            self._answered = True
            data = bytearray()
            while piece := response.read1(PIECE):
                data += piece
                if len(data) > self._service.largest:
                    limit = f"{self._service.largest:,} bytes"
                    raise TooLarge(f"{self._name}: the answer is larger than {limit}; it is not used", sent=True)
            whole = True
            named = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, named, bytes(data), self._origin)
        except (HTTPError, HTTPException, OSError, UnicodeError) as problem:
            error = self._fault(problem)
            if self._again and self._ready and not self._new and not isinstance(error, NotInTime | WrongAddress):
                return None
            raise error from None
        finally:
            if response is not None and not whole:
                response.close()

    def _send(self) -> BaseHTTPResponse:
        service = self._service
        method, path, body, headers = self._request
        parts = urlsplit(self._origin.url)
        target = quote(parts.path, safe="/%:@!$&'()*+,;=~-._") + path or "/"
        if target[0] == "?":
            target = f"/{target}"
        pool = self._manager.connection_from_host(parts.hostname, parts.port, parts.scheme)
        if pool.proxy is not None and not self._origin.secure:
            target = f"http://{parts.netloc}{target}"
        limits = Timeout(connect=service.connect_timeout, read=service.read_timeout)
        return pool.urlopen(
            method,
            target,
            body,
            headers,
            retries=False,
            redirect=False,
            assert_same_host=False,  # through a forwarding proxy the host differs
            timeout=limits,
            preload_content=False,
        )

    def use(self, connection: HTTPConnection, *, new: bool = False) -> None:
        """Record the connection on which the request is sent."""
        self._socket = connection.sock
        self._new = self._new or new
        if self._aborted:
            self.abort()
        elif not self._ready:
            self._ready = True
            self.connected()

    def abort(self) -> None:
        """End the thread with an error."""
        self._aborted = True
        if self._socket is not None:
            try:
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:  # already closed
                pass

    def too_slow(self) -> NotInTime:
        if self._ready:
            return NotInTime(f"{self._name} did not answer within {self._service.read_timeout:g} s", sent=True)
        limit = self._service.connect_timeout
        return NotInTime(f"{self._name} did not accept a connection within {limit:g} s")

    def _fault(self, problem: Exception) -> ConnectError:
        """Return the error of a request without a response."""
        cause, dialled, proxied = _cause(problem)
        if isinstance(cause, TimeoutError):
            return self.too_slow()
        reason = printable(getattr(cause, "strerror", None) or str(cause))
        proxy = proxy_of(self._service, self._origin)
        if proxy is not None and (proxied or not self._ready) and not isinstance(cause, ssl.SSLError):
            return ConnectError(f"the proxy {proxy.url} could not connect to {self._name}: {reason}")
        if not dialled or isinstance(cause, LocationParseError | UnicodeError):
            return ConnectError(f"{self._name} cannot be reached: {reason}")
        if isinstance(cause, DecodeError):
            return WrongAddress(f"{self._name}: the answer cannot be unpacked", sent=True)
        if isinstance(cause, RemoteDisconnected | IncompleteRead):
            return ConnectError(f"{self._name} closed the connection before its answer was complete", sent=True)
        if not isinstance(cause, OSError):
            return WrongAddress(f"{self._name} does not speak HTTP on this port ({reason or 'no answer'})", sent=True)
        if self._origin.secure and (self._new or not self._ready) and not self._answered:
            return self._tls_fault(cause)
        return ConnectError(f"{self._name}: the connection broke ({reason})", sent=True)

    def _tls_fault(self, cause: OSError) -> ConnectError:
        """Return the TLS error, if TLS can be the cause: until the first response it can, because in TLS 1.3 the server
        rejects our certificate after the handshake is complete on our side."""
        peer, tls = self._service.peer, self._service.tls or Tls()
        fault = explain(cause, self._name, tls.server_name or self._origin.host, peer)
        text = named_for(str(fault), peer).replace(OURS, f"{OURS} {tls.client_certificate}".rstrip())
        return type(fault)(text, sent=self._ready and not isinstance(fault, TlsError))


class _Connection(HTTPConnection):
    """A connection that registers itself with the exchange of its thread."""

    def connect(self) -> None:
        super().connect()
        _here.exchange.use(self, new=True)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 does
        _here.exchange.use(self)
        return super().getresponse()


class _SecureConnection(_Connection, HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        self.is_verified = True  # otherwise urllib3 prints a warning; kcli has its own for disabled checks


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def _cause(problem: BaseException) -> tuple[BaseException, bool, bool]:
    """Return the root cause of a urllib3 error, whether the connection was established, and whether the proxy
    failed."""
    dialled, proxied = True, False
    while isinstance(problem, HTTPError) and not isinstance(problem, DecodeError):
        dialled = dialled and not isinstance(problem, NewConnectionError)
        proxied = proxied or isinstance(problem, ProxyError)
        last = problem.args[-1] if problem.args else None
        inner = last if isinstance(last, Exception) else problem.__cause__
        if inner is None:
            break
        problem = inner
    return problem, dialled, proxied


def proxy_of(service: Service, origin: Origin) -> Origin | None:
    """Return the proxy for an address, or None. Raises UsageError if it is not an http address."""
    if origin.loopback:
        return None
    url, where = service.proxy, "schema.registry.proxy"
    if not url:
        from urllib.request import getproxies, proxy_bypass

        parts = urlsplit(origin.url)
        url, where = getproxies().get(parts.scheme, ""), f"{parts.scheme.upper()}_PROXY"
        if not url or proxy_bypass(parts.netloc):
            return None
    return proxy_at(url, where)


def _retry_after(answer: Answer) -> float:
    """Return the number of seconds that the server asks us to wait."""
    try:
        return max(0.0, Retry().parse_retry_after(answer.headers.get("retry-after", "0")))
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0

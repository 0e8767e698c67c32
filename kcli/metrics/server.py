"""Prometheus metrics: text format 0.0.4 and a small HTTP server for it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import asynccontextmanager

from kcli.errors import OPTION, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

HEAD_LIMIT = 5.0  # seconds a client has to send its request
Labels = tuple[tuple[str, object], ...]
Rows = list[tuple[Labels, float]]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def address(text: str) -> tuple[str, int]:
    """Parse [HOST]:PORT or PORT; without a host, only this machine is served. Raises UsageError."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) < 65536:
        raise UsageError(f"prometheus {text}: expected [HOST]:PORT, such as :9308").hinted(OPTION)
    return host.strip("[]") or "127.0.0.1", int(port)


@asynccontextmanager
async def listening(host: str, port: int, page: Callable[[], str]) -> AsyncIterator[str]:
    """Serve the current `page()` over HTTP, and yield the URL. Raises UsageError if the address cannot be bound."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_LIMIT):
                first = await reader.readline()
                while (await reader.readline()).strip():
                    pass
            writer.write(reply(first.decode("latin-1"), page()))
            await writer.drain()
        except (TimeoutError, OSError, ValueError):
            return  # the client disconnected or sent no request in time
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(answer, host, port)
    except OSError as problem:
        refused = UsageError(f"prometheus {host}:{port}: cannot listen there ({problem.strerror})")
        raise refused.hinted(OPTION) from problem
    async with server:
        bound = server.sockets[0].getsockname()
        yield f"http://{bound[0]}:{bound[1]}/metrics"


def reply(line: str, page: str) -> bytes:
    """Return the response to a request line."""
    method, _, rest = line.partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    status, kind, body = "200 OK", CONTENT_TYPE, page
    if method not in ("GET", "HEAD"):
        status, kind, body = "405 Method Not Allowed", "text/plain", "only GET\n"
    elif path == "/":
        kind, body = "text/html", '<a href="/metrics">metrics</a>\n'
    elif path != "/metrics":
        status, kind, body = "404 Not Found", "text/plain", "metrics are at /metrics\n"
    elif not page:
        status, kind, body = "503 Service Unavailable", "text/plain", "the first refresh is not done yet\n"
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    return head.encode() + (b"" if method == "HEAD" else data)


def page(rows: Mapping[str, Rows], described: Mapping[str, str], counters: Collection[str] = ()) -> str:
    """Return the page: all metrics that have rows, with their descriptions (`described`). All except `counters` are
    gauges."""
    kinds = {name: "counter" if name in counters else "gauge" for name in rows}
    return "".join(_metric(name, described[name], kinds[name], some) for name, some in rows.items() if some)


def _metric(name: str, sentence: str, kind: str, rows: Iterable[tuple[Labels, float]]) -> str:
    lines = [f"# HELP {name} {sentence}", f"# TYPE {name} {kind}"]
    for labels, value in rows:
        inner = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels)
        lines.append(f"{name}{{{inner}}} {value:.15g}" if inner else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

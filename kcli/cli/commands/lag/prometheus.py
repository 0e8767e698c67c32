"""`kcli lag --prometheus :9308`: the newest snapshot over HTTP, for Prometheus to fetch."""

from __future__ import annotations

import asyncio

from kcli.cli.commands.lag.report import complain_of
from kcli.cli.output.messages import complain
from kcli.cli.output.refreshes import News
from kcli.errors import UsageError
from kcli.lag.formats.prometheus import CONTENT_TYPE, failed, nothing, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kcli.cli.commands.lag.plan import Plan
    from kcli.cli.runtime.signals import Stop
    from kcli.lag.watch import LagSnapshot

HEAD_LIMIT = 5.0  # seconds a client may take to say what it wants


async def serve(plan: Plan, stop: Stop, snapshots: Callable[[Callable[[], None]], AsyncIterator[LagSnapshot]]) -> int:
    """Refresh and serve until stopped; `snapshots` calls its argument for each refresh that fails. Raises UsageError
    for an address that cannot be listened on."""
    page = {"text": ""}
    since, news = 0.0, News()

    def lost() -> None:
        page["text"] = failed(since)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_LIMIT):
                first = await reader.readline()
                while (await reader.readline()).strip():
                    pass
            writer.write(reply(first.decode("latin-1"), page["text"]))
            await writer.drain()
        except (TimeoutError, OSError, ValueError):
            return  # whoever asked is gone, or never said what it wanted
        finally:
            writer.close()

    assert plan.prometheus is not None
    host, port = plan.prometheus
    try:
        server = await asyncio.start_server(answer, host, port)
    except OSError as problem:
        raise UsageError(f"--prometheus {host}:{port}: cannot listen there ({problem.strerror})") from problem
    async with server:
        bound = server.sockets[0].getsockname()
        complain(f"metrics at http://{bound[0]}:{bound[1]}/metrics")
        async for snapshot in snapshots(lost):
            complain_of(plan, snapshot, news)
            if nothing(snapshot):
                lost()
                continue
            since = snapshot.time
            page["text"] = render(snapshot)
    return 0


def reply(line: str, page: str) -> bytes:
    """The answer to one request line."""
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

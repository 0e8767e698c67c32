"""A web server on this machine that runs the dashboard for a browser, a process a session."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import shlex
import socket
import sys
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

LOOPBACK = "127.0.0.1"
FOCUS = """<script>
new MutationObserver(() => document.querySelector(".xterm-helper-textarea")?.focus())
  .observe(document.body, {attributes: true, attributeFilter: ["class"]})
</script>
"""
"""Keys go to the dashboard from the first picture on: without it one would have to click into it."""
TITLE = "<head>\n<title>kcli</title>"
SPLASH = re.compile(r"<svg.*?</svg>|<link[^>]*fonts\.googleapis[^>]*>|background-image: url\([^)]*\);", re.DOTALL)
"""What the page of textual-serve shows of Textual until the first picture, and a font from elsewhere."""
LEAVING = 3.0
"""Seconds that a session has to end when the server does."""
COOKIE = "kcli_session_{port}"
"""Its name: browsers send a cookie to every port of a host."""
FREE = 3.0
"""Seconds that a new session waits for one that ends: a page that is loaded again opens the new one first."""
TAKEN = "A session is open in another window: close it, then load this page again. --sessions 2 allows two."
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self' {websocket}; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""The page loads nothing from elsewhere, and is in no frame of another one."""


def listen(port: int) -> socket.socket:
    """A socket on loopback; port 0 is a free one. Raises OSError."""
    return socket.create_server((LOOPBACK, port))


async def application(gate: Gate, command: Sequence[str]) -> web.Application:
    """The routes of textual-serve behind the gate. Each session runs `command`."""
    server = Server(shlex.join(command), host=LOOPBACK, title="kcli", public_url=gate.origin)
    app = await server._make_app()
    app.on_startup.clear()  # which prints a logo

    async def through(request: web.Request, handler: Handler) -> web.StreamResponse:
        response = await gate.answer(request, handler)
        if isinstance(response, web.Response) and response.content_type == "text/html" and response.text:
            text = SPLASH.sub("", response.text).replace("<head>", TITLE).replace("#0c181f", "#121417")
            response.text = text.replace("</body>", f"{FOCUS}</body>")
        return response

    app.middlewares.append(web.middleware(through))
    return app


def serve(words: Sequence[str], port: int, sessions: int, tell: Callable[[str], object]) -> int:
    """Serve `kcli WORDS` until ctrl+c; `tell` gets the address. No request is logged: one of them has the token. Raises
    OSError where the port is taken."""
    with listen(port) as listening:
        gate = Gate(f"{LOOPBACK}:{listening.getsockname()[1]}", sessions, tell)
        tell(gate.address)
        command = [sys.executable, "-P", "-m", "kcli", *words]
        web.run_app(application(gate, command), sock=listening, access_log=None, print=None, shutdown_timeout=LEAVING)
    return 0


# The requests that a served dashboard answers: of this machine's browser that has the token, to this address, from its
# own page, and no more sessions than were asked for.
class Gate:
    """`host` is HOST:PORT of the address that is served, `sessions` how many may be open at a time. The token is needed
    once; then a cookie of this start, which no script can read, takes its place."""

    def __init__(self, host: str, sessions: int = 1, tell: Callable[[str], object] = print) -> None:
        self.host = host
        self.token = secrets.token_urlsafe(32)
        self._name = COOKIE.format(port=host.rpartition(":")[2])
        self._cookie = secrets.token_urlsafe(32)
        self._free = asyncio.Semaphore(sessions)
        self._tell = tell

    @property
    def origin(self) -> str:
        """Where its page comes from."""
        return f"http://{self.host}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"{self.origin}/?token={self.token}"

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer a request, or refuse it."""
        refusal = self._wrong_place(request)
        if refusal:
            return web.Response(status=403, text=refusal)
        given = request.query.get("token")
        if given is not None and request.path == "/":
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                return web.Response(status=403, text="The token is wrong. Open the address that kcli printed.\n")
            moved = web.Response(status=303, headers={"Location": "/", "Referrer-Policy": "no-referrer"})
            moved.set_cookie(self._name, self._cookie, httponly=True, samesite="Strict", path="/")
            return moved
        if not hmac.compare_digest(request.cookies.get(self._name, "").encode(), self._cookie.encode()):
            return web.Response(status=403, text="The token is missing. Open the address that kcli printed.\n")
        if request.path == "/ws":
            return await self._session(request, handler)
        response = await handler(request)
        for name, value in HEADERS.items():
            response.headers[name] = value.format(websocket=f"ws://{self.host}")
        return response

    def _wrong_place(self, request: web.Request) -> str:
        """Why the request is none of our own page: another name of this machine (DNS rebinding), another page."""
        if request.host != self.host:
            return f"This dashboard is at {self.host} only.\n"
        origin = request.headers.get("Origin")
        if origin not in (None, self.origin) or (origin is None and request.path == "/ws"):
            return "This request comes from another page.\n"
        return ""

    async def _session(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            async with asyncio.timeout(FREE):
                await self._free.acquire()
        except TimeoutError:
            self._tell("a second session was refused; --sessions 2 allows it")
            return await _said(request, TAKEN)
        try:
            return await handler(request)
        finally:
            self._free.release()


async def _said(request: web.Request, sentence: str) -> web.StreamResponse:
    """Show a sentence where the session would be, until the page is left: of a refused socket it shows nothing, of one
    that was closed only that."""
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_bytes(f"\r\n  {sentence}\r\n".encode())
    async for _ in socket:
        pass
    return socket

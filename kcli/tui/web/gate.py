"""The requests that a served dashboard answers: of this machine's browser that has the token, to this address, from its
own page, and no more sessions than were asked for."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

COOKIE = "kcli_session"
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


class Gate:
    """`host` is HOST:PORT of the address that is served, `sessions` how many may be open at a time. The token is needed
    once; then a cookie of this start, which no script can read, takes its place."""

    def __init__(self, host: str, sessions: int = 1, tell: Callable[[str], object] = print) -> None:
        self.host = host
        self.token = secrets.token_urlsafe(32)
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
            moved.set_cookie(COOKIE, self._cookie, httponly=True, samesite="Strict", path="/")
            return moved
        if not hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self._cookie.encode()):
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

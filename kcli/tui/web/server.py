"""A web server on this machine that runs the dashboard for a browser, a process a session."""

from __future__ import annotations

import shlex
import socket
import sys
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

from kcli.tui.web.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.tui.web.gate import Handler

LOOPBACK = "127.0.0.1"
FOCUS = """<script>
new MutationObserver(() => document.querySelector(".xterm-helper-textarea")?.focus())
  .observe(document.body, {attributes: true, attributeFilter: ["class"]})
</script>
"""
"""Keys go to the dashboard from the first picture on: without it one would have to click into it."""
LEAVING = 3.0
"""Seconds that a session has to end when the server does."""


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
            response.text = response.text.replace("</body>", f"{FOCUS}</body>")
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

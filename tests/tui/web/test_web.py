"""`kcli tui --web`: the browser with the token gets the dashboard, read-only; nothing else gets anything."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kcli.sandbox.thread import SandboxThread

pytestmark = pytest.mark.usefixtures("seeded")
START = 30.0
ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Served:
    """A server process: `lines` are all that it printed."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.origin = address.partition("/?")[0]
        self.host = self.origin.removeprefix("http://")
        self.lines: list[str] = []

    def browser(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    def socket(self, browser: aiohttp.ClientSession, **headers: str) -> Any:
        there = {"Origin": self.origin, **headers}
        return browser.ws_connect(f"{self.origin}/ws?width=110&height=32", headers=there, max_msg_size=0)


@contextlib.asynccontextmanager
async def served(bootstrap: str, *words: str) -> AsyncIterator[Served]:
    command = [sys.executable, "-m", "kcli", "tui", "--web", "-b", bootstrap, "--interval", "1s", *words]
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env={**os.environ, "TERM": "xterm"}
    )
    assert process.stdout is not None
    async with asyncio.timeout(START):
        server = Served((await process.stdout.readline()).decode().strip())

    async def read(lines: asyncio.StreamReader) -> None:
        while line := await lines.readline():
            server.lines.append(line.decode())

    reading = asyncio.create_task(read(process.stdout))
    try:
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(START):
            await process.wait()
            await reading
    assert process.returncode == 0, server.lines


async def screen(socket: Any, words: str) -> str:
    """Read what the session draws until these words are in it."""
    text = ""
    async with asyncio.timeout(START):
        while words not in text:
            message = await socket.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), (message, text)
            data = message.data
            text += ANSI.sub("", data.decode("utf-8", "replace") if isinstance(data, bytes) else data)
    return text


async def test_the_page_of_the_token_shows_the_dashboard_and_changes_nothing(seeded: SandboxThread) -> None:
    async with served(seeded.bootstrap) as server, server.browser() as browser:
        async with browser.get(server.address) as page:
            assert ".focus()" in await page.text(), "keys go to the dashboard without a click"
            assert "<title>kcli</title>" in await page.text()
            for foreign in ("<svg", "googleapis", "Textual Application", "background.png"):
                assert foreign not in await page.text()
            assert page.status == 200
            assert str(page.url) == f"{server.origin}/", "the token is in no history"
            assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
            assert page.headers["Referrer-Policy"] == "no-referrer"
            cookie = page.history[0].headers["Set-Cookie"]
            assert cookie.startswith(f"kcli_session_{server.host.partition(':')[2]}="), (
                "a browser has one jar for all ports"
            )
            assert "HttpOnly" in cookie
            assert "SameSite=Strict" in cookie
        async with server.socket(browser) as socket:
            await screen(socket, "fraud")
            await socket.send_json(["stdin", "n"])
            await screen(socket, "This session is read-only")
    token = server.address.partition("token=")[2]
    assert token
    assert not any(token in line for line in server.lines), "it is printed once and logged nowhere"


async def test_without_the_token_from_elsewhere_or_by_another_name_there_is_nothing(seeded: SandboxThread) -> None:
    async with served(seeded.bootstrap) as server:
        async with server.browser() as stranger:
            for path in ("/", "/?token=wrong", "/ws", "/static/js/textual.js"):
                async with stranger.get(f"{server.origin}{path}", headers={"Origin": server.origin}) as answer:
                    assert answer.status == 403, path
        async with server.browser() as browser:
            async with browser.get(server.address) as page:
                assert page.status == 200
            for headers in (
                {"Host": f"localhost.evil.example:{server.host.partition(':')[2]}"},
                {"Host": "evil.example"},
            ):
                async with browser.get(server.origin, headers=headers) as answer:
                    assert answer.status == 403
                    assert f"at {server.host} only" in await answer.text()
            for origin in ("http://evil.example", "null", "https://127.0.0.1"):
                with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                    async with server.socket(browser, Origin=origin):
                        pass
            with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
                async with browser.ws_connect(f"{server.origin}/ws"):
                    pass


@pytest.mark.long
async def test_a_second_session_is_refused_until_the_first_has_ended(seeded: SandboxThread) -> None:
    async with served(seeded.bootstrap) as server, server.browser() as browser:
        async with browser.get(server.address):
            pass
        async with server.socket(browser) as first:
            await screen(first, "fraud")
            async with server.socket(browser) as refused:
                assert b"open in another window" in (await refused.receive()).data
        async with server.socket(browser) as second:
            await screen(second, "fraud")
    assert any("--sessions 2 allows it" in line for line in server.lines)


@pytest.mark.long
async def test_two_sessions_and_changes_where_they_were_asked_for(seeded: SandboxThread) -> None:
    async with served(seeded.bootstrap, "--sessions", "2", "--writable") as server, server.browser() as browser:
        async with browser.get(server.address):
            pass
        async with server.socket(browser) as first, server.socket(browser) as second:
            await screen(first, "fraud")
            await screen(second, "fraud")
            await second.send_json(["stdin", "n"])
            await screen(second, "Produce a record")

"""The one HTTP client: forty broken answers to everything that uses it, proxies, gzip, limits, logins, retries."""

from __future__ import annotations

import ast
import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import kcli
from kcli.errors import AuthError, ConnectError, KcliError, UsageError
from kcli.registry.apis.apicurio import ApicurioSchemas
from kcli.registry.apis.azure import AzureClient
from kcli.registry.apis.glue import GlueClient
from kcli.registry.client import RegistryClient
from kcli.registry.settings import RegistrySettings
from kcli.secret import Secret
from kcli.security import OAuth
from kcli.security.http import NotInTime, Origin, Service, TooLarge, Unavailable, WrongAddress
from kcli.security.http_client import HttpClient
from kcli.security.tokens import Tokens
from kcli.tui.alerts.alerting import Alert, post
from tests.each import each
from tests.registry.scripted import Hang, Say, Scripted, Step, answer, nobody, raw, refusal

CANARY = "hunter2-of-the-server"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
BOMB = gzip.compress(bytes(64 * 1024 * 1024))


def packed(body: bytes, encoding: str = "gzip") -> bytes:
    return raw(body, Content_Encoding=encoding)


BROKEN: dict[str, Step] = {
    "nothing": Say(b""),
    "another protocol": Say(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a TLS alert": Say(b"\x15\x03\x01\x00\x02\x02\x28"),
    "zeros": Say(bytes(5000)),
    "a broker's answer": Say(b"\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x23\x00\x00\x00\x00"),
    "half a status line": Say(b"HTTP/1."),
    "a status that is no number": Say(b"HTTP/1.1 abc\r\n\r\n"),
    "a status of four digits": Say(b"HTTP/1.1 2000 OK\r\n\r\n"),
    "a negative status": Say(b"HTTP/1.1 -20 OK\r\n\r\n"),
    "a version of its own": Say(b"HTTP/7.3 200 OK\r\n\r\n{}"),
    "a status line above 64 KiB": Say(b"HTTP/1.1 200 " + b"O" * 70_000 + b"\r\n\r\n{}"),
    "a header above 64 KiB": Say(OK + b"X: " + b"y" * 70_000 + b"\r\n\r\n{}"),
    "500 headers": Say(OK + b"X: y\r\n" * 500 + b"\r\n{}"),
    "headers that never end": Say(OK + b"X: y\r\n"),
    "a header without a colon": Say(OK + b"nonsense\r\nContent-Length: 2\r\n\r\n[}"),
    "a header with an escape": Say(OK + b"Content-Type: \x1b[31mred\r\nContent-Length: 1\r\n\r\n["),
    "a header that is not ASCII": Say(OK + b"Content-Type: \xff\xfe\r\nContent-Length: 1\r\n\r\n["),
    "a body cut off": Say(OK + b'Content-Length: 50\r\n\r\n["'),
    "a 401 cut off": Say(b'HTTP/1.1 401 No\r\nContent-Length: 500\r\n\r\n{"message": "no'),
    "a 503 cut off": Say(b"HTTP/1.1 503 No\r\nContent-Length: 500\r\n\r\n"),
    "a length that is no number": Say(OK + b"Content-Length: ten\r\n\r\n["),
    "a negative length": Say(OK + b"Content-Length: -5\r\n\r\n["),
    "two lengths": Say(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n[]"),
    "a length of 2^70": Say(OK + b"Content-Length: 1180591620717411303424\r\n\r\n[]"),
    "a chunk of size -5": Say(CHUNKED + b"-5\r\n[]\r\n0\r\n\r\n"),
    "a chunk of size -1": Say(CHUNKED + b"-1\r\n[]\r\n0\r\n\r\n"),
    "a chunk size that is no number": Say(CHUNKED + b"zz\r\n[]\r\n0\r\n\r\n"),
    "a chunk size above 64 KiB": Say(CHUNKED + b"1" * 70_000 + b"\r\n[]"),
    "a chunk of size 2^70": Say(CHUNKED + b"400000000000000000\r\n[]"),
    "a chunk cut off": Say(CHUNKED + b"50\r\n["),
    "trailers that are no trailers": Say(CHUNKED + b"1\r\n[\r\n0\r\n" + b"y" * 70_000),
    "an unknown transfer encoding": Say(OK + b"Transfer-Encoding: rot13\r\n\r\n["),
    "gzip that is none": packed(b"[]"),
    "gzip cut off": packed(gzip.compress(b"[" * 100_000)[:60]),
    "gzip of gzip of gzip": packed(gzip.compress(gzip.compress(gzip.compress(b"["))), "gzip, gzip, gzip"),
    "a hundred encodings": packed(b"[", ", ".join(["gzip"] * 100)),
    "a gzip bomb": packed(BOMB),
    "a deflate bomb": packed(zlib.compress(bytes(64 * 1024 * 1024)), "deflate"),
    "JSON that is too deep": raw(b"[" * 100_000),
    "a number of 5,000 digits": raw(b"1" * 5000),
    "an unpaired surrogate": raw(b'"\\ud800"'),
    "bytes that are no text": raw(b"\xff\xfe\x00"),
    "a page of HTML": raw(b"<html>\x1b]52;c;x\x07login</html>", Content_Type="text/html"),
    "a redirect": raw(b"", 302, Location="http://127.0.0.1:1/\x1b[31msteal"),
    "a redirect without an address": raw(b"", 308),
    "a 500 of a megabyte": raw(b"x\x1b[31m" * 200_000, 500),
    "a 403 with our secret": refusal(403, 40301, f"no {CANARY} \x1b[31m" + "word " * 5000),
    "switching protocols": Say(b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n"),
    "silence": Hang(2),
    "a second answer": Say(raw(b"[") + raw(b"[")),
}

Client = Callable[[str], Awaitable[object]]


def settings(url: str, **given: object) -> RegistrySettings:
    login = Origin(url=url, user="me", password=Secret(CANARY))
    fast = {"read_timeout": 0.5, "retries": 1, "retry_backoff": 0.01, "retry_backoff_max": 0.02}
    return RegistrySettings(origins=(login,), credentials="basic.auth.user.info").replace(**fast | given)


async def _closing(client: RegistryClient | ApicurioSchemas, asked: Awaitable[object]) -> object:
    try:
        return await asked
    finally:
        await client.close()


async def registry(url: str) -> object:
    client = RegistryClient(settings(url))
    return await _closing(client, client.subjects())


async def deletion(url: str) -> object:
    client = RegistryClient(settings(url))
    return await _closing(client, client.delete_subject("a"))


async def apicurio(url: str) -> object:
    client = ApicurioSchemas(settings(f"{url}/apis/ccompat/v7"))
    return await _closing(client, client.by_global_id(7))


async def azure(url: str) -> object:
    client = AzureClient(settings(url, kind="azure", azure_group="g"))
    return await _closing(client, client.versions("a"))


async def glue(url: str) -> object:
    client = GlueClient(settings(url, kind="glue", glue_region="eu-west-1"))
    return await _closing(client, client.subjects())


async def oidc(url: str) -> object:
    oauth = OAuth(token_endpoint=f"{url}/token", client_id="me", client_secret=Secret(CANARY), timeout=0.5)
    return await Tokens(oauth).token()


async def webhook(url: str) -> object:
    alert = Alert("billing", "ok", "stuck", 7, 9.0, "a reader does not move")
    await post(url.replace("://", f"://me:{CANARY}@") + "/secret", "prod", alert)
    return None


CLIENTS: list[Client] = [registry, deletion, apicurio, azure, glue, oidc, webhook]
ANYTHING = (apicurio, webhook)
"""Clients that take any text for an answer."""


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", CANARY)
    monkeypatch.setattr("kcli.tui.alerts.alerting.SECONDS", 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
async def test_forty_broken_answers_end_in_one_sentence(client: Client, aws: None) -> None:
    assert len(BROKEN) >= 40
    wrong = []
    for name, step in BROKEN.items():
        with Scripted(step) as server:
            try:
                await asyncio.wait_for(client(server.url), 20)
                sentence = "" if client in ANYTHING else "it was taken for an answer"
            except KcliError as problem:
                text = str(problem)
                plain = text.isprintable() and 10 < len(text) < 700 and CANARY not in text
                sentence = "" if plain and problem.exit_code in (1, 5) else f"{problem.exit_code}: {text[:800]!r}"
            except Exception as problem:  # noqa: BLE001 each is a failure of the test
                sentence = repr(problem)
            if sentence:
                wrong.append(f"{name}: {sentence}")
    assert not wrong, "\n".join(wrong)


def test_nothing_else_of_kcli_sends_http() -> None:
    banned = ("http.client", "urllib.request", "urllib3", "requests", "httpx", "aiohttp")
    found = set()
    root = Path(kcli.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if any(one in text for one in banned) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            if any(name == one or name.startswith(f"{one}.") for name in names for one in banned):
                found.add(str(path.relative_to(root)))
    servers = {"sandbox/registry/rest/http.py", "tui/web.py"}
    pyiceberg = {"pipeline/jobs/lake/catalogs.py"}  # errors of its client
    assert found - servers - pyiceberg == {"security/http_client.py"}


# -- one request -------------------------------------------------------------------------------------------------------


def refused(given: object, about: str, url: str, shown: str) -> KcliError:
    status = given.status  # type: ignore[attr-defined]
    return Unavailable(f"{url} said {status}", status=status) if status >= 429 else AuthError(f"{url} said {status}")


async def get(url: str, path: str = "/x", **given: object) -> bytes:
    fast: dict[str, object] = {"retry_backoff": 0.01, "retry_backoff_max": 0.02}
    origins = (Origin(url=url),)
    client = HttpClient(Service(origins=origins).replace(**fast | given), None, refused)
    try:
        return (await client.request("GET", path, repeat=True)).body
    finally:
        await client.close()


async def test_gzip_is_asked_for_and_unpacked_up_to_a_limit() -> None:
    with Scripted(packed(gzip.compress(b"word " * 10_000))) as server:
        assert await get(server.url) == b"word " * 10_000
        assert server.asked[0].headers["accept-encoding"] == "gzip"
        with pytest.raises(TooLarge, match=r"the answer is larger than 10,000 bytes; it is not used"):
            await get(server.url, largest=10_000)


async def test_a_busy_server_is_asked_again_when_it_says() -> None:
    with Scripted(refusal(429, None, Retry_After="1"), refusal(503, None), answer([])) as server:
        begun = asyncio.get_running_loop().time()
        assert await get(server.url) == b"[]"
        assert asyncio.get_running_loop().time() - begun >= 1
    for later in ("86400", "9" * 1000, "Fri, 31 Dec 9999 23:59:59 GMT"):
        with Scripted(refusal(429, None, Retry_After=later)) as server:
            with pytest.raises(Unavailable):
                await get(server.url)
            assert len(server.asked) == 1
    with Scripted(refusal(429, None, Retry_After="soon"), answer([])) as server:
        assert await get(server.url) == b"[]"


async def test_a_header_that_would_be_two_is_not_sent() -> None:
    with Scripted(answer([])) as server:
        client = HttpClient(Service(origins=(Origin(url=server.url),)), None, refused)
        with pytest.raises(UsageError, match=r"Odd may only contain printable ASCII characters$") as problem:
            await client.request("GET", "/", repeat=True, headers={"Odd": f"a\r\n{CANARY}"})
        await client.close()
        assert server.asked == []
    assert CANARY not in str(problem.value)


@each("url", ["http://no.such.host.invalid", "http://" + "a" * 80 + ".test", nobody()])
async def test_an_address_that_nobody_has(url: str) -> None:
    with pytest.raises(ConnectError, match="cannot be reached: ") as problem:
        await get(url, retries=0)
    assert not problem.value.sent


# -- proxies -----------------------------------------------------------------------------------------------------------

FAR = "http://registry.test:8081"


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


async def test_a_proxy_of_the_environment(environment: pytest.MonkeyPatch) -> None:
    with Scripted(answer(["by proxy"])) as proxy:
        environment.setenv("HTTP_PROXY", proxy.url.replace("://", f"://me:{CANARY}@"))
        assert await get(FAR) == b'["by proxy"]'
        asked = proxy.asked[0]
        assert (asked.path, asked.headers["host"]) == (f"{FAR}/x", "registry.test:8081")
        assert asked.headers["proxy-authorization"].startswith("Basic ")
        environment.setenv("NO_PROXY", "localhost,.test")
        with pytest.raises(ConnectError, match="cannot be reached"):
            await get(FAR, retries=0)
        assert len(proxy.asked) == 1


async def test_a_proxy_of_the_settings_goes_before_the_environment(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", nobody())
    environment.setenv("NO_PROXY", "*")
    with Scripted(answer([])) as proxy:
        assert await get(FAR, proxy=proxy.url) == b"[]"
        assert "proxy-authorization" not in proxy.asked[0].headers


async def test_https_goes_through_a_tunnel(environment: pytest.MonkeyPatch) -> None:
    with Scripted(Say(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")) as proxy:
        environment.setenv("HTTPS_PROXY", proxy.url)
        with pytest.raises(
            ConnectError, match=rf"the proxy {proxy.url} could not connect to " rf"https://registry.test: .*407"
        ):
            await get("https://registry.test", retries=0)
        assert (proxy.asked[0].method, proxy.asked[0].path) == ("CONNECT", "registry.test:443")
        assert "authorization" not in proxy.asked[0].headers


async def test_a_proxy_that_is_away_is_named(environment: pytest.MonkeyPatch) -> None:
    away = nobody()
    with pytest.raises(ConnectError, match=f"the proxy {away} could not connect to {FAR}: Connection refused"):
        await get(FAR, proxy=away, retries=0)


async def test_this_machine_is_reached_without_a_proxy(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", nobody())
    with Scripted(answer([])) as server:
        assert await get(server.url) == b"[]"


@each("wrong", ["socks5://h:1080", f"http://me:{CANARY}@h:port", "http://", f"http://me:{CANARY}/@h:1"])
async def test_a_proxy_that_is_no_address(wrong: str, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HTTP_PROXY", wrong)
    with pytest.raises(UsageError, match="HTTP_PROXY is http://HOST:PORT or https://HOST:PORT") as problem:
        await get(FAR)
    assert CANARY not in str(problem.value)


# -- token URLs --------------------------------------------------------------------------------------------------------


@each(
    "url", [f"https://me:{CANARY}@idp.test/token", f"http://me:{CANARY}@localhost/token", f"https://me:{CANARY}/x@idp"]
)
def test_a_token_url_with_a_login_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(UsageError) as problem:
        Tokens(OAuth(token_endpoint=url, client_id="c", client_secret=Secret("s")))
    assert CANARY not in str(problem.value)


async def test_the_query_of_a_token_url_is_sent() -> None:
    with Scripted(answer({"access_token": "t"})) as server:
        oauth = OAuth(token_endpoint=f"{server.url}/token?p=policy", client_id="c", client_secret=Secret("s"))
        assert await Tokens(oauth).token() == "t"
        assert server.paths() == ["/token?p=policy"]


async def test_a_token_url_that_is_silent_costs_one_time_out() -> None:
    with Scripted(Hang(5)) as server:
        oauth = OAuth(token_endpoint=server.url, client_id="c", client_secret=Secret("s"), timeout=0.2)
        with pytest.raises(NotInTime, match=f"the token URL {server.url} did not answer within 0.2 s"):
            await Tokens(oauth).token()
        assert len(server.asked) == 1


def test_a_redirect_is_an_error_that_needs_another_address() -> None:
    assert not WrongAddress("x").retriable

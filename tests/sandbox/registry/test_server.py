"""The port of the sandbox's registry: what HTTP clients may do to it, who is let in, and the faults it can have."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from kcli.errors import UsageError
from kcli.sandbox import Sandbox
from kcli.sandbox.access.tls import make_certificates
from kcli.sandbox.registry.rest import server
from kcli.sandbox.thread import SandboxThread
from tests.sandbox.registry.asking import INT, ask, raw, register

HOST = b"Host: x\r\n\r\n"
BODY = json.dumps({"schema": '"int"'}).encode()
POST = b"POST /subjects/s/versions HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET /subjects HTTP/2.0\r\n" + HOST, 400),
        (b"GET subjects HTTP/1.1\r\n" + HOST, 400),
        (b"PATCH /subjects HTTP/1.1\r\n" + HOST, 501),
        (b"GET /subjects HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET /subjects HTTP/1.1\r\n name: x\r\n\r\n", 400),
        (b"GET /subjects HTTP/1.1\r\n" + b"a: b\r\n" * 101 + b"\r\n", 431),
        (b"GET /subjects HTTP/1.1\r\na: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (POST + b"Content-Length: x\r\n\r\n", 400),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 400),
        (POST + b"Content-Length: 99999999999999999999\r\n\r\n", 413),
        (POST + b"Content-Length: 16777217\r\n\r\n", 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1000001\r\n", 413),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nabc", 400),
    ],
)
async def test_a_malformed_request_is_answered_once_and_ends_the_connection(data: bytes, status: int) -> None:
    async with Sandbox(registry=True) as sandbox:
        said = await raw(sandbox.registry_url, data)
        assert said.startswith(f"HTTP/1.1 {status} ".encode()), said
        assert b"Connection: close" in said
        assert said.count(b"HTTP/1.1 ") == 1
        assert b'"error_code":' in said


@pytest.mark.parametrize("data", [b"", b"GET /sub", POST + b"Content-Length: 9\r\n\r\n{", b"\xff" * 100])
async def test_whoever_leaves_in_the_middle_is_forgotten(data: bytes) -> None:
    async with Sandbox(registry=True) as sandbox:
        await raw(sandbox.registry_url, data)
        assert (await raw(sandbox.registry_url, b"GET /subjects HTTP/1.0\r\n\r\n")).endswith(b"[]")


async def test_requests_follow_one_another_on_a_connection() -> None:
    chunked = b"Transfer-Encoding: chunked\r\n\r\n%x;a=b\r\n%s\r\n0\r\nx: y\r\n\r\n" % (len(BODY), BODY)
    plain = b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
    last = b"HEAD /subjects HTTP/1.1\r\nConnection: close\r\n\r\n"
    async with Sandbox(registry=True) as sandbox:
        said = await raw(sandbox.registry_url, POST + chunked + POST + plain + last, rest=False)
    assert said.count(b"HTTP/1.1 200 OK") == 3
    assert said.count(b"HTTP/1.1 100 Continue") == 1
    assert said.count(b'"id":1') == 2
    assert said.endswith(b"Content-Length: 5\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("data", [b"", b"GET /subjects HTTP/1.1\r\n", POST + b"Content-Length: 100\r\n\r\nabc"])
async def test_whoever_says_nothing_more_is_cut_off(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE", 0.1)
    monkeypatch.setattr(server, "PATIENCE", 0.1)
    async with Sandbox(registry=True) as sandbox:
        assert await raw(sandbox.registry_url, data, rest=False) == b""


async def test_the_connection_that_is_idle_for_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST", 3)
    async with Sandbox(registry=True) as sandbox:
        host, port = sandbox.registry_url.removeprefix("http://").split(":")
        links = []
        for _ in range(5):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"GET /subjects HTTP/1.1\r\n\r\n")
            assert (await reader.readuntil(b"[]")).startswith(b"HTTP/1.1 200")
            links.append((reader, writer))
        with contextlib.suppress(ConnectionError):  # closed or reset, as it comes
            assert await asyncio.wait_for(links[0][0].read(), 10) == b""
        links[-1][1].write(b"GET /subjects HTTP/1.1\r\n\r\n")
        assert (await links[-1][0].readuntil(b"[]")).startswith(b"HTTP/1.1 200")
        for _, writer in links:
            writer.close()


async def test_bodies_that_are_being_read_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_BODIES", 10)
    async with Sandbox(registry=True) as sandbox:
        said = await raw(sandbox.registry_url, POST + b"Content-Length: 11\r\n\r\n" + b"x" * 11)
    assert said.startswith(b"HTTP/1.1 503")


def test_users_of_the_brokers_are_users_of_the_registry() -> None:
    def basic(words: str) -> str:
        return f"Basic {base64.b64encode(words.encode()).decode()}"

    with SandboxThread(registry=True, sasl={"me": "wörd"}) as sandbox:
        url = sandbox.registry_url
        assert ask(url, "GET", "/subjects", Authorization=basic("me:wörd")) == (200, [])
        for wrong in (basic("me:other"), basic("you:wörd"), basic("me"), "Basic ?", "Bearer x", ""):
            assert ask(url, "GET", "/subjects", Authorization=wrong) == (
                401, {"error_code": 401, "message": "Unauthorized"},
            )  # fmt: skip


def test_with_tls_the_registry_speaks_it_too(tmp_path: Path) -> None:
    tls = make_certificates(tmp_path)
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    with SandboxThread(registry=True, tls=tls, advertised="localhost") as sandbox:
        assert sandbox.registry_url.startswith("https://localhost:")
        with urlopen(f"{sandbox.registry_url}/subjects", context=context, timeout=20) as answer:
            assert answer.read() == b"[]"


def test_a_sandbox_without_a_registry_has_no_such_faults() -> None:
    with SandboxThread() as sandbox:
        assert sandbox.registry_url == ""
        with pytest.raises(UsageError, match="this sandbox has no registry"):
            sandbox.faults.registry.fail_registry(500)


def test_faults_of_a_registry_happen_and_run_out() -> None:
    with SandboxThread(registry=True) as sandbox:
        url, faults = sandbox.registry_url, sandbox.faults.registry
        register(url, "s", INT)
        faults.fail_registry(500, path="/schemas/ids", times=2)
        faults.fail_registry(404)
        assert [row["fault"] for row in sandbox.call(lambda inside: inside.faults.waiting())] == ["fail_registry"] * 2
        assert sandbox.call(lambda inside: inside.faults.pending) == 3
        assert ask(url, "GET", "/subjects") == (
            404, {"error_code": 40403, "message": "the sandbox was asked to refuse this"},
        )  # fmt: skip
        assert [ask(url, "GET", "/schemas/ids/1")[0] for _ in range(3)] == [500, 500, 200]
        faults.wrong_schema(1)
        assert json.loads(ask(url, "GET", "/schemas/ids/1")[1]["schema"])["name"] == "Wrong"
        assert ask(url, "GET", "/schemas/ids/1")[1]["schema"] == INT
        faults.delay_registry(0.3)
        began = time.perf_counter()
        assert ask(url, "GET", "/subjects")[0] == 200
        assert time.perf_counter() - began >= 0.3
        faults.fail_registry(401, times=9)
        sandbox.faults.clear()
        assert ask(url, "GET", "/subjects")[0] == 200
        with pytest.raises(UsageError, match="from 400 to 599"):
            faults.fail_registry(200)


@pytest.mark.kcli_sandbox(registry=True, topics={"orders": 3})
def test_the_fixture_takes_settings(sandbox: SandboxThread) -> None:
    assert ask(sandbox.registry_url, "GET", "/subjects") == (200, [])
    assert sandbox.call(lambda inside: len(inside.topics.by_name["orders"].partitions)) == 3

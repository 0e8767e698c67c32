"""HTTP to a registry: what is retried and what is not, time-outs, redirects, hostile answers, logins, TLS."""

from __future__ import annotations

import asyncio
import random
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kcli.errors import AuthError, ConnectError, KcliError, TlsError, UsageError
from kcli.registry.client import RegistryClient
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Schema
from kcli.secret import Secret
from kcli.security import OAuth, Tls
from kcli.security import http_client as http
from kcli.security.http import NotInTime, Origin, Unavailable, WrongAddress
from tests.certificates import Authority
from tests.each import each
from tests.idp import Idp
from tests.registry.scripted import Hang, Say, Scripted, Step, Twice, answer, elapsed, nobody, raw, refusal

SUBJECTS = answer(["a"])
INT = Schema(text='"int"')


@asynccontextmanager
async def client(*urls: str, **given: object) -> AsyncIterator[RegistryClient]:
    """Of these addresses, with short pauses."""
    origins = tuple(Origin(url=url) for url in urls)
    settings = RegistrySettings(origins=origins, retry_backoff=0.01, retry_backoff_max=0.02).replace(**given)
    made = RegistryClient(settings)
    try:
        yield made
    finally:
        await made.close()


# -- connections -------------------------------------------------------------------------------------------------------


async def test_a_connection_is_kept() -> None:
    with Scripted(SUBJECTS) as server:
        async with client(server.url) as registry:
            for _ in range(5):
                assert await registry.subjects() == ["a"]
        assert server.connections == 1
        assert server.asked[0].headers["accept"] == "application/vnd.schemaregistry.v1+json, application/json;q=0.5"
        assert server.asked[0].headers["user-agent"].startswith("kcli/")


async def test_a_kept_connection_that_ended_is_replaced_without_a_word() -> None:
    with Scripted(Say(SUBJECTS), SUBJECTS) as server:
        async with client(server.url, retries=0) as registry:
            assert await registry.subjects() == ["a"]
            assert await registry.subjects() == ["a"]
        assert server.connections == 2


async def test_a_connection_that_ends_at_the_next_request_is_replaced() -> None:
    with Scripted(SUBJECTS, Say(b""), SUBJECTS) as server:
        async with client(server.url, retries=0) as registry:
            assert await registry.subjects() == ["a"]
            assert await registry.subjects() == ["a"]
        assert server.connections == 2


async def test_what_nobody_asked_for_is_no_answer_to_the_next_request() -> None:
    with Scripted(Twice(SUBJECTS, answer(["evil"])), SUBJECTS) as server:
        async with client(server.url) as registry:
            assert await registry.subjects() == ["a"]
            await asyncio.sleep(0.2)
            assert await registry.subjects() == ["a"]
        assert server.connections == 2


async def test_no_more_connections_at_once_than_a_few() -> None:
    with Scripted(SUBJECTS) as server:
        async with client(server.url) as registry:
            await asyncio.gather(*(registry.subjects() for _ in range(60)))
        assert server.connections <= http.AT_ONCE
        assert len(server.asked) == 60


async def test_an_answer_that_ends_with_its_connection() -> None:
    with Scripted(Say(b'HTTP/1.0 200 OK\r\n\r\n["old"]')) as server:
        async with client(server.url) as registry:
            assert await registry.subjects() == ["old"]
            assert await registry.subjects() == ["old"]


async def test_an_answer_in_chunks() -> None:
    chunks = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n["a\r\n2\r\n"]\r\n0\r\n\r\n'
    with Scripted(chunks) as server:
        async with client(server.url) as registry:
            assert await registry.subjects() == ["a"]
            assert await registry.subjects() == ["a"]
        assert server.connections == 1


# -- what is tried again -----------------------------------------------------------------------------------------------


@each("first", [*(refusal(status, None) for status in (408, 429, 500, 502, 503, 504)), refusal(500, 50004), Say(b"")])
async def test_a_read_is_tried_again(first: Step) -> None:
    with Scripted(first, first, SUBJECTS) as server:
        async with client(server.url) as registry:
            assert await registry.subjects() == ["a"]
        assert len(server.asked) == 3


async def test_a_registration_is_tried_again_it_is_idempotent() -> None:
    with Scripted(refusal(503, None), Say(b""), answer({"id": 7})) as server:
        async with client(server.url) as registry:
            assert (await registry.register("a", INT)).id == 7
        assert len(server.asked) == 3
        assert len({asked.body for asked in server.asked}) == 1


@each(
    "change",
    [
        lambda registry: registry.delete_subject("a"),
        lambda registry: registry.delete_version("a", 1),
        lambda registry: registry.set_level("FULL"),
        lambda registry: registry.delete_mode("a"),
        lambda registry: registry.delete_context(".c"),
    ],
)
async def test_a_deletion_is_never_sent_twice(change: Callable[[RegistryClient], AsyncIterator[object]]) -> None:
    for first in (refusal(503, None), Say(b"")):
        with Scripted(SUBJECTS, first, answer([1])) as server:
            async with client(server.url) as registry:
                await registry.subjects()  # a connection is kept, and not used: its end could not be told from a loss
                with pytest.raises(ConnectError) as problem:
                    await change(registry)  # type: ignore[misc]
            assert problem.value.sent
            assert len(server.asked) == 2
            assert server.connections == 2


async def test_a_deletion_that_may_have_been_done_is_not_sent_to_the_next_address() -> None:
    with Scripted(Say(b"")) as first, Scripted(answer([1])) as second:
        async with client(first.url, second.url) as registry:
            with pytest.raises(ConnectError) as problem:
                await registry.delete_subject("a")
        assert problem.value.sent
        assert second.asked == []


async def test_a_deletion_goes_to_the_next_address_when_nothing_was_sent() -> None:
    with Scripted(answer([1, 2])) as server:
        async with client(nobody(), server.url) as registry:
            assert await registry.delete_subject("a") == [1, 2]


async def test_addresses_are_tried_in_turn_and_the_last_good_one_is_kept() -> None:
    with Scripted(refusal(503, None)) as ill, Scripted(SUBJECTS) as well:
        async with client(nobody(), ill.url, well.url) as registry:
            for _ in range(3):
                assert await registry.subjects() == ["a"]
        assert len(ill.asked) == 1
        assert len(well.asked) == 3


async def test_after_the_last_try_the_error_is_told() -> None:
    with Scripted(refusal(503, 50004)) as server:
        async with client(server.url, retries=2) as registry:
            with pytest.raises(Unavailable, match=r"the registry has no leader now \(50004\)") as problem:
                await registry.subjects()
        assert len(server.asked) == 3
        assert problem.value.exit_code == 5


async def test_a_registry_may_say_how_long_to_wait() -> None:
    with Scripted(refusal(429, None, Retry_After="1"), SUBJECTS) as server:
        async with client(server.url) as registry:
            begun = time.monotonic()
            assert await registry.subjects() == ["a"]
            assert elapsed(begun) >= 1
    with Scripted(refusal(429, None, Retry_After="86400")) as server:
        async with client(server.url) as registry:
            with pytest.raises(Unavailable, match="HTTP 429"):
                await registry.subjects()
        assert len(server.asked) == 1


async def test_nobody_there() -> None:
    async with client(nobody()) as registry:
        with pytest.raises(
            ConnectError, match=r"http://127.0.0.1:\d+ cannot be reached: Connection refused"
        ) as problem:
            await registry.subjects()
    assert (problem.value.exit_code, problem.value.sent) == (5, False)
    async with client("http://no.such.host.invalid") as registry:
        with pytest.raises(ConnectError, match=r"http://no.such.host.invalid cannot be reached: "):
            await registry.subjects()


# -- time --------------------------------------------------------------------------------------------------------------


async def test_a_registry_that_never_answers_costs_one_time_out() -> None:
    with Scripted(Hang(10)) as server:
        async with client(server.url, read_timeout=0.3) as registry:
            begun = time.monotonic()
            with pytest.raises(NotInTime, match=r"did not answer within 0.3 s") as problem:
                await registry.subjects()
            assert elapsed(begun) < 2
        assert len(server.asked) == 1
        assert problem.value.exit_code == 5


async def test_an_answer_that_drips_does_not_last_for_ever() -> None:
    """Each byte is in time, the answer is not."""
    with Scripted(SUBJECTS) as server:
        slow = iter(range(10**6))

        def drip(_: object) -> Step:
            return Say(b"HTTP/1.1 200 OK\r\nX: " + b"%d" % next(slow), close=False)

        server.route = drip
        async with client(server.url, read_timeout=0.3) as registry:
            with pytest.raises(NotInTime):
                await registry.subjects()


async def test_a_handshake_that_is_never_answered_ends_with_the_connect_time_out() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        async with client(url, connect_timeout=0.3) as registry:
            with pytest.raises(NotInTime, match=r"did not accept a connection within 0.3 s") as problem:
                await registry.subjects()
    assert not problem.value.sent


async def test_a_request_that_is_given_up_leaves_nothing() -> None:
    with Scripted(Hang(10)) as server:
        async with client(server.url) as registry:
            task = asyncio.create_task(registry.subjects())
            await server.heard()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            until = time.monotonic() + 5
            while any(thread.name == "registry" for thread in threading.enumerate()):
                assert time.monotonic() < until, "a thread waits for an answer that nobody wants"
                await asyncio.sleep(0.01)


async def test_closing_ends_what_is_under_way() -> None:
    with Scripted(Hang(10)) as server:
        async with client(server.url, retries=0) as registry:
            task = asyncio.create_task(registry.subjects())
            await server.heard()
            await registry.close()
            with pytest.raises(ConnectError):
                await task


# -- what a stranger answers -------------------------------------------------------------------------------------------


@each("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_refused_and_gets_no_credentials(status: int) -> None:
    with Scripted(SUBJECTS) as elsewhere:
        with Scripted(raw(b"", status, Location=f"{elsewhere.url}/\x1b[31msubjects")) as server:
            settings = RegistrySettings(
                origins=(Origin(url=server.url, user="me", password=Secret("word")),),
                credentials="basic.auth.user.info",
            )
            registry = RegistryClient(settings)
            with pytest.raises(WrongAddress, match=r"sends us to .*\\x1b.*redirects are not followed") as problem:
                await registry.subjects()
            await registry.close()
        assert elsewhere.asked == []
        assert (problem.value.retriable, problem.value.exit_code) == (False, 5)


HOSTILE = {
    b"\x15\x03\x01\x00\x02\x02\x28": "does not speak HTTP",
    b"SSH-2.0-OpenSSH_9.6\r\n": "does not speak HTTP",
    b"HTTP/1.1 abc\r\n\r\n": "does not speak HTTP",
    b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n[]": "does not speak HTTP",
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70000 + b"\r\n\r\n[]": "does not speak HTTP",
    b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[]": "closed the connection before its answer was complete",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]": "closed the connection before its answer was",
    raw(b""): "unexpected response .*: expected a list",
    raw(b"<html>login</html>", Content_Type="text/html"): r"is not JSON \(text/html\); is this the address",
    raw(b"\xff\xfe"): "is not JSON",
    raw(b"[" * 100_000): "is not JSON",
    raw(b"1" * 5000): "is not JSON",
    raw(b"{}"): "unexpected response .*: expected a list",
    raw(b"[1]"): r"unexpected response .*: \[0\]: expected a text",
    raw(b'["\\ud800"]'): "unpaired surrogate",
    raw(b"null"): "unexpected response",
    raw(b"[]", Content_Encoding="gzip", Content_Length="2"): "the answer cannot be unpacked",
}


@each("data", list(HOSTILE))
async def test_any_bytes_are_an_answer_or_one_sentence(data: bytes) -> None:
    with Scripted(Say(data)) as server:
        async with client(server.url, retries=1) as registry:
            if not HOSTILE[data]:
                assert await registry.subjects() == []
                return
            with pytest.raises(KcliError, match=HOSTILE[data]) as problem:
                await registry.subjects()
    assert "\n" not in str(problem.value)


@each("head", [b"", b"Content-Length: 99999999999\r\n"])
async def test_an_answer_is_read_as_far_as_is_reasonable(head: bytes) -> None:
    with Scripted(Say(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n[" + b" " * 100_000 + b"]")) as server:
        async with client(server.url, largest=10_000) as registry:
            with pytest.raises(WrongAddress, match="the answer is larger than"):
                await registry.version("a")
        assert len(server.asked) == 1


async def test_any_change_of_an_answer_is_an_answer_or_one_sentence() -> None:
    """Cut anywhere, and each byte another one."""
    whole = answer(["a"], Connection="keep-alive")
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n["a"]\r\n0\r\n\r\n'
    noise = random.Random(1)
    cases = [data[:at] for data in (whole, chunked) for at in range(0, len(data), 3)]
    for _ in range(150):
        data = bytearray(noise.choice((whole, chunked)))
        for _ in range(noise.randint(1, 3)):
            data[noise.randrange(len(data))] = noise.randrange(256)
        cases.append(bytes(data))
    with Scripted() as server:
        left = iter(cases)
        server.route = lambda _: Say(next(left))
        async with client(server.url, retries=0, read_timeout=5.0) as registry:
            for _ in cases:
                try:
                    found = await registry.subjects()
                except KcliError as problem:
                    assert "\n" not in str(problem)  # noqa: PT017
                else:
                    assert isinstance(found, list)


# -- logins and tokens -------------------------------------------------------------------------------------------------


async def test_each_address_gets_its_own_login() -> None:
    with Scripted(refusal(503, None)) as one, Scripted(SUBJECTS) as other:
        settings = RegistrySettings(
            origins=(Origin(url=one.url), Origin(url=other.url, user="mé", password=Secret("w:ord"))),
            credentials="schema.registry.url",
        )
        registry = RegistryClient(settings)
        assert await registry.subjects() == ["a"]
        await registry.close()
        assert "authorization" not in one.asked[0].headers
        assert other.asked[0].headers["authorization"] == f"Basic {b64encode('mé:w:ord'.encode()).decode()}"


@each(
    ("status", "user", "says"),
    [
        (401, "me", r"refused the user me of basic.auth.user.info \(HTTP 401\): go \*\*\* away"),
        (401, "", r"requires credentials \(HTTP 401\): set basic.auth.user.info, or bearer.auth.token"),
        (403, "me", r"the subjects: http://.* does not allow it to the user me of basic.auth.user.info: go"),
    ],
)
async def test_a_refusal_names_the_credentials_and_not_the_password(status: int, user: str, says: str) -> None:
    pair = b64encode(f"{user}:hunter2x".encode()).decode()
    with Scripted(refusal(status, status * 100 + 1, f"go hunter2x away {pair}")) as server:
        origin = Origin(url=server.url, user=user, password=Secret("hunter2x"))
        registry = RegistryClient(RegistrySettings(origins=(origin,), credentials="basic.auth.user.info"))
        with pytest.raises(AuthError, match=says) as problem:
            await registry.subjects()
        await registry.close()
        assert len(server.asked) == 1
    assert "hunter2x" not in str(problem.value)
    assert not user or pair not in str(problem.value)
    assert problem.value.exit_code == 5


async def test_a_token_is_asked_for_once_and_again_when_it_is_refused() -> None:
    with Idp({"id": "word"}) as idp, Scripted(SUBJECTS) as server:
        oauth = OAuth(token_endpoint=idp.token_url, client_id="id", client_secret=Secret("word"))
        settings = RegistrySettings(
            origins=(Origin(url=server.url),), oauth=oauth, credentials="bearer.auth.issuer.endpoint.url",
            headers=(("Target-Sr-Cluster", "lsrc-1"),),
        )  # fmt: skip
        registry = RegistryClient(settings)
        await registry.subjects()
        await registry.subjects()
        assert len(idp.asked) == 1
        assert server.asked[0].headers["authorization"].startswith("Bearer ey")
        assert server.asked[0].headers["target-sr-cluster"] == "lsrc-1"
        server.steps[:] = [refusal(401, 40101), SUBJECTS]
        assert await registry.subjects() == ["a"]
        assert len(idp.asked) == 2
        server.steps[:] = [refusal(401, 40101)]
        with pytest.raises(AuthError, match=r"refused the token of bearer.auth.issuer.endpoint.url"):
            await registry.subjects()
        assert len(idp.asked) == 3
        await registry.close()


async def test_a_token_with_a_line_end_is_not_sent(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a\r\nX: y")
    with Scripted(SUBJECTS) as server:
        async with client(
            server.url, oauth=OAuth(token_file=str(file)), credentials="bearer.auth.token.file"
        ) as registry:
            with pytest.raises(AuthError, match=r"bearer.auth.token.file: the token is empty, or has spaces"):
                await registry.subjects()
        assert server.asked == []


# -- TLS ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("pki"))


def serving(authority: Authority, *, client_certificate: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    issued = authority.issue("server", ("localhost", "127.0.0.1"))
    context.load_cert_chain(issued.certificate, issued.key)
    if client_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.path)
    return context


async def test_tls_and_a_client_certificate(authority: Authority) -> None:
    ours = authority.issue("client", (), usage="client")
    trust = Tls(ca=str(authority.path))
    both = trust.replace(certificate=str(ours.certificate), key=str(ours.key))
    with Scripted(SUBJECTS, tls=serving(authority, client_certificate=True)) as server:
        async with client(server.url, tls=both) as registry:
            assert await registry.subjects() == ["a"]
            assert await registry.subjects() == ["a"]
        assert server.connections == 1
        async with client(server.url, tls=trust, retries=0) as registry:
            with pytest.raises(ConnectError, match=r"client certificate.*schema.registry.ssl.keystore.location"):
                await registry.subjects()


@each(
    ("tls", "says"),
    [
        (Tls(), "the registry's certificate is signed by .* name its authority with schema.registry.ssl.ca.location"),
        (Tls(server_name="other"), "the registry's certificate is"),
    ],
)
async def test_a_certificate_that_nobody_trusts(authority: Authority, tls: Tls, says: str) -> None:
    with Scripted(SUBJECTS, tls=serving(authority)) as server:
        async with client(server.url, tls=tls, retries=3) as registry:
            with pytest.raises(TlsError, match=says):
                await registry.subjects()
        assert server.asked == []


async def test_a_name_that_is_not_in_the_certificate(authority: Authority) -> None:
    trust = Tls(ca=str(authority.path), server_name="registry.example")
    with Scripted(SUBJECTS, tls=serving(authority)) as server:
        async with client(server.url, tls=trust) as registry:
            with pytest.raises(TlsError, match=r"not for registry.example"):
                await registry.subjects()


async def test_a_port_without_tls(authority: Authority) -> None:
    with Scripted(Say(b"HTTP/1.1 400 Bad Request\r\n\r\n"), greeting=b"HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        async with client(server.url.replace("http:", "https:"), tls=Tls(ca=str(authority.path))) as registry:
            with pytest.raises(TlsError, match=r"does not use TLS on this port: use http:// in schema.registry.url"):
                await registry.subjects()


async def test_a_file_that_is_not_there_is_named_by_the_registrys_property() -> None:
    async with client("https://127.0.0.1:1", tls=Tls(ca="/no/such.pem")) as registry:
        with pytest.raises(UsageError, match=r"schema.registry.ssl.ca.location: /no/such.pem: No such file"):
            await registry.subjects()

"""SASL on a connection (B15-B19): the order of things, refusals, tokens, and sessions that end under traffic."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from kcli.broker.broker import NetworkBroker
from kcli.broker.security.access import Access
from kcli.broker.security.authentication import Renewal
from kcli.broker.security.aws import announce, region_of
from kcli.broker.security.secured import SecuredConnection
from kcli.client import Client
from kcli.errors import AuthError, ConnectError, KcliError, LoginFailed, UsageError
from kcli.grammar.bound import Bound
from kcli.model import Address, TopicPartition
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsResponse
from kcli.proto.session import ServerSession
from kcli.sandbox.sandbox import Sandbox
from kcli.secret import Secret
from kcli.security import Aws, OAuth, Sasl, Security, Tls
from kcli.security.tokens import Tokens, expiry
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.idp import Idp, unsecured

from .peers import settings
from .securing import ALICE, CANARY, connected, listening, near, password, topics

pytestmark = pytest.mark.usefixtures("leaping_clock")

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def bearer(token: str = "", **given: Any) -> Sasl:
    return Sasl(mechanism="OAUTHBEARER", oauth=OAuth(token=Secret(token) if token else None, **given))


async def told(sandbox: Sandbox, sasl: Sasl | None, **given: Any) -> KcliError:
    """What the refusal says: soon, and without a word of the secret."""
    async with connected(near(sandbox, sasl=sasl, **given)) as broker, asyncio.timeout(10):
        with pytest.raises(KcliError) as problem:
            await topics(broker)
    assert CANARY not in str(problem.value)
    assert CANARY not in repr(problem.value)
    return problem.value


# -- the order of things -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("highest", [0, 1, 2])
async def test_B15_handshake_then_tokens_then_requests_at_every_version(mechanism: str, highest: int) -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE) as sandbox:
        sandbox.faults.wire.speak_only("SaslAuthenticate", 0, highest)
        async with connected(near(sandbox, sasl=password(mechanism))) as broker:
            assert await topics(broker) == ["t"]
        steps = 1 if mechanism == "PLAIN" else 2
        assert (sandbox.seen[18], sandbox.seen[17], sandbox.seen[36], sandbox.seen[3]) == (1, 1, steps, 1)


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_B15_a_broker_without_saslauthenticate_gets_bare_tokens(
    mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE) as sandbox:
        offered = sandbox.faults.planned.offered
        monkeypatch.setattr(
            sandbox.faults.planned,
            "offered",
            lambda rows, node: [row for row in offered(rows, node) if row.api_key != 36],
        )
        async with connected(near(sandbox, sasl=password(mechanism))) as broker:
            assert await topics(broker) == ["t"]
        assert sandbox.seen[17] == 1
        assert 36 not in sandbox.seen
        with pytest.raises(ConnectError, match="closed the connection"):
            async with connected(near(sandbox, sasl=password(mechanism, "wrong"))) as broker:
                await topics(broker)


async def test_B15_a_mechanism_that_is_not_offered_lists_the_offered() -> None:
    async with Sandbox(sasl=ALICE, mechanisms=["PLAIN", "SCRAM-SHA-512"]) as sandbox:
        problem = await told(sandbox, password("SCRAM-SHA-256"))
    assert isinstance(problem, AuthError)
    assert "does not offer SCRAM-SHA-256; it offers PLAIN, SCRAM-SHA-512: set sasl.mechanism" in str(problem)


async def test_B15_sasl_where_there_is_none_and_none_where_there_is() -> None:
    async with Sandbox() as sandbox:
        assert "does not authenticate on this port" in str(await told(sandbox, password()))
    async with Sandbox(sasl=ALICE) as sandbox:
        assert "it may require authentication" in str(await told(sandbox, None))


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_B19_a_wrong_password_is_tried_once_per_attempt_and_told(mechanism: str) -> None:
    async with Sandbox(sasl=ALICE) as sandbox:
        problem = await told(sandbox, password(mechanism, CANARY))
        assert sandbox.cluster.users is not None
        assert sandbox.cluster.users.refused == 1
    assert isinstance(problem, AuthError)
    assert problem.exit_code == 5
    assert f"refused the authentication of alice ({mechanism}): Authentication failed" in str(problem)


async def test_B19_a_client_gives_up_at_once_and_hammers_nobody() -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE) as sandbox:
        security = Security(sasl=password(said="wrong"))
        given = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), security=security)
        began = time.monotonic()
        async with Client(given) as client:
            with pytest.raises(AuthError):
                async with client.producer(ProducerSettings()) as producer:
                    await producer.send_and_wait("t", b"x")
        assert time.monotonic() - began < 2
        assert sandbox.cluster.users is not None
        assert sandbox.cluster.users.refused <= 2


async def test_B16_a_password_that_was_prepared_before_it_was_stored_is_found_too() -> None:
    async with Sandbox(topics={"t": 1}, sasl={"alice": "IX a"}) as sandbox:
        async with connected(near(sandbox, sasl=password(said="\u2168\u00a0\u00aa"))) as broker:
            assert await topics(broker) == ["t"]
            assert sandbox.cluster.users is not None
            assert sandbox.cluster.users.refused == 1  # as it was typed, once


@pytest.mark.parametrize("mechanism", ["PLAIN", "OAUTHBEARER"])
async def test_what_lets_others_in_is_not_sent_in_the_clear_to_a_host_learned_from_metadata(mechanism: str) -> None:
    sasl = password("PLAIN") if mechanism == "PLAIN" else bearer(unsecured("alice"))
    access = Access(Security(sasl=sasl))
    with pytest.raises(
        AuthError, match=r"unencrypted, so that others can read it: use security.protocol=SASL_SSL, or set allow"
    ):
        access.may_speak(loopback=False)
    access.may_speak(loopback=True)
    Access(Security(sasl=sasl.replace(allow_insecure=True))).may_speak(loopback=False)
    Access(Security(tls=Tls(verify=False), sasl=sasl)).may_speak(loopback=False)
    Access(Security(sasl=password("SCRAM-SHA-512"))).may_speak(loopback=False)
    assert len(Security(sasl=sasl.replace(allow_insecure=True)).warnings()) == 1


@pytest.mark.parametrize(
    ("sasl", "words"),
    [
        (Sasl(mechanism="CRAM-MD5"), "CRAM-MD5 is not one of PLAIN, SCRAM-SHA-256"),
        (Sasl(mechanism="PLAIN"), "sasl.username"),
        (Sasl(mechanism="SCRAM-SHA-256", username="a"), "sasl.password"),
        (Sasl(mechanism="OAUTHBEARER"), "requires one of a token, a token file"),
        (bearer("a", token_file="b"), "requires exactly one"),
        (bearer(token_endpoint="http://idp.test/token"), "is not https"),
        (bearer(token_endpoint="ftp://idp.test/token"), "is not an https URL"),
        (bearer(token_endpoint="https://idp.test/token"), "requires a client id and a client secret"),
        (Sasl(mechanism="AWS_MSK_IAM"), "only over TLS"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_is_connected(sasl: Sasl, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Client(ClientSettings(bootstrap=parse_bootstrap("localhost"), security=Security(sasl=sasl)))


def test_secrets_do_not_show_in_the_settings() -> None:
    sasl = password(said=CANARY).replace(
        oauth=OAuth(token=Secret(CANARY), client_secret=Secret(CANARY)), aws=Aws(secret_key=Secret(CANARY))
    )
    tls = Tls(key_pem=Secret(CANARY), key_password=Secret(CANARY), keystore_password=Secret(CANARY))
    given = ClientSettings(security=Security(tls=tls, sasl=sasl))
    assert CANARY not in f"{given!r} {given} {given.security!r}"
    assert repr(given).count("***") == 7


# -- tokens ------------------------------------------------------------------------------------------------------------


@pytest.mark.process
async def test_B17_tokens_of_every_source(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(unsecured("alice") + "\n")
    with Idp({"alice": "s"}) as idp:
        idp.answers = [(200, json.dumps({"access_token": unsecured("alice"), "expires_in": 300}).encode(), {})]
        async with Sandbox(topics={"t": 1}, sasl=ALICE, mechanisms=["OAUTHBEARER"]) as sandbox:
            for sasl in (
                bearer(unsecured("alice")),
                bearer(token_file=str(file)),
                bearer(token_command=("cat", str(file))),
                bearer(token_function=lambda: unsecured("alice")),
                bearer(token_endpoint=idp.token_url, client_id="alice", client_secret=Secret("s")),
            ):
                async with connected(near(sandbox, sasl=sasl)) as broker:
                    assert await topics(broker) == ["t"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"token_file": "/nowhere/token"}, "the token file /nowhere/token: No such file"),
        ({"token_command": ("/nowhere/command",)}, "cannot be run: No such file"),
        ({"token_command": ("false",)}, "failed with exit code 1"),
        ({"token_command": ("true",)}, "printed nothing"),
        ({"token_function": lambda: 1 / 0}, "the token function raised ZeroDivisionError: division by zero"),
        ({"token_function": lambda: b"x"}, "the token function did not return a token, but a value of type bytes"),
        ({"token_function": lambda: " "}, "the token function did not return a token"),
        ({"token_command": ("sleep", "5"), "timeout": 0.05}, "did not end within 0.05 s"),
        ({"token": "two words"}, "token is not one"),
        ({"token": unsecured("alice", -60)}, "s ago: get a new one"),
    ],
)
async def test_B17_without_a_token_it_is_said_why(given: dict[str, Any], words: str) -> None:
    async with Sandbox(sasl=ALICE) as sandbox:
        problem = await told(sandbox, bearer(**given))
    assert isinstance(problem, AuthError)
    assert words in str(problem)


async def test_B17_a_refused_token_is_told_with_the_brokers_json_and_not_used_again() -> None:
    async with Sandbox(sasl=ALICE) as sandbox:
        problem = await told(sandbox, bearer(unsecured("mallory")))
    assert isinstance(problem, AuthError)
    assert "invalid_token" in str(problem)


@pytest.mark.parametrize(
    ("status", "body", "headers", "words", "final"),
    [
        (
            401,
            b'{"error":"invalid_client","error_description":"\\u001b[31mno"}',
            {},
            r"invalid_client: \x1b[31mno",
            True,
        ),
        (400, b"<html>", {}, "gave no token to client c: HTTP 400", True),
        (503, b"", {}, "is in trouble: HTTP 503", False),
        (302, b"", {"Location": "http://127.0.0.1:1/steal"}, "sends us to http://127.0.0.1:1/steal (HTTP 302)", False),
        (200, b"[]", {}, "answered without an access_token", True),
        (200, b'{"access_token": 5}', {}, "answered without an access_token", True),
        (200, b"[" * 100_000, {}, "answered without an access_token", True),
    ],
)
async def test_B17_what_a_token_endpoint_says_instead(
    status: int, body: bytes, headers: dict[str, str], words: str, final: bool
) -> None:
    with Idp({}) as idp:
        idp.answers = [(status, body, headers)] * 3
        tokens = Tokens(OAuth(token_endpoint=idp.token_url, client_id="c", client_secret=Secret(CANARY)))
        with pytest.raises(ConnectError) as problem:
            await tokens.token()
    assert words in str(problem.value)
    assert CANARY not in str(problem.value)
    assert isinstance(problem.value, AuthError) is final


async def test_B17_an_endpoint_that_is_away_may_come_back() -> None:
    tokens = Tokens(OAuth(token_endpoint="http://127.0.0.1:1/t", client_id="c", client_secret=Secret("s")))
    with pytest.raises(ConnectError, match="cannot be reached") as problem:
        await tokens.token()
    assert not isinstance(problem.value, AuthError)


async def test_B17_one_token_serves_all_connections_until_four_fifths_of_its_life() -> None:
    with Idp({"c": "s"}, lifetime=0.5) as idp:
        tokens = Tokens(OAuth(token_endpoint=idp.token_url, client_id="c", client_secret=Secret("s"), scope="a b"))
        idp.lifetime = 300
        found = await asyncio.gather(*(tokens.token() for _ in range(20)))
        assert len(set(found)) == 1
        assert await tokens.token() == found[0]
        assert [(form["grant_type"], form["scope"]) for form in idp.asked] == [("client_credentials", "a b")]
        tokens._until = time.time()
        await tokens.token()
        tokens.forget()
        await tokens.token()
        assert len(idp.asked) == 3


def test_the_end_of_a_token_is_read_from_it_if_it_says_so() -> None:
    assert expiry(unsecured("a", 100)) == pytest.approx(time.time() + 100, abs=2)
    assert [expiry(text) for text in ("", "a.b", "a.b.c", "a.bnVsbA.c", "..", "a.W10.")] == [None] * 6


# -- AWS ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("b-1.demo.x1y2z3.c2.kafka.eu-west-1.amazonaws.com", "eu-west-1"),
        ("boot-abc.c1.kafka-serverless.us-east-1.amazonaws.com.", "us-east-1"),
        ("b-1.demo.c4.kafka.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("localhost", ""),
        ("kafka.example.com", ""),
    ],
)
def test_msk_the_region_is_in_the_brokers_name(host: str, region: str) -> None:
    assert region_of(host) == region


def test_msk_credentials_come_from_the_settings_or_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    own = Aws(access_key="AKOWN", secret_key=Secret(CANARY), session_token=Secret("tok"))
    said = json.loads(announce(own.replace(region="eu-north-1"), "h").first())
    assert said["x-amz-credential"].startswith("AKOWN/")
    assert "/eu-north-1/kafka-cluster/" in said["x-amz-credential"]
    assert CANARY not in str(said)
    with pytest.raises(AuthError, match="set AWS_REGION"):
        announce(own, "localhost")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert json.loads(announce(None, "h").first())["x-amz-credential"].startswith("AKENV/")


# -- sessions that end -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "in_flight"), [("PLAIN", 1), ("PLAIN", 5), ("SCRAM-SHA-512", 5), ("OAUTHBEARER", 5)]
)
async def test_B18_sessions_are_renewed_on_the_same_connection_under_pipelined_traffic(
    mechanism: str, in_flight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sandbox hangs up at any request after the end of a session, and at any but SaslAuthenticate within a
    handshake: what passes here passed in between."""
    monkeypatch.setattr("kcli.broker.security.authentication.SOONEST", 0.05)
    monkeypatch.setattr("kcli.broker.security.authentication.MARGIN", 0.6)  # what a busy machine may stand still for
    sasl = bearer(unsecured("alice")) if mechanism == "OAUTHBEARER" else password(mechanism)
    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=1.5) as sandbox:
        given = ClientSettings(
            bootstrap=parse_bootstrap(sandbox.bootstrap), security=Security(sasl=sasl), max_in_flight=in_flight
        )
        async with Client(given) as client:
            users = sandbox.cluster.users
            assert users is not None
            sent, read = await _traffic(client, lambda: users.authenticated >= sandbox.seen.get(18, 0) + 3, in_flight)
        assert read == [b"%d" % n for n in range(sent)]
        assert sandbox.seen[18] <= 4, "a connection was made anew"


async def _traffic(client: Client, enough: Callable[[], bool], in_flight: int) -> tuple[int, list[bytes]]:
    read: list[bytes] = []
    count, end = 0, time.monotonic() + 60
    async with (
        client.producer(ProducerSettings(linger=0.0, max_in_flight=in_flight)) as producer,
        client.consumer() as consumer,
    ):
        consumer.assign({TopicPartition("t", 0): Bound("earliest")})
        while not enough() or len(read) < count:
            assert time.monotonic() < end
            if not enough():
                for _ in range(20):
                    await producer.send("t", b"%d" % count)
                    count += 1
                await asyncio.sleep(0.01)  # it is not the amount that shows anything
            for fetched in await consumer.poll(0.002):
                read += [bytes(record.value or b"") for batch in fetched.batches for record in batch]
    return count, read


@pytest.mark.parametrize(("lasts", "first", "last"), [(2, 1, 1), (3, 2, 2), (60, 51, 57), (3600, 3060, 3420)])
async def test_B18_it_is_done_in_the_last_part_of_the_session_and_a_second_before_its_end(
    lasts: float, first: float, last: float
) -> None:
    """What was written before it still has to get through: without answers (acks=0) nobody knows how much that is."""
    loop, parts = asyncio.get_running_loop(), []
    for _ in range(100):
        now = loop.time()
        renewal = Renewal(cast("SecuredConnection", None), cast("Any", None), now + lasts)
        assert first - 0.1 <= renewal.at - now <= last + 0.1
        parts.append(renewal.at - now)
    assert max(parts) - min(parts) >= (last - first) / 2, "connections do not do it all at once"


async def test_B18_a_session_is_counted_from_when_the_last_message_was_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer waits in the socket while our loop is busy; the broker's clock does not."""
    asked, sent, lasting = SecuredConnection.exchange, list[float](), list[float]()
    loop = asyncio.get_running_loop()

    async def late(self: SecuredConnection, *given: Any) -> Any:
        sent.append(loop.time())
        answer = await asked(self, *given)
        await asyncio.sleep(0.2)
        return answer

    def noted(connection: SecuredConnection, again: Any, until: float) -> Renewal:
        lasting.append(until)
        return Renewal(connection, again, until)

    monkeypatch.setattr(SecuredConnection, "exchange", late)
    monkeypatch.setattr("kcli.broker.security.authentication.Renewal", noted)
    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=60) as sandbox:
        async with connected(near(sandbox, sasl=password())) as broker:
            assert await topics(broker) == ["t"]
    assert len(sent) == 3, "SaslHandshake, and two messages of SCRAM"
    assert lasting == [pytest.approx(sent[-1] + 60, abs=0.1)]


async def test_B18_what_is_in_flight_is_answered_before_the_handshake_and_what_comes_waits_for_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exchange, log = SecuredConnection.exchange, list[str]()

    async def noted(self: SecuredConnection, request: Any, *given: Any) -> Any:
        log.append(f"{type(request).__name__} with {len(self._waiters)} in flight")
        return await exchange(self, request, *given)

    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=60) as sandbox:
        async with connected(near(sandbox, sasl=password("PLAIN"))) as broker:

            async def asked(name: str) -> None:
                await topics(broker)
                log.append(name)

            await asked("before")
            monkeypatch.setattr(SecuredConnection, "exchange", noted)
            sandbox.faults.wire.delay("Metadata", 0.2)
            flying = [asyncio.create_task(asked("flying")) for _ in range(3)]
            connection: Any = broker._lanes.open["control"]
            while len(connection._waiters) < 3:  # noqa: ASYNC110 - that they are written sets no event
                await asyncio.sleep(0)
            connection.renewal.at = 0.0
            await asyncio.gather(*flying, *(asked("held") for _ in range(3)))
        handshake = ["SaslHandshakeRequest with 0 in flight", "SaslAuthenticateRequest with 0 in flight"]
        assert log == ["before", *["flying"] * 3, *handshake, *["held"] * 3]
        assert sandbox.seen[18] == 1


async def test_B18_an_idle_session_is_renewed_by_the_next_request() -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=0.15) as sandbox:
        async with connected(near(sandbox, sasl=password())) as broker:
            assert await topics(broker) == ["t"]
            connection = broker._lanes.open["control"]
            connection.renewal.at = 0.0  # type: ignore[attr-defined]
            await asyncio.sleep(0.16)
            answers = await asyncio.gather(*(topics(broker) for _ in range(10)))
            assert answers == [["t"]] * 10
            assert broker._lanes.open["control"] is connection
        assert (sandbox.seen[18], sandbox.seen[17]) == (1, 2)


async def test_B18_who_is_refused_the_second_time_connects_anew_and_is_told_then() -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=60) as sandbox:
        async with connected(near(sandbox, sasl=password())) as broker:
            await topics(broker)
            broker._lanes.open["control"].renewal.at = 0.0  # type: ignore[attr-defined]
            sandbox.cluster.access.scram.delete("alice", "SCRAM-SHA-256")
            with pytest.raises(LoginFailed, match="refused the authentication of alice"):
                await topics(broker)
            assert sandbox.seen[18] == 1, "the next login waits"


async def test_B18_a_broker_that_dies_within_the_handshake_is_a_lost_connection() -> None:
    async with Sandbox(topics={"t": 1}, sasl=ALICE, session_lifetime=60) as sandbox:
        async with connected(near(sandbox, sasl=password())) as broker:
            await topics(broker)
            broker._lanes.open["control"].renewal.at = 0.0  # type: ignore[attr-defined]
            sandbox.faults.wire.close_before("SaslAuthenticate")
            assert await topics(broker) == ["t"]  # nothing of it was sent: it went out on the next connection
            assert sandbox.seen[18] == 2


# -- hostile brokers ---------------------------------------------------------------------------------------------------


async def _liar(frames: list[bytes]) -> Any:
    """A broker that answers ApiVersions, and then each request with the next of `frames`, correctly numbered."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session, queue = ServerSession(), list(frames)
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                asked = session.receive(await reader.readexactly(size))
                if asked.api_key == 18:
                    keys = [
                        ApiVersion(api_key=key, max_version=top) for key, top in ((3, 9), (17, 1), (18, 4), (36, 2))
                    ]
                    writer.writelines(session.respond(asked, ApiVersionsResponse(api_keys=keys)))
                elif queue:
                    body = asked.correlation_id.to_bytes(4, "big") + queue.pop(0)
                    writer.write(len(body).to_bytes(4, "big") + body)
                else:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        writer.close()

    return serve


async def test_B14_mutated_handshakes_end_in_a_connect_error_and_nothing_hangs() -> None:
    chance = random.Random(11)
    good = [
        b"\0\0\0\0\0\1\0\x0dSCRAM-SHA-256",
        b"\0\0\0\0\0\x2dr=x,s=c2FsdHNhbHRzYWx0,i=4096" + bytes(8),
        bytes(12),
    ]
    for _ in range(60):
        frames = [bytearray(one) for one in good]
        for _ in range(chance.randint(1, 5)):
            frame = chance.choice(frames)
            if frame:
                frame[chance.randrange(len(frame))] = chance.randrange(256)
                del frame[chance.randint(1, 60) :]
        async with listening(await _liar([bytes(one) for one in frames])) as port:
            given = settings(security=Security(sasl=password()), connect_timeout=0.5)
            async with connected(NetworkBroker(Address("127.0.0.1", port), 1, given)) as broker, asyncio.timeout(3):
                with pytest.raises(KcliError):
                    await topics(broker)


async def test_B19_what_a_broker_says_of_a_refusal_is_fit_for_a_terminal() -> None:
    text = b"go away \x1b]0;owned\x07"
    refusal = b"\0\0\x3a" + bytes([len(text) + 1]) + text + b"\x01" + bytes(8) + b"\0"
    async with listening(await _liar([b"\0\0\0\0\0\0", refusal])) as port:
        given = settings(security=Security(sasl=password("PLAIN")))
        async with connected(NetworkBroker(Address("127.0.0.1", port), 1, given)) as broker:
            with pytest.raises(AuthError) as problem:
                await topics(broker)
    assert r"go away \x1b]0;owned\x07" in str(problem.value)

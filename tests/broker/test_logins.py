"""Logins of a client that was logged in before: they fail for a while, and the client goes on afterwards."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import kcli
from kcli.errors import LoginFailed
from kcli.secret import Secret
from kcli.security import OAuth, Sasl, Security
from tests.idp import Idp, unsecured

from .securing import ALICE, password

pytestmark = pytest.mark.usefixtures("leaping_clock")


def by(sasl: Sasl, sandbox: kcli.Sandbox, **given: Any) -> kcli.Client:
    """A client of the sandbox that logs in so."""
    addresses = kcli.parse_bootstrap(sandbox.bootstrap)
    return kcli.Client(kcli.ClientSettings(bootstrap=addresses, security=Security(sasl=sasl), **given))


class Store:
    """The user store of a sandbox, which may be away."""

    def __init__(self, sandbox: kcli.Sandbox) -> None:
        self.sandbox = sandbox
        users = sandbox.cluster.users
        assert users is not None
        self.users = users

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Nobody can log in, and every connection has to."""
        del self.users.passwords["alice"]
        self.users.refused = 0
        self.sandbox.faults.wire.drop_connections()
        try:
            yield
        finally:
            self.users.passwords["alice"] = ALICE["alice"]


@asynccontextmanager
async def logged_in(**given: Any) -> AsyncIterator[tuple[Store, kcli.Client]]:
    async with kcli.Sandbox(brokers=3, topics={"t": 3}, sasl=ALICE, rebalance_delay=0.0) as sandbox:
        async with by(password("PLAIN"), sandbox, **given) as client:
            yield Store(sandbox), client


async def read(consumer: Any, wanted: int) -> list[bytes]:
    """So many values, sorted."""
    found: list[bytes] = []
    async with asyncio.timeout(200):
        while len(found) < wanted:
            for fetched in await consumer.poll(1.0):
                assert fetched.error is None
                found += [record.value for batch in fetched.batches for record in batch]
    return sorted(found)


VALUES = [b"%03d" % number for number in range(60)]


async def send(producer: kcli.Producer, values: list[bytes]) -> list[Any]:
    return [await producer.send("t", value, partition=number % 3) for number, value in enumerate(values)]


@pytest.mark.parametrize("seconds", [4, 200])
@pytest.mark.parametrize("protocol", ["", "classic", "consumer"])
async def test_nothing_fails_while_the_user_store_is_away(protocol: str, seconds: int) -> None:
    own = kcli.ProducerSettings(delivery_timeout=600.0)
    async with logged_in() as (store, client), client.producer(own) as producer:
        group = kcli.GroupSettings(group="g", protocol=protocol) if protocol else None
        async with client.consumer(group=group) as consumer:
            notices: list[str] = []
            consumer.on_notice = notices.append
            if group is None:
                consumer.assign({kcli.TopicPartition("t", number): 0 for number in range(3)})
            else:
                await consumer.subscribe(["t"])
            await asyncio.gather(*await send(producer, VALUES[:30]))
            assert await read(consumer, 30) == VALUES[:30]
            if group is not None:
                await consumer.commit()  # the session ends if the store is away for long
            async with store.away():
                promises = await send(producer, VALUES[30:])
                for _ in range(seconds):
                    assert await consumer.poll(1.0) == []
                assert not any(promise.done() for promise in promises)
            await asyncio.gather(*promises)
            assert await read(consumer, 30) == VALUES[30:]
        assert any("refused the authentication of alice" in notice for notice in notices)
        assert any("kcli tries to log in again in" in notice for notice in notices)
        assert producer.counts.failed == producer.counts.unknown == 0


async def test_the_whole_client_tries_again_after_growing_pauses_and_one_at_a_time() -> None:
    async with logged_in() as (store, client), client.producer() as producer, client.consumer() as consumer:
        consumer.assign({kcli.TopicPartition("t", number): 0 for number in range(3)})
        await asyncio.gather(*await send(producer, VALUES[:30]))
        await read(consumer, 30)
        async with store.away():
            promises = await send(producer, VALUES[30:])
            await asyncio.sleep(0.5)
            at_first = store.users.refused
            assert 1 <= at_first <= 6, "a connection that lost its login tries once"
            refused = []
            for seconds in (1.0, 2.0, 4.0, 8.0, 16.0, 25.0):
                await asyncio.sleep(seconds)
                refused.append(store.users.refused - at_first)
            assert refused[-1] <= 7, refused
            assert all(later - one <= 2 for one, later in itertools.pairwise(refused)), refused
        await asyncio.gather(*promises)


async def test_a_producer_gives_up_at_its_delivery_timeout() -> None:
    async with logged_in(auth_retry_timeout=1.0) as (store, client):
        own = kcli.ProducerSettings(delivery_timeout=20.0, request_timeout=5.0)
        async with client.producer(own) as producer:
            await producer.send_and_wait("t", b"1", partition=0)
            async with store.away():
                loop = asyncio.get_running_loop()
                began = loop.time()
                with pytest.raises(kcli.KcliError):
                    await producer.send_and_wait("t", b"2", partition=0)
                assert 19.0 <= loop.time() - began <= 30.0
            async with asyncio.timeout(100):
                await asyncio.sleep(70)
                await producer.send_and_wait("t", b"3", partition=0)


@pytest.mark.parametrize("protocol", ["", "classic", "share"])
async def test_a_consumer_gives_up_after_auth_retry_timeout(protocol: str) -> None:
    async with logged_in(auth_retry_timeout=20.0) as (store, client), client.producer() as producer:
        group = kcli.GroupSettings(group="g", protocol=protocol) if protocol == "classic" else None
        made: Any = client.consumer(group=group)
        if protocol == "share":
            made = client.share_consumer(kcli.ConsumerSettings(), kcli.ShareSettings(group="s"))
        async with made as consumer:
            if protocol:
                await consumer.subscribe(["t"])
            else:
                consumer.assign({kcli.TopicPartition("t", number): 0 for number in range(3)})
            await asyncio.gather(*await send(producer, VALUES[:30]))
            if protocol != "share":
                await read(consumer, 30)
            else:
                await consumer.poll(1.0)
            loop = asyncio.get_running_loop()
            async with store.away():
                began = loop.time()
                with pytest.raises(kcli.AuthError, match=r"refused the authentication .*logins have failed for"):
                    await consumer.poll(100)
                assert 19.0 <= loop.time() - began <= 32.0


async def test_a_first_login_that_is_refused_fails_at_once() -> None:
    async with kcli.Sandbox(topics={"t": 1}, sasl=ALICE) as sandbox:
        async with by(password("PLAIN", "wrong"), sandbox) as client:
            loop = asyncio.get_running_loop()
            began = loop.time()
            with pytest.raises(kcli.AuthError, match="refused the authentication of alice"):
                await client.admin.topics()
            async with client.producer() as producer:
                with pytest.raises(kcli.AuthError, match="refused the authentication of alice"):
                    await producer.send_and_wait("t", b"1")
            assert loop.time() - began < 5


async def goes_on(sasl: Sasl, fail: Callable[[], None], mend: Callable[[], object], says: str) -> None:
    """A client of such tokens sends, cannot log in for a while, and sends again."""
    async with kcli.Sandbox(topics={"t": 1}, sasl=ALICE, mechanisms=["OAUTHBEARER"]) as sandbox:
        async with by(sasl, sandbox) as client, client.producer() as producer, client.consumer() as consumer:
            notices: list[str] = []
            consumer.on_notice = notices.append
            await producer.send_and_wait("t", b"1")
            fail()
            sandbox.faults.wire.drop_connections()
            promise = await producer.send("t", b"2")
            await asyncio.sleep(3)
            assert not promise.done()
            mend()
            async with asyncio.timeout(60):
                assert (await promise).offset == 1
            assert any(says in notice for notice in notices), notices


@pytest.mark.process
async def test_a_token_command_may_fail_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.security.tokens.USED", 0.0)  # each login asks for a token
    token = tmp_path / "token"
    token.write_text(unsecured("alice"))
    sasl = Sasl(mechanism="OAUTHBEARER", oauth=OAuth(token_command=("cat", str(token))))
    says = "the token command cat failed with exit code 1"
    await goes_on(sasl, token.unlink, lambda: token.write_text(unsecured("alice")), says)


@pytest.mark.slow
async def test_a_token_endpoint_may_answer_html_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.security.tokens.USED", 0.0)  # each login asks for a token
    good: tuple[int, bytes, dict[str, str]] = (200, json.dumps({"access_token": unsecured("alice")}).encode(), {})
    with Idp({}) as idp:
        idp.answers = [good] * 20
        oauth = OAuth(token_endpoint=idp.token_url, client_id="alice", client_secret=Secret("s"))

        def answer(*given: tuple[int, bytes, dict[str, str]]) -> Callable[[], None]:
            def change() -> None:
                idp.answers = list(given)

            return change

        html: tuple[int, bytes, dict[str, str]] = (200, b"<html>Please sign in</html>", {})
        says = "answered without an access_token"
        await goes_on(Sasl(mechanism="OAUTHBEARER", oauth=oauth), answer(*[html] * 20), answer(*[good] * 20), says)


async def test_a_login_that_would_show_the_password_is_not_tried_again() -> None:
    """Metadata may name any host."""
    from kcli.broker.security.access import Logins, Unsafe

    logins = Logins()

    async def fine() -> int:
        return 1

    async def unsafe() -> int:
        raise Unsafe("PLAIN would send the password unencrypted, so that others can read it")

    async def refused() -> int:
        raise kcli.AuthError("refused")

    with pytest.raises(kcli.AuthError) as first:
        await logins.attempt(refused)
    assert not isinstance(first.value, LoginFailed)
    assert await logins.attempt(fine) == 1
    with pytest.raises(Unsafe):
        await logins.attempt(unsafe)
    with pytest.raises(LoginFailed, match="refused; kcli tries to log in again in"):
        await logins.attempt(refused)
    with pytest.raises(LoginFailed):
        logins.begin()
    await asyncio.sleep(1.3)
    assert logins.begin()
    with pytest.raises(LoginFailed):
        logins.begin()
    logins.end()
    assert logins.begin()

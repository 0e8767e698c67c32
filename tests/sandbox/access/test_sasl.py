"""The sandbox's own doors: what comes before authentication, changed principals, and settings that make no sense."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kcli.errors import UsageError
from kcli.proto.messages.metadata import MetadataRequest
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateRequest
from kcli.proto.messages.sasl_handshake import SaslHandshakeRequest
from kcli.proto.session import ClientSession
from kcli.sandbox.access.tls import ServerTls, make_certificates
from kcli.sandbox.sandbox import Sandbox
from tests.idp import unsecured
from tests.sandbox.client import VERSIONS

USERS = {"alice": "a", "bob": "b"}


class Caller:
    """A connection that says what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer, self.session = reader, writer, ClientSession("anybody")

    async def ask(self, request: Any, version: int) -> Any:
        """The answer, None when the connection ends instead."""
        self.writer.writelines(bytes(part) for part in self.session.send(request, version))
        try:
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return self.session.receive(await self.reader.readexactly(size))[1]
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def handshake(self, mechanism: str = "PLAIN") -> Any:
        return await self.ask(SaslHandshakeRequest(mechanism=mechanism), 1)

    async def say(self, message: bytes) -> Any:
        return await self.ask(SaslAuthenticateRequest(auth_bytes=message), 2)


@contextlib.asynccontextmanager
async def caller(sandbox: Sandbox) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_connection("127.0.0.1", sandbox.brokers[0].port)
    try:
        yield Caller(reader, writer)
    finally:
        writer.close()


async def test_nothing_but_apiversions_is_answered_before_who_it_is_is_known() -> None:
    async with Sandbox(sasl=USERS) as sandbox:
        async with caller(sandbox) as one:
            assert (await one.ask(VERSIONS, 3)).error_code == 0
            assert await one.ask(MetadataRequest(), 9) is None
        async with caller(sandbox) as one:
            assert await one.say(b"\0alice\0a") is None  # no handshake before it
        async with caller(sandbox) as one:
            await one.handshake()
            assert await one.ask(MetadataRequest(), 9) is None  # within the handshake


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        ("PLAIN", b"\0alice\0b"), ("PLAIN", b"\0nobody\0a"), ("PLAIN", b"alice"), ("PLAIN", b"\xff\0\xff\0\xff"),
        ("SCRAM-SHA-256", b"\xff"), ("SCRAM-SHA-256", b"n,,n=nobody,r=x"),
    ],
)  # fmt: skip
async def test_a_refusal_is_told_and_then_the_connection_ends(mechanism: str, message: bytes) -> None:
    async with Sandbox(sasl=USERS) as sandbox:
        async with caller(sandbox) as one:
            await one.handshake(mechanism)
            assert (await one.say(message)).error_code == 58
            assert await one.handshake() is None


@pytest.mark.parametrize(
    "token", ["", "a.b.c", unsecured("nobody"), unsecured("alice", -1), "W10.W10."],
    ids=["nothing", "no token", "of nobody", "expired", "of lists"],
)  # fmt: skip
async def test_a_token_that_is_no_good_is_refused_in_json_first(token: str) -> None:
    async with Sandbox(sasl=USERS) as sandbox:
        async with caller(sandbox) as one:
            await one.handshake("OAUTHBEARER")
            first = await one.say(b"n,,\x01auth=Bearer " + token.encode() + b"\x01\x01")
            assert (first.error_code, bytes(first.auth_bytes)) == (0, b'{"status":"invalid_token"}')
            assert (await one.say(b"\x01")).error_code == 58


async def test_who_it_is_does_not_change_and_the_session_says_how_long() -> None:
    async with Sandbox(sasl=USERS, session_lifetime=5) as sandbox:
        async with caller(sandbox) as one:
            await one.handshake()
            assert 4000 < (await one.say(b"\0alice\0a")).session_lifetime_ms <= 5000
            assert (await one.ask(MetadataRequest(), 9)) is not None
            await one.handshake()
            refused = await one.say(b"\0bob\0b")
            assert (refused.error_code, "Cannot change principals" in refused.error_message) == (58, True)


def test_settings_of_a_secured_sandbox_that_make_no_sense(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not GSSAPI"):
        Sandbox(sasl=USERS, mechanisms=["GSSAPI"])
    with pytest.raises(UsageError, match="No such file"):
        Sandbox(tls=ServerTls(certificate=str(tmp_path / "none.pem")))
    made = make_certificates(tmp_path)
    assert Path(made.key).stat().st_mode & 0o077 == 0

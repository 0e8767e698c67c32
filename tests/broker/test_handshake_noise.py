"""Handshakes gone wrong on the wire: sizes, ids and bytes of ApiVersions, SaslHandshake and SaslAuthenticate.

Whatever comes, the asker hears a KcliError in time, and memory stays where it was."""

from __future__ import annotations

import asyncio
import gc
import random
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from kcli.broker.broker import NetworkBroker
from kcli.errors import KcliError
from kcli.model import Address
from kcli.proto.messages import api_name
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsResponse
from kcli.proto.messages.sasl_authenticate import SaslAuthenticateResponse
from kcli.proto.messages.sasl_handshake import SaslHandshakeResponse
from kcli.proto.schema import Response
from kcli.proto.session import ServerSession
from kcli.security import Security
from tests.each import each

from .peers import settings
from .securing import connected, listening, password, topics

pytestmark = pytest.mark.usefixtures("leaping_clock")

STAGES = ("ApiVersions", "SaslHandshake", "SaslAuthenticate")
SPOKEN = [ApiVersion(api_key=key, max_version=top) for key, top in ((3, 9), (17, 1), (18, 4), (36, 2))]
SOUND: dict[str, Response] = {
    "ApiVersions": ApiVersionsResponse(api_keys=SPOKEN),
    "SaslHandshake": SaslHandshakeResponse(mechanisms=["PLAIN"]),
    "SaslAuthenticate": SaslAuthenticateResponse(error_code=58, error_message="no", auth_bytes=b""),
}
LIMIT = 0.4
"""Seconds that a connection may take, `connect_timeout`; what is asked then is over at once."""
MOST = 16 * 1024 * 1024

Change = Callable[[bytes], bytes]
CHANGES: dict[str, Change] = {
    "the size is 2 GiB": lambda frame: b"\x7f\xff\xff\xff" + frame[4:],
    "the size is 100 MiB": lambda frame: (100 * 1024 * 1024).to_bytes(4, "big") + frame[4:],
    "the size is below the largest, and nothing follows": lambda frame: (99 * 1024 * 1024).to_bytes(4, "big"),
    "the size is the largest of a greeting, and nothing follows": lambda frame: b"\0\x10\0\0",
    "the size is negative": lambda frame: b"\xff\xff\xff\xff" + frame[4:],
    "the size is the least there is": lambda frame: b"\x80\x00\x00\x00" + frame[4:],
    "the size is 0": lambda frame: bytes(4) + frame[4:],
    "the size is less than a header": lambda frame: b"\0\0\0\3" + frame[4:7],
    "the size is one more": lambda frame: (len(frame) - 3).to_bytes(4, "big") + frame[4:],
    "the size is one less": lambda frame: (len(frame) - 5).to_bytes(4, "big") + frame[4:],
    "a header and no body": lambda frame: b"\0\0\0\4" + frame[4:8],
    "half a frame": lambda frame: frame[: len(frame) // 2],
    "half a size": lambda frame: frame[:2],
    "another correlation id": lambda frame: frame[:4] + b"\0\0\xff\xff" + frame[8:],
    "a negative correlation id": lambda frame: frame[:4] + b"\xff\xff\xff\xff" + frame[8:],
    "the frame twice": lambda frame: frame + frame,
    "an answer to nothing behind it": lambda frame: frame + b"\0\0\0\x06\0\0\x12\x34\0\0",
    "counts without end": lambda frame: frame[:4] + frame[4:10] + b"\xff" * (len(frame) - 10),
    "all bytes 0x7f behind the header": lambda frame: frame[:8] + b"\x7f" * (len(frame) - 8),
    "noise": lambda frame: frame[:4] + random.Random(len(frame)).randbytes(len(frame) - 4),
    "nothing": lambda frame: b"",
}


def _liar(stage: str, change: Change, *, hold: bool) -> Any:
    """Answers soundly, except at `stage`; then it closes, or holds the connection open and says no more."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = ServerSession()
        try:
            while True:
                asked = session.receive(await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big")))
                name = api_name(asked.api_key)
                frame = b"".join(bytes(part) for part in session.respond(asked, SOUND[name]))
                writer.write(change(frame) if name == stage else frame)
                await writer.drain()
                if name == stage and not hold:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, KeyError):
            pass  # it hung up, or asked on in spite of it all
        writer.close()

    return serve


async def _told(stage: str, change: Change, *, hold: bool) -> KcliError:
    async with listening(_liar(stage, change, hold=hold)) as port:
        given = settings(security=Security(sasl=password("PLAIN")), connect_timeout=LIMIT, connect_timeout_max=LIMIT)
        async with connected(NetworkBroker(Address("127.0.0.1", port), 1, given)) as broker:
            begin = time.monotonic()
            with pytest.raises(KcliError) as told:
                async with asyncio.timeout(5):
                    await topics(broker)
            assert time.monotonic() - begin < 3 * LIMIT + 1
            return told.value


@each("hold", [False, True], ids=["and closes", "and waits"])
@each("name", CHANGES)
@pytest.mark.parametrize("stage", STAGES)
async def test_B14_B22_a_handshake_that_goes_wrong_is_a_sentence_in_time(stage: str, name: str, hold: bool) -> None:
    told = await _told(stage, CHANGES[name], hold=hold)
    assert told.exit_code == 5
    assert "127.0.0.1:" in str(told)
    assert str(told).isprintable()


@pytest.mark.parametrize("stage", STAGES)
async def test_B14_mutated_bytes_of_each_handshake_end_in_an_error_and_take_no_memory(stage: str) -> None:
    chance = random.Random(STAGES.index(stage))

    def mutate(frame: bytes) -> bytes:
        made = bytearray(frame)
        for _ in range(chance.randint(1, 6)):
            made[chance.randrange(len(made))] = chance.choice([0, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        return bytes(made[: chance.randint(1, len(made))] if chance.random() < 0.3 else made)

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(80):
            told = await _told(stage, mutate, hold=False)
            assert told.exit_code in (1, 5), "1 where the noise is an error code that there is"
        _, most = tracemalloc.get_traced_memory()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most - before < MOST
    assert after - before < MOST // 4


@pytest.mark.parametrize("stage", STAGES)
async def test_B1_a_size_that_is_not_filled_takes_no_memory(stage: str) -> None:
    """Before the greeting is over nobody makes us reserve what a Fetch answer may take."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(3):
            await _told(stage, CHANGES["the size is below the largest, and nothing follows"], hold=True)
            await _told(stage, CHANGES["the size is the largest of a greeting, and nothing follows"], hold=True)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most - before < MOST

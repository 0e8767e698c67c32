"""Every fault of a connection as it looks on the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.proto.messages.api_versions import ApiVersionsResponse
from kcli.proto.messages.metadata import MetadataRequest
from kcli.proto.session import encode_request_header
from kcli.sandbox import Sandbox
from tests.sandbox.client import VERSIONS, Peer, batch

pytestmark = pytest.mark.usefixtures("leaping_clock")


async def frame(peer: Peer) -> bytes:
    size = int.from_bytes(await peer.reader.readexactly(4), "big")
    return await peer.reader.readexactly(size)


def send(peer: Peer, request: Any, version: int) -> None:
    peer.writer.writelines(bytes(part) for part in peer._session.send(request, version))


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("answer_http", (), b"HTTP"),
        ("answer_tls_alert", (), b"\x15\x03\x03\x00\x02"),
        ("answer_size", (-1,), b"\xff\xff\xff\xff"),
        ("answer_size", (0x7FFFFFFF,), b"\x7f\xff\xff\xff"),
    ],
)
async def test_B1_B14_a_peer_that_speaks_something_else(name: str, options: tuple[int, ...], says: bytes) -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        getattr(sandbox.faults.wire, name)("ApiVersions", *options)
        send(peer, VERSIONS, 0)
        assert (await peer.reader.read(100)).startswith(says)


async def test_B1_an_answer_comes_byte_by_byte() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.byte_by_byte("ApiVersions")
        send(peer, VERSIONS, 0)
        pieces = [await peer.reader.read(100_000)]
        while len(got := b"".join(pieces)) < 4 or len(got) < 4 + int.from_bytes(got[:4], "big"):
            pieces.append(await peer.reader.read(100_000))
        assert len(pieces) > len(got) / 4, "it came in large pieces"
        assert ApiVersionsResponse.decode(0, got[8:]).api_keys


async def test_B1_two_answers_come_in_one_write() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.two_at_once("ApiVersions")
        send(peer, VERSIONS, 0)
        await asyncio.sleep(0.01)
        assert not peer.reader._buffer, "it is kept back"  # type: ignore[attr-defined]
        send(peer, MetadataRequest(topics=[]), 1)
        head = await peer.reader.readexactly(4)
        both = len(peer.reader._buffer)  # type: ignore[attr-defined]
        assert both > int.from_bytes(head, "big"), "the second came with the first"
        sandbox.faults.wire.two_at_once("Metadata")
        await peer.reader.readexactly(both)
        peer._session.asked.clear()
        assert (await peer.ask(MetadataRequest(topics=[]), 1)).brokers, "alone when nothing follows"


async def test_B5_a_broker_stops_reading_and_reads_again() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.stop_reading("ApiVersions", 0.1)
        await peer.ask(VERSIONS, 0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(late := asyncio.ensure_future(peer.produce(batch(1)))), 0.05)  # noqa: TID251
        assert (await late).error_code == 0


async def test_B9_an_older_broker_refuses_ApiVersions_with_a_body_of_version_0() -> None:
    async with Sandbox(brokers=2) as sandbox, Peer(sandbox) as peer, Peer(sandbox, 2) as other:
        sandbox.faults.wire.speak_only("ApiVersions", 0, 2, broker=1)
        sandbox.faults.wire.speak_only("Produce", 3, 7, broker=1)
        send(peer, VERSIONS, 4)
        refused = ApiVersionsResponse.decode(0, (await frame(peer))[4:])
        ranges = {one.api_key: (one.min_version, one.max_version) for one in refused.api_keys}
        assert (refused.error_code, ranges[18], ranges[0]) == (codes.UNSUPPORTED_VERSION.number, (0, 2), (3, 7))
        peer._session.asked.clear()
        assert (await peer.ask(VERSIONS, 2)).error_code == 0
        with pytest.raises(EOFError):
            await peer.produce(batch(1), version=8)
        assert (await other.ask(VERSIONS, 4)).error_code == 0
        sandbox.faults.clear()
        assert sandbox.faults.planned.speaks(0, 1) is None


@pytest.mark.parametrize("version", [0, 3, 4, 9, 12])
async def test_B13_tagged_fields_of_a_later_kafka_are_in_every_struct(version: int) -> None:
    async with Sandbox(topics={"t": 3}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.unknown_tags("Metadata")
        request = MetadataRequest(topics=None if version else [])
        send(peer, request, version)
        raw = await frame(peer)
        flexible = version >= 9
        # the header, the answer itself, a broker, a topic and its three partitions
        assert raw.count(b"from a later Kafka") == (7 if flexible else 0)
        kind = type(peer._session.asked[0].request)
        assert encode_request_header(kind, version, 0, "x")
        _, answer = peer._session.receive(raw)
        assert (len(answer.topics), len(answer.topics[0].partitions)) == (1, 3)  # type: ignore[attr-defined]


async def test_B24_an_idle_connection_is_closed_and_a_used_one_is_not() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as used, Peer(sandbox) as idle:
        await idle.ask(VERSIONS)
        sandbox.faults.wire.close_idle(0.5)  # a busy machine may hold up both for a part of that
        for _ in range(6):
            await asyncio.sleep(0.1)
            await used.ask(VERSIONS)
        with pytest.raises(EOFError):
            await idle.ask(VERSIONS)
        sandbox.faults.clear()
        await asyncio.sleep(0.6)
        assert (await used.ask(VERSIONS)).api_keys


async def test_D33_an_answer_can_be_altered_in_any_way() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.alter("Produce", lambda answer: answer.responses.clear())
        with pytest.raises(IndexError):
            await peer.produce(batch(1))
        assert (await peer.produce(batch(1))).base_offset == 1

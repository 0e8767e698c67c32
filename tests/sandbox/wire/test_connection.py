"""What a port of the sandbox does with strangers, and where it may listen."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.errors import UsageError
from kcli.proto.messages import request_type
from kcli.proto.messages.api_versions import ApiVersionsRequest
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.session import ClientSession
from kcli.sandbox import Sandbox
from kcli.sandbox.answers import ANSWERS
from kcli.sandbox.thread import SandboxThread
from tests.each import each
from tests.sandbox.client import VERSIONS, Peer, batch


@each("key", ANSWERS)
def test_what_is_advertised_is_what_is_declared(key: int) -> None:
    kind = request_type(key)
    assert kind is not None
    low = 3 if key == 0 else ANSWERS[key][1]  # Produce says 0 and refuses 0-2, as Kafka 4 does
    assert (low, ANSWERS[key][2]) == (kind.versions.first, kind.versions.last)


@pytest.mark.parametrize(
    "hello", [b"GET / HTTP/1.1\r\n\r\n", b"POST / HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\xff" * 8]
)
async def test_whoever_does_not_speak_kafka_is_cut_off(hello: bytes) -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        peer.writer.write(hello)
        with pytest.raises((EOFError, ConnectionError)):
            await asyncio.wait_for(peer.reader.readexactly(1), 10)


async def test_B9_an_unknown_version_of_api_versions_is_answered_at_version_0() -> None:
    class Newer(ApiVersionsRequest, key=18, versions="0-9", flexible="3+"):
        pass

    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        peer.writer.writelines(bytes(part) for part in ClientSession("c").send(Newer(), 9))
        size = int.from_bytes(await peer.reader.readexactly(4), "big")
        frame = await peer.reader.readexactly(size)
        assert int.from_bytes(frame[4:6], "big") == codes.UNSUPPORTED_VERSION.number
        assert frame[6:] == b"\0\0\0\x01" + bytes([0, 18, 0, 0, 0, 5])  # nothing but the versions of ApiVersions


async def test_B10_produce_below_3_ends_the_connection() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        peer.writer.write(bytes.fromhex("0000001a0000000200000001000163") + b"\0" * 15)
        with pytest.raises((EOFError, ConnectionError)):
            await asyncio.wait_for(peer.reader.readexactly(1), 10)


async def test_answers_come_in_the_order_of_the_requests() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        answers = await asyncio.gather(*(one_after_the_other(peer, n) for n in range(1)))
        assert answers == [5]


async def one_after_the_other(peer: Peer, _: int) -> int:
    session = ClientSession("c")
    for n in range(5):
        kind = VERSIONS if n % 2 else MetadataRequest(topics=[])
        peer.writer.writelines(bytes(part) for part in session.send(kind, 1))
    for _n in range(5):
        size = int.from_bytes(await peer.reader.readexactly(4), "big")
        session.receive(await peer.reader.readexactly(size))
    return 5


async def test_acks_0_has_no_answer_and_an_error_ends_the_connection() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.produce(batch(1), acks=0), 0.05)
        assert sandbox.topics.partition("t", 0).log.end == 1
        with pytest.raises((EOFError, ConnectionError)):
            await asyncio.wait_for(peer.produce(b"rubbish", acks=0), 10)


async def test_C3_topics_are_made_on_demand_only_when_both_sides_agree() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:

        def ask(name: str, create: bool) -> MetadataRequest:
            return MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=create)

        assert (await peer.ask(ask("a", False))).topics[0].error_code == codes.UNKNOWN_TOPIC_OR_PARTITION.number
        assert (await peer.ask(ask("a", True))).topics[0].error_code == 0
        assert (await peer.ask(ask("../a", True))).topics[0].error_code == codes.INVALID_TOPIC_EXCEPTION.number
        sandbox.cluster.settings = sandbox.settings.replace(auto_create=False)
        assert (await peer.ask(ask("b", True))).topics[0].error_code == codes.UNKNOWN_TOPIC_OR_PARTITION.number
        assert list(sandbox.topics.by_name) == ["a"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_only_loopback_is_listened_on_unless_asked(host: str) -> None:
    with pytest.raises(UsageError, match="loopback only"):
        Sandbox(host=host)


def test_a_thread_serves_those_who_have_no_loop() -> None:
    with SandboxThread(topics={"t": 1}) as running:
        assert running.call(lambda sandbox: list(sandbox.topics.by_name)) == ["t"]
        running.faults.error("Fetch", codes.KAFKA_STORAGE_ERROR)
        assert running.call(lambda sandbox: sandbox.faults.pending) == 1
        assert running.bootstrap.startswith("127.0.0.1:")


def test_the_fixture_is_a_fresh_cluster(sandbox: SandboxThread) -> None:
    assert sandbox.call(lambda running: running.topics.by_name) == {}

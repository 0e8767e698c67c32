"""How many connections there may be, what becomes of one too many, and who has his turn."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcli.proto.messages.api_versions import ApiVersionsRequest
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.proto.session import ClientSession
from kcli.sandbox import Sandbox
from kcli.sandbox.access.tls import find_or_make
from kcli.sandbox.wire.connection import Connection
from kcli.sandbox.wire.listener import Listener
from tests.programs import KCLI
from tests.sandbox.client import Peer, batch

HELLO = ApiVersionsRequest(client_software_name="peer", client_software_version="1")


async def closed(peer: Peer) -> bool:
    try:
        return await asyncio.wait_for(peer.reader.read(1), 30) == b""
    except ConnectionError:
        return True


async def until(there: Callable[[], bool], pause: float = 0.01) -> None:
    async with asyncio.timeout(60):
        while not there():  # noqa: ASYNC110 a number of the sandbox, which tells nobody
            await asyncio.sleep(pause)


async def test_no_response_waits_for_the_clients_acknowledgement() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        await peer.ask(HELLO)
        [connection] = sandbox.brokers[0]._peers
        assert isinstance(connection, Connection)
        taken = connection.transport.get_extra_info("socket")
        assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_who_asked_for_nothing_makes_room_the_oldest_first() -> None:
    told: list[str] = []
    async with Sandbox(brokers=2, connections=3, tell=told.append) as sandbox:
        async with Peer(sandbox) as asking, Peer(sandbox) as oldest, Peer(sandbox, 2) as quiet:
            await asking.ask(HELLO)
            await until(lambda: sum(one.connections for one in sandbox.brokers) == 3)
            async with Peer(sandbox, 2) as late:
                await late.ask(HELLO)
                assert await closed(oldest)
                await quiet.ask(HELLO)
                async with Peer(sandbox) as too_late:
                    assert await closed(too_late)
                for one in (asking, quiet, late):
                    await one.ask(HELLO)
        await until(lambda: not sum(one.connections for one in sandbox.brokers))
        async with Peer(sandbox) as later:
            await later.ask(HELLO)
    assert told == ["3 connections are open, as many as there may be: the oldest that asked for nothing was closed"]


async def test_who_speaks_no_tls_makes_room_for_who_does(tmp_path: Path) -> None:
    made = find_or_make(tmp_path)
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    async with Sandbox(connections=2, tls=made, advertised="localhost") as sandbox:
        port = sandbox.brokers[0].port
        quiet = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
        await until(lambda: sandbox.brokers[0].connections == 2)
        reader, writer = await asyncio.open_connection("localhost", port, ssl=context)
        writer.writelines(bytes(part) for part in ClientSession("c").send(HELLO, 3))
        assert await asyncio.wait_for(reader.readexactly(4), 30)
        for _, one in [*quiet, (reader, writer)]:
            one.close()


async def test_a_connection_that_is_turned_away_before_it_began_is_closed() -> None:
    """A socket that is left to the garbage collector is a warning, and warnings are errors here."""
    listener = Listener(asyncio.Protocol, admits=lambda: True, full=lambda problem: None)
    port = await listener.open("127.0.0.1", 0)
    with socket.create_connection(("127.0.0.1", port)) as peer:
        peer.setblocking(False)
        listener._take(listener._sockets[0])
        assert listener.coming == 1
        assert listener.turn_away()
        await listener.close()
        assert await asyncio.wait_for(asyncio.get_running_loop().sock_recv(peer, 1), 10) == b""
    gc.collect()


async def test_a_connection_with_thousands_of_requests_lets_others_have_their_turn() -> None:
    many = 4000
    async with Sandbox() as sandbox, Peer(sandbox) as greedy, Peer(sandbox) as other:
        await other.ask(HELLO)
        one = b"".join(bytes(part) for part in greedy._session.send(HELLO, 3))
        greedy.writer.write(one * many)
        await until(lambda: sandbox.seen[18] > 1, 0)
        await other.ask(HELLO)
        assert sandbox.seen[18] < many // 2


async def test_what_was_sent_before_the_end_is_done() -> None:
    """Records that nobody is told of, as many as come at once, and then the connection ends."""
    async with Sandbox(topics={"t": 1}) as sandbox:
        async with Peer(sandbox) as peer:
            data = PartitionProduceData(index=0, records=batch(1))
            asked = ProduceRequest(acks=0, topic_data=[TopicProduceData(name="t", partition_data=[data])])
            for _ in range(60):
                peer.writer.writelines(bytes(part) for part in peer._session.send(asked, 12))
        await until(lambda: not sandbox.brokers[0].connections)
        await until(lambda: sandbox.topics.partition("t", 0).log.end == 60)
        assert sandbox.traffic.held == 0


async def test_nothing_is_said_of_answers_that_nobody_reads(caplog: pytest.LogCaptureFixture) -> None:
    async with Sandbox() as sandbox:
        for _ in range(20):
            async with Peer(sandbox) as peer:
                one = b"".join(bytes(part) for part in peer._session.send(HELLO, 3))
                peer.writer.write(one * 400)
                await asyncio.sleep(0)
                peer.writer.transport.abort()
        await until(lambda: not sandbox.brokers[0].connections)
    assert not caplog.records


@pytest.mark.process
def test_few_files_and_a_flood_of_connections_are_a_line_or_two() -> None:
    process = subprocess.Popen(
        ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *KCLI, "sandbox", "--port", "0", "--format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    flood: list[socket.socket] = []
    try:
        host, _, port = json.loads(process.stdout.readline())["bootstrap"].rpartition(":")
        flood += [socket.create_connection((host, int(port)), 30) for _ in range(300)]
        answered = asyncio.run(hello(int(port)))
        assert answered
    finally:
        for one in flood:
            one.close()
        process.terminate()
        said = process.communicate(timeout=30)[1].decode()
    assert "as many as there may be" in said
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 3, said


async def hello(port: int) -> Any:
    """Asked again until it is answered: others are before it."""
    async with asyncio.timeout(60):
        while True:
            try:
                async with Peer(port) as peer:
                    return await asyncio.wait_for(peer.ask(HELLO), 10)
            except (EOFError, OSError, TimeoutError):
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("brokers", [1, 3])
async def test_a_topic_has_as_many_partitions_as_was_said(brokers: int) -> None:
    from kcli.proto.messages.create_topics import CreatableTopic, CreateTopicsRequest
    from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
    from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic

    async with Sandbox(brokers=brokers, partitions=5, auto_create=True) as sandbox, Peer(sandbox) as peer:
        made = CreatableTopic(name="made", num_partitions=-1, replication_factor=-1)
        assert (await peer.ask(CreateTopicsRequest(topics=[made]))).topics[0].num_partitions == 5
        found = await peer.ask(MetadataRequest(topics=[MetadataRequestTopic(name="found")]))
        assert len(found.topics[0].partitions) == 5
        asked = DescribeConfigsResource(
            resource_type=4, resource_name="1", configuration_keys=["num.partitions", "default.replication.factor"]
        )
        told = (await peer.ask(DescribeConfigsRequest(resources=[asked]))).results[0].configs
        assert {one.name: one.value for one in told} == {
            "num.partitions": "5", "default.replication.factor": str(brokers),
        }  # fmt: skip

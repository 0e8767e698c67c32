"""Connections that lead to another broker than the one meant (KIP-1242), on a real Apache Kafka. A broker map plays the
tunnel that leads to the wrong one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcli import codes
from kcli.broker.broker import NetworkBroker
from kcli.client import Client
from kcli.errors import ConnectError, Misrouted
from kcli.model import TopicPartition
from kcli.proto.messages.api_versions import versions_request
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.kafka.cluster import CLUSTER_ID, Kafka
from tests.programs import kcli


def address(kafka: Kafka, node: int) -> str:
    return f"127.0.0.1:{kafka.nodes[node - 1].client_port}"


def tunnel(kafka: Kafka, *pairs: tuple[int, int]) -> tuple[tuple[str, str], ...]:
    """A broker map: where the first node is looked for, the second one answers."""
    return tuple((address(kafka, here), address(kafka, there)) for here, there in pairs)


def client(kafka: Kafka, *pairs: tuple[int, int], bootstrap: int = 1, **more: Any) -> Client:
    seeds = parse_bootstrap(address(kafka, bootstrap))
    return Client(ClientSettings(bootstrap=seeds, broker_map=tunnel(kafka, *pairs), deadline=6.0, **more))


async def test_a_broker_refuses_another_cluster_and_another_node(kafka3: Kafka) -> None:
    """What the rest of this file relies on, asked in Kafka's own words."""
    async with client(kafka3) as one:
        broker = await one.cluster.node(2)
        answers = [
            (cluster, node, codes.of((await broker.ask(versions_request(cluster, node))).error_code))
            for cluster, node in ((CLUSTER_ID, 2), (CLUSTER_ID, 3), ("another", 2), (None, -1))
        ]
    refused = codes.REBOOTSTRAP_REQUIRED
    assert [code for _, _, code in answers] == [codes.NONE, refused, refused, codes.NONE]


async def test_the_connection_to_a_wrong_broker_is_refused_and_the_others_go_on(kafka3: Kafka) -> None:
    async with client(kafka3, (2, 3)) as one:
        assert (await one.cluster.node(1)).node_id == 1
        with pytest.raises(Misrouted, match=r"broker 2 at .* via .*another broker responds at this address"):
            await (await one.cluster.node(2)).ask(versions_request())
        await (await one.cluster.node(3)).ask(versions_request())
        assert set(one.cluster.failing()) == {2}


async def test_without_the_check_nobody_notices(kafka3: Kafka) -> None:
    async with client(kafka3, (2, 3), check_cluster=False) as one:
        await (await one.cluster.node(2)).ask(versions_request())
        assert not one.cluster.failing()


async def test_a_bootstrap_connection_that_serves_a_broker_is_checked_when_it_does(kafka3: Kafka) -> None:
    """The bootstrap address is the one that broker 1 advertises, and broker 2 answers there: metadata is right, and
    the connection must not serve as broker 1's."""
    async with client(kafka3, (1, 2)) as one:
        await one.cluster.nodes()
        broker = await one.cluster.node(1)
        for _ in range(2):  # the first request ends with the old connection, the second one opens another
            with pytest.raises(ConnectError, match="another broker responds at this address"):
                await broker.ask(versions_request())
        assert set(one.cluster.failing()) == {1}
    async with client(kafka3, (1, 2), check_cluster=False) as one:
        await (await one.cluster.node(1)).ask(versions_request())


async def test_a_bootstrap_connection_to_the_right_broker_stays(kafka3: Kafka) -> None:
    async with client(kafka3) as one:
        await one.cluster.nodes()
        broker = await one.cluster.node(1)
        for _ in range(3):
            await broker.ask(versions_request())
        assert isinstance(broker, NetworkBroker)
        assert one.metrics.opened_connections == 1


async def test_the_bootstrap_servers_are_asked_again_and_a_mended_tunnel_is_used(
    kafka3: Kafka, topic_name: Callable[[], str]
) -> None:
    """Records wait for a broker behind a wrong tunnel, and are written when it leads to the right one."""
    topic = topic_name()
    made = kcli("topics", "create", topic, "-p", "3", "-r", "3", "-b", kafka3.bootstrap)
    assert made.code == 0, made.err
    async with client(kafka3) as probe:
        await probe.cluster.partitions(topic)
        led = next(n for n in range(3) if probe.cluster.leader_id(TopicPartition(topic, n)) == 2)
    async with Relay(kafka3.nodes[2].client_port) as relay:
        one = Client(
            ClientSettings(
                bootstrap=parse_bootstrap(address(kafka3, 1)), broker_map=((address(kafka3, 2), relay.address),)
            )
        )
        async with one, one.producer(ProducerSettings(linger=0.0)) as producer:
            sent = asyncio.ensure_future(producer.send_and_wait(topic, b"v", partition=led))
            async with asyncio.timeout(30):
                await until(lambda: 2 in one.cluster.failing())
            assert isinstance(one.cluster.failing()[2][2], Misrouted)
            assert not sent.done()
            relay.port = kafka3.nodes[1].client_port
            async with asyncio.timeout(30):
                assert (await sent).offset == 0
    read = kcli("consume", topic, "-p", str(led), "-o", "beginning", "-e", "-b", kafka3.bootstrap)
    assert read.out == b"v\n", read.err


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - nothing tells it
        await asyncio.sleep(0.05)


class Relay:
    """A tunnel on a port of its own that leads to `port`, which may change: the next connection goes there."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server

    @property
    def address(self) -> str:
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"{host}:{port}"

    async def _accept(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, out = await asyncio.open_connection("127.0.0.1", self.port)
        for source, sink in ((near, out), (far, back)):
            task = asyncio.ensure_future(_pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def __aenter__(self) -> Relay:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except ConnectionError:
        pass  # one end closed: so does the other
    finally:
        sink.close()


# -- the command line --------------------------------------------------------------------------------------------------


def doctor(kafka: Kafka, *pairs: tuple[int, int]) -> tuple[int, dict[int, dict[str, Any]]]:
    """The exit code, and the step of each broker."""
    words = [word for here, there in tunnel(kafka, *pairs) for word in ("--broker-map", f"{here}={there}")]
    done = kcli("doctor", "-b", address(kafka, 1), "-J", *words)
    return done.code, {s["broker"]: s for s in json.loads(done.out)["steps"] if s["step"] == "advertised"}


def test_the_doctor_calls_a_tunnel_to_the_wrong_broker_unhealthy(kafka3: Kafka) -> None:
    assert doctor(kafka3)[0] == 0
    code, brokers = doctor(kafka3, (2, 3))
    assert code == 5
    assert [brokers[n]["status"] for n in (1, 2, 3)] == ["ok", "failed", "ok"]
    assert brokers[2]["fault"] == "wrong-broker"
    assert "broker 3 responds there, not broker 2" in brokers[2]["result"]


def test_every_connection_of_a_command_names_the_broker_that_it_means(kafka3: Kafka, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    assert kcli("brokers", "-b", address(kafka3, 1), "--trace-file", str(trace)).code == 0
    lines = trace.read_text().splitlines()
    for node in (1, 2, 3):
        assert any(f"] broker {node} at" in line and " ApiVersions v5 " in line for line in lines), (node, lines)

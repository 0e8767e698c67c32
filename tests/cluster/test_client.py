"""Client and SyncClient: wiring, start-up cost, the end; with the real sandbox behind them."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from kcli import codes
from kcli.client import Client
from kcli.errors import ConnectError
from kcli.model import Group, TopicPartition
from kcli.sandbox import Sandbox
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap
from kcli.sync.client import SyncClient
from tests.ports import free_port

NOT_AT_START = ("dataclasses", "uuid", "random", "importlib.metadata", "json", "kcli.producer", "kcli.consumer", "rich")


def settings(bootstrap: str, **given: object) -> ClientSettings:
    return ClientSettings(bootstrap=parse_bootstrap(bootstrap), **given)  # type: ignore[arg-type]


async def test_the_cluster_of_a_sandbox_is_seen_as_it_is() -> None:
    async with Sandbox(brokers=3, topics={"t": 6}) as sandbox, Client(settings(sandbox.bootstrap)) as client:
        cluster = client.cluster
        assert [node.id for node in await cluster.nodes()] == [one.node_id for one in sandbox.brokers]
        assert list(await cluster.partitions("t")) == list(range(6))
        assert len({(await cluster.leader(TopicPartition("t", n))).node_id for n in range(6)}) == 3
        assert await cluster.coordinator(Group("g"))
        assert await cluster.controller()


async def test_C4_a_leader_that_moves_is_found_on_the_sandbox() -> None:
    async with Sandbox(brokers=3, topics={"t": 1}) as sandbox, Client(settings(sandbox.bootstrap)) as client:
        at = TopicPartition("t", 0)
        first = (await client.cluster.leader(at)).node_id
        other = next(one.node_id for one in sandbox.brokers if one.node_id != first)
        sandbox.faults.cluster.move_leader("t", 0, other)
        client.cluster.leader_moved(at)
        assert (await client.cluster.leader(at)).node_id == other


async def test_C6_an_absent_topic_on_the_sandbox_keeps_its_leader() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Client(settings(sandbox.bootstrap)) as client:
        at = TopicPartition("t", 0)
        await client.cluster.leader(at)
        sandbox.faults.cluster.absent("t")
        await client.cluster.refresh(["t"])
        assert client.cluster.has_leader(at)


async def test_C16_a_broker_of_the_sandbox_dies_and_comes_back() -> None:
    async with (
        Sandbox(brokers=2, topics={"t": 2}) as sandbox,
        Client(settings(sandbox.bootstrap.replace("127.0.0.1", "localhost"))) as client,
    ):
        cluster = client.cluster
        await cluster.nodes()  # of a seed, which is no broker by that name
        dead = sandbox.brokers[0].node_id
        await sandbox.faults.cluster.stop_broker(dead)
        assert (await cluster.anyone()).node_id != dead
        assert len(await cluster.topics()) == 1
        await sandbox.faults.cluster.start_broker(dead)
        await cluster.refresh()
        await (await cluster.node(dead)).versions()


async def test_C15_a_coordinator_that_moves_is_found_on_the_sandbox() -> None:
    async with Sandbox(brokers=2) as sandbox, Client(settings(sandbox.bootstrap)) as client:
        first = (await client.cluster.coordinator(Group("g"))).node_id
        other = next(one.node_id for one in sandbox.brokers if one.node_id != first)
        sandbox.faults.cluster.move_coordinator("g", other)
        sandbox.faults.error("FindCoordinator", codes.COORDINATOR_NOT_AVAILABLE)
        client.cluster.coordinator_moved(Group("g"))
        assert (await client.cluster.coordinator(Group("g"))).node_id == other


async def test_A4_03_every_client_has_a_client_id_of_its_own() -> None:
    async with Sandbox() as sandbox:
        seen = []
        for _ in range(2):
            async with Client(settings(sandbox.bootstrap)) as client:
                broker = await client.cluster.anyone()
                seen.append(broker._opening._client_id)  # type: ignore[attr-defined]
        assert len(set(seen)) == 2
        assert all(one.startswith("kcli-") for one in seen)


async def test_B8_two_members_of_a_group_on_one_client_do_not_wait_for_each_other() -> None:
    group = GroupSettings(group="g", heartbeat_interval=0.1)
    async with Sandbox(topics={"t": 4}, rebalance_delay=0.0) as sandbox, Client(settings(sandbox.bootstrap)) as client:
        async with client.consumer(group=group) as one, client.consumer(group=group) as two:
            await one.subscribe(["t"])
            await two.subscribe(["t"])
            async with asyncio.timeout(8):
                while not (len(one.assignment) == len(two.assignment) == 2):
                    await asyncio.gather(one.poll(0.05), two.poll(0.05))


async def test_B1_the_frame_limit_follows_what_a_consumer_asks_for() -> None:
    client = Client(settings("127.0.0.1:1"))
    client.consumer()
    assert client.settings.max_frame == 100 * 1024 * 1024
    client.consumer(settings=ConsumerSettings(fetch_max_bytes=200 * 1024 * 1024))
    assert client.settings.max_frame > 200 * 1024 * 1024
    await client.cluster.close()


def test_without_async_the_same() -> None:
    with SandboxThread(topics={"t": 2}) as sandbox, SyncClient(settings(sandbox.bootstrap)) as kafka:
        assert kafka.run(lambda client: client.cluster.partitions("t")) == [0, 1]

        async def produce(client: Client) -> int:
            async with client.producer(ProducerSettings()) as producer:
                await producer.send("t", b"v")
                await producer.flush()
                return producer.counts.acked

        assert kafka.run(produce) == 1


def test_without_async_a_dead_address_is_one_error() -> None:
    with SyncClient(settings("127.0.0.1:1", wait_for_cluster=False)) as kafka:
        with pytest.raises(ConnectError, match=r"could not connect to a broker: 127\.0\.0\.1:1: connection refused"):
            kafka.run(lambda client: client.cluster.topics())


@pytest.mark.parametrize("first", ["admin", "send", "read", "join"])
async def test_the_first_request_waits_for_a_cluster_that_is_not_up_yet(first: str) -> None:
    port = free_port()
    async with Client(settings(f"127.0.0.1:{port}", deadline=20.0)) as client:

        async def ask() -> object:
            if first == "admin":
                return await client.admin.topics(["t"])
            if first == "send":
                async with client.producer() as producer:
                    return await producer.send_and_wait("t", b"v")
            group = GroupSettings(group="g") if first == "join" else None
            async with client.consumer(group=group) as consumer:
                if group is not None:
                    await consumer.subscribe(["t"])
                else:
                    consumer.assign({TopicPartition("t", 0): 0})
                return await consumer.poll(20)

        asking = asyncio.create_task(ask())
        await asyncio.sleep(0.5)
        assert not asking.done()
        async with Sandbox(port=port, topics={"t": 1}, rebalance_delay=0.0) as sandbox:
            if first in ("read", "join"):
                async with Client(settings(sandbox.bootstrap)) as other, other.producer() as producer:
                    await producer.send_and_wait("t", b"v")
            assert await asyncio.wait_for(asking, 20)


async def test_the_first_request_fails_at_its_deadline_and_says_why() -> None:
    loop = asyncio.get_running_loop()
    for given, least, most in (({"deadline": 1.5}, 0.5, 3.0), ({"wait_for_cluster": False}, 0.0, 0.9)):
        began = loop.time()
        async with Client(settings("127.0.0.1:1", **given)) as client:
            with pytest.raises(ConnectError, match="connection refused"):
                await client.admin.topics()
        assert least <= loop.time() - began <= most, given


@pytest.mark.process
def test_importing_the_client_imports_nothing_it_does_not_need() -> None:
    program = f"""
import asyncio, sys
before = set(sys.modules)
import kcli.client
print(sorted(set({NOT_AT_START!r}) & (set(sys.modules) - before)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.process
def test_B30_a_run_in_development_mode_leaves_nothing_behind() -> None:
    program = """
import asyncio
from kcli.client import Client
from kcli.errors import ConnectError
from kcli.sandbox import Sandbox
from kcli.settings import ClientSettings, parse_bootstrap

async def main():
    async with Sandbox(brokers=2, topics={"t": 2}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            await client.cluster.topics()
            await (await client.cluster.anyone()).versions()
            for one in sandbox.brokers:
                await sandbox.faults.cluster.stop_broker(one.node_id)
    try:
        nobody = ClientSettings(bootstrap=parse_bootstrap("127.0.0.1:1,localhost:1"), wait_for_cluster=False)
        async with Client(nobody) as client:
            await client.cluster.topics()
    except ConnectError:
        print("refused")

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-c", program],
        capture_output=True, text=True, check=True, timeout=20,
    )  # fmt: skip
    assert done.stdout == "refused\n"
    assert "Warning" not in done.stderr
    assert "never retrieved" not in done.stderr
    assert "Traceback" not in done.stderr


async def test_B30_closing_with_everything_down_is_quick() -> None:
    async with Sandbox(brokers=2) as sandbox:
        client = Client(settings(sandbox.bootstrap))
        await client.cluster.nodes()
        await client.cluster.anyone()
    await asyncio.wait_for(client.__aexit__(None, None, None), 10)
    await asyncio.wait_for(client.__aexit__(None, None, None), 10)
    assert len(asyncio.all_tasks()) == 1

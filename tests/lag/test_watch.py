"""Looks at a cluster whose brokers come and go."""

from __future__ import annotations

import asyncio

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.lag.history import History
from kcli.lag.watch import Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap

GROUPS = [f"group-{n}" for n in range(8)]


async def test_a_broker_that_comes_back_is_met_and_its_groups_are_seen_again() -> None:
    """Who only asked the brokers known at first saw no groups at all, minutes long, and took that for the truth."""
    with SandboxThread(brokers=3, topics={"orders": 1}) as sandbox:
        settings = ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))
        async with Client(settings) as client:
            await write_all(client)
        for broker in (2, 3):
            sandbox.call(lambda one, broker=broker: one.faults.cluster.stop_broker(broker))
        async with Client(settings) as client:
            watch = Watch(client.cluster, [], History())
            look = await watch.look()
            assert [one.described.group for one in look.groups] == GROUPS
            for broker in (2, 3):
                sandbox.call(lambda one, broker=broker: one.faults.cluster.start_broker(broker))
            async with asyncio.timeout(10):
                while len(await client.cluster.nodes()) < 3:
                    await watch.look()
                    await asyncio.sleep(0.02)
            look = await watch.look()
            assert [one.described.group for one in look.groups] == GROUPS


async def write_all(client: Client) -> None:
    for group in GROUPS:
        await write_commits(
            Coordinators(client.cluster), group, {TopicPartition("orders", 0): OffsetAndMetadata(offset=0)}
        )

"""Looks at a cluster whose brokers come and go."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.lag.history import History
from kcli.lag.watch import Watch
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

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
            look = await watch.refresh()
            assert [one.described.group for one in look.groups] == GROUPS
            for broker in (2, 3):
                sandbox.call(lambda one, broker=broker: one.faults.cluster.start_broker(broker))
            async with asyncio.timeout(10):
                while len(await client.cluster.nodes()) < 3:
                    await watch.refresh()
                    await asyncio.sleep(0.02)
            look = await watch.refresh()
            assert [one.described.group for one in look.groups] == GROUPS


async def test_the_first_refresh_has_the_rate_of_what_came_in_before() -> None:
    """It took three commits and a quarter of a minute; ListOffsets by time says it at once."""
    with SandboxThread(topics={"orders": 2, "old": 1, "mixed": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            now = round(time.time() * 1000)
            async with client.producer(ProducerSettings()) as producer:
                for n in range(700):  # ten a second in the last 70 s
                    await producer.send("orders", b"x", partition=0, timestamp=now - 70_000 + 100 * n)
                    await producer.send("old", b"x", partition=0, timestamp=now - 86_400_000 + n)
                    await producer.send("mixed", b"x", partition=0, timestamp=now - (50_000, 5_000, 70_000)[n % 3])
                await producer.flush()
            at = [("orders", 0), ("orders", 1), ("old", 0), ("mixed", 0)]
            commits = {TopicPartition(*one): OffsetAndMetadata(offset=600) for one in at}
            await write_commits(Coordinators(client.cluster), "billing", commits)
            for back in (True, False):
                look = await Watch(client.cluster, ["billing"], History(), back=back).refresh()
                rates = {
                    (part.lag.sample.topic, part.lag.sample.partition): part.in_rate
                    for part in look.groups[0].partitions
                }
                if not back:
                    assert set(rates.values()) == {None}
                    continue
                assert 8.0 < (rates["orders", 0] or 0.0) < 12.0
                assert rates["old", 0] is None, "nothing of the last minute tells its rate"
                assert rates["orders", 1] == 0.0, "it never had a record"
                assert (rates["mixed", 0] or 0.0) >= 0.0


async def write_all(client: Client) -> None:
    for group in GROUPS:
        await write_commits(
            Coordinators(client.cluster), group, {TopicPartition("orders", 0): OffsetAndMetadata(offset=0)}
        )

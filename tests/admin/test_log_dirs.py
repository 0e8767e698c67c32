"""Sizes on disk, gathered from every broker; a broker that cannot tell stands beside those that did."""

from __future__ import annotations

from kcli.admin.storage import log_dirs
from kcli.client import Client
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap


async def test_C17_sizes_come_from_every_broker_and_only_of_the_topics_asked_for() -> None:
    async with Sandbox(brokers=3) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            await sandbox_topics(client)
            async with client.producer(ProducerSettings()) as producer:
                await producer.send("orders", b"x" * 1000)
                await producer.flush()
            found, failed = await log_dirs(client.cluster)
            some, _ = await log_dirs(client.cluster, {"orders": [0]}, brokers=[found[0].broker])
    assert not failed
    assert len(found) == 3
    replicas = [one for place in found for one in place.replicas]
    assert sorted({(one.topic, one.partition) for one in replicas}) == [("orders", 0), ("orders", 1), ("other", 0)]
    assert len([one for one in replicas if one.topic == "orders"]) == 6  # three replicas of each of two
    assert sum(one.size for one in replicas) == 3 * max(one.size for one in replicas) > 3000
    assert {(one.topic, one.partition) for place in some for one in place.replicas} == {("orders", 0)}


async def test_C17_a_broker_that_is_gone_is_named_beside_the_sizes_of_the_others() -> None:
    async with Sandbox(brokers=3) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            await sandbox_topics(client)
            await client.cluster.refresh()
            gone = sandbox.brokers[-1].node_id
            await sandbox.faults.cluster.stop_broker(gone)
            found, failed = await log_dirs(client.cluster)
    assert {one.broker for one in found} == {one.node_id for one in sandbox.brokers} - {gone}
    assert set(failed) <= {gone}


async def sandbox_topics(client: Client) -> None:
    from kcli.admin.topics.topics import NewTopic, create_topics

    await create_topics(
        client.cluster,
        [
            NewTopic(topic="orders", partitions=2, replication_factor=3),
            NewTopic(topic="other", partitions=1, replication_factor=1),
        ],
    )

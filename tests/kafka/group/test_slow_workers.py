"""Workers that outlive the rebalance timeout, in groups of a real Kafka."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kcli.client import Client
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from tests.consumer import outliving
from tests.kafka.cluster import Kafka
from tests.kafka.storm import shorten
from tests.programs import kcli


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_E36_E53_A3_13_a_worker_that_takes_three_times_the_rebalance_timeout_loses_its_partition(
    kafka: Kafka, topic_name: Callable[[], str], protocol: str
) -> None:
    topic = topic_name()
    assert kcli("topics", "create", topic, "-p", "2", "-b", kafka.bootstrap, "--wait").code == 0
    settings = GroupSettings(
        group=f"g-{topic}", auto_commit=False, rebalance_timeout=outliving.TIMEOUT, protocol=protocol
    )
    if protocol == "classic":
        settings = settings.replace(heartbeat_interval=0.1, session_timeout=6.0)
    else:
        shorten(kafka, settings.group, session=6000)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client:
        async with client.producer(ProducerSettings(linger=0.0)) as producer:
            for n in range(40):
                await producer.send(topic, b"%d" % n, partition=n % 2)
        await outliving.tell(client, topic, settings, 40)

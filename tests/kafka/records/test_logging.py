"""What kcli logs of a real Apache Kafka: connections, leaders, retries and rebalances, by level."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable

import pytest

import kcli
from tests.kafka.cluster import Kafka
from tests.programs import kcli as run


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [f"{row.levelname} {row.name}: {row.getMessage()}" for row in caplog.records if row.name.startswith("kcli")]


def missing(caplog: pytest.LogCaptureFixture, *patterns: str) -> list[str]:
    """The patterns that match no line as a whole."""
    seen = lines(caplog)
    return [pattern for pattern in patterns if not any(re.fullmatch(pattern, line) for line in seen)]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_producer_and_two_members_are_logged(
    kafka: Kafka, topic_name: Callable[[], str], caplog: pytest.LogCaptureFixture, protocol: str
) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-p", "2", "-b", kafka.bootstrap).code == 0
    group = kcli.GroupSettings(group=topic, protocol=protocol)

    async def scene() -> None:
        async with kcli.Client(kafka.bootstrap) as client:
            async with client.producer() as producer:
                await producer.send_and_wait(topic, b"v")
            async with client.consumer(group=group) as first:
                await first.subscribe([topic])
                await owns(first, 2)
                async with client.consumer(group=group) as second:
                    await second.subscribe([topic])
                    await asyncio.gather(owns(first, 1), owns(second, 1))

    async def owns(consumer: kcli.Consumer, count: int) -> None:
        async with asyncio.timeout(60):
            while len(consumer.assignment) != count:
                await consumer.poll(0.1)

    with caplog.at_level(logging.DEBUG, "kcli"):
        asyncio.run(scene())
    name = re.escape(topic)
    assert (
        missing(
            caplog,
            r"DEBUG kcli\.broker: .*: connected in \d+\.\d ms",
            r"DEBUG kcli\.cluster: metadata from .*: 1 brokers, \d+ topics",
            rf"INFO kcli\.cluster: metadata: leaders are new or changed: .*{name}.*",
            rf"INFO kcli\.cluster: {name}: broker 1 at .* coordinates",
            r"INFO kcli\.producer: producer id \d+, epoch 0",
            rf"INFO kcli\.consumer\.group: {name}: assigned {name}\[0\], {name}\[1\]",
            rf"INFO kcli\.consumer\.group: {name}: revoked {name}\[\d\].*",
            rf"INFO kcli\.consumer\.group: {name}: member \S+ in (generation|epoch) \d+",
        )
        == []
    )


def test_a_broker_that_dies_is_logged_with_what_is_sent_again(
    kafka3: Kafka, topic_name: Callable[[], str], caplog: pytest.LogCaptureFixture
) -> None:
    topic = topic_name()
    assert run("topics", "create", topic, "-p", "1", "-r", "3", "-b", kafka3.bootstrap).code == 0

    async def scene() -> int:
        async with kcli.Client(kafka3.bootstrap) as client, client.producer() as producer:
            await producer.send_and_wait(topic, b"before")
            leader = kafka3.leader(topic)
            await asyncio.to_thread(leader.kill)
            stored = await asyncio.wait_for(producer.send_and_wait(topic, b"after"), 60)
            return stored.offset

    with caplog.at_level(logging.DEBUG, "kcli"):
        assert asyncio.run(scene()) == 1
    assert (
        missing(
            caplog,
            r"(INFO|WARNING) kcli\.broker: broker \d at .*(closed the connection|no connection).*",
            rf"INFO kcli\.cluster: .*(leaders are new or changed: .*{re.escape(topic)}.*|leads now, in epoch \d+)",
        )
        == []
    )

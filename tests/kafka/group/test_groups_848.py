"""KIP-848 groups on a real Apache Kafka: kcli members beside librdkafka's in one group."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.errors import BrokerError
from kcli.settings import ClientSettings, GroupSettings, parse_bootstrap
from tests.kafka.cluster import Kafka
from tests.kafka.strangers import Confluent, until
from tests.programs import KCLI, Background, kcli


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "6", "-b", kafka.bootstrap, "--wait").code == 0
    return name


def member(kafka: Kafka, topic: str, path: Path, *more: str) -> Background:
    words = [
        *KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", f"g-{topic}", "--from-beginning", "-f", "%p %s\\n",
        "-X", "group.protocol=consumer", *more,
    ]  # fmt: skip
    return Background(words, stdout=path)


def produce(kafka: Kafka, topic: str, first: int, count: int) -> None:
    lines = b"".join(b"k%d\t%d\n" % (n, n) for n in range(first, first + count))
    sent = kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines)
    assert sent.code == 0, sent.err


def owned(kafka: Kafka, topic: str) -> list[int]:
    """How many partitions each member owns, as the coordinator says."""
    shown = kcli("groups", "members", f"g-{topic}", "-b", kafka.bootstrap, "--format", "ndjson")
    rows = map(json.loads, shown.out.splitlines() if shown.code == 0 else [])
    return sorted(row["partitions"] for row in rows if "member_id" in row)


def values(one: Background) -> list[int]:
    return [int(row.split()[1]) for row in one.out.splitlines() if row.count(b" ") == 1]


@pytest.mark.long
def test_E58_E60_two_of_ours_and_librdkafka_share_and_take_over_while_reading(
    kafka: Kafka, topic: str, tmp_path: Path
) -> None:
    stranger = Confluent(kafka.bootstrap, f"g-{topic}", topic, "consumer")
    with member(kafka, topic, tmp_path / "one") as one:
        until(lambda: owned(kafka, topic) == [6])
        produce(kafka, topic, 0, 3000)
        with member(kafka, topic, tmp_path / "two", "-X", "group.instance.id=second") as two:
            produce(kafka, topic, 3000, 3000)
            until(lambda: owned(kafka, topic) == [3, 3])
            with stranger:
                produce(kafka, topic, 6000, 3000)
                until(lambda: owned(kafka, topic) == [2, 2, 2])
                produce(kafka, topic, 9000, 3000)

                def seen() -> list[int]:
                    return [*values(one), *values(two), *map(int, stranger.values)]

                until(lambda: set(seen()) == set(range(12_000)))
                described = kcli("groups", "describe", f"g-{topic}", "-b", kafka.bootstrap, "--format", "json")
                assert described.code == 0, described.err
                assert b'"consumer"' in described.out
                assert stranger.partitions
            until(lambda: owned(kafka, topic) == [3, 3])
            assert one.stop() == 0, one.err
            until(lambda: 6 in owned(kafka, topic))
            produce(kafka, topic, 12_000, 1000)
            until(lambda: set(seen()) == set(range(13_000)))
            assert two.stop() == 0, two.err
    # what moved was committed first: nothing is read twice but what librdkafka's asynchronous commits leave behind
    ours = [*values(one), *values(two)]
    assert len(ours) == len(set(ours))
    shown = kcli("lag", f"g-{topic}", "--by", "partition", "-b", kafka.bootstrap, "--format", "ndjson")
    assert shown.code == 0, shown.err
    assert [json.loads(line)["lag"] for line in shown.out.splitlines()] == [0] * 6


def test_E55_a_static_member_that_comes_back_gets_its_partitions(kafka: Kafka, topic: str, tmp_path: Path) -> None:
    with member(kafka, topic, tmp_path / "one", "-X", "group.instance.id=s") as one:
        until(lambda: owned(kafka, topic) == [6])
        produce(kafka, topic, 0, 100)
        until(lambda: len(values(one)) == 100)
        assert one.stop() == 0, one.err
    with member(kafka, topic, tmp_path / "two", "-X", "group.instance.id=s") as two:
        produce(kafka, topic, 100, 100)
        until(lambda: sorted(values(two)) == list(range(100, 200)))
        assert two.stop() == 0, two.err


@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_E59_the_coordinators_assignors_and_one_it_does_not_have(
    kafka: Kafka, topic: str, tmp_path: Path, assignor: str
) -> None:
    with member(kafka, topic, tmp_path / "one", "-X", f"group.remote.assignor={assignor}") as one:
        until(lambda: owned(kafka, topic) == [6])
        assert one.stop() == 0, one.err
    with member(kafka, topic, tmp_path / "bad", "-X", "group.remote.assignor=nonsense") as bad:
        until(lambda: bad.process.poll() is not None)
        assert bad.process.returncode not in (0, None)
        assert "nonsense" in bad.err or "UNSUPPORTED_ASSIGNOR" in bad.err


async def forever(consumer: Consumer) -> None:
    while True:
        await consumer.poll(0.1)


async def test_E62_patterns_are_the_brokers_and_it_says_what_it_cannot_read(kafka: Kafka, topic: str) -> None:
    group = GroupSettings(group=f"g-{topic}", protocol="consumer", auto_commit=False)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))) as client, asyncio.timeout(40):
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(topic[:-1] + "[a-z0-9]")
            while len(consumer.assignment) != 6:
                await consumer.poll(0.1)
            await consumer.subscribe("t(")
            with pytest.raises(BrokerError, match="INVALID_REGULAR_EXPRESSION"):
                await forever(consumer)

"""When the record at an offset was written, from the sandbox's logs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kcli.broker.connection.connection import Connection
from kcli.client import Client
from kcli.errors import BrokerError, KcliError
from kcli.lag.figures import Sample
from kcli.lag.record_times import mark_drained, record_times
from kcli.model import TopicPartition
from kcli.proto.messages.fetch import FetchResponse
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    import pytest

WRITTEN = 1_700_000_000_000


async def test_the_time_of_each_offset_is_its_records_own() -> None:
    async with (
        Sandbox(brokers=2, topics={"t": 4}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        async with client.producer(ProducerSettings(linger=0.01)) as producer:
            for n in range(100):
                value = b"x" * 30_000 if n % 4 == 1 else b"v"  # one partition has batches larger than a look
                await producer.send("t", value, partition=n % 4, timestamp=WRITTEN + n)
        at = {TopicPartition("t", p): offset for p, offset in enumerate([0, 7, 24, 25])}
        told = await record_times(client.cluster, at)
        assert [told[TopicPartition("t", p)] for p in range(3)] == [WRITTEN, WRITTEN + 29, WRITTEN + 98]
        late = told[TopicPartition("t", 3)]
        assert isinstance(late, KcliError)
        assert "no record there yet" in str(late)


async def test_an_offset_that_is_gone_says_so() -> None:
    async with (
        Sandbox(topics={"t": 1}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        told = await record_times(client.cluster, {TopicPartition("t", 0): 99}, patience=0.1)
        assert isinstance(told[TopicPartition("t", 0)], BrokerError)


async def test_a_partition_that_nobody_asked_for_is_passed_over() -> None:
    async with (
        Sandbox(topics={"t": 1}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        async with client.producer(ProducerSettings()) as producer:
            await producer.send("t", b"v", timestamp=WRITTEN)
        sandbox.faults.wire.alter("Fetch", _of_another_partition)
        told = await record_times(client.cluster, {TopicPartition("t", 0): 0}, patience=0.1)
        assert "no record there yet" in str(told[TopicPartition("t", 0)])
        assert len(told) == 1


def _of_another_partition(answer: FetchResponse) -> None:
    answer.responses[0].partitions[0].partition_index = 7


async def test_who_has_only_markers_to_read_is_found_with_a_request_or_two_for_each_leader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Batches are larger than what is read of a partition: none of them is asked for again."""
    asked: Counter[str] = Counter()
    ask = Connection.ask

    async def counted(self: Connection, request: Any, *words: Any, **named: Any) -> Any:
        asked[type(request).__name__.removesuffix("Request")] += 1
        return await ask(self, request, *words, **named)

    async with (
        Sandbox(brokers=2, topics={"t": 20, "decided": 4}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        async with client.producer(ProducerSettings()) as producer:
            for partition in range(20):
                await producer.send("t", b"x" * 3000, partition=partition)
            await producer.flush()
        for _ in range(2):
            async with client.producer(ProducerSettings(transactional_id="x")) as producer:
                await producer.begin()
                for partition in range(4):
                    await producer.send("decided", b"v", partition=partition)
                await producer.commit()
        places = [("t", n, 0, 1) for n in range(20)]
        places += [("decided", n, at, end) for n in range(4) for at, end in ((3, 4), (1, 4), (1, 2), (3, 3))]
        samples = [Sample(topic=t, partition=n, committed=at, end=end, start=0) for t, n, at, end in places]
        monkeypatch.setattr(Connection, "ask", counted)
        await mark_drained(client.cluster, samples)
        found = {(one.topic, one.committed, one.end) for one in samples if one.drained}
        assert found == {("decided", 3, 4)}
        assert asked["Fetch"] <= 2 * 3, "three places in a partition, at two leaders"
        asked.clear()
        await mark_drained(client.cluster, [Sample(topic="t", committed=1, end=1), Sample(topic="t", end=1)])
        assert not asked

"""Offsets by payload time in the sandbox's logs: what is read is what brute force finds; how much is asked."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import msgpack
import pytest

from kcli.asking.offsets import LATEST, list_offsets
from kcli.broker.connection.connection import Connection
from kcli.client import Client
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster, TopicPartition
from kcli.sandbox.sandbox import Sandbox
from kcli.seeking.last_records import newest
from kcli.seeking.read_range import stretches
from kcli.seeking.search import NARROW
from kcli.seeking.seeking import First, Span, first_at, spans
from kcli.serde.payload_time import TimeField
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

BASE = 1_700_000_000_000
WRITE = {
    "json": lambda value: json.dumps(value).encode(),
    "msgpack": msgpack.packb,
    "url": lambda value: urlencode(value).encode(),
}
Rows = list[tuple[int, int | None]]


@asynccontextmanager
async def cluster(partitions: int, brokers: int = 1) -> AsyncIterator[Client]:
    async with (
        Sandbox(brokers=brokers, topics={"t": partitions}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        yield client


async def write(client: Client, rows: dict[int, list[bytes | None]], batch: int = 2000) -> None:
    """Values by partition, in batches of about so many bytes."""
    settings = ProducerSettings(linger=0.005, batch_size=batch)
    async with client.producer(settings) as producer:
        for partition, values in rows.items():
            for value in values:
                await producer.send("t", value, partition=partition)


async def whole(cluster: Cluster, partitions: int) -> dict[TopicPartition, tuple[int, int]]:
    ats = [TopicPartition("t", partition) for partition in range(partitions)]
    ends = await list_offsets(cluster, dict.fromkeys(ats, LATEST))
    return {at: (0, ends[at].offset) for at in ats}  # type: ignore[union-attr]


def log(rng: random.Random, size: int, jitter: int, write: Any) -> tuple[Rows, list[bytes | None]]:
    rows: Rows = []
    values: list[bytes | None] = []
    base = BASE
    for offset in range(size):
        base += rng.randint(0, 2000)
        time = base - rng.randint(0, jitter)
        kind = rng.random()
        if kind < 0.05:
            values.append(rng.choice([None, b"garbage", write({"other": 1})]))
            rows.append((offset, None))
        else:
            values.append(write({"n": offset, "ts": time}))
            rows.append((offset, time))
    return rows, values


@pytest.mark.parametrize("name", ["json", "msgpack", "url"])
async def test_spans_and_first_records_are_those_of_brute_force(name: str) -> None:
    rng = random.Random(name)
    async with cluster(4) as client:
        made = {p: log(rng, size, 30_000, WRITE[name]) for p, size in enumerate([1500, 1, 0, 400])}
        await write(client, {p: values for p, (_, values) in made.items()})
        ranges = await whole(client.cluster, 4)
        field = TimeField("ts")
        for _ in range(25):
            start = BASE + rng.randint(-100_000, 1_700_000)
            end = start + rng.choice([0, 1, 5000, 500_000])
            found = await spans(client.cluster, field, ranges, start, end, 30_000)
            firsts = await first_at(client.cluster, field, ranges, start, 30_000)
            for at, span in found.items():
                rows, first = made[at.partition][0], firsts[at]
                assert isinstance(span, Span)
                assert isinstance(first, First)
                wanted = [offset for offset, time in rows if time is not None and start <= time < end]
                assert all(span.start <= offset < span.stop for offset in wanted)
                late = [(offset, time) for offset, time in rows if time is not None and time >= start]
                assert (first.offset, first.time) == (late[0] if late else (ranges[at][1], None))
                assert span.back <= 30_000
                around = [o for o, t in rows if t is not None and start - 62_000 <= t < end + 62_000]
                assert span.stop - span.start <= len(around) + 0.2 * len(rows) + 30  # not just everything


async def test_an_unbounded_side_is_the_ranges_own() -> None:
    async with cluster(1) as client:
        await write(client, {0: [json.dumps({"ts": BASE + n * 1000}).encode() for n in range(100)]})
        ranges = {TopicPartition("t", 0): (10, 90)}
        (one,) = (await spans(client.cluster, TimeField("ts"), ranges, BASE + 50_000, None, 0)).values()
        assert isinstance(one, Span)
        assert 50 - NARROW <= one.start <= 50
        assert one.stop == 90
        (one,) = (await spans(client.cluster, TimeField("ts"), ranges, None, BASE + 50_000, 0)).values()
        assert isinstance(one, Span)
        assert one.start == 10
        assert 50 <= one.stop <= 50 + NARROW
        (first,) = (await first_at(client.cluster, TimeField("ts"), ranges, BASE, 0)).values()
        assert first == First(10, BASE + 10_000)


async def test_a_search_is_a_few_small_fetches_for_each_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    partitions, size = 8, 4000
    async with cluster(partitions, brokers=2) as client:
        values: list[bytes | None] = [json.dumps({"ts": BASE + n * 1000}).encode() for n in range(size)]
        await write(client, dict.fromkeys(range(partitions), values), batch=800)
        ranges = await whole(client.cluster, partitions)
        asked: Counter[str] = Counter()
        original = Connection.ask

        async def counted(self: Connection, request: Any, *words: Any, **named: Any) -> Any:
            asked[type(request).__name__.removesuffix("Request")] += 1
            return await original(self, request, *words, **named)

        monkeypatch.setattr("kcli.seeking.seeking.LITTLE", 1000)  # a batch: no shortcut by big answers
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "ask", counted)
            found = await first_at(client.cluster, TimeField("ts"), ranges, BASE + 1_234_000, 0)
        assert {one.offset for one in found.values()} == {1234}  # type: ignore[union-attr]
        assert set(asked) <= {"Fetch", "ApiVersions"}  # a connection for big answers is opened
        assert asked["Fetch"] <= 2 * 12  # log2(4000) rounds at most, a request to each of two leaders in each


async def test_batches_larger_than_a_look_and_topics_of_them_take_turns() -> None:
    async with cluster(3) as client:
        padding = "x" * 90_000
        values: list[bytes | None] = [
            json.dumps({"ts": BASE + n * 1000, "padding": padding}).encode() for n in range(40)
        ]
        await write(client, dict.fromkeys(range(3), values), batch=100_000)
        ranges = await whole(client.cluster, 3)
        found = await first_at(client.cluster, TimeField("ts"), ranges, BASE + 7000, 2000)
        assert [one.offset for one in found.values()] == [7, 7, 7]  # type: ignore[union-attr]


async def test_without_any_time_the_span_is_empty_and_says_so() -> None:
    async with cluster(2) as client:
        await write(client, {0: [b"{}"] * 3000, 1: [json.dumps({"ts": BASE}).encode()]})
        ranges = await whole(client.cluster, 2)
        found = await spans(client.cluster, TimeField("ts"), ranges, BASE, None, 0)
        assert list(found.values()) == [Span(3000, 3000, 0, False), Span(0, 1)]
        firsts = await first_at(client.cluster, TimeField("ts"), ranges, BASE, 0)
        assert list(firsts.values()) == [First(3000, None, 0, False), First(0, BASE)]


async def test_the_newest_record_is_found_behind_tombstones() -> None:
    async with cluster(2) as client:
        await write(client, {0: [b"a=1", *[None] * 500], 1: []})
        ranges = await whole(client.cluster, 2)
        (one,) = await newest(client.cluster, ranges)
        assert (one.at, one.offset, one.value) == (TopicPartition("t", 0), 0, b"a=1")
        assert await newest(client.cluster, {TopicPartition("t", 1): (0, 0)}) == []


async def test_a_partition_that_cannot_be_read_is_an_error_of_its_own() -> None:
    async with cluster(1) as client:
        await write(client, {0: [json.dumps({"ts": BASE}).encode()]})
        ranges = {TopicPartition("t", 0): (0, 1), TopicPartition("gone", 0): (0, 9)}
        found = await spans(client.cluster, TimeField("ts"), ranges, BASE, None, 0)
        assert found[TopicPartition("t", 0)] == Span(0, 1)
        assert isinstance(found[TopicPartition("gone", 0)], KcliError)
        beyond = await stretches(client.cluster, {TopicPartition("t", 0): (99, 1000)}, patience=0.1)
        assert isinstance(beyond[TopicPartition("t", 0)], BrokerError)

"""Rows in columns: each in its partition, with its time and in order, however small the buffer is."""

from __future__ import annotations

from array import array
from itertools import accumulate

import pytest

from kcli.asking.offsets import list_offsets
from kcli.client import Client
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.proto.columns import Lines
from kcli.proto.core import partition_of, split_lines
from kcli.proto.plain.headers import encode_headers
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap


async def everything(client, topic):
    ats = [TopicPartition(topic, one) for one in await client.cluster.partitions(topic)]
    ends = await list_offsets(client.cluster, dict.fromkeys(ats, -1))
    rows = []
    async with client.consumer() as consumer:
        consumer.assign(dict.fromkeys(ats, 0))
        consumer.stop_at({at: ends[at].offset for at in ats})
        while not consumer.finished:
            for fetched in await consumer.poll(5):
                rows += [(fetched.partition, r.timestamp, r.key, r.value) for b in fetched.batches for r in b]
    return rows


@pytest.mark.parametrize("memory", [32 << 20, 20_000])
async def test_rows_in_columns_go_where_they_say_with_the_times_they_have(memory):
    count = 3000
    text = b"".join(b"k%d:v%d\n" % (n, n) for n in range(count))
    lines = split_lines(text, 0, len(text), 10, b":")
    places = array("i", [n % 3 if n % 2 else -1 for n in range(count)])
    times = array("q", [1_000_000 + n for n in range(count)])
    async with Sandbox(topics={"t": 3}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            settings = ProducerSettings(buffer_memory=memory, batch_size=5000)
            async with client.producer(settings) as producer:
                await producer.send_columns("t", text, lines, places, times)
                await producer.flush()
                assert producer.counts.acked == count
            rows = await everything(client, "t")
    wanted = {
        b"v%d" % n: (n % 3 if n % 2 else partition_of(b"k%d" % n, 3), 1_000_000 + n, b"k%d" % n) for n in range(count)
    }
    assert {value: (partition, time, key) for partition, time, key, value in rows} == wanted
    for one in range(3):
        times_of_one = [time for partition, time, _, _ in rows if partition == one]
        assert times_of_one == sorted(times_of_one)


async def test_rows_without_partitions_and_keys_stick_and_those_with_a_wrong_one_are_refused():
    text = b"".join(b"v%d\n" % n for n in range(100))
    lines = split_lines(text, 0, len(text), 10, None)
    async with Sandbox(topics={"t": 3}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.producer(ProducerSettings()) as producer:
                await producer.send_columns("t", text, lines)
                with pytest.raises(UsageError, match="t has no partition 3"):
                    await producer.send_columns("t", text, lines, array("i", [3] * 100))
                with pytest.raises(UsageError, match="t has no partition -2"):
                    await producer.send_columns("t", text, lines, array("i", [-2] * 100))
                await producer.send_columns("t", b"", Lines(*[array("i")] * 4, 0))
                await producer.flush()
                assert producer.counts.accepted == producer.counts.acked == 100
            rows = await everything(client, "t")
    assert len({partition for partition, _, _, _ in rows}) == 1
    assert [value for _, _, _, value in rows] == [b"v%d" % n for n in range(100)]


async def test_rows_in_columns_keep_their_headers_over_many_steps() -> None:
    """More rows than are taken at once."""
    count = 20_000
    values = [b"v%d" % n for n in range(count)]
    tails = [b"" if n % 3 == 0 else encode_headers([("n", b"%d" % n)] * (n % 3)) for n in range(count)]
    text = b"".join(value + tail for value, tail in zip(values, tails, strict=True))
    starts = array("i", accumulate((len(value) + len(tail) for value, tail in zip(values, tails)), initial=0))[:-1]
    lengths = array("i", map(len, values))
    nothing = array("i", [-1]) * count
    headers = array("i", map(sum, zip(starts, lengths))), array("i", map(len, tails))
    async with Sandbox(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            async with client.producer(ProducerSettings()) as producer:
                await producer.send_columns("t", text, Lines(starts, nothing, starts, lengths, 0), headers=headers)
                await producer.flush()
            async with client.consumer() as consumer:
                consumer.assign({TopicPartition("t", 0): 0})
                consumer.stop_at({TopicPartition("t", 0): count})
                read = [record async for fetched in consumer for batch in fetched.batches for record in batch]
    assert [(record.value, list(record.headers)) for record in read] == [
        (value, [("n", b"%d" % n)] * (n % 3)) for n, value in enumerate(values)
    ]

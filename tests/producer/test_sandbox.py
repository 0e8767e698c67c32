"""End to end on the sandbox: every accepted record settles once, in order."""

from __future__ import annotations

import pytest

from kcli.client import Client
from kcli.producer.batch import BatchOutcome
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap


@pytest.mark.parametrize("codec", ["none", "gzip"])
async def test_A1_lines_are_counted_and_every_batch_settles_once(codec: str) -> None:
    chunk = b"".join(b"%099d\n" % number for number in range(20_000))
    outcomes: list[BatchOutcome] = []
    async with (
        Sandbox(topics={"t": 3}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings(compression=codec)) as producer,
    ):
        producer.on_batch = outcomes.append
        at = 0
        while at < len(chunk):
            at += await producer.send_lines("t", chunk, at, len(chunk))
        assert await producer.flush(10) == 0
        counts = producer.counts
        assert (counts.accepted, counts.acked, counts.failed, counts.unknown) == (20_000, 20_000, 0, 0)
    assert sum(outcome.count for outcome in outcomes) == 20_000
    for partition in range(3):
        expected = 0
        for outcome in outcomes:
            if outcome.partition == partition:
                assert outcome.base_offset == expected
                expected += outcome.count


async def test_D32_a_record_gets_its_own_offset_and_time() -> None:
    async with (
        Sandbox(topics={"t": 1}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings()) as producer,
    ):
        sent = [await producer.send("t", b"v", partition=0, timestamp=1000 + n) for n in range(3)]
        await producer.flush(10)
        told = [await one for one in sent]
    assert [(one.offset, one.timestamp) for one in told] == [(0, 1000), (1, 1001), (2, 1002)]

"""Requests without an answer: over when they have left, since nothing else will ever say so (D20, A5.16, B30)."""

from __future__ import annotations

import asyncio
import time

import pytest

from kcli.broker.broker import NetworkBroker
from kcli.errors import Closed, ConnectError
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.fakes.scripted import Step

from .peers import pair

SILENT = [Step(silent=True)] * 12


def unanswered() -> ProduceRequest:
    batch = PartitionProduceData(index=0, records=bytes(1_000_000))
    return ProduceRequest(acks=0, timeout_ms=1000, topic_data=[TopicProduceData(name="t", partition_data=[batch])])


async def tell(near: NetworkBroker, times: int) -> None:
    for _ in range(times):
        await near.tell(unanswered(), max_version=9)


async def test_D20_what_was_told_has_left_and_a_close_takes_nothing_back() -> None:
    async with pair() as (far, near):
        far.script["Produce"].extend(SILENT)
        await tell(near, 12)
        await near.close()
        await far.saw(12)


async def test_D20_told_to_a_peer_that_does_not_read_is_an_error_and_not_told_again() -> None:
    async with pair(request_timeout=0.15) as (far, near):
        far.script["Produce"].extend(SILENT)
        await tell(near, 1)
        await far.saw(1)
        far.reading.clear()
        begin = time.monotonic()
        with pytest.raises(ConnectError, match="stopped reading") as caught:
            await tell(near, 20)
        assert caught.value.sent  # a part of it may have arrived
        assert 0.1 < time.monotonic() - begin < 2
        assert len(far.links) == 1  # nobody connected anew to say it again


async def test_D20_closed_while_telling_is_closed() -> None:
    async with pair() as (far, near):
        far.script["Produce"].extend(SILENT)
        await tell(near, 1)
        await far.saw(1)
        far.reading.clear()
        telling = asyncio.create_task(tell(near, 20))
        await asyncio.sleep(0.05)
        await near.close()
        with pytest.raises(Closed):
            await asyncio.wait_for(telling, 10)

"""What is stored, how it is read, and what is refused."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.proto.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kcli.sandbox import Sandbox
from kcli.sandbox.log.batches import Header, checksum
from kcli.sandbox.log.log import EARLIEST, LATEST, MAX_TIMESTAMP
from tests.sandbox.client import Peer, batch


async def offset_of(peer: Peer, timestamp: int) -> int:
    asked = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])
    answer = await peer.ask(ListOffsetsRequest(replica_id=-1, topics=[asked]))
    assert answer.topics[0].partitions[0].error_code == 0
    offset: int = answer.topics[0].partitions[0].offset
    return offset


async def test_a_batch_comes_back_with_its_offset_and_epoch_and_an_intact_checksum() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.topics.partition("t", 0).leader_epoch = 5
        assert (await peer.produce(batch(3))).base_offset == 0
        assert (await peer.produce(batch(2))).base_offset == 3
        row = await peer.fetch(4)
        header = Header(row.records)
        assert (header.base_offset, header.count, header.leader_epoch) == (3, 2, 5)
        assert checksum(bytes(row.records)[21:]) == header.crc
        assert row.high_watermark == row.last_stable_offset == 5


@pytest.mark.parametrize("version", range(4, 13))
async def test_every_fetch_version_by_name_is_answered(version: int) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(3), version=max(3, version - 1))
        assert len((await peer.fetch(version=version)).records or b"") == len(batch(3))


async def test_a_fetch_is_bounded_in_bytes_and_never_less_than_a_batch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        one = batch(1)
        for _ in range(10):
            await peer.produce(one)
        assert len((await peer.fetch(0, limit=3 * len(one) + 5)).records or b"") == 3 * len(one)
        assert len((await peer.fetch(0, limit=1)).records or b"") == len(one)


async def test_a_fetch_at_the_end_waits_for_the_next_batch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as reader, Peer(sandbox) as writer:
        waiting = asyncio.ensure_future(reader.fetch(0, wait_ms=60_000))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await writer.produce(batch(1))
        assert (await asyncio.wait_for(waiting, 10)).records


async def test_a_fetch_at_the_end_is_answered_empty_after_max_wait() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        assert (await peer.fetch(0, wait_ms=20)).records == b""


async def test_offsets_outside_the_log_are_out_of_range() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        assert (await peer.fetch(1)).error_code == codes.OFFSET_OUT_OF_RANGE.number


async def test_offsets_are_found_by_time_down_to_the_record() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        assert await offset_of(peer, MAX_TIMESTAMP) == -1
        await peer.produce(batch(3, timestamp=1000))
        await peer.produce(batch(3, timestamp=2000))
        assert await offset_of(peer, EARLIEST) == 0
        assert await offset_of(peer, LATEST) == 6
        assert await offset_of(peer, 1001) == 1
        assert await offset_of(peer, 1500) == 3
        assert await offset_of(peer, MAX_TIMESTAMP) == 5
        assert await offset_of(peer, 3000) == -1


def broken(data: bytes, at: int, byte: int) -> bytes:
    return data[:at] + bytes([byte]) + data[at + 1 :]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", codes.INVALID_RECORD),
        (b"short", codes.INVALID_RECORD),
        (batch(2)[:-1], codes.INVALID_RECORD),
        (batch(2) + batch(2), codes.INVALID_RECORD),
        (broken(batch(2), 17, 1), codes.CORRUPT_MESSAGE),
        (broken(batch(2), 16, 1), codes.INVALID_RECORD),
        (batch(1, attributes=0x20), codes.INVALID_RECORD),
        (batch(1, attributes=0x10), codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (batch(1, attributes=5), codes.UNKNOWN_SERVER_ERROR),
        (batch(1, attributes=1), codes.UNKNOWN_SERVER_ERROR),  # not compressed by gzip
    ],
)
async def test_a_batch_that_is_wrong_is_refused_and_not_stored(data: bytes, code: codes.ErrorCode) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        assert (await peer.produce(data)).error_code == code.number
        assert sandbox.topics.partition("t", 0).log.end == 0


async def test_a_batch_above_max_message_bytes_is_too_large() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.topics.create("t", configs={"max.message.bytes": "100"})
        assert (await peer.produce(batch(1, value=b"x" * 50))).error_code == codes.MESSAGE_TOO_LARGE.number


async def test_log_append_time_stamps_the_batch_and_keeps_the_checksum_right() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.topics.create("t", configs={"message.timestamp.type": "LogAppendTime"})
        stamped = (await peer.produce(batch(1))).log_append_time_ms
        records = bytes((await peer.fetch()).records or b"")
        header = Header(records)
        assert header.max_timestamp == stamped > 1000
        assert checksum(records[21:]) == header.crc


async def test_D19_a_retried_batch_is_answered_with_its_first_offset_and_stored_once() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        given = await peer.ask(InitProducerIdRequest(transactional_id=None))
        batches = [
            batch(2, producer=given.producer_id, epoch=given.producer_epoch, sequence=2 * n) for n in range(7)
        ]  # fmt: skip
        assert [(await peer.produce(one)).base_offset for one in batches] == [0, 2, 4, 6, 8, 10, 12]
        assert (await peer.produce(batches[2])).base_offset == 4
        assert (await peer.produce(batches[1])).error_code == codes.OUT_OF_ORDER_SEQUENCE_NUMBER.number
        assert sandbox.topics.partition("t", 0).log.end == 14


async def test_sequences_have_no_gaps_and_old_epochs_no_say() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(1, producer=7, epoch=1, sequence=0))
        gap = await peer.produce(batch(1, producer=7, epoch=1, sequence=2))
        assert gap.error_code == codes.OUT_OF_ORDER_SEQUENCE_NUMBER.number
        old = await peer.produce(batch(1, producer=7, epoch=0, sequence=1))
        assert old.error_code == codes.INVALID_PRODUCER_EPOCH.number
        late = await peer.produce(batch(1, producer=7, epoch=2, sequence=5))
        assert late.error_code == codes.OUT_OF_ORDER_SEQUENCE_NUMBER.number
        assert (await peer.produce(batch(1, producer=7, epoch=2, sequence=0))).error_code == 0


async def test_D24_sequences_wrap_to_zero() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(2, producer=7, epoch=0, sequence=2**31 - 1))
        assert (await peer.produce(batch(1, producer=7, epoch=0, sequence=1))).base_offset == 2


async def test_memory_is_bounded_and_says_so() -> None:
    async with Sandbox(topics={"t": 1}, memory=100) as sandbox, Peer(sandbox) as peer:
        assert (await peer.produce(batch(1))).error_code == 0
        full = await peer.produce(batch(1))
        assert full.error_code == codes.POLICY_VIOLATION.number
        assert "memory of 100 bytes is full" in (full.error_message or "")
        sandbox.topics.delete_records(sandbox.topics.partition("t", 0), -1)
        assert (await peer.produce(batch(1))).error_code == 0


@pytest.mark.slow
async def test_retention_bytes_deletes_the_oldest_segments() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.topics.create("t", configs={"retention.bytes": "1000", "segment.bytes": str(1024 * 1024)})
        big = batch(1, value=b"x" * 50)
        for _ in range(3000):
            await peer.produce(big)
        assert sandbox.topics.partition("t", 0).log.start == 0  # the active segment stays
        for _ in range(7000):
            await peer.produce(big)
        log = sandbox.topics.partition("t", 0).log
        assert 0 < log.start < log.end == 10000
        assert (await peer.fetch(0)).error_code == codes.OFFSET_OUT_OF_RANGE.number
        assert (await peer.fetch(log.start)).records


async def test_E10_a_fetch_session_answers_only_what_is_new() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(1))
        both = [FetchPartition(partition=p, partition_max_bytes=1000) for p in (0, 1)]
        opened = await peer.ask(FetchRequest(session_epoch=0, topics=[FetchTopic(topic="t", partitions=both)]), 12)
        assert opened.session_id > 0
        assert len(opened.responses[0].partitions) == 2
        moved = FetchTopic(
            topic="t", partitions=[FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1000)]
        )
        quiet = await peer.ask(FetchRequest(session_id=opened.session_id, session_epoch=1, topics=[moved]), 12)
        assert quiet.responses == []
        await peer.produce(batch(1), partition=1)
        news = await peer.ask(FetchRequest(session_id=opened.session_id, session_epoch=2), 12)
        assert [p.partition_index for p in news.responses[0].partitions] == [1]
        wrong = await peer.ask(FetchRequest(session_id=opened.session_id, session_epoch=9), 12)
        assert wrong.error_code == codes.INVALID_FETCH_SESSION_EPOCH.number
        sandbox.faults.cluster.forget_sessions()
        gone = await peer.ask(FetchRequest(session_id=opened.session_id, session_epoch=3), 12)
        assert gone.error_code == codes.FETCH_SESSION_ID_NOT_FOUND.number

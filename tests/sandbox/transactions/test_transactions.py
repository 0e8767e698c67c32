"""Transactions as a producer and its readers see them, protocols v1 and v2."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.proto.messages.end_txn import EndTxnRequest
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.sandbox import Sandbox
from kcli.sandbox.cluster.brokers import TRANSACTION
from kcli.sandbox.log.batches import TRANSACTIONAL, checksum
from tests.sandbox.client import VERSIONS, Peer, batch
from tests.sandbox.transacting import V1, V2, Producer, begun, end_of, headers, offsets, read, ready

PROTOCOLS = pytest.mark.parametrize("protocol", [V1, V2], ids=["v1", "v2"])


@PROTOCOLS
async def test_E15_what_was_committed_is_read_and_what_was_aborted_is_not(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        await begun(producer, 3)
        assert await producer.commit() == 0
        await begun(producer, 2)
        assert await producer.abort() == 0
        await begun(producer, 1)
        assert await producer.commit() == 0
        assert await read(peer) == [0, 1, 2, 7]
        assert await read(peer, committed=False) == [0, 1, 2, 4, 5, 7]


@PROTOCOLS
async def test_E17_readers_of_committed_records_stop_at_the_open_transaction(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        await peer.produce(batch(2))
        await begun(producer, 5)
        await peer.produce(batch(1))
        row = await peer.fetch(isolation=1)
        assert (row.high_watermark, row.last_stable_offset, offsets(row)) == (8, 2, [0, 1])
        assert await end_of(peer) == 2
        assert await end_of(peer, committed=False) == 8
        assert await end_of(peer, 1001) == 1
        assert await end_of(peer, 1003) == -1
        assert await end_of(peer, 1003, committed=False) == 5
        assert (await peer.fetch(5, isolation=1)).records == b""
        assert await producer.commit() == 0
        assert await end_of(peer) == 9
        assert await read(peer) == list(range(8))


async def test_E17_a_reader_waits_until_the_transaction_is_decided() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer, Peer(sandbox) as reader:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer, 5)
        waiting = asyncio.ensure_future(reader.fetch(0, isolation=1, wait_ms=60_000))
        await asyncio.sleep(0.03)
        assert not waiting.done()
        assert await producer.commit() == 0
        assert offsets(await asyncio.wait_for(waiting, 10)) == [0, 1, 2, 3, 4]


@PROTOCOLS
async def test_E15_interleaved_transactions_are_aborted_one_by_one(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        a, b, c = (Producer(peer, name, protocol) for name in "abc")
        for one in (a, b, c):
            await ready(one)
        await begun(a)  # 0
        await begun(b)  # 1
        await peer.produce(batch(1))  # 2
        await begun(a)  # 3
        await begun(c)  # 4
        assert await b.abort() == 0  # 5
        assert await end_of(peer) == 0
        await begun(b)  # 6, the next transaction of b
        assert await a.commit() == 0  # 7
        assert await end_of(peer) == 4
        assert await read(peer) == [0, 2, 3]
        assert await c.abort() == 0  # 8
        assert await read(peer) == [0, 2, 3]
        assert await b.commit() == 0  # 9
        assert await read(peer) == [0, 2, 3, 6]
        assert await read(peer, offset=6) == [6]
        row = await peer.fetch(0, isolation=1, limit=len(batch(1)))
        assert row.aborted_transactions == []
        row = await peer.fetch(4, isolation=1)
        assert sorted(one.first_offset for one in row.aborted_transactions or ()) == [1, 4]
        assert (await peer.fetch()).aborted_transactions is None


async def test_F3_a_marker_is_a_control_batch_of_78_bytes() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        for commit, kind in ((False, 0), (True, 1)):
            await begun(producer)
            assert await producer.end(commit=commit) == 0
            row = await peer.fetch()
            found, data = headers(row)[-1], bytes(row.records or b"")[-78:]
            assert (found.size, found.attributes, found.count, found.base_sequence) == (78, 0x30, 1, -1)
            assert (found.producer_id, found.producer_epoch) == (producer.id, producer.epoch)
            assert data[61:] == bytes.fromhex(f"20 00 00 00 08 0000000{kind} 0c 000000000000 00")
            assert checksum(data[21:]) == found.crc


@pytest.mark.parametrize(("version", "code"), [(11, codes.TRANSACTION_ABORTABLE), (10, codes.INVALID_TXN_STATE)])
async def test_D36_a_partition_must_be_added_before_it_is_written_to(version: int, code: codes.ErrorCode) -> None:
    async with Sandbox(topics={"t": 2}, features={"transaction.version": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=(version, 4, 4))
        await ready(producer)
        assert await producer.send() == code.number
        assert await producer.add(0) == 0
        assert await producer.send() == 0
        assert await producer.send(partition=1) == code.number
        assert await producer.commit() == 0
        assert await producer.send() == code.number
        assert await producer.add(9) == codes.UNKNOWN_TOPIC_OR_PARTITION.number
        assert sandbox.topics.partition("t", 0).log.end == 2


async def test_D37_producing_adds_the_partition_and_every_end_gives_a_new_epoch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        assert (producer.epoch, await producer.send(2), await producer.send(1)) == (0, 0, 0)
        assert await producer.commit() == 0
        assert producer.epoch == 1
        assert await producer.send() == 0  # its sequence starts at 0 again
        assert await producer.abort() == 0
        assert producer.epoch == 2
        late = batch(1, producer=producer.id, epoch=1, sequence=1, attributes=TRANSACTIONAL)
        assert (await peer.produce(late)).error_code == codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.number
        producer.epoch = 1
        assert await producer.send() == codes.INVALID_PRODUCER_EPOCH.number


async def test_D37_a_lost_answer_to_the_end_is_given_again() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer)
        old = EndTxnRequest(transactional_id="tx", producer_id=producer.id, producer_epoch=0, committed=True)
        first, again = await peer.ask(old), await peer.ask(old)
        assert first == again
        assert (first.error_code, first.producer_id, first.producer_epoch) == (0, producer.id, 1)
        old.committed = False
        assert (await peer.ask(old)).error_code == codes.INVALID_TXN_STATE.number
        assert sandbox.topics.partition("t", 0).log.end == 2


async def test_D37_an_exhausted_epoch_gives_a_new_producer_id() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        sandbox.cluster.transactions.by_id["tx"].epoch = producer.epoch = 32766
        await begun(producer)
        old = producer.id
        assert await producer.commit() == 0
        assert (producer.id > old, producer.epoch) == (True, 0)
        retried = EndTxnRequest(transactional_id="tx", producer_id=old, producer_epoch=32766, committed=True)
        answer = await peer.ask(retried)
        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, producer.id, 0)
        assert await producer.send() == 0
        assert await producer.commit() == 0
        assert await read(peer) == [0, 2]


async def test_D37_the_feature_is_told_and_changes_at_run_time() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        answer = await peer.ask(VERSIONS, 4)
        assert {one.name: one.max_version_level for one in answer.finalized_features}["transaction.version"] == 2
        ranges = {one.name: (one.min_version, one.max_version) for one in answer.supported_features}
        assert ranges["transaction.version"] == (0, 2)
        sandbox.cluster.features.finalize("transaction.version", 1)
        later = await peer.ask(VERSIONS, 3)
        assert {one.name: one.max_version_level for one in later.finalized_features}["transaction.version"] == 1
        assert later.finalized_features_epoch > answer.finalized_features_epoch
        assert [one.name for one in later.supported_features] == ["metadata.version"]  # it alone has no level 0
        sandbox.cluster.features.finalize("transaction.version", 0)
        last = await peer.ask(VERSIONS, 4)
        assert "transaction.version" not in {one.name for one in last.finalized_features}


@PROTOCOLS
async def test_D42_ending_what_was_not_begun(protocol: tuple[int, int, int]) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer, protocol=protocol)
        await ready(producer)
        assert await producer.commit() == codes.INVALID_TXN_STATE.number
        assert await producer.abort() == (codes.INVALID_TXN_STATE.number if protocol is V1 else 0)
        assert producer.epoch == (0 if protocol is V1 else 1)
        assert sandbox.topics.partition("t", 0).log.end == 0
        await begun(producer)
        assert await producer.commit() == 0
        assert await producer.commit() == (0 if protocol is V1 else codes.INVALID_TXN_STATE.number)


async def test_a_plain_batch_does_not_slip_into_a_transaction() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        producer = Producer(peer)
        await ready(producer)
        await begun(producer)
        plain = await peer.produce(batch(1, producer=producer.id, epoch=producer.epoch, sequence=1))
        assert plain.error_code == codes.INVALID_TXN_STATE.number
        stranger = batch(1, producer=producer.id + 1, epoch=0, sequence=0, attributes=TRANSACTIONAL)
        assert (await peer.produce(stranger)).error_code == codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED.number


async def test_C15_transactional_ids_have_coordinators_and_others_refuse() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as one, Peer(sandbox, 2) as two:
        [found] = (await one.ask(FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]))).coordinators
        assert found.error_code == 0
        right, wrong = (one, two) if found.node_id == 1 else (two, one)
        assert await Producer(wrong).init() == codes.NOT_COORDINATOR.number
        assert await Producer(right).init() == 0
        sandbox.brokers.moved[TRANSACTION]["tx"] = 3 - found.node_id
        assert await Producer(right).init() == codes.NOT_COORDINATOR.number
        taken = Producer(wrong)
        assert await taken.init() == 0
        assert taken.epoch == 1


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
async def test_a_transaction_timeout_has_bounds(timeout_ms: int) -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        request = InitProducerIdRequest(transactional_id="tx", transaction_timeout_ms=timeout_ms)
        assert (await peer.ask(request)).error_code == codes.INVALID_TRANSACTION_TIMEOUT.number

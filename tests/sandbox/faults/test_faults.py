"""Every fault that can be ordered happens, as often as it was ordered, and then no more."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.errors import DecodeError
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kcli.proto.messages.heartbeat import HeartbeatRequest
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.sandbox import Sandbox
from kcli.sandbox.log.batches import Header, checksum
from tests.sandbox.client import VERSIONS, Peer, batch


def about(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


async def test_error_stacks_happen_in_order_for_their_partition_only() -> None:
    async with Sandbox(topics={"t": 2}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.error("Produce", codes.NOT_LEADER_OR_FOLLOWER, topic="t", partition=1, times=2)
        sandbox.faults.error("Produce", codes.REQUEST_TIMED_OUT, topic="t", partition=1)
        assert sandbox.faults.pending == 3
        assert (await peer.produce(batch(1), partition=0)).error_code == 0
        assert [(await peer.produce(batch(1), partition=1)).error_code for _ in range(4)] == [6, 6, 7, 0]
        assert sandbox.topics.partition("t", 1).log.end == 1
        assert sandbox.faults.pending == 0


async def test_errors_of_fetch_metadata_and_group_apis_can_be_ordered() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.error("Fetch", codes.KAFKA_STORAGE_ERROR, topic="t")
        sandbox.faults.error("Metadata", codes.LEADER_NOT_AVAILABLE, topic="t")
        sandbox.faults.error("Heartbeat", codes.NOT_COORDINATOR)
        assert (await peer.fetch()).error_code == codes.KAFKA_STORAGE_ERROR.number
        assert (await peer.ask(about("t"))).topics[0].error_code == codes.LEADER_NOT_AVAILABLE.number
        assert (await peer.ask(HeartbeatRequest(group_id="g"))).error_code == codes.NOT_COORDINATOR.number
        assert (await peer.ask(about("t"))).topics[0].error_code == 0


async def test_loading_is_told_by_the_group_apis() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.cluster.loading()
        beat = HeartbeatRequest(group_id="g")
        assert (await peer.ask(beat)).error_code == codes.COORDINATOR_LOAD_IN_PROGRESS.number
        assert (await peer.ask(beat)).error_code == codes.UNKNOWN_MEMBER_ID.number
        sandbox.faults.clear()
        assert sandbox.faults.pending == 0


async def test_an_api_that_does_not_exist_cannot_fail() -> None:
    with pytest.raises(ValueError, match="unknown API Prodcue"):
        Sandbox().faults.error("Prodcue", codes.REQUEST_TIMED_OUT)


async def test_C6_a_topic_is_missing_from_one_answer() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.cluster.absent("t")
        assert (await peer.ask(about("t"))).topics == []
        assert [topic.name for topic in (await peer.ask(about("t"))).topics] == ["t"]


async def test_a_lost_answer_is_an_appended_batch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.lose_answer("Produce")
        with pytest.raises(EOFError):
            await peer.produce(batch(1))
        assert sandbox.topics.partition("t", 0).log.end == 1


async def test_a_connection_closed_before_is_no_appended_batch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.close_before("Produce")
        with pytest.raises(EOFError):
            await peer.produce(batch(1))
        assert sandbox.topics.partition("t", 0).log.end == 0


async def test_half_a_frame_is_sent_before_the_end() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.cut_answer("ApiVersions", 11)
        with pytest.raises(asyncio.IncompleteReadError) as cut:
            await peer.ask(VERSIONS)
        assert len(cut.value.partial) == 7


async def test_an_answer_comes_late_or_never() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.delay("ApiVersions", 0.05)
        sandbox.faults.wire.never_answer("Metadata")
        begin = asyncio.get_running_loop().time()
        await peer.ask(VERSIONS)
        assert asyncio.get_running_loop().time() - begin >= 0.05
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(peer.ask(about()), 0.1)


async def test_B4_a_wrong_correlation_id_can_be_sent() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.wrong_correlation_id("ApiVersions")
        with pytest.raises(DecodeError, match="the answer is for request 1000, expected 0"):
            await peer.ask(VERSIONS)


async def test_B25_an_answer_throttles() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.throttle("ApiVersions", 250)
        assert [(await peer.ask(VERSIONS)).throttle_time_ms for _ in range(2)] == [250, 0]


async def test_B1_raw_bytes_can_be_the_answer() -> None:
    async with Sandbox() as sandbox, Peer(sandbox) as peer:
        sandbox.faults.wire.answer_with("ApiVersions", b"HTTP/1.1 400 Bad Request\r\n\r\n")
        with pytest.raises(asyncio.IncompleteReadError):
            await asyncio.gather(peer.ask(VERSIONS), close_soon(sandbox))


async def close_soon(sandbox: Sandbox) -> None:
    await asyncio.sleep(0.05)
    sandbox.faults.wire.drop_connections()


async def test_a_connection_is_accepted_and_closed() -> None:
    async with Sandbox() as sandbox:
        sandbox.faults.wire.refuse()
        async with Peer(sandbox) as peer:
            with pytest.raises((EOFError, ConnectionError)):
                await peer.ask(VERSIONS)
        async with Peer(sandbox) as peer:
            assert (await peer.ask(VERSIONS)).api_keys


async def test_E3_a_corrupt_batch_is_sent_and_a_whole_one_kept() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(1))
        sandbox.faults.logs.corrupt("t")
        for whole in (False, True):
            records = bytes((await peer.fetch()).records or b"")
            assert (checksum(records[21:]) == Header(records).crc) is whole


async def test_C7_a_moved_leader_is_told_with_a_hint_to_fetch_and_produce() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as old, Peer(sandbox, 2) as new:
        await old.produce(batch(1))
        sandbox.faults.cluster.move_leader("t", 0, 2)
        request = ProduceRequest(
            acks=-1,
            topic_data=[
                TopicProduceData(name="t", partition_data=[PartitionProduceData(index=0, records=batch(1))]),
            ],
        )
        refused = await old.ask(request, 12)
        row = refused.responses[0].partition_responses[0]
        assert row.error_code == codes.NOT_LEADER_OR_FOLLOWER.number
        assert (row.current_leader.leader_id, row.current_leader.leader_epoch) == (2, 1)
        assert [(node.node_id, node.port) for node in refused.node_endpoints] == [(2, sandbox.brokers[1].port)]
        wanted = FetchTopic(
            topic_id=sandbox.topics.by_name["t"].id, partitions=[FetchPartition(partition=0, current_leader_epoch=0)]
        )
        missed = await old.ask(FetchRequest(topics=[wanted]), 17)
        assert missed.responses[0].partitions[0].error_code == codes.FENCED_LEADER_EPOCH.number
        assert missed.responses[0].partitions[0].current_leader.leader_id == 2
        assert [node.node_id for node in missed.node_endpoints] == [2]
        assert (await new.produce(batch(1))).base_offset == 1


async def test_a_moved_leader_without_a_hint_is_only_an_error() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as old:
        sandbox.faults.cluster.move_leader("t", 0, 2, hint=False)
        row = await old.produce(batch(1))
        assert (row.error_code, row.current_leader.leader_id) == (codes.NOT_LEADER_OR_FOLLOWER.number, -1)


async def test_a_waiting_fetch_learns_at_once_that_the_leader_moved() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as peer:
        waiting = asyncio.ensure_future(peer.fetch(0, wait_ms=60_000, current_leader_epoch=0))
        await asyncio.sleep(0.02)
        sandbox.faults.cluster.move_leader("t", 0, 2)
        assert (await asyncio.wait_for(waiting, 10)).error_code == codes.FENCED_LEADER_EPOCH.number


async def test_C9_a_truncated_log_tells_where_the_histories_part() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        for _ in range(4):
            await peer.produce(batch(5))
        sandbox.faults.logs.truncate("t", 0, 12)
        await peer.produce(batch(1))
        assert sandbox.topics.partition("t", 0).log.end == 11
        asked = OffsetForLeaderTopic(
            topic="t", partitions=[OffsetForLeaderPartition(partition=0, current_leader_epoch=1, leader_epoch=0)]
        )
        end = (await peer.ask(OffsetForLeaderEpochRequest(topics=[asked]))).topics[0].partitions[0]
        assert (end.leader_epoch, end.end_offset) == (0, 10)
        row = await peer.fetch(20, last_fetched_epoch=0, current_leader_epoch=1)
        assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 10)
        fenced = await peer.fetch(0, current_leader_epoch=0)
        assert fenced.error_code == codes.FENCED_LEADER_EPOCH.number


async def test_C8_a_recreated_topic_has_a_new_id_and_no_records() -> None:
    async with Sandbox(topics={"t": 3}) as sandbox, Peer(sandbox) as peer:
        old = sandbox.topics.by_name["t"].id
        await peer.produce(batch(1))
        sandbox.faults.logs.recreate("t")
        topic = (await peer.ask(about("t"))).topics[0]
        assert (topic.topic_id == old, len(topic.partitions)) == (False, 3)
        wanted = FetchTopic(topic_id=old, partitions=[FetchPartition(partition=0)])
        row = (await peer.ask(FetchRequest(topics=[wanted]), 17)).responses[0].partitions[0]
        assert row.error_code == codes.UNKNOWN_TOPIC_ID.number


async def test_a_forgotten_producer_is_unknown_until_it_starts_again() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(1, producer=7, epoch=0, sequence=0))
        sandbox.faults.logs.forget_producers("t", 0)
        unknown = await peer.produce(batch(1, producer=7, epoch=0, sequence=1))
        assert unknown.error_code == codes.UNKNOWN_PRODUCER_ID.number
        assert (await peer.produce(batch(1, producer=7, epoch=1, sequence=0))).error_code == 0


async def test_a_dead_broker_gives_its_partitions_away_and_returns_on_its_port() -> None:
    async with Sandbox(brokers=2, topics={"t": 2}) as sandbox, Peer(sandbox, 1) as one, Peer(sandbox, 2) as two:
        port = sandbox.brokers[1].port
        await sandbox.faults.cluster.stop_broker(2)
        with pytest.raises((EOFError, ConnectionError)):
            await two.ask(VERSIONS)
        answer = await one.ask(about("t"))
        assert [node.node_id for node in answer.brokers] == [1]
        assert {p.leader_id for p in answer.topics[0].partitions} == {1}
        await sandbox.faults.cluster.start_broker(2)
        assert sandbox.brokers[1].port == port
        async with Peer(sandbox, 2) as back:
            assert len((await back.ask(about("t"))).brokers) == 2


async def test_a_partition_whose_only_replica_is_on_a_dead_broker_is_offline_until_it_returns() -> None:
    async with Sandbox(brokers=2) as sandbox, Peer(sandbox, 1) as one:
        sandbox.topics.create("t", 2, replication=1)
        await sandbox.faults.cluster.stop_broker(2)
        rows = (await one.ask(about("t"))).topics[0].partitions
        assert sorted((p.error_code, p.leader_id) for p in rows) == [(0, 1), (5, -1)]
        await sandbox.faults.cluster.start_broker(2)
        assert {p.leader_id for p in (await one.ask(about("t"))).topics[0].partitions} == {1, 2}


async def test_a_broker_that_dies_without_election_leaves_its_partitions_leaderless() -> None:
    async with Sandbox(brokers=2, topics={"t": 2}) as sandbox, Peer(sandbox, 1) as one:
        await sandbox.faults.cluster.stop_broker(2, elect=False)
        rows = (await one.ask(about("t"))).topics[0].partitions
        assert sorted((p.error_code, p.leader_id) for p in rows) == [(0, 1), (5, -1)]
        sandbox.faults.cluster.no_leader("t", 0)
        assert {p.leader_id for p in (await one.ask(about("t"))).topics[0].partitions} == {-1}


async def test_C5_metadata_can_tell_an_older_epoch() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.topics.partition("t", 0).leader_epoch = 9
        sandbox.faults.cluster.rewind_epoch("t", 0, 3)
        assert (await peer.ask(about("t"))).topics[0].partitions[0].leader_epoch == 3

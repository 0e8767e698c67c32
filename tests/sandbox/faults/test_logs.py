"""Every strange log, and what a broker can say wrongly of one, as it looks on the wire."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.errors import DecodeError
from kcli.proto.batch import Batch, read_batches
from kcli.proto.messages.fetch import AbortedTransaction
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.sandbox import Sandbox
from kcli.sandbox.log.log import Log
from tests.sandbox.client import Peer, batch


async def fetched(peer: Peer, offset: int = 0, limit: int = 1 << 20) -> list[Batch]:
    row = await peer.fetch(offset, limit=limit)
    assert row.error_code == 0
    return list(read_batches(row.records or b""))


def log_of(sandbox: Sandbox) -> Log:
    return sandbox.topics.partition("t", 0).log


async def test_E3_compaction_leaves_gaps_inside_batches() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        for _ in range(3):
            await peer.produce(batch(5))
        sandbox.faults.logs.compact("t", 0, lambda offset: offset in (1, 4, 5, 13))
        got = await fetched(peer)
        assert [(one.base_offset, one.last_offset, one.count) for one in got] == [(0, 4, 2), (5, 9, 1), (10, 14, 1)]
        assert [record.offset for one in got for record in one] == [1, 4, 5, 13]
        assert [record.value for one in got for record in one] == [b"v"] * 4
        assert log_of(sandbox).end == 15
        assert (await peer.produce(batch(1))).base_offset == 15


async def test_E4_compaction_leaves_empty_batches_or_takes_them_away() -> None:
    for stay, bases in ((True, [0, 5, 10]), (False, [0, 10])):
        async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
            for _ in range(3):
                await peer.produce(batch(5))
            sandbox.faults.logs.compact("t", 0, lambda offset: offset < 2, emptied_stay=stay)
            got = await fetched(peer)
            assert [one.base_offset for one in got] == bases
            assert [one.count for one in got] == ([2, 0, 0] if stay else [2, 0])
            assert got[-1].last_offset == 14
            # who asks inside the gap gets what is behind it, also with room for one batch only
            assert [one.base_offset for one in await fetched(peer, 7, limit=1)] == [5 if stay else 10]


async def test_E4_an_empty_batch_and_a_marker_can_be_the_end() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(2))
        assert sandbox.faults.logs.empty_batch("t", 0, 3) == 2
        assert sandbox.faults.logs.end_with_marker("t", 0) == 5
        got = await fetched(peer)
        assert [(one.count, one.is_control, one.last_offset) for one in got] == [
            (2, False, 1),
            (0, False, 4),
            (1, True, 5),
        ]
        assert log_of(sandbox).end == 6


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
async def test_E6_a_bomb_is_small_on_the_wire_and_large_inside(codec: str) -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        sandbox.faults.logs.bomb("t", 0, 64 << 20, codec)
        row = await peer.fetch(0)
        assert len(row.records or b"") < 100_000
        (bomb,) = read_batches(row.records or b"", max_decompressed=1 << 20)
        with pytest.raises(DecodeError, match="1048576 bytes when decompressed"):
            list(bomb)
    with pytest.raises(ValueError, match="made of gzip or zstd"):
        Sandbox(topics={"t": 1}).faults.logs.bomb("t", 0, 1, "lz4")


async def test_E15_aborted_transactions_are_told_in_the_wrong_order() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(1))
        told = [AbortedTransaction(producer_id=n, first_offset=n) for n in (1, 2, 3)]

        def add(answer: object) -> None:
            answer.responses[0].partitions[0].aborted_transactions = list(told)  # type: ignore[attr-defined]

        sandbox.faults.wire.alter("Fetch", add)
        assert [one.first_offset for one in (await peer.fetch(0)).aborted_transactions or []] == [1, 2, 3]
        from kcli.sandbox.faults.logs import _backwards

        sandbox.faults.wire.alter("Fetch", lambda answer: (add(answer), _backwards(answer))[0])  # type: ignore[func-returns-value]
        assert [one.first_offset for one in (await peer.fetch(0)).aborted_transactions or []] == [3, 2, 1]


async def test_C10_a_fetch_is_told_that_histories_part() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        await peer.produce(batch(5))
        sandbox.faults.logs.diverge("t", 0, 0, 3)
        row = await peer.fetch(5, last_fetched_epoch=0)
        assert (row.diverging_epoch.epoch, row.diverging_epoch.end_offset) == (0, 3)
        assert (await peer.fetch(4, last_fetched_epoch=0)).diverging_epoch.end_offset == -1


async def test_C12_C13_the_leader_sends_readers_to_a_follower_which_may_be_wrong() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as leader, Peer(sandbox, 2) as follower:
        await leader.produce(batch(5))
        sandbox.faults.cluster.prefer_replica("t", 0, 2)
        sent_on = await leader.fetch(0)
        assert (sent_on.preferred_read_replica, sent_on.records) == (2, b"")
        assert (await follower.fetch(0)).records
        assert (await leader.fetch(0)).records, "once is enough"
        sandbox.faults.error("Fetch", codes.OFFSET_OUT_OF_RANGE, broker=2)
        assert (await follower.fetch(0)).error_code == codes.OFFSET_OUT_OF_RANGE.number
        assert (await follower.produce(batch(1))).error_code == codes.NOT_LEADER_OR_FOLLOWER.number


async def test_C5_one_broker_goes_on_telling_old_leaders() -> None:
    async with Sandbox(brokers=2, topics={"t": 1}) as sandbox, Peer(sandbox, 1) as fresh, Peer(sandbox, 2) as stale:
        sandbox.faults.cluster.stale_metadata(2)
        sandbox.faults.cluster.move_leader("t", 0, 2)
        about = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
        for _ in range(2):
            seen = [(await peer.ask(about)).topics[0].partitions[0] for peer in (fresh, stale)]
            assert [(one.leader_id, one.leader_epoch) for one in seen] == [(2, 1), (1, 0)]
        sandbox.faults.clear()
        assert (await stale.ask(about)).topics[0].partitions[0].leader_id == 2

"""What goes wrong between a share group's member and its brokers: nothing is lost, nothing is said that is not so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.broker.broker import NetworkBroker
from kcli.consumer.share.chunk import Acquired
from kcli.errors import BrokerError, ConnectError
from kcli.proto.messages.share_acknowledge import ShareAcknowledgeRequest
from tests.consumer.share.world import gather, until, values, world

pytestmark = pytest.mark.usefixtures("leaping_clock")


async def test_E66_only_the_offset_that_is_not_ours_is_refused_the_others_are_accepted() -> None:
    async with world() as w:
        await w.write(0, 30)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            share = next(iter(w.share.partitions.values()))
            share.acknowledge(consumer.member_id, [(17, 17, 2)])  # its lock ran out, say
            consumer.acknowledge(got)
            (refused,) = await consumer.commit(5)
            assert (refused.first, refused.last, refused.kind, refused.unknown) == (17, 17, "accept", False)
            assert isinstance(refused.error, BrokerError)
            assert refused.error.code is codes.INVALID_RECORD_STATE
            assert w.start() == 17
            (again,) = await gather(consumer, 1)
            assert (values([again]), again.delivery_count) == ([17], 2)
            assert await consumer.commit(5) == []
            assert w.start() == 30


async def test_E66_a_refusal_that_rode_on_a_fetch_is_looked_into_as_well() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            next(iter(w.share.partitions.values())).acknowledge(consumer.member_id, [(3, 3, 3)])
            consumer.acknowledge(got)
            assert await consumer.poll(0.3) == []
            assert [(one.first, one.last) for one in await consumer.commit(5)] == [(3, 3)]
            assert w.start() == 10


async def test_E66_a_record_that_came_again_with_the_refusal_is_another_delivery_and_not_accepted_unseen() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            w.sandbox.faults.cluster.expire_locks("g")
            consumer.acknowledge(got)
            (again,) = await gather(consumer, 10, say=None)  # the refused word and the records came in one answer
            assert (again.first, again.last, again.delivery_count) == (0, 9, 2)
            assert w.start() == 0
            assert [(one.first, one.last) for one in await consumer.commit(5)] == [(0, 9)]
            consumer.acknowledge(again)
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_E66_a_refusal_costs_no_more_than_its_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.consumer.share.acknowledging.LOOKS", 4)
    async with world() as w:
        await w.write(0, 100, size=100)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            w.sandbox.faults.cluster.expire_locks("g")
            consumer.acknowledge(got)
            refused = await consumer.commit(5)
            assert sum(one.records for one in refused) == 100
            assert w.sandbox.seen[79] <= 1 + 4
            await gather(consumer, 100)


async def test_E66_when_the_lock_ran_out_the_records_come_again_and_the_late_word_is_refused() -> None:
    async with world() as w:
        w.configure(lock_ms="60")
        await w.write(0, 10)
        async with w.member() as slow, w.member() as other:
            (got,) = await slow.poll(5)
            w.configure(lock_ms="30000")
            again = await gather(other, 10, say=None)
            assert values(again) == list(range(10))
            assert asyncio.get_running_loop().time() >= got.deadline - 0.02
            slow.acknowledge(got)
            refused = await slow.commit(5)
            assert sum(one.records for one in refused) == 10
            assert not any(one.unknown for one in refused)
            for one in again:
                other.acknowledge(one)
            assert await other.commit(5) == []
            assert w.start() == 10


@pytest.mark.parametrize("rides", [True, False], ids=["on a fetch", "by itself"])
async def test_E64_a_lost_answer_to_an_acknowledgement_is_unknown_and_never_said_to_be_done(rides: bool) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.lose_answer("ShareFetch" if rides else "ShareAcknowledge")
            if rides:
                await consumer.poll(0.1)
            (unknown,) = await consumer.commit(5)
            assert (unknown.first, unknown.last, unknown.unknown) == (0, 9, True)
            assert w.start() == 10  # it was done, and nobody could know
            await w.write(10, 20)
            assert values(await gather(consumer, 10)) == list(range(10, 20))


async def test_E64_an_acknowledgement_that_never_arrived_leaves_the_records_to_the_group() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.close_before("ShareAcknowledge")
            (unknown,) = await consumer.commit(5)
            assert unknown.unknown
            (again,) = await gather(consumer, 10)
            assert (again.first, again.last, again.delivery_count) == (0, 9, 2)
            assert await consumer.commit(5) == []


async def test_E65_when_the_session_is_evicted_another_begins_and_what_was_free_comes_again() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            w.sandbox.faults.cluster.forget_share_sessions()
            consumer.acknowledge(got)
            refused = await consumer.commit(5)
            assert sum(one.records for one in refused) == 10
            assert {one.error.code for one in refused if isinstance(one.error, BrokerError)} == {
                codes.INVALID_RECORD_STATE
            }
            assert [one.delivery_count for one in await gather(consumer, 10)] == [2]
            assert await consumer.commit(5) == []


@pytest.mark.parametrize("code", [codes.SHARE_SESSION_NOT_FOUND, codes.INVALID_SHARE_SESSION_EPOCH])
async def test_E65_a_session_that_is_out_of_step_begins_anew_and_its_acknowledgements_are_said_again(
    code: codes.ErrorCode,
) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got, "accept", last=4)
            consumer.hold(got)
            share = next(iter(w.share.partitions.values()))
            kept, share.release = share.release, lambda _: None  # a new session that leaves the records with us
            w.sandbox.faults.error("ShareAcknowledge", code)
            assert await consumer.commit(5) == []
            assert w.start() == 5
            share.release = kept


async def test_E65_too_many_sessions_is_tried_again() -> None:
    async with world() as w:
        await w.write(0, 10)
        w.sandbox.faults.error("ShareFetch", codes.SHARE_SESSION_LIMIT_REACHED, times=3)
        async with w.member() as consumer:
            assert values(await gather(consumer, 10)) == list(range(10))


@pytest.mark.parametrize("hint", [True, False])
async def test_E65_a_moved_leader_refuses_the_word_and_gives_the_records_again(hint: bool) -> None:
    async with world(brokers=2) as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            before = w.sandbox.topics.partition("t", 0).leader
            w.sandbox.faults.cluster.move_leader("t", 0, 3 - before, hint=hint)
            consumer.acknowledge(got)
            (refused,) = await consumer.commit(5)
            assert isinstance(refused.error, BrokerError)
            assert refused.error.code is codes.NOT_LEADER_OR_FOLLOWER
            (again,) = await gather(consumer, 10)
            assert (again.node, again.delivery_count) == (3 - before, 2)
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_E65_a_partition_that_moved_away_is_acknowledged_and_then_forgotten() -> None:
    async with world(partitions=2, brokers=1) as w:
        await w.write(0, 10)
        await w.write(10, 20, partition=1)
        async with w.member() as consumer:
            got = await gather(consumer, 20, say=None)
            async with w.member() as other:
                await until(lambda: len(consumer.assignment) == len(other.assignment) == 1)
                for one in got:
                    consumer.acknowledge(one)
                assert await consumer.commit(5) == []  # also of the partition that is another's now
                assert (w.start(0), w.start(1)) == (10, 10)
                await consumer.poll(0.1)
                (session,) = [
                    session
                    for (_, member), session in w.sandbox.cluster.share_sessions[1].open.items()
                    if member == consumer.member_id
                ]
                gone = {0, 1} - {at.partition for at in consumer.assignment}
                await until(lambda: {index for _, index in session.forgotten} == gone)
                assert {index for _, index in session.partitions} == {at.partition for at in consumer.assignment}


async def test_E59_a_fenced_member_joins_again_and_goes_on_under_its_id() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            before = consumer.member_id
            w.share.remove(w.share.members[before])
            await until(lambda: before in w.share.members)
            consumer.acknowledge(got)
            assert await consumer.commit(5) == []  # it is still ours
            assert (consumer.member_id, w.start()) == (before, 10)


@pytest.mark.parametrize("code", [codes.NOT_COORDINATOR, codes.COORDINATOR_LOAD_IN_PROGRESS, codes.FENCED_MEMBER_EPOCH])
async def test_E59_what_passes_in_a_heartbeat_is_gone_through(code: codes.ErrorCode) -> None:
    async with world(brokers=2) as w:
        await w.write(0, 10)
        w.sandbox.faults.error("ShareGroupHeartbeat", code, times=2)
        async with w.member() as consumer:
            assert values(await gather(consumer, 10)) == list(range(10))


async def test_E59_a_coordinator_that_moves_is_found() -> None:
    async with world(brokers=2) as w:
        async with w.member() as consumer:
            await until(lambda: consumer.assignment)
            here = w.sandbox.brokers.coordinator("g")
            assert here is not None
            w.sandbox.faults.cluster.move_coordinator("g", 3 - here.node_id)
            w.sandbox.topics.grow(w.sandbox.topics.by_name["t"], 3, None, check_only=False)
            await until(lambda: len(consumer.assignment) == 3)


@pytest.mark.parametrize("api", ["ShareGroupHeartbeat", "ShareFetch"])
async def test_E59_no_right_to_the_group_ends_the_member(api: str) -> None:
    async with world() as w:
        w.sandbox.faults.error(api, codes.GROUP_AUTHORIZATION_FAILED)
        async with w.member() as consumer:
            with pytest.raises(BrokerError, match="GROUP_AUTHORIZATION_FAILED"):
                await consumer.poll(5)


async def test_E13_no_right_to_a_topic_ends_the_poll() -> None:
    async with world() as w:
        async with w.member() as consumer:
            await until(lambda: consumer.assignment)
            name = codes.TOPIC_AUTHORIZATION_FAILED
            w.sandbox.faults.wire.alter("ShareFetch", lambda answer: _refuse(answer, w, name), times=50)
            with pytest.raises(BrokerError, match="TOPIC_AUTHORIZATION_FAILED"):
                await consumer.poll(5)


def _refuse(answer, w, code) -> None:  # type: ignore[no-untyped-def]
    from kcli.proto.messages.share_fetch import PartitionData, ShareFetchableTopicResponse

    row = PartitionData(partition_index=0, error_code=code.number, records=b"")
    answer.responses = [ShareFetchableTopicResponse(topic_id=w.sandbox.topics.by_name["t"].id, partitions=[row])]


async def test_E65_a_dead_broker_is_left_for_its_heir() -> None:
    async with world(brokers=2) as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.hold(got)
            await w.sandbox.faults.cluster.stop_broker(w.sandbox.topics.partition("t", 0).leader)
            again = await gather(consumer, 10)
            assert values(again) == list(range(10))
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_E66_close_tells_what_could_not_be_said() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.lose_answer("ShareAcknowledge")
            (unknown,) = await consumer.close()
            assert unknown.unknown


@pytest.mark.parametrize("rides", [True, False], ids=["on a fetch", "by itself"])
async def test_an_acknowledgement_that_the_answer_leaves_out_is_unknown(rides: bool) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.alter("ShareFetch" if rides else "ShareAcknowledge", leave_out)
            if rides:
                await consumer.poll(0.1)
            (unknown,) = await consumer.commit(5)
            assert (unknown.first, unknown.last, unknown.unknown) == (0, 9, True)
            assert [outcome for outcome in w.outcomes if outcome.error is None] == []


async def test_a_last_acknowledgement_that_the_answer_leaves_out_is_unknown() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.alter("ShareAcknowledge", leave_out)
            (unknown,) = await consumer.close()
            assert (unknown.first, unknown.last, unknown.unknown) == (0, 9, True)


async def test_an_offset_that_the_answer_leaves_out_is_unknown_while_a_refusal_is_looked_into() -> None:
    async with world() as w:
        await w.write(0, 2)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got, first=1, last=1)
            consumer.acknowledge(got, "release")
            next(iter(w.share.partitions.values())).release(consumer.member_id)
            left_out = 0

            def later(response: Any) -> None:
                nonlocal left_out
                left_out += 1
                if left_out > 1:
                    leave_out(response)

            w.sandbox.faults.wire.alter("ShareAcknowledge", later, times=3)
            failures = await consumer.commit(5)
            assert sorted((one.first, one.unknown) for one in failures) == [(0, True), (1, True)]


def leave_out(response: Any) -> None:
    response.responses = []


async def test_an_acknowledgement_that_was_refused_with_its_session_is_sent_with_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.hold(got)
            share = next(iter(w.share.partitions.values()))
            monkeypatch.setattr(share, "release", lambda _: None)  # the records stay ours in the next session
            consumer.acknowledge(got, first=0, last=4)
            w.sandbox.faults.error("ShareAcknowledge", codes.SHARE_SESSION_NOT_FOUND, times=2)
            committing = asyncio.create_task(consumer.commit(5))
            await until(lambda: w.sandbox.seen.get(79, 0) >= 1)
            consumer.acknowledge(got, first=5, last=9)
            assert await committing == []
            assert await consumer.commit(5) == []
            assert w.start() == 10
            assert sum(one.records for one in w.outcomes) == 10
            assert {one.error for one in w.outcomes} == {None}


async def test_an_acknowledgement_that_could_not_be_sent_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            monkeypatch.setattr(next(iter(w.share.partitions.values())), "release", lambda _: None)
            consumer.acknowledge(got)
            ask, unsent = NetworkBroker.ask, [ConnectError("no connection", sent=False)]

            async def asked(self: NetworkBroker, request: Any, **how: Any) -> Any:
                if isinstance(request, ShareAcknowledgeRequest) and unsent:
                    raise unsent.pop()
                return await ask(self, request, **how)

            monkeypatch.setattr(NetworkBroker, "ask", asked)
            assert await consumer.commit(5) == []
            assert w.start() == 10


async def test_an_acknowledgement_that_is_never_taken_is_reported_after_three_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            monkeypatch.setattr(next(iter(w.share.partitions.values())), "release", lambda _: None)
            consumer.acknowledge(got)
            w.sandbox.faults.error("ShareAcknowledge", codes.SHARE_SESSION_NOT_FOUND, times=3)
            (failed,) = await consumer.commit(5)
            assert (failed.first, failed.last, failed.unknown) == (0, 9, False)
            assert isinstance(failed.error, BrokerError)
            assert failed.error.code is codes.SHARE_SESSION_NOT_FOUND
            assert w.start() == 0


async def test_close_keeps_its_deadline_when_a_broker_hangs() -> None:
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            (got,) = await consumer.poll(5)
            consumer.acknowledge(got)
            w.sandbox.faults.wire.never_answer("ShareAcknowledge")
            async with asyncio.timeout(3):
                left = await consumer.close(0.2)
            assert [(one.unknown, one.first) for one in left] == [(True, 0)]


async def test_B29_a_broker_that_answers_nonsense_ends_nothing() -> None:
    async with world() as w:
        await w.write(0, 10)
        w.sandbox.faults.wire.answer_http("ShareFetch")
        async with w.member() as consumer:
            assert values(await gather(consumer, 10)) == list(range(10))


async def test_a_poll_that_is_cancelled_has_taken_nothing() -> None:
    async with world() as w:
        async with w.member() as consumer:
            task = asyncio.create_task(consumer.poll())
            await until(lambda: consumer.drained)
            task.cancel()
            await asyncio.wait({task})
            await w.write(0, 10)
            assert values(await gather(consumer, 10)) == list(range(10))
            assert await consumer.commit(5) == []


def _cut(most: int, seen: list[int]):  # type: ignore[no-untyped-def]
    """Cut five bytes off the end of the records of an answer, of the first `most` that have some."""

    def alter(answer) -> None:  # type: ignore[no-untyped-def]
        for topic in answer.responses:
            for row in topic.partitions:
                if row.acquired_records and len(seen) < most:
                    row.records = bytes(row.records)[:-5]
                    seen.append(len(row.records))

    return alter


async def test_E1_a_batch_that_is_cut_off_is_given_back_and_not_said_to_be_a_gap() -> None:
    cut: list[int] = []
    async with world() as w:
        await w.write(0, 20)
        async with w.member() as consumer:
            w.sandbox.faults.wire.alter("ShareFetch", _cut(1, cut), times=1000)
            got = await gather(consumer, 10)
            assert cut
            assert values(got) == list(range(10))
            again = await gather(consumer, 10)
            assert (values(again), again[0].delivery_count) == (list(range(10, 20)), 2)
            assert await consumer.commit(5) == []
            assert w.start() == 20
            assert [(one.kind, one.first, one.last) for one in w.outcomes if one.kind != "accept"] == [
                ("release", 10, 19)
            ]


async def test_E1_an_answer_with_nothing_but_a_cut_off_batch_is_asked_for_again_and_an_error_at_the_third() -> None:
    cut: list[int] = []
    async with world() as w:
        await w.write(0, 10)
        async with w.member() as consumer:
            w.sandbox.faults.wire.alter("ShareFetch", _cut(3, cut), times=1000)
            got: list[Acquired] = []
            async with asyncio.timeout(10):
                while not got:
                    got = await consumer.poll(1)
            assert len(cut) == 3
            assert values(got) == []
            assert "cut off after" in str(got[0].error)
            (again,) = await gather(consumer, 10)
            assert (values([again]), again.delivery_count) == (list(range(10)), 4)
            assert await consumer.commit(5) == []
            assert {one.kind for one in w.outcomes} == {"release", "accept"}

"""The producer's plain parts, as tables: verdicts, the memory budget, queues, the sticky choice, lingering."""

from __future__ import annotations

import asyncio
import random

import pytest

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BufferFull, ConnectError, DeadlineExceeded, UnsupportedVersion
from kcli.model import TopicPartition
from kcli.producer.batches.accumulator import Accumulator, split
from kcli.producer.batches.active import Active
from kcli.producer.batches.batch import ProducerBatch
from kcli.producer.batches.ledger import Budget
from kcli.producer.batches.queue import PartitionQueue, after
from kcli.producer.engine.responses import Verdict, judge, may_have_arrived, maybe_written
from kcli.producer.intake.placement import Sticky
from kcli.proto.batch import read_batches
from kcli.settings import ProducerSettings
from tests.each import each

EVERY_CODE = [codes.of(number) for number in range(-1, 137)]
RETRIED = {
    "CORRUPT_MESSAGE", "UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_OR_FOLLOWER",
    "REQUEST_TIMED_OUT", "REPLICA_NOT_AVAILABLE", "NETWORK_EXCEPTION", "COORDINATOR_LOAD_IN_PROGRESS",
    "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "NOT_CONTROLLER", "KAFKA_STORAGE_ERROR", "FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH",
    "LISTENER_NOT_FOUND", "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH", "OFFSET_NOT_AVAILABLE",
    "PREFERRED_LEADER_NOT_AVAILABLE", "ELIGIBLE_LEADERS_NOT_AVAILABLE", "UNSTABLE_OFFSET_COMMIT",
    "THROTTLING_QUOTA_EXCEEDED", "UNKNOWN_TOPIC_ID", "INCONSISTENT_TOPIC_ID", "FETCH_SESSION_TOPIC_ID_ERROR",
    "CONCURRENT_TRANSACTIONS", "SHARE_SESSION_NOT_FOUND", "INVALID_SHARE_SESSION_EPOCH",
    "SHARE_SESSION_LIMIT_REACHED", "ELECTION_NOT_NEEDED",
}  # fmt: skip


@each("code", EVERY_CODE, ids=lambda code: code.name)
def test_D23_every_error_code_has_its_verdict(code: ErrorCode) -> None:
    special = {
        "NONE": (Verdict.DONE, Verdict.DONE),
        "DUPLICATE_SEQUENCE_NUMBER": (Verdict.DONE, Verdict.DONE),
        "MESSAGE_TOO_LARGE": (Verdict.SPLIT, Verdict.SPLIT),
        "OUT_OF_ORDER_SEQUENCE_NUMBER": (Verdict.NEW_EPOCH, Verdict.AGAIN),
        "UNKNOWN_PRODUCER_ID": (Verdict.NEW_EPOCH, Verdict.AGAIN),
        "INVALID_PRODUCER_EPOCH": (Verdict.NEW_EPOCH, Verdict.AGAIN),
    }
    usual = Verdict.AGAIN if code.name in RETRIED else Verdict.FAILED
    for next_in_line, expected in zip((True, False), special.get(code.name, (usual, usual))):
        assert judge(code, records=3, next_in_line=next_in_line, idempotent=True) is expected


@pytest.mark.parametrize("name", ["OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "INVALID_PRODUCER_EPOCH"])
def test_D26_sequences_mean_nothing_to_a_producer_without_idempotence(name: str) -> None:
    assert judge(getattr(codes, name), records=1, next_in_line=True, idempotent=False) is Verdict.FAILED


def test_D31_one_record_cannot_be_split() -> None:
    assert judge(codes.MESSAGE_TOO_LARGE, records=1, next_in_line=True, idempotent=True) is Verdict.FAILED


def test_D23_a_number_nobody_knows_is_not_retried() -> None:
    assert judge(codes.of(9999), records=1, next_in_line=True, idempotent=True) is Verdict.FAILED


@pytest.mark.parametrize("acks", [1, -1])
def test_D22_which_errors_leave_the_outcome_open(acks: int) -> None:
    found = {code.name for code in EVERY_CODE if maybe_written(code, acks)}
    expected = {
        "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NETWORK_EXCEPTION", "UNKNOWN_SERVER_ERROR",
        "KAFKA_STORAGE_ERROR",
    }  # fmt: skip
    assert found == (expected | {"NOT_LEADER_OR_FOLLOWER"} if acks == -1 else expected)


def test_D22_which_broken_exchanges_leave_the_outcome_open() -> None:
    problems = [
        ConnectError("x"), ConnectError("x", sent=True), DeadlineExceeded("x"), DeadlineExceeded("x", sent=True),
        UnsupportedVersion("x"),
    ]  # fmt: skip
    assert [may_have_arrived(one) for one in problems] == [False, True, False, True, False]


# -- the budget -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "records", "fits"), [(10, 1, True), (11, 1, False), (1, 5, True), (1, 6, False)])
async def test_A1_05_the_bound_is_exact(size: int, records: int, fits: bool) -> None:
    budget = Budget(10, 5)
    if fits:
        await budget.take(size, records, 60)
    else:
        with pytest.raises(BufferFull):
            await budget.take(size, records, 60)
    assert budget.bytes == (size if fits else 0)


async def test_A4_11_a_small_waiter_does_not_overtake_a_large_one() -> None:
    budget, order = Budget(10, 100), list[str]()
    await budget.take(8, 1, 1)

    async def wait(name: str, size: int) -> None:
        await budget.take(size, 1, 1)
        order.append(name)

    waiting = [asyncio.create_task(wait("large", 9)), asyncio.create_task(wait("small", 1))]
    await asyncio.sleep(0)
    assert budget.waiting == 2
    budget.give(8, 1)
    await asyncio.gather(*waiting)
    assert order == ["large", "small"]
    assert (budget.bytes, budget.records) == (10, 2)


async def test_A1_06_freeing_one_place_wakes_exactly_the_first() -> None:
    budget, woken = Budget(100, 1), list[int]()
    await budget.take(1, 1, 1)

    async def wait(number: int) -> None:
        await budget.take(1, 1, 1)
        woken.append(number)

    waiting = [asyncio.create_task(wait(number)) for number in range(3)]
    await asyncio.sleep(0)
    for number in range(3):
        budget.give(1, 1)
        await asyncio.sleep(0)
        assert woken == list(range(number + 1))
    await asyncio.gather(*waiting)


async def test_D6_a_cancelled_waiter_gives_its_place_back() -> None:
    budget = Budget(10, 100)
    await budget.take(10, 1, 1)
    waiter = asyncio.create_task(budget.take(5, 1, 1))
    behind = asyncio.create_task(budget.take(1, 1, 1))
    await asyncio.sleep(0)
    waiter.cancel()
    budget.give(10, 1)  # before the cancelled task has run
    await asyncio.gather(waiter, behind, return_exceptions=True)
    assert (budget.bytes, budget.records, budget.waiting) == (1, 1, 0)


async def test_D6_room_that_comes_at_the_moment_of_giving_up_is_given_back() -> None:
    budget = Budget(10, 100)
    await budget.take(10, 1, 1)
    waiter = asyncio.create_task(budget.take(5, 1, 1))
    await asyncio.sleep(0)
    budget.give(10, 1)
    waiter.cancel()
    await asyncio.gather(waiter, return_exceptions=True)
    assert (budget.bytes, budget.records, budget.waiting) == (0, 0, 0)


async def test_D6_a_full_buffer_is_an_error_after_max_block_and_at_once_unblocked() -> None:
    full: list[bool] = []
    budget = Budget(10, 100, lambda: full.append(True))
    await budget.take(10, 1, 1)
    with pytest.raises(BufferFull):
        await budget.take(1, 1, 0.01)
    with pytest.raises(BufferFull):
        await budget.take(1, 1, 60, block=False)
    assert (budget.bytes, budget.waiting, full) == (10, 0, [True])


# -- queues and sequences ---------------------------------------------------------------------------------------------


class Id:
    producer_id, epoch = 7, 0


def made(queue: PartitionQueue, *numbers: int, count: int = 1) -> list[ProducerBatch]:
    found = []
    for number in numbers:
        batch = ProducerBatch(queue.at, 0.0, (number,))
        for _ in range(count):
            batch.builder.append(1, None, b"value")
        batch.count = count
        batch.close(ProducerSettings())
        queue.waiting.append(batch)
        found.append(batch)
    return found


def sent(queue: PartitionQueue) -> ProducerBatch | None:
    batch = queue.sendable(0.0, 1, ordered=False)
    if batch is not None:
        queue.stamp(batch, Id)  # type: ignore[arg-type]
        queue.send(batch, 1)
    return batch


def test_D24_sequences_wrap_from_the_last_to_zero() -> None:
    assert [after(2**31 - 3, n) for n in (1, 2, 3, 5)] == [2**31 - 2, 2**31 - 1, 0, 2]


def test_D25_a_batch_that_comes_back_takes_its_place_and_goes_alone() -> None:
    queue = PartitionQueue(TopicPartition("t", 0))
    queue.producer_id, queue.epoch, queue.proven = 7, 0, True
    one, two, three = made(queue, 1, 2, 3)
    assert [sent(queue), sent(queue)] == [one, two]
    queue.back(one)
    assert sent(queue) is None  # two is on the wire
    queue.back(two)
    assert list(queue.waiting) == [one, two, three]
    assert sent(queue) is one
    assert sent(queue) is None
    queue.landed(one)
    assert sent(queue) is two
    assert sent(queue) is None  # three is new: it waits for the retried one
    queue.landed(two)
    assert sent(queue) is three
    assert [b.stamp for b in (one, two, three)] == [(7, 0, 0), (7, 0, 1), (7, 0, 2)]


def test_D30_backing_off_holds_for_the_same_leader_only() -> None:
    queue = PartitionQueue(TopicPartition("t", 0))
    (batch,) = made(queue, 1)
    assert sent(queue) is batch
    queue.back(batch)
    batch.not_before = 5.0
    assert queue.sendable(4.9, 1, ordered=False) is None
    assert queue.sendable(5.0, 1, ordered=False) is batch
    assert queue.sendable(0.0, 2, ordered=False) is batch


def test_D28_a_queue_that_needs_an_epoch_sends_only_what_may_be_stored() -> None:
    queue = PartitionQueue(TopicPartition("t", 0))
    one, _ = made(queue, 1, 2)
    assert sent(queue) is one
    queue.back(one)
    queue.needs_epoch = True
    assert sent(queue) is None
    assert queue.may_begin_epoch()
    one.maybe_written = True
    assert not queue.may_begin_epoch()
    assert sent(queue) is one


@pytest.mark.parametrize("start", [0, 2**31 - 2])
def test_D31_the_halves_of_a_batch_have_consecutive_sequences(start: int) -> None:
    queue = PartitionQueue(TopicPartition("t", 0))
    queue.producer_id, queue.epoch, queue.next_sequence = 7, 0, start
    (batch,) = made(queue, 4, count=5)
    batch.charged = 101
    queue.stamp(batch, Id)  # type: ignore[arg-type]
    parts = split(batch, ProducerSettings())
    assert [part.count for part in parts] == [2, 3]
    assert [part.stamp for part in parts] == [(7, 0, start), (7, 0, after(start, 2))]
    assert sum(part.charged for part in parts) == 101
    assert batch.number < parts[0].number < parts[1].number < (5,)
    for part in parts:
        assert part.sealed is not None
        (back,) = read_batches(part.sealed.data)
        assert (back.count, back.base_sequence) == (part.count, (part.stamp or (0, 0, 0))[2])


def test_D19_the_same_stamp_leaves_the_same_bytes() -> None:
    queue = PartitionQueue(TopicPartition("t", 0))
    (batch,) = made(queue, 1, count=3)
    queue.stamp(batch, Id)  # type: ignore[arg-type]
    assert batch.sealed is not None
    before = bytes(batch.sealed.data)
    queue.stamp(batch, Id)  # type: ignore[arg-type]
    assert bytes(batch.sealed.data) == before


# -- when a batch closes ----------------------------------------------------------------------------------------------


def accumulator(**changes: object) -> tuple[Accumulator, PartitionQueue]:
    settings = ProducerSettings(linger=5.0, batch_size=1000, batch_records=10).replace(**changes)
    active = Active(lambda at: 0, lambda: 0)
    found = Accumulator(settings, active, lambda queue: None, lambda batch: None, lambda queue, batch: None)
    return found, found.queue("t", 0)


def put(found: Accumulator, queue: PartitionQueue, size: int = 10, now: float = 0.0) -> None:
    batch = found.open(queue, now)
    batch.builder.append(1, None, bytes(size))
    found.appended(queue, batch, full=False)


def test_D2_an_open_batch_waits_for_its_linger() -> None:
    found, queue = accumulator()
    put(found, queue, now=1.0)
    assert found.next_linger(1.0) == 6.0
    found.mature(5.9)
    assert not found.ripe(queue, 5.9)
    assert not found.any_ripe(5.9)
    found.mature(6.0)
    assert found.ripe(queue, 6.0)
    assert found.any_ripe(6.0)
    assert found.next_linger(6.0) is None


@pytest.mark.parametrize(("size", "times"), [(1000, 1), (10, 10)])
def test_A5_20_bytes_and_records_close_a_batch_each_alone(size: int, times: int) -> None:
    found, queue = accumulator()
    for _ in range(times):
        assert not queue.waiting
        put(found, queue, size)
    assert len(queue.waiting) == 1


def test_D2_flush_and_memory_pressure_close_everything() -> None:
    found, queue = accumulator()
    put(found, queue)
    put(found, found.queue("t", 1))
    found.close_all()
    assert len(queue.waiting) == 1
    assert not found.lingering


def test_D3_behind_a_waiting_batch_the_next_goes_on_filling() -> None:
    found, queue = accumulator()
    put(found, queue)
    found.close_all()
    put(found, queue)
    found.mature(100.0)
    assert not found.ripe(queue, 100.0)
    queue.waiting.clear()
    assert found.ripe(queue, 100.0)


def test_D29_an_open_batch_expires_too_and_all_in_order() -> None:
    found, queue = accumulator(delivery_timeout=10.0, request_timeout=5.0)
    put(found, queue, now=0.0)
    found.close_all()
    put(found, queue, now=1.0)
    assert [batch.number for _, batch in found.expired(10.5)] == [(1,)]
    assert [batch.number for _, batch in found.expired(11.0)] == [(1,), (2,)]
    assert found.next_expiry() == 10.0


# -- the sticky choice ------------------------------------------------------------------------------------------------


def sticky(has_leader: object = None, depth: object = None, size: int = 100, deepest: int = 0) -> Sticky:
    leads, waits = has_leader or (lambda p: True), depth or (lambda p: 0)
    found = Sticky(lambda: size, leads, waits, lambda: deepest)  # type: ignore[arg-type]
    found.rng = random.Random(1)
    return found


def test_D12_it_stays_until_a_batch_of_bytes_went_there_or_its_batch_is_full() -> None:
    one = sticky()
    first = one.choose(range(5))
    one.went(99)
    assert one.choose(range(5)) == first
    one.went(1)
    second = one.choose(range(5))
    assert second != first
    one.went(1, full=True)
    assert one.choose(range(5)) != second


def test_D12_the_spread_is_even_within_five_percent() -> None:
    one, went = sticky(), [0] * 5
    for _ in range(20_000):
        went[one.choose(range(5))] += 1
        one.went(100)
    assert all(abs(count - 4000) < 200 for count in went), went


def test_D12_leaderless_partitions_are_left_out_unless_all_are() -> None:
    one = sticky(has_leader=lambda p: p == 2)
    assert one.choose(range(5)) == 2
    nobody = sticky(has_leader=lambda p: False)
    assert nobody.choose(range(5)) in range(5)


def test_D12_of_a_thousand_partitions_only_a_few_are_looked_at_for_a_choice() -> None:
    looked = [0]

    def leads(partition: int) -> bool:
        looked[0] += 1
        return True

    one, went = sticky(has_leader=leads), [0] * 1000
    for _ in range(10_000):
        went[one.choose(range(1000))] += 1
        one.went(100)
    assert looked[0] < 30_000
    assert max(went) < 30  # 10 are its share


def test_D12_of_many_partitions_the_spread_is_that_of_few() -> None:
    """Both ways to choose give a partition the weight that its queue leaves it."""
    one, went = sticky(depth=lambda p: 4 if p < 50 else 0, deepest=4), [0, 0]
    for _ in range(20_000):
        went[one.choose(range(100)) < 50] += 1
        one.went(100)
    assert 4.5 < went[0] / went[1] < 5.5  # 5 + 0 against 5 - 4


def test_D12_where_almost_all_are_leaderless_the_one_that_is_not_is_found() -> None:
    one = sticky(has_leader=lambda p: p == 777)
    assert one.choose(range(1000)) == 777


def test_D12_a_slow_partition_gets_less_than_its_share() -> None:
    one, went = sticky(depth=lambda p: 5 if p == 0 else 0), [0] * 3
    for _ in range(3000):
        went[one.choose(range(3))] += 1
        one.went(100)
    assert went[0] < 600

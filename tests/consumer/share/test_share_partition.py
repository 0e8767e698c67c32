"""The state of a share partition in the sandbox: Kafka's rules, range by range."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_fetch import AcknowledgementBatch
from kcli.sandbox import Sandbox
from kcli.sandbox.answers.sharing import ranges_of
from kcli.sandbox.groups.share import ACCEPT, GAP, REJECT, RELEASE, RENEW, SharePartition
from kcli.sandbox.log.batches import Header
from tests.sandbox.client import batch

pytestmark = pytest.mark.usefixtures("leaping_clock")


def joined(rows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Neighbours with one delivery count as one: it is acquired batch by batch."""
    made: list[tuple[int, int, int]] = []
    for first, last, count in rows:
        if made and made[-1][1] + 1 == first and made[-1][2] == count:
            made[-1] = (made[-1][0], last, count)
        else:
            made.append((first, last, count))
    return made


class World:
    """A partition with batches of ten, and one group's state of it."""

    def __init__(self, sandbox: Sandbox, batches: int = 3) -> None:
        self.partition = sandbox.topics.partition("t", 0)
        self.lock, self.limit = 30.0, 5
        self.notes = 0
        self.share = SharePartition(self.partition, 0, lambda: self.lock, lambda: self.limit, lambda: False, self._note)
        for _ in range(batches):
            self.write(10)

    def write(self, count: int) -> None:
        data = batch(count)
        self.partition.log.append(Header(bytearray(data)), data, 0, None)

    def _note(self, _: SharePartition) -> None:
        self.notes += 1

    def take(self, member: str = "a", most: int = 500, *, exact: bool = False, size: int = 1 << 20) -> Any:
        return joined(self.share.acquire(member, size, most, exact=exact)[1])

    def say(self, first: int, last: int, kind: int, member: str = "a") -> None:
        self.share.acknowledge(member, [(first, last, kind)])


@pytest.fixture
async def world() -> Any:
    async with Sandbox(topics={"t": 1}) as sandbox:
        made = World(sandbox)
        yield made
        made.share.close()


async def test_E64_records_are_acquired_once_and_the_start_moves_past_what_is_done(world: World) -> None:
    assert world.take() == [(0, 29, 1)]
    assert world.take("b") == []
    world.say(0, 9, ACCEPT)
    assert (world.share.start, world.share.lag) == (10, 20)
    world.say(20, 29, REJECT)
    assert (world.share.start, world.share.lag, world.share.done()) == (10, 10, [[20, 29]])
    world.say(10, 19, GAP)
    assert (world.share.start, world.share.lag, world.share.flights) == (30, 0, [])


async def test_E64_what_is_released_comes_again_with_a_higher_delivery_count(world: World) -> None:
    world.take()
    world.say(5, 14, RELEASE)
    assert world.take("b") == [(5, 14, 2)]
    with pytest.raises(BrokerError) as refused:
        world.say(5, 14, ACCEPT)  # it is b's now
    assert refused.value.code is codes.INVALID_RECORD_STATE
    world.say(5, 14, ACCEPT, "b")
    world.say(0, 4, ACCEPT)
    assert world.share.start == 15


async def test_E66_a_record_is_archived_after_its_last_delivery(world: World) -> None:
    world.limit = 2
    for times in (1, 2):
        assert world.take() == [(0, 29, times)]
        world.say(0, 29, RELEASE)
    assert world.take() == []
    assert (world.share.start, world.share.lag) == (30, 0)


async def test_E66_one_offset_that_is_not_ours_refuses_all_that_is_said_with_it(world: World) -> None:
    world.take()
    world.say(7, 7, ACCEPT)
    with pytest.raises(BrokerError):
        world.share.acknowledge("a", [(0, 4, ACCEPT), (5, 9, ACCEPT)])
    assert world.share.start == 0  # nothing was done
    world.share.acknowledge("a", [(0, 6, ACCEPT), (8, 9, ACCEPT)])
    assert world.share.start == 10


async def test_E66_a_lock_that_runs_out_frees_the_records_and_a_renewal_keeps_them(world: World) -> None:
    world.lock = 1.0
    world.take()
    await asyncio.sleep(0.6)
    world.say(0, 9, RENEW)
    await asyncio.sleep(0.6)
    assert world.take("b") == [(10, 29, 2)]
    world.say(0, 9, ACCEPT)
    assert world.share.start == 10


@pytest.mark.parametrize("exact", [False, True])
async def test_the_limit_of_records_ends_at_a_batch_or_is_exact(world: World, exact: bool) -> None:
    assert world.take(most=3, exact=exact) == ([(0, 2, 1)] if exact else [(0, 9, 1)])
    assert world.take("b", most=20, exact=exact) == ([(3, 22, 1)] if exact else [(10, 29, 1)])


async def test_no_more_than_the_locks_are_in_flight(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.sandbox.groups.share.MOST_IN_FLIGHT", 15)
    assert world.take(most=10) == [(0, 9, 1)]
    assert world.take(most=10) == [(10, 19, 1)]
    assert world.take(most=10) == []
    world.say(0, 9, ACCEPT)
    assert world.take(most=10) == [(20, 29, 1)]


async def test_what_retention_took_is_done(world: World) -> None:
    world.take(most=10)
    world.partition.log.delete_before(15)
    assert world.take("b", 10) == [(15, 29, 1)]
    assert world.share.start == 15
    world.say(0, 9, ACCEPT)  # below the start: nobody minds


async def test_all_of_a_member_is_freed_at_once(world: World) -> None:
    world.take("a", 10)
    world.take("b", 10)
    world.share.release("a")
    assert world.take("c", 10) == [(0, 9, 2)]
    world.say(10, 19, ACCEPT, "b")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ([(0, 4, ACCEPT), (4, 5, ACCEPT)], codes.INVALID_RECORD_STATE),
        ([(29, 30, ACCEPT)], codes.INVALID_REQUEST),
        ([(0, 4, ACCEPT), (99, 99, ACCEPT)], codes.INVALID_REQUEST),
    ],
)
async def test_what_is_done_twice_or_not_read_yet_is_refused(
    world: World, said: list[tuple[int, int, int]], code: codes.ErrorCode
) -> None:
    world.take()
    with pytest.raises(BrokerError) as refused:
        world.share.acknowledge("a", said)
    assert refused.value.code is code
    world.say(0, 29, ACCEPT)  # nothing was done


@pytest.mark.parametrize(
    ("said", "renews"),
    [
        ([(5, 4, [ACCEPT])], False),
        ([(0, 4, [ACCEPT]), (3, 5, [ACCEPT])], False),
        ([(-2, -2, [ACCEPT])], False),
        ([(0, 0, [])], False),
        ([(0, 2, [ACCEPT, REJECT])], False),
        ([(0, 0, [RENEW + 1])], True),
        ([(0, 0, [RENEW])], False),
    ],
)
def test_nonsense_is_refused(said: list[tuple[int, int, list[int]]], renews: bool) -> None:
    batches = [
        AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=kinds)
        for first, last, kinds in said
    ]
    with pytest.raises(BrokerError) as refused:
        ranges_of(batches, RENEW, renews=renews)
    assert refused.value.code is codes.INVALID_REQUEST


async def test_what_was_done_survives_and_what_was_with_a_member_is_free(world: World) -> None:
    world.take()
    world.say(10, 19, ACCEPT)
    again = SharePartition(world.partition, 0, lambda: 30.0, lambda: 5, lambda: False, lambda _: None)
    again.restore(world.share.start, world.share.done())
    assert joined(again.acquire("b", 1 << 20, 500, exact=False)[1]) == [(0, 9, 2), (20, 29, 1)]
    again.close()

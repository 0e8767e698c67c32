"""Random schedules of faults and operations, each from its seed: every accepted record settles exactly once, what is
acknowledged is in the log once and in order, all room comes back, no task is left."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from kcli import codes
from kcli.errors import BufferFull, ConnectError, DeadlineExceeded
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import PartitionProduceResponse
from tests.producer.world import Log, World, balanced, play, producing

ERRORS = [
    codes.NOT_LEADER_OR_FOLLOWER, codes.NOT_ENOUGH_REPLICAS, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.REQUEST_TIMED_OUT, codes.CORRUPT_MESSAGE, codes.KAFKA_STORAGE_ERROR, codes.LEADER_NOT_AVAILABLE,
    codes.INVALID_RECORD, codes.TOPIC_AUTHORIZATION_FAILED, codes.UNKNOWN_SERVER_ERROR,
    codes.UNKNOWN_TOPIC_OR_PARTITION, codes.MESSAGE_TOO_LARGE,
]  # fmt: skip


def store_and_say(code: codes.ErrorCode) -> Callable[[Log, Batch], PartitionProduceResponse]:
    def act(log: Log, batch: Batch) -> PartitionProduceResponse:
        answer = log.append(batch)
        return answer if answer.error_code else log.answer(code)

    return act


def leave_out(log: Log, batch: Batch) -> None:
    """Store it, and do not mention it (D33)."""
    log.append(batch)


MAYBE = [codes.REQUEST_TIMED_OUT, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND, codes.UNKNOWN_SERVER_ERROR]


class Mischief:
    """What goes wrong, drawn from the seed."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(self.rng.expovariate(20))
            self.something()

    def something(self) -> None:
        world, rng = self.world, self.rng
        log = rng.choice(list(world.logs.values()))
        broker = rng.choice(list(world.nodes_by_id.values()))
        kind = rng.randrange(9)
        if kind <= 2:
            log.script += [rng.choice(ERRORS)] * rng.choice([1, 1, 1, 2, 5])
        elif kind == 3:
            log.script.append(rng.choice([leave_out, *(store_and_say(code) for code in MAYBE)]))
        elif kind == 4:
            world.move(log.at.partition, rng.randrange(len(world.nodes_by_id)))
            world.hints = rng.random() < 0.5
        elif kind == 5:
            broker.up = not broker.up
        elif kind == 6:
            broker.before = self.breaks(broker, "before")
        elif kind == 7:
            broker.then = self.breaks(broker, "then")
        else:
            world.hidden ^= {"t"}
            log.limit = rng.choice([200, 1 << 40])

    def breaks(self, broker: object, when: str) -> Callable[[], Awaitable[None]]:
        wait = self.rng.choice([0, 0, 0.3, 3])
        late = self.rng.random() < 0.3

        async def act() -> None:
            setattr(broker, when, None)
            await asyncio.sleep(wait)
            if late:
                raise DeadlineExceeded("no answer", sent=True)
            raise ConnectError("the connection broke", sent=True)

        return act

    def peace(self) -> None:
        self.world.hidden.clear()
        for broker in self.world.nodes_by_id.values():
            broker.up, broker.before, broker.then = True, None, None
        for log in self.world.logs.values():
            log.script.clear()
            log.limit = 1 << 40


def run(seed: int) -> None:
    rng = random.Random(seed)
    random.seed(seed)  # the backoff has its jitter from there
    settled: dict[int, str] = {}
    sent: dict[int, asyncio.Future[object]] = {}

    async def user(producer: object, first: int, partition: int) -> None:
        """Sends numbers to one partition; they are in order by construction."""
        for number in range(first, first + rng.randrange(5, 40)):
            try:
                sent[number] = await producer.send("t", b"%d" % number, partition=partition)  # type: ignore[attr-defined]
            except BufferFull:
                continue
            if rng.random() < 0.3:
                await asyncio.sleep(rng.expovariate(10))

    async def scene() -> None:
        world = World({"t": 3}, latency=rng.choice([0.0, 0.001, 0.05]))
        mischief = Mischief(world, rng)
        ends = 0

        def ended(outcome: object) -> None:
            nonlocal ends
            ends += outcome.count  # type: ignore[attr-defined]

        producer = producing(
            world,
            linger=rng.choice([0.0, 0.005, 0.1]), batch_size=rng.choice([80, 300, 5000]),
            delivery_timeout=rng.choice([6.0, 30.0]), buffer_memory=rng.choice([400, 10_000]),
            max_in_flight=rng.choice([1, 2, 5]), max_block=10.0, retries=rng.choice([1, 2**31]),
        )  # fmt: skip
        producer.on_batch = ended
        async with producer:
            trouble = asyncio.create_task(mischief.go_on())
            users = [asyncio.create_task(user(producer, 1000 * n, n)) for n in range(3)]
            if rng.random() < 0.3:
                await asyncio.sleep(rng.random())
                rng.choice(users).cancel()
            if rng.random() < 0.5:
                await producer.flush(rng.random())
            await asyncio.gather(*users, return_exceptions=True)
            trouble.cancel()
            await asyncio.gather(trouble, return_exceptions=True)
            if rng.random() < 0.8:
                mischief.peace()
            if rng.random() < 0.8:
                assert await producer.flush() == 0
            else:
                await producer.close(rng.choice([0, 0.5]))
        balanced(producer)
        assert ends == producer.counts.accepted
        for number, future in sent.items():
            assert future.done(), f"{number} was never settled"
            settled[number] = "failed" if future.exception() else "acked"
        check(world)

    def check(world: World) -> None:
        for log in world.logs.values():
            stored = [int(value or b"-1") for value in log.records]
            acked = [number for number in stored if settled.get(number) == "acked"]
            assert acked == sorted(set(acked)), f"{log.at}: acknowledged records out of order or twice: {stored}"
            mine = [n for n, end in settled.items() if end == "acked" and n // 1000 == log.at.partition]
            assert sorted(mine) == acked, f"{log.at}: acknowledged and not stored"

    play(scene())


@pytest.mark.parametrize("block", range(30))
def test_every_accepted_record_settles_once_and_the_acknowledged_are_stored_once_in_order(block: int) -> None:
    for seed in range(block * 10, block * 10 + 10):
        try:
            run(seed)
        except BaseException as problem:
            problem.add_note(f"seed {seed}")
            raise

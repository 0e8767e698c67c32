"""What goes wrong in a schedule, drawn from its seed: all kinds of faults, as far as it concerns a producer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from kcli import codes
from kcli.errors import ConnectError, DeadlineExceeded
from kcli.proto.batch import Batch
from kcli.proto.messages.produce import PartitionProduceResponse, ProduceResponse
from tests.producer.network import Network
from tests.producer.world import FakeBroker, Log

ERRORS = [
    codes.NOT_LEADER_OR_FOLLOWER, codes.NOT_ENOUGH_REPLICAS, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.REQUEST_TIMED_OUT, codes.CORRUPT_MESSAGE, codes.KAFKA_STORAGE_ERROR, codes.LEADER_NOT_AVAILABLE,
    codes.INVALID_RECORD, codes.TOPIC_AUTHORIZATION_FAILED, codes.UNKNOWN_SERVER_ERROR, codes.UNKNOWN_TOPIC_ID,
    codes.UNKNOWN_TOPIC_OR_PARTITION, codes.MESSAGE_TOO_LARGE, codes.INCONSISTENT_TOPIC_ID, codes.UNKNOWN_LEADER_EPOCH,
    codes.THROTTLING_QUOTA_EXCEEDED, codes.POLICY_VIOLATION,
]  # fmt: skip
MAYBE = [
    codes.NOT_LEADER_OR_FOLLOWER, codes.REQUEST_TIMED_OUT, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.UNKNOWN_SERVER_ERROR, codes.KAFKA_STORAGE_ERROR,
]  # fmt: skip
ID_TROUBLE = [codes.COORDINATOR_LOAD_IN_PROGRESS, codes.REQUEST_TIMED_OUT, ConnectError("gone", sent=True)]


def store_and_say(code: codes.ErrorCode) -> Callable[[Log, Batch], PartitionProduceResponse]:
    def act(log: Log, batch: Batch) -> PartitionProduceResponse:
        answer = log.append(batch)
        return answer if answer.error_code else log.answer(code)

    return act


def leave_out(log: Log, batch: Batch) -> None:
    """Store it, and do not mention it (D33)."""
    log.append(batch)


def deny_sequence(log: Log, batch: Batch) -> PartitionProduceResponse:
    """OUT_OF_ORDER_SEQUENCE_NUMBER without a reason; never of a batch that is stored, for that no broker says."""
    known = log.producers.get(batch.producer_id)
    stored = known is not None and any(one[:2] == (batch.base_sequence, batch.count) for one in known[2])
    forgotten = log.forgotten.get(batch.producer_id, -1) >= batch.producer_epoch
    if stored or forgotten or batch.producer_id < 0:
        return log.append(batch)
    return log.answer(codes.OUT_OF_ORDER_SEQUENCE_NUMBER)


def name_twice(response: ProduceResponse) -> None:
    for topic in response.responses:
        topic.partition_responses += topic.partition_responses[:1]


def name_strangers(response: ProduceResponse) -> None:
    for topic in response.responses:
        topic.partition_responses.append(PartitionProduceResponse(index=77, error_code=0, base_offset=5))


class Mischief:
    """One thing after the other, until cancelled; `peace` takes everything back."""

    def __init__(self, world: Network, rng: random.Random, *, acks: int) -> None:
        self.world, self.rng = world, rng
        self.rate = rng.choice([2, 20, 20, 100])
        self._kinds: list[Callable[[Log, FakeBroker], None]] = [
            self.errors, self.errors, self.errors, self.lies, self.move, self.move, self.die, self.breaks_before,
            self.breaks_after, self.hide, self.shrink, self.freeze, self.rewind, self.throttle, self.grow, self.delay,
            self.deny, self.forget, self.recreate, self.no_id, self.confuse, self.leaderless,
        ]  # fmt: skip
        if rng.random() < 0.5:  # a few kinds much, rather than everything a little
            self._kinds = rng.sample(self._kinds, 3)
        self.maybe = MAYBE if acks == -1 else MAYBE[1:]  # only replication makes a leader doubt that it is one
        if rng.random() < 0.5:
            world.late = lambda: rng.choice([0.01, 0.5, 2])

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(self.rng.expovariate(self.rate))
            log = self.rng.choice(list(self.world.logs.values()))
            broker = self.rng.choice(list(self.world.nodes_by_id.values()))
            self.rng.choice(self._kinds)(log, broker)

    def errors(self, log: Log, _: FakeBroker) -> None:
        log.script += [self.rng.choice(ERRORS)] * self.rng.choice([1, 1, 1, 2, 5])

    def lies(self, log: Log, _: FakeBroker) -> None:
        log.script.append(self.rng.choice([leave_out, *(store_and_say(code) for code in self.maybe)]))

    def deny(self, log: Log, _: FakeBroker) -> None:
        log.script += [deny_sequence] * self.rng.choice([1, 1, 3])

    def move(self, log: Log, _: FakeBroker) -> None:
        log.leader, log.epoch = self.rng.randrange(len(self.world.nodes_by_id)), log.epoch + 1
        self.world.hints = self.rng.random() < 0.5

    def leaderless(self, log: Log, _: FakeBroker) -> None:
        log.leader, log.epoch = -1, log.epoch + 1

    def die(self, _: Log, broker: FakeBroker) -> None:
        broker.up = not broker.up

    def breaks_before(self, _: Log, broker: FakeBroker) -> None:
        broker.before = self._breaks(broker, "before")

    def breaks_after(self, _: Log, broker: FakeBroker) -> None:
        broker.then = self._breaks(broker, "then")

    def _breaks(self, broker: FakeBroker, when: str) -> Callable[[], Awaitable[None]]:
        wait = self.rng.choice([0, 0, 0.3, 3, 60])
        late = self.rng.random() < 0.3

        async def act() -> None:
            setattr(broker, when, None)
            await asyncio.sleep(wait)
            if late:
                raise DeadlineExceeded("no answer", sent=True)
            raise ConnectError("the connection broke", sent=True)

        return act

    def delay(self, _: Log, broker: FakeBroker) -> None:
        """The next request takes its time, and is then carried out."""
        wait = self.rng.choice([0.1, 1, 4, 11])  # the last is longer than anybody waits

        async def act() -> None:
            broker.before = None
            await asyncio.sleep(wait)

        broker.before = act

    def hide(self, _: Log, __: FakeBroker) -> None:
        if self.rng.random() < 0.5:
            self.world.absent += self.rng.choice([1, 1, 3])
        else:
            self.world.hidden ^= {"t"}

    def shrink(self, log: Log, _: FakeBroker) -> None:
        log.limit = self.rng.choice([200, 1 << 40])

    def freeze(self, _: Log, broker: FakeBroker) -> None:
        if self.world.stale.pop(broker.node_id, None) is None:
            self.world.freeze(broker.node_id)

    def rewind(self, log: Log, _: FakeBroker) -> None:
        log.epoch = max(0, log.epoch - self.rng.choice([1, 2]))

    def throttle(self, _: Log, broker: FakeBroker) -> None:
        self.world.quiet_until[broker.node_id] = asyncio.get_running_loop().time() + self.rng.choice([0.1, 1, 3])

    def grow(self, _: Log, __: FakeBroker) -> None:
        if len(self.world.logs) < 6:
            self.world.add_partitions("t", len(self.world.logs) + 1)

    def forget(self, log: Log, _: FakeBroker) -> None:
        log.forget()

    def recreate(self, _: Log, __: FakeBroker) -> None:
        if self.world.with_ids and self.rng.random() < 0.3:
            self.world.recreate()

    def no_id(self, _: Log, __: FakeBroker) -> None:
        self.world.id_errors.append(self.rng.choice(ID_TROUBLE))

    def confuse(self, _: Log, broker: FakeBroker) -> None:
        """One answer names a partition twice, or one nobody asked about (D33)."""
        change = self.rng.choice([name_twice, name_strangers])

        def once(response: ProduceResponse) -> None:
            broker.change = lambda _: None
            change(response)

        broker.change = once

    def peace(self) -> None:
        world = self.world
        world.hidden.clear()
        world.absent = 0
        world.stale.clear()
        world.quiet_until.clear()
        world.id_errors.clear()
        for broker in world.nodes_by_id.values():
            broker.up, broker.before, broker.then = True, None, None
            broker.change = lambda _: None
        for log in world.logs.values():
            log.script.clear()
            log.limit = 1 << 40
            if log.leader < 0:
                log.leader, log.epoch = 0, log.epoch + 1

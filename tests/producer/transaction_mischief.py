"""What goes wrong in a schedule of transactions: partitions, nodes and coordinators, drawn from its seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from kcli import codes
from kcli.errors import ConnectError, DeadlineExceeded
from tests.producer.mischief import leave_out, store_and_say
from tests.producer.transacting import ANSWER_LOST, LOST, Order, TransactionWorld

KINDS = ["InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "EndTxn", "EndTxn",
         "DescribeTransactions", "ApiVersions"]  # fmt: skip
ORDERS = [
    LOST, ANSWER_LOST, LOST, ANSWER_LOST, Order(codes.NOT_COORDINATOR), Order(codes.COORDINATOR_NOT_AVAILABLE),
    Order(codes.COORDINATOR_LOAD_IN_PROGRESS), Order(codes.CONCURRENT_TRANSACTIONS), Order(codes.NETWORK_EXCEPTION),
    Order(codes.UNKNOWN_SERVER_ERROR), Order(codes.UNKNOWN_SERVER_ERROR, do=True), Order(do=True, wait=2),
    Order(codes.REQUEST_TIMED_OUT, do=True), Order(codes.TRANSACTION_ABORTABLE),
]  # fmt: skip
ERRORS = [
    codes.NOT_LEADER_OR_FOLLOWER, codes.NOT_ENOUGH_REPLICAS, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    codes.REQUEST_TIMED_OUT, codes.CORRUPT_MESSAGE, codes.KAFKA_STORAGE_ERROR, codes.LEADER_NOT_AVAILABLE,
    codes.INVALID_RECORD, codes.TOPIC_AUTHORIZATION_FAILED, codes.UNKNOWN_SERVER_ERROR,
    codes.UNKNOWN_TOPIC_OR_PARTITION, codes.MESSAGE_TOO_LARGE,
]  # fmt: skip
MAYBE = [codes.REQUEST_TIMED_OUT, codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND, codes.UNKNOWN_SERVER_ERROR]


class Mischief:
    """One thing after the other, until cancelled; `peace` takes everything back."""

    def __init__(self, world: TransactionWorld, rng: random.Random) -> None:
        self.world, self.rng = world, rng

    async def go_on(self) -> None:
        while True:
            await asyncio.sleep(self.rng.expovariate(4))
            self.coordinators() if self.rng.random() < 0.6 else self.partitions()
            if self.rng.random() < 0.5:
                for broker in self.world.nodes_by_id.values():
                    broker.up = True

    def coordinators(self) -> None:
        world, rng = self.world, self.rng
        chance = rng.randrange(8)
        if chance <= 4:
            orders = world.orders[rng.choice(KINDS)]
            if len(orders) < 3:
                orders += [rng.choice(ORDERS)] * rng.choice([1, 1, 1, 3, 40])
        elif chance == 5:
            world.coordinates[rng.choice(["Transaction", "Group"])] = rng.randrange(3)
        elif chance == 6:
            world.level = rng.choice([1, 2])
        elif rng.random() < 0.3:
            world.books.time_out()

    def partitions(self) -> None:
        world, rng = self.world, self.rng
        log = rng.choice(list(world.logs.values()))
        broker = rng.choice(list(world.nodes_by_id.values()))
        chance = rng.randrange(7)
        if chance <= 1:
            log.script += [rng.choice(ERRORS)] * rng.choice([1, 1, 1, 2, 5])
        elif chance == 2:
            log.script.append(rng.choice([leave_out, *(store_and_say(code) for code in MAYBE)]))
        elif chance == 3:
            world.move(log.at.partition, rng.randrange(len(world.nodes_by_id)))
            world.hints = rng.random() < 0.5
        elif chance == 4:
            broker.up = not broker.up
        elif chance == 5:
            broker.before = self._breaks(broker, "before")
        else:
            broker.then = self._breaks(broker, "then")

    def _breaks(self, broker: object, when: str) -> Callable[[], Awaitable[None]]:
        wait = self.rng.choice([0, 0, 0.3, 3])
        how = self.rng.random()

        async def act() -> None:
            setattr(broker, when, None)
            await asyncio.sleep(wait)
            if how < 0.3:
                raise DeadlineExceeded("no answer", sent=True)
            if how < 0.8:
                raise ConnectError("the connection broke", sent=True)

        return act

    def peace(self) -> None:
        for broker in self.world.nodes_by_id.values():
            broker.up, broker.before, broker.then = True, None, None
        for log in self.world.logs.values():
            log.script.clear()
        self.world.orders.clear()

"""Random schedules of transactions and faults, each from its seed: a read_committed view holds exactly what was
committed, what is unknown whole or not at all, and never a part of a transaction (D34-D42)."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from kcli.errors import BufferFull, ConnectError, KcliError, UnknownOutcome, UsageError
from kcli.model import GroupMetadata, OffsetAndMetadata, TopicPartition
from kcli.producer.transactions.state import AbortRequired
from tests.effort import tries
from tests.producer.books import TransactionLog
from tests.producer.transacting import TransactionWorld, transacting
from tests.producer.transaction_mischief import Mischief
from tests.producer.world import balanced, play


class Run:
    """Transactions of one id, a new producer after each fatal error; what each came to is in `ends`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        random.seed(seed)  # the backoff has its jitter from there
        self.world = TransactionWorld({"t": 3}, self.rng.choice([1, 2]), latency=self.rng.choice([0.0, 0.001, 0.05]))
        self.sent: dict[int, dict[int, list[int]]] = {}  # transaction to partition to its accepted records
        self.offsets: dict[int, TopicPartition] = {}
        self.ends: dict[int, str] = {}
        self.numbers = 0

    def producer(self) -> Any:
        rng = self.rng
        return transacting(
            self.world, linger=rng.choice([0.0, 0.005, 0.1]), batch_size=rng.choice([80, 300, 5000]),
            delivery_timeout=rng.choice([6.0, 30.0]), max_in_flight=rng.choice([1, 5]),
            max_block=rng.choice([1.0, 10.0]), retries=rng.choice([1, 2**31 - 1]),
        )  # fmt: skip

    async def play(self) -> None:
        mischief = Mischief(self.world, self.rng)
        trouble = asyncio.create_task(mischief.go_on())
        while len(self.ends) < 8:
            async with self.producer() as producer:
                while len(self.ends) < 8 and await self.transaction(producer):
                    pass
            balanced(producer)
        trouble.cancel()
        await asyncio.gather(trouble, return_exceptions=True)
        mischief.peace()
        async with self.producer() as last:  # ends what was left open, as the coordinator's timeout would
            await last.begin()
        self.check()

    async def transaction(self, producer: Any) -> bool:
        """One transaction. False: this producer is at its end."""
        try:
            await producer.begin()
        except KcliError:
            await asyncio.sleep(0.1)
            return self.rng.random() < 0.5
        self.numbers += 1
        number = self.numbers
        self.ends[number] = "aborted"
        try:
            await self.fill(producer, number)
            if self.rng.random() < 0.15:
                return False  # left open: closing aborts it
            if self.rng.random() < 0.25:
                await producer.abort()
            elif self.rng.random() < 0.15:
                self.ends[number] = "unknown"
                async with asyncio.timeout(self.rng.random()):
                    await producer.commit()
                self.ends[number] = "committed"
            else:
                await producer.commit()
                self.ends[number] = "committed"
        except UnknownOutcome:
            self.ends[number] = "unknown"
            return False
        except (AbortRequired, TimeoutError, ConnectError):
            return await self.give_up(producer)
        except KcliError:
            return False
        return True

    async def give_up(self, producer: Any) -> bool:
        try:
            await producer.abort()
        except KcliError:
            return False
        return True

    async def fill(self, producer: Any, number: int) -> None:
        sent: dict[int, list[int]] = {}
        self.sent[number] = sent
        for index in range(self.rng.randrange(0, 12)):
            partition = self.rng.randrange(3)
            try:
                await producer.send("t", b"%d" % (1000 * number + index), partition=partition)
            except (BufferFull, UsageError):
                continue
            sent.setdefault(partition, []).append(1000 * number + index)
            if self.rng.random() < 0.2:
                await asyncio.sleep(self.rng.expovariate(5))
        if self.rng.random() < 0.3:
            at = TopicPartition("in", number)
            await producer.send_offsets({at: OffsetAndMetadata(number)}, GroupMetadata("g"))
            self.offsets[number] = at

    def check(self) -> None:
        world = self.world
        seen: list[int] = []
        for partition in range(3):
            log = world.log(partition)
            assert isinstance(log, TransactionLog)
            assert "open" not in log.fates, "a transaction was left hanging"
            values = [int(value or b"-1") for value in log.committed]
            assert values == sorted(set(values)), f"out of order or twice: {values}"
            seen += values
        assert world.books.unregistered == 0, "a batch went to a partition nobody had announced (D36)"
        for number, end in self.ends.items():
            accepted = {value for values in self.sent[number].values() for value in values}
            visible = {value for value in seen if value // 1000 == number}
            stored = ("g", self.offsets[number]) in world.offsets if number in self.offsets else None
            if end == "committed" or (end == "unknown" and (visible or stored)):
                assert visible == accepted, f"transaction {number} is {end}, and not all of it is there"
                assert stored in (None, True)
            else:
                assert not visible, f"transaction {number} is {end}, and {visible} is visible"
                assert not stored


@pytest.mark.parametrize("block", range(tries(10)))
def test_D38_a_read_committed_view_holds_exactly_the_committed_transactions(block: int) -> None:
    for seed in range(block * 15, block * 15 + 15):
        try:
            play(Run(seed).play())
        except BaseException as problem:
            problem.add_note(f"seed {seed}")
            raise

"""Random schedules: faults × operations × settings, each the same every time from its seed.

The invariant: every accepted record is settled exactly once; what is acknowledged is stored, once and in its sender's
order; what is reported failed is nowhere; what nobody knows is stored once at most; all room comes back, no task is
left, and nothing waits for a wake-up that never comes. `python -m tests.producer.schedules FIRST COUNT` runs many.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import random
import sys
import time
from collections import Counter
from typing import Any
from unittest.mock import patch

from kcli.cluster.cluster import NetworkCluster
from kcli.errors import Closed, KcliError, UnknownOutcome
from kcli.model import TopicPartition
from kcli.producer.batches.batch import BatchOutcome, RecordMetadata
from kcli.producer.producer import Producer
from kcli.settings import ProducerSettings
from tests.producer.mischief import Mischief
from tests.producer.network import Network
from tests.producer.world import Log, balanced, play

USER = 1000  # record numbers of one user
QUIET = 25.0  # seconds of peace after which everything must be settled by itself
PROMPT = 4.0  # seconds a record may take when all is well again


def number_of(value: bytes | None) -> int:
    return int((value or b"-1").partition(b".")[0])


class Ears:
    """An interceptor that counts."""

    def __init__(self) -> None:
        self.asked = self.told = 0

    def on_send(self, record: Any) -> Any:
        self.asked += 1
        return record

    def on_acknowledgement(self, metadata: RecordMetadata | None, error: KcliError | None) -> None:
        self.told += 1


class Schedule:
    """One of them. `log` says what happened, for comparing two runs."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.world = Network({"t": rng.choice([1, 3, 3, 5])}, nodes=rng.choice([1, 2, 3]), latency=0.0)
        self.world.latency = rng.choice([0.0, 0.001, 0.05])
        self.world.with_ids = rng.random() < 0.7
        acks, idempotent = rng.choice([(-1, True)] * 7 + [(-1, False), (1, False), (0, False)])
        linger = rng.choice([0.0, 0.005, 0.1])
        self.settings = ProducerSettings(
            acks=acks, idempotence=idempotent, linger=linger, batch_size=rng.choice([80, 300, 5000]),
            compression=rng.choice(["none", "none", "gzip", "lz4"]), delivery_timeout=rng.choice([6.0, 60.0, 60.0]),
            request_timeout=5.0, buffer_memory=rng.choice([400, 10_000]), max_block=rng.choice([0.2, 10.0]),
            max_in_flight=rng.choice([1, 2, 3, 4, 5]), retries=rng.choice([0, 1, 2**31 - 1, 2**31 - 1]),
            max_request_size=rng.choice([300, 1 << 20, 1 << 20]),
        )  # fmt: skip
        self.world.max_in_flight = self.settings.max_in_flight
        self.mischief = Mischief(self.world, rng, acks=acks)
        if rng.random() < 0.5:
            self.world.takes = lambda count: rng.randint(0, count)
        self.ears = Ears() if rng.random() < 0.2 else None
        self.promised: dict[int, asyncio.Future[RecordMetadata]] = {}
        self.refused: set[int] = set()
        self.outcomes: list[BatchOutcome] = []
        self.log: list[object] = []

    # -- operations -------------------------------------------------------------------------------------------------

    async def user(self, producer: Producer, user: int) -> None:
        """Sends its numbers one after the other, to a partition or wherever, one by one or in bulk."""
        rng = self.rng
        number, end = user * USER, user * USER + rng.randrange(5, 40)
        partition = rng.choice([None, user % self.partitions, user % self.partitions])
        while number < end:
            many = rng.choice([1, 1, 1, 1, 3])
            values = [b"%d." % n + b"x" * rng.choice([0, 0, 20, 150]) for n in range(number, number + many)]
            try:
                if many == 1:
                    future = await producer.send("t", values[0], partition=partition, timestamp=number)
                    self.promised[number] = future
                else:
                    await producer.send_records("t", [(partition, n, None, v, ()) for n, v in enumerate(values)])
            except Closed:
                return
            except KcliError:
                if many == 1:
                    self.refused.add(number)
            number += many
            if rng.random() < 0.3:
                await asyncio.sleep(rng.expovariate(10))

    @property
    def partitions(self) -> int:
        return len(self.world.logs)

    async def scene(self) -> None:
        cluster = self.world.cluster()
        producer = Producer(cluster, self.settings, [self.ears] if self.ears else [])
        producer.on_batch = self.outcomes.append
        try:
            async with producer:
                await self._act(producer, cluster)
        finally:
            await cluster.close()
        await asyncio.sleep(3)  # a broker may still have something in its queue
        balanced(producer)
        counts = producer.counts
        self.log += [repr(counts), [len(log.records) for log in self._logs()]]
        assert counts.accepted == sum(one.count for one in self.outcomes)
        assert counts.acked == sum(one.count for one in self.outcomes if one.error is None)
        assert counts.unknown == sum(one.count for one in self.outcomes if one.unknown)
        assert self.ears is None or self.ears.asked == self.ears.told >= counts.accepted
        self._check()

    async def _act(self, producer: Producer, cluster: NetworkCluster) -> None:
        rng = self.rng
        trouble = asyncio.create_task(self.mischief.go_on())
        users = [asyncio.create_task(self.user(producer, user)) for user in range(rng.choice([1, 3, 3]))]
        try:
            if rng.random() < 0.3:
                await asyncio.sleep(rng.random())
                rng.choice(users).cancel()
            for _ in range(rng.choice([0, 0, 1, 3])):
                await producer.flush(rng.random())
            if rng.random() < 0.15:
                await asyncio.sleep(rng.random())
                await producer.close(rng.choice([0, 0.01, 1.0]))
            await asyncio.gather(*users, return_exceptions=True)
        finally:
            trouble.cancel()
            await asyncio.gather(trouble, return_exceptions=True)
        if rng.random() < 0.2:
            await producer.close(rng.choice([0, 0.5]))
        elif not producer._closed:
            self.mischief.peace()
            await self._recovered(producer)

    async def _recovered(self, producer: Producer) -> None:
        """With peace everything settles by itself, and what is sent then is stored at once."""
        await asyncio.sleep(QUIET)
        assert not producer._engine.accumulator.incomplete, "something waits for ever"
        for partition in range(self.partitions):
            async with asyncio.timeout(PROMPT):
                await self._probe(producer, partition, attempts=8 if self.settings.retries < 2 else 2)

    async def _probe(self, producer: Producer, partition: int, attempts: int) -> None:
        """Without retries the first records may find out that a leader has moved (which takes some answers, if its
        epoch went back), and of the first one a broker that has forgotten us may be unable to tell."""
        for number in range(90_000 + 10 * partition, 90_000 + 10 * partition + attempts):
            sent = await producer.send("t", b"%d" % number, partition=partition, timestamp=number)
            self.promised[number] = sent
            await asyncio.wait([sent])
            if sent.exception() is None:
                return
        await sent

    # -- the invariant ----------------------------------------------------------------------------------------------

    def _logs(self) -> list[Log]:
        return [*self.world.past, *self.world.logs.values()]

    def _check(self) -> None:
        acked, failed = set(), set(self.refused)
        for number, future in self.promised.items():
            assert future.done(), f"{number} was never settled"
            problem = None if future.cancelled() else future.exception()
            if problem is None:
                acked.add(number)
            elif not isinstance(problem, UnknownOutcome):
                failed.add(number)
        everywhere: set[int] = set()
        for log in self._logs():
            stored = [number_of(value) for value in log.records]
            everywhere.update(stored)
            self._check_order(log, stored, acked)
        lost = acked - everywhere
        assert not lost or self.settings.acks == 0, f"acknowledged and not stored: {sorted(lost)}"
        assert not failed & everywhere, f"reported failed, and stored: {sorted(failed & everywhere)}"
        self._check_places(acked)

    def _check_order(self, log: Log, stored: list[int], acked: set[int]) -> None:
        name = f"{log.at.topic}[{log.at.partition}]"
        if self.settings.idempotence:
            twice = [number for number, times in Counter(stored).items() if times > 1]
            assert not twice, f"{name}: stored twice: {twice}"
        if self.settings.idempotence or (self.settings.max_in_flight == 1 and self.settings.acks != 0):
            first = [number for number in dict.fromkeys(stored) if number in acked]
            for user in {number // USER for number in first}:
                mine = [number for number in first if number // USER == user]
                assert mine == sorted(mine), f"{name}: acknowledged out of order: {mine}"

    def _check_places(self, acked: set[int]) -> None:
        """An offset that was told is where the record stands, in this life of the topic or an earlier one."""
        for number in acked:
            told = self.promised[number].result()
            if told.offset >= 0:
                at = TopicPartition("t", told.partition)
                logs = [log.records for log in self._logs() if log.at == at]
                assert any(len(one) > told.offset and number_of(one[told.offset]) == number for one in logs), number


def run(seed: int) -> list[object]:
    """Play one schedule; returns what it came to. Raises with a note of the seed."""
    chance = random.Random(-seed - 1)
    random.seed(seed)
    schedule = Schedule(seed)
    try:
        with (
            patch("kcli.cluster.pool.urandom", chance.randbytes),
            patch("kcli.backoff.urandom", chance.randbytes),
            patch("random.Random", lambda *_: chance),
        ):
            play(schedule.scene())
    except BaseException as problem:
        problem.add_note(f"seed {seed}")
        raise
    return schedule.log


def failure_of(seed: int) -> tuple[int, str] | None:
    try:
        run(seed)
    except Exception as problem:  # noqa: BLE001 - the seed is the news
        return seed, f"{type(problem).__name__}: {problem}".partition("\n")[0]
    return None


def main() -> int:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    begin, failures = time.monotonic(), []
    with multiprocessing.Pool(2) as pool:
        for done, failure in enumerate(pool.imap_unordered(failure_of, range(first, first + count), 20), 1):
            if failure is not None:
                failures.append(failure)
                print(f"seed {failure[0]}: {failure[1]}", flush=True)
            if done % 1000 == 0:
                print(f"{done} schedules, {time.monotonic() - begin:.0f} s, {len(failures)} failed", flush=True)
    print(f"{count} schedules from seed {first} in {time.monotonic() - begin:.0f} s: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())

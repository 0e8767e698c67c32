"""Load on a cluster that is being hurt: a producer whose every record has an outcome, a consumer that follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from kcli.asking.offsets import LATEST, list_offsets
from kcli.client import Client
from kcli.consumer.poll import Fetched
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.producer.producer import BatchOutcome, Producer, RecordMetadata
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.kafka.checker import ACKED, FAILED, PENDING, UNKNOWN, Read, Sent, disorder, problems

KEYS = 20


class Load:
    """`async with Load(bootstrap, topic, partitions) as load:` sends `rate` records a second and reads along; hurt the
    cluster inside. `await load.verify()` afterwards, when the cluster is well again."""

    def __init__(
        self, bootstrap: str, topic: str, partitions: int, *, rate: int = 2000, settings: ProducerSettings | None = None
    ) -> None:
        self._client_settings = ClientSettings(bootstrap=parse_bootstrap(bootstrap))
        self._topic = topic
        self._places = [TopicPartition(topic, n) for n in range(partitions)]
        self._rate = rate
        self._settings = settings or ProducerSettings(batch_size=16_384, linger=0.01)
        self._pending: dict[asyncio.Future[RecordMetadata], Sent] = {}
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.sent: list[Sent] = []
        self.followed: list[Read] = []
        self.notices: list[str] = []
        self.counts: object = None

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._produce()), asyncio.create_task(self._follow())]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if kind is not None:
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=kind is not None)

    @property
    def acked(self) -> int:
        return sum(one.outcome == ACKED for one in self.sent)

    async def progress(self, records: int = 500, within: float = 40.0) -> None:
        """Until so many more records are acknowledged and followed. Raises TimeoutError, or what broke the load."""
        acked, followed = self.acked + records, len(self.followed) + records
        async with asyncio.timeout(within):
            while self.acked < acked or len(self.followed) < followed:
                for task in self._tasks:
                    if task.done():
                        task.result()
                        raise AssertionError(f"{task.get_coro()} ended by itself")
                await asyncio.sleep(0.05)

    async def verify(self) -> dict[str, int]:
        """Read the log again and compare. Raises AssertionError naming the broken promises; returns the counts."""
        read = await read_all(self._client_settings, self._places)
        found = problems(self.sent, read) + disorder(self.followed)
        missed = set(read) ^ set(self.followed)
        found += [f"followed and read again differ: {one}" for one in sorted(missed)]
        assert not found, f"{len(found)} broken promises: " + "; ".join(found[:10])
        return {outcome: sum(one.outcome == outcome for one in self.sent) for outcome in (ACKED, FAILED, UNKNOWN)}

    # -- writing ----------------------------------------------------------------------------------------------------

    async def _produce(self) -> None:
        loop = asyncio.get_running_loop()
        async with Client(self._client_settings) as client:
            async with client.producer(self._settings) as producer:
                producer.on_batch = self._settled
                number, started = 0, loop.time()
                while not self._stop.is_set():
                    due = int((loop.time() - started) * self._rate)
                    for _ in range(min(due - number, 200)):
                        await self._send(producer, number)
                        number += 1
                    await asyncio.sleep(0.01)
                await producer.flush()
                self.counts = producer.counts
                counts = producer.counts
        # what nobody told is still pending, and the checker says so
        self.sent += self._pending.values()
        assert counts.accepted == number == counts.acked + counts.failed + counts.unknown, counts
        assert counts.acked == self.acked, (counts, self.acked)

    async def _send(self, producer: Producer, number: int) -> None:
        key = b"k%d" % (number % KEYS)
        future = await producer.send(self._topic, b"%d" % number, key)
        self._pending[future] = Sent(key, number, PENDING)

    def _settled(self, outcome: BatchOutcome) -> None:
        """The futures of a batch are done when its outcome is told: those are the ones that just came true."""
        done = [future for future in self._pending if future.done()]
        assert len(done) == outcome.count, (len(done), outcome.count)
        for future in done:
            one = self._pending.pop(future)
            if future.exception() is None:
                told = future.result()
                self.sent.append(one._replace(outcome=ACKED, partition=told.partition, offset=told.offset))
            else:
                self.sent.append(one._replace(outcome=UNKNOWN if outcome.unknown else FAILED))

    # -- reading ----------------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        async with Client(self._client_settings) as client:
            async with client.consumer() as consumer:
                consumer.on_notice = self.notices.append
                consumer.assign(dict.fromkeys(self._places, Bound("earliest")))
                while not (self._stop.is_set() and self._tasks[0].done()):
                    for fetched in await consumer.poll(0.2):
                        self.followed += rows(fetched)
                ends = await _ends(client, self._places)
                while any(consumer.position(at) != end for at, end in ends.items()):
                    for fetched in await consumer.poll(0.2):
                        self.followed += rows(fetched)


def rows(fetched: Fetched) -> Iterator[Read]:
    """The records of one answer. Raises its error."""
    for batch in fetched.batches:
        for record in batch:
            assert record.key is not None
            assert record.value is not None
            yield Read(fetched.partition, record.offset, bytes(record.key), int(bytes(record.value)))
    if fetched.error is not None:
        raise fetched.error


async def read_all(settings: ClientSettings, places: list[TopicPartition]) -> list[Read]:
    """All that is in the log now."""
    found: list[Read] = []
    async with Client(settings) as client:
        async with client.consumer() as consumer:
            ends = await _ends(client, places)
            consumer.assign(dict.fromkeys(places, Bound("earliest")))
            consumer.stop_at(ends)
            while not consumer.finished:
                for fetched in await consumer.poll(1.0):
                    found += rows(fetched)
    return found


async def _ends(client: Client, places: list[TopicPartition]) -> dict[TopicPartition, int]:
    found = {}
    for at, answer in (await list_offsets(client.cluster, dict.fromkeys(places, LATEST), "read_uncommitted")).items():
        if isinstance(answer, Exception):
            raise answer
        found[at] = answer.offset
    return found

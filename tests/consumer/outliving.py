"""A worker that outlives the rebalance timeout three times, on any Kafka: the story that the sandbox and a real one are
told (E36, E53, A3.13)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kcli.client import Client
from kcli.consumer.consumer import Consumer
from kcli.consumer.poll import Fetched
from kcli.consumer.workers import Workers
from kcli.model import TopicPartition
from kcli.settings import ConsumerSettings, GroupSettings

TIMEOUT = 3.0  # seconds of a rebalance


async def until(holds: Callable[[], object], within: float = 60.0) -> None:
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.02)


async def tell(client: Client, topic: str, group: GroupSettings, records: int) -> None:
    """The first member's worker hangs in whatever it is given; a second member comes, and the group goes on. `topic`
    has two partitions with `records` in all."""
    hung: set[TopicPartition] = set()
    stopped: set[TopicPartition] = set()
    read: set[tuple[int, int]] = set()
    gate = asyncio.Event()  # opened when the commits were looked at
    release = asyncio.Event()

    async def hang(fetched: Fetched, stop: asyncio.Event) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        if at not in hung:
            hung.add(at)
            waits = [asyncio.create_task(stop.wait()), asyncio.create_task(release.wait())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in waits:
                one.cancel()
            if stop.is_set():
                stopped.add(at)
                return  # as if all was done
        await work(fetched, stop)

    async def work(fetched: Fetched, stop: asyncio.Event) -> None:
        await gate.wait()
        read.update((fetched.partition, record.offset) for batch in fetched.batches for record in batch)

    def member() -> Consumer:
        return client.consumer(settings=ConsumerSettings(fetch_max_wait=0.05), group=group)

    async with member() as one, member() as two:
        notices: list[str] = []
        one.on_notice = notices.append
        first, second = Workers(one, hang, commit_interval=0.1), Workers(two, work, commit_interval=0.1)
        running = [asyncio.create_task(first.run([topic]))]
        await until(lambda: len(hung) == 2)
        running.append(asyncio.create_task(second.run([topic])))
        await until(lambda: stopped and second.partitions)
        await asyncio.sleep(3 * TIMEOUT)  # the coordinator's time is up for who did not give up in time
        assert not [task for task in running if task.done()], "somebody's run() ended"
        assert len(one.assignment) == len(two.assignment) == 1, "both are members, and share"
        told = await two.committed(two.assignment)
        assert set(told.values()) == {None}, "what was lost is not committed"
        assert any(": lost, " in text for text in notices), notices
        gate.set()
        release.set()
        await until(lambda: len(read) == records)
        first.stop()
        second.stop()
        await asyncio.gather(*running)
        ends = await two.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)])
        assert sum(place.offset for place in ends.values() if place is not None) == records

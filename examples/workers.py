"""A worker for each partition: slow work in many partitions at once, in order within each, nothing lost.

    kcli sandbox --port 9092 &
    seq 1000 | kcli produce orders
    python examples/workers.py localhost:9092 billing orders

Start it twice: the partitions are shared, and one that moves is given up only after its worker has ended and its
offsets are committed. Ctrl-C ends it the same way.
"""

from __future__ import annotations

import asyncio
import signal
import sys

import kcli


async def work(fetched: kcli.Fetched, stop: asyncio.Event) -> None:
    """Process one fetch of one partition. It is committed when this returns; what it raises ends the program. `stop` is
    set when the partition is lost: another member reads the same records then."""
    for batch in fetched.batches:
        for record in batch:
            if stop.is_set():
                return
            await asyncio.sleep(0.001)  # a database, another service …
            print(f"{fetched.topic}[{fetched.partition}] {record.offset}: {(record.value or b'').decode()}", flush=True)


async def main(bootstrap: str, group: str, *topics: str) -> None:
    async with kcli.Client(bootstrap) as client:
        small = kcli.ConsumerSettings(partition_max_bytes=64 * 1024)  # as much as a worker is given at once
        async with client.consumer(settings=small, group=group) as consumer:
            consumer.on_notice = lambda text: print(text, file=sys.stderr)
            workers = kcli.Workers(consumer, work, size=8)
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, workers.stop)
            await workers.run(topics)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

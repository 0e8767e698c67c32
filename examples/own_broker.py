"""A broker of one's own: kcli's, with each request counted and timed. `connect` makes the connections of a client.

kcli sandbox --port 9092 --topic orders &
python examples/own_broker.py localhost:9092 orders
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import defaultdict
from typing import Any

import kcli

SPENT: dict[str, list[float]] = defaultdict(list)
"""Seconds of each request, by its name."""


class TimedBroker(kcli.NetworkBroker):
    """Everything a client asks a broker goes through `ask`."""

    async def ask(self, request: Any, *args: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return await super().ask(request, *args, **options)
        finally:
            SPENT[kcli.api_name(request.api_key)].append(time.perf_counter() - started)


async def main(bootstrap: str, topic: str) -> None:
    settings = kcli.ClientSettings(bootstrap=kcli.parse_bootstrap(bootstrap), client_id="timed")

    def connect(address: kcli.Address, node_id: int) -> TimedBroker:
        return TimedBroker(address, node_id, settings)

    async with kcli.Client(settings, connect=connect) as client:
        async with client.producer() as producer:
            stored = await producer.send_and_wait(topic, b"value", b"key", [("trace", b"1")])
        topics = await client.admin.topics([topic])
    print(f"stored at {stored.topic} [{stored.partition}] {stored.offset}; the topic: {topics[topic]}")
    for name, times in SPENT.items():
        print(f"{name}: {len(times)} times, {sum(times) * 1000:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""`python -m benchmarks.bound`: the cost of a request that is made in advance and whose response is not read. No client
on asyncio can be below it. `--output docs/benchmarks.md` writes its part of that page.

A protocol of the event loop writes the same Produce request again and again, as many in flight as a producer has, half
of them in a write, and counts the responses by their sizes alone.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from benchmarks import bound_bytes, bound_codecs, broker
from benchmarks.process import median
from benchmarks.report import machine, with_part
from kcli.proto.batch import seal
from kcli.proto.core import Builder
from kcli.proto.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kcli.proto.session import ClientSession, FrameReader

TITLE = "## Bounds of small requests, TLS, large records and codecs"
REQUESTS = 20_000
RATE, PACED = 1000, 3000
"""Requests a second, and requests, where one is written at a time at a steady pace."""
TOPIC = "bound"
BY_NAME = 9  # a version in which a topic needs no id


def frame() -> bytes:
    """A Produce request with one batch of one record of 100 B."""
    builder = Builder()
    builder.append(int(time.time() * 1000), None, b"x" * 100, ())
    batch = seal(builder.take(), 1, builder.base_timestamp, builder.max_timestamp)
    parts = [PartitionProduceData(index=0, records=batch.data)]
    request = ProduceRequest(
        acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name=TOPIC, partition_data=parts)]
    )
    return b"".join(ClientSession("bound").send(request, BY_NAME))


class Repeating(asyncio.BufferedProtocol):
    """Writes `request` for each response that comes, `depth` of them at the beginning; and as a producer does, no fewer
    than half of them at once."""

    def __init__(self, request: bytes, depth: int, done: asyncio.Future[None]) -> None:
        self._request, self._depth, self._done = request, depth, done
        self._reader = FrameReader(1 << 20)
        self._left, self._owed = REQUESTS, 0
        self._least = (depth + 1) // 2

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request * self._depth)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        count = len(self._reader.received(nbytes))
        self._left -= count
        self._owed += count
        if self._left <= 0:
            if not self._done.done():
                self._done.set_result(None)
        elif self._owed >= self._least:
            self._transport.write(self._request * self._owed)
            self._owed = 0


class Counting(asyncio.BufferedProtocol):
    """Counts responses; the last of PACED ends `done`."""

    def __init__(self, done: asyncio.Future[None]) -> None:
        self._reader, self._done = FrameReader(1 << 20), done
        self._left = PACED

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self._left -= len(self._reader.received(nbytes))
        if self._left <= 0 and not self._done.done():
            self._done.set_result(None)


async def paced(bootstrap: str) -> float:
    """Microseconds of CPU a request, where a coroutine sleeps before each: a process that sleeps finds its caches cold.
    The pace is kept as the latency's programs keep it."""
    host, _, port = bootstrap.rpartition(":")
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    _, protocol = await loop.create_connection(lambda: Counting(done), host, int(port))
    request, begun, begin = frame(), time.perf_counter(), time.process_time()
    for n in range(PACED):
        wait = begun + n / RATE - time.perf_counter()
        if wait > 0:
            await asyncio.sleep(wait)
        protocol.transport.write(request)
    await done
    protocol.transport.abort()
    return (time.process_time() - begin) / PACED * 1e6


async def exchange(bootstrap: str, depth: int) -> float:
    """Microseconds of CPU a request."""
    host, _, port = bootstrap.rpartition(":")
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    begin = time.process_time()
    transport, _ = await asyncio.get_running_loop().create_connection(
        lambda: Repeating(frame(), depth, done), host, int(port)
    )
    await done
    transport.abort()
    return (time.process_time() - begin) / REQUESTS * 1e6


async def turn() -> float:
    """Microseconds of CPU of a turn of the loop in which nothing is to do but that."""
    begin = time.process_time()
    for _ in range(REQUESTS):
        await asyncio.sleep(0)
    return (time.process_time() - begin) / REQUESTS * 1e6


async def measured(bootstrap: str, rounds: int) -> dict[str, float]:
    runs = [
        (await turn(), await exchange(bootstrap, 1), await exchange(bootstrap, 5), await paced(bootstrap))
        for _ in range(rounds)
    ]
    names = (
        "a turn of the event loop", "a request made in advance, one in flight", "the same, five in flight",
        "the same, 1,000 a second",
    )  # fmt: skip
    return {name: median([run[place] for run in runs]) for place, name in enumerate(names)}


def section(rounds: int = 3) -> str:
    """The part of the page."""
    with broker.sandbox() as bootstrap:
        broker.create(bootstrap, TOPIC)
        found = asyncio.run(measured(bootstrap, rounds))
    out = ["", TITLE, "", machine(), ""]
    out += [
        "What no client on asyncio can be below: the request is made once, and of a response only the size is read.",
        "",
    ]
    out += ["| | CPU µs |", "|---|---:|", *(f"| {name} | {cost:.1f} |" for name, cost in found.items())]
    taken = bound_bytes.measured(rounds) | bound_codecs.measured(max(rounds, 5))
    out += [
        "",
        "And of bytes with which nothing is done but what is named, received from a socket or decompressed:",
        "",
    ]
    out += ["| | CPU ns |", "|---|---:|", *(f"| {name} | {cost:,.0f} |" for name, cost in taken.items())]
    return "\n".join(out) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="The cost of a request made in advance whose response is not read.")
    parser.add_argument("--output", type=Path, help="the page whose part is written anew")
    given = parser.parse_args()
    text = section()
    print(text)
    if given.output:
        given.output.write_text(with_part(given.output.read_text(), TITLE, text))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A process that writes numbered lines in bulk as fast as the cluster takes them, and says how each batch ended.

    python -m tests.kafka.flood BOOTSTRAP TOPIC MODE RATE [NAME=VALUE ...]

MODE is `sticky`, `keyed` or `placed` (a partition named for each call, from a fixed few); the rest are attributes of
ProducerSettings. RATE is the most records in a second, 0 for as many as there may be. It prints
`PARTITION COUNT BASE_OFFSET acked|failed|unknown` per batch and `sent N` at the end; closed stdin ends it. A record's
value is its number, a space and padding of four lengths.
"""

from __future__ import annotations

import ast
import asyncio
import sys
from typing import Any

from kcli.client import Client
from kcli.producer.producer import BatchOutcome, Producer
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

BLOCK = 2000  # lines handed over in one call
PADS = (b"", b"." * 20, b"-" * 100, b"x" * 300)
KEYS = 97
PLACED = (0, 1, 2)


def block(first: int, mode: str) -> bytes:
    """So many lines from a number on."""
    pad = PADS[first // BLOCK % len(PADS)]
    numbers = range(first, first + BLOCK)
    if mode == "keyed":
        return b"".join([b"k%d\t%d %s\n" % (number % KEYS, number, pad) for number in numbers])
    return b"".join([b"%d %s\n" % (number, pad) for number in numbers])


def settled(outcome: BatchOutcome) -> None:
    how = "acked" if outcome.error is None else "unknown" if outcome.unknown else "failed"
    sys.stdout.write(f"{outcome.partition} {outcome.count} {outcome.base_offset} {how}\n")


async def pour(producer: Producer, topic: str, mode: str, rate: int, stopped: asyncio.Event) -> int:
    """Write until told to stop; how many records that were."""
    number = calls = 0
    while not stopped.is_set():
        lines = block(number, mode)
        partition = PLACED[calls % len(PLACED)] if mode == "placed" else None
        cut = b"\t" if mode == "keyed" else None
        taken = await producer.send_lines(topic, lines, 0, len(lines), key_delimiter=cut, partition=partition)
        assert taken == len(lines)
        number, calls = number + BLOCK, calls + 1
        sys.stdout.flush()
        await asyncio.sleep(BLOCK / rate if rate else 0)
    return number


def closed(stopped: asyncio.Event) -> None:
    """Standard input has ended: it is readable from now on, and must not wake the loop again and again."""
    asyncio.get_running_loop().remove_reader(0)
    stopped.set()


def literal(text: str) -> Any:
    """A number, or the text as it is."""
    return ast.literal_eval(text) if text[:1].isdigit() else text


async def main(bootstrap: str, topic: str, mode: str, rate: int, changes: list[str]) -> None:
    pairs = (change.split("=", 1) for change in changes)
    settings = ProducerSettings().replace(**{name: literal(value) for name, value in pairs})
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, closed, stopped)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        async with client.producer(settings) as producer:
            producer.on_batch = settled
            number = await pour(producer, topic, mode, rate, stopped)
            await producer.flush()
            counts = producer.counts
    assert counts.accepted == number == counts.acked + counts.failed + counts.unknown, counts
    sys.stdout.write(f"sent {number}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))

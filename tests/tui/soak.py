"""`make soak-tui`: the dashboard on a terminal, on 10,000 topics × 10 partitions for ten minutes, on 1,000 groups × 100
partitions and on 100,000 records a second for a minute each.

Frames, the time from a key to what it draws, seconds of a core, and memory. Sandboxes and producer are processes of
their own. `python -m tests.tui.soak [--topics N] [--groups N] [--partitions N] [--rate N] [--seconds S] [--long S]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.tui.soak_topics import many_topics, watch
from tests.tui.terminal import Terminal, cursor_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KCLI = [sys.executable, "-m", "kcli"]
BEAT = 0.05  # seconds between the batches of the producer


def main() -> int:
    parser = argparse.ArgumentParser(description="Soak the dashboard.")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--rate", type=int, default=100_000, help="records a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--topics", type=int, default=10_000, help="of 10 partitions each; 0: leave this part out")
    parser.add_argument("--long", type=float, default=600.0, help="seconds on the topics")
    given = parser.parse_args()
    print("\n".join(figures(given.groups, given.partitions, given.rate, given.seconds)), flush=True)
    missed = []
    if given.topics:
        with many_topics(given.topics) as bootstrap:
            seen = watch(bootstrap, given.topics, given.long)
        print(seen)
        missed = seen.missed
    print("\n".join(missed))
    return 1 if missed else 0


def figures(groups: int, partitions: int, rate: int, seconds: float) -> list[str]:
    """Run it; what was measured, a line each."""
    with sandbox() as bootstrap:
        asyncio.run(seed(bootstrap, groups, partitions))
        lines = [f"{groups:,} groups × {partitions} partitions: {keys(bootstrap, seconds)}"]
    with sandbox() as bootstrap, load(bootstrap, rate):
        lines.append(f"a topic of {rate:,} records/s: {busy(bootstrap, seconds)}")
    return lines


@contextlib.contextmanager
def sandbox() -> Iterator[str]:
    """The address of a sandbox of its own."""
    process = subprocess.Popen([*KCLI, "sandbox", "--port", "0", "--format", "json"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["bootstrap"]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


@contextlib.contextmanager
def load(bootstrap: str, rate: int) -> Iterator[None]:
    """A producer in a process of its own, and the topic `busy`."""
    words = [sys.executable, "-c", f"from tests.tui.soak import *; asyncio.run(produce({bootstrap!r}, {rate}))"]
    process = subprocess.Popen(words)
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def seed(bootstrap: str, groups: int, partitions: int) -> None:
    """All groups have committed 10 of 20 records in all partitions of one topic."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic="many", partitions=partitions)])
        await wait_for_topics(client.cluster, {"many": partitions})
        async with client.producer(ProducerSettings()) as producer:
            for partition in range(partitions):
                await producer.send_records("many", [(partition, None, None, b"x", ())] * 20)
            await producer.flush()
        at = {TopicPartition("many", n): OffsetAndMetadata(offset=10) for n in range(partitions)}
        coordinators = Coordinators(client.cluster)
        for number in range(groups):
            await write_commits(coordinators, f"group-{number:04}", at)


async def produce(bootstrap: str, rate: int) -> None:
    """`rate` records of 100 bytes a second, until killed."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        await create_topics(client.cluster, [NewTopic(topic="busy", partitions=4)])
        await wait_for_topics(client.cluster, {"busy": 4})
        async with client.producer(ProducerSettings(compression="lz4")) as producer:
            begun, sent = time.monotonic(), 0
            while True:
                due = int((time.monotonic() - begun) * rate) - sent
                if due > 0:
                    row = (
                        None,
                        None,
                        b"key-%d" % (sent % 1000),
                        b'{"number": %09d, "text": "%s"}' % (sent, b"x" * 65),
                        (),
                    )
                    await producer.send_records("busy", [row] * due)
                    sent += due
                await asyncio.sleep(BEAT)


def keys(bootstrap: str, seconds: float) -> str:
    """Move the cursor while looks at all groups go on."""
    board = Terminal([*KCLI, "tui", "-b", bootstrap])
    try:
        first = board.until(lambda drawn: b"group-0005" in drawn, 120.0)
        board.rest(2.0)
        lag, memory = latencies(board, b"j", b"k", seconds)
        lag.append(dialog(board))
    finally:
        code = board.end(b"q")
    return f"first picture {first:.1f} s, {told(lag)}, {held(memory)}, exit code {code}"


def busy(bootstrap: str, seconds: float) -> str:
    """The live tail: frames a second, and a page more or less while it runs."""
    time.sleep(3.0)
    board = Terminal([*KCLI, "tui", "records", "busy", "-b", bootstrap])
    try:
        board.until(lambda drawn: b'"number"' in drawn, 60.0)
        board.rest(2.0)
        board.frames.clear()
        begun = time.monotonic()
        lag, memory = [], []
        while time.monotonic() - begun < seconds:
            board.rest(1.0)
            lag.append(dialog(board))
            memory.append(board.memory())
        took = time.monotonic() - begun
        gaps = [after - before for before, after in zip(board.frames, board.frames[1:], strict=False)]
        frames = f"{len(board.frames) / took:.1f} frames/s, the longest pause {max(gaps) * 1000:.0f} ms"
    finally:
        code = board.end(b"q")
    return f"{frames}, {told(lag)}, {held(memory)}, exit code {code}"


def latencies(board: Terminal, forth: bytes, back: bytes, seconds: float) -> tuple[list[float], list[int]]:
    """Seconds from a key to the bar on the next line, again and again; and memory meanwhile."""
    board.press(forth)
    board.rest(0.5)
    board.press(b"g")
    board.until(lambda drawn: cursor_line(drawn) is not None, 10.0)
    lag, memory = [], []
    end, here = time.monotonic() + seconds, cursor_line(board.drawn)
    assert here is not None
    first = here
    while time.monotonic() < end:
        key, there = (forth, here + 1) if here == first else (back, here - 1)
        board.press(key)
        lag.append(board.until(lambda drawn, there=there: cursor_line(drawn) == there, 10.0))  # type: ignore[misc]
        here = there
        memory.append(board.memory())
        board.rest(0.1)
    return lag, memory


def dialog(board: Terminal) -> float:
    """Seconds from `?` to the help; it is closed again."""
    board.press(b"?")
    took = board.until(lambda drawn: b"Keys" in drawn, 10.0)
    board.press(b"?")
    board.rest(0.1)
    return took


def told(lag: list[float]) -> str:
    """The middle, the slow end and the worst of times from key to drawing."""
    lag = sorted(lag)
    slow = lag[min(int(len(lag) * 0.99), len(lag) - 1)]
    middle, high, worst = (f"{one * 1000:.0f} ms" for one in (statistics.median(lag), slow, lag[-1]))
    return f"{len(lag)} keys: median {middle}, 99% {high}, worst {worst}"


def held(memory: list[int]) -> str:
    """Memory at the beginning, the end, and the most."""
    third = max(len(memory) // 3, 1)
    early, late = max(memory[:third]), max(memory[-third:])
    return f"memory {early / 1e6:.0f} MB in the first third, {late / 1e6:.0f} MB in the last"


if __name__ == "__main__":
    sys.exit(main())

"""`make chaos`: nodes killed, stopped and restarted at random under load; every promise checked at the end of a round.

    CHAOS_SECONDS=600 CHAOS_SEED=42 python -m tests.kafka.chaos

A round has topics of its own, two producers, one that is patient and one whose delivery timeout is shorter than an
outage may be, a process that writes transactions and is killed itself now and then, and a group of two kcli processes
that must print every acknowledged record at least once. Of the transactions kcli, kcat and Java's console consumer must
see what was committed, whole, and nothing that was aborted. At most one node is away at a time, and now and then all of
them. The seed decides who and when; what the machine does in between is its own: a seed repeats a plan, not a run.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
import uuid
from collections.abc import Awaitable, Callable

from kcli.settings import ProducerSettings
from tests.kafka.artifacts import missing
from tests.kafka.cluster import Kafka
from tests.kafka.load import Load
from tests.kafka.transactions import Transactor, verify
from tests.programs import KCLI, Background, kcli

PARTITIONS = 6
STEPS = 3  # troubles in a round
PATIENT = ProducerSettings(batch_size=16_384, linger=0.01)
HASTY = ProducerSettings(batch_size=4_096, linger=0.005, delivery_timeout=3.0, request_timeout=1.5)
CODECS = ("none", "lz4", "zstd", "snappy", "gzip")


class Chaos:
    """Troubles for a cluster, drawn from a seeded die."""

    def __init__(self, kafka: Kafka, die: random.Random) -> None:
        self._kafka = kafka
        self._die = die
        self.troubles: list[Callable[[], Awaitable[str]]] = [
            self.kill, self.kill, self.terminate, self.freeze, self.freeze, self.flap, self.everybody,
        ]  # fmt: skip

    async def _pause(self, least: float, most: float) -> None:
        await asyncio.sleep(self._die.uniform(least, most))

    async def kill(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        node.kill()
        await self._pause(0.0, 6.0)
        return f"node {node.id} killed"

    async def terminate(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        await asyncio.to_thread(node.kill, signal.SIGTERM)
        await self._pause(0.0, 3.0)
        return f"node {node.id} shut down"

    async def freeze(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        node.pause()
        await self._pause(0.5, 8.0)
        node.resume()
        return f"node {node.id} frozen"

    async def flap(self) -> str:
        node = self._die.choice(self._kafka.nodes)
        for _ in range(5):
            node.pause()
            await self._pause(0.1, 1.0)
            node.resume()
            await self._pause(0.05, 0.5)
        return f"node {node.id} flapped"

    async def everybody(self) -> str:
        for node in self._kafka.nodes:
            node.pause()
        await self._pause(0.5, 6.0)
        for node in self._kafka.nodes:
            node.resume()
        return "everybody frozen"


async def one_round(kafka: Kafka, die: random.Random) -> str:
    """One topic, its load, some troubles. Raises AssertionError naming the broken promises; returns what happened."""
    topic = f"chaos-{uuid.uuid4().hex[:8]}"
    await asyncio.to_thread(_create, kafka, topic)
    chaos = Chaos(kafka, die)
    codec = die.choice(CODECS)
    said: list[str] = [f"{topic} {codec}"]
    patient = Load(kafka.bootstrap, topic, PARTITIONS, rate=1500, settings=PATIENT.replace(compression=codec))
    other = f"{topic}-hasty"
    await asyncio.to_thread(_create, kafka, other)
    hasty = Load(kafka.bootstrap, other, PARTITIONS, rate=300, settings=HASTY.replace(compression=codec))
    transacted = f"{topic}-transactions"
    await asyncio.to_thread(_create, kafka, transacted)
    writing = Transactor(kafka, transacted, PARTITIONS, f"{topic}/{die.random()}")
    with member(kafka, topic, "one") as one, member(kafka, topic, "two") as two, writing:
        async with patient, hasty:
            await patient.progress()
            for _ in range(STEPS):
                said.append(await die.choice(chaos.troubles)())
                if die.random() < 0.5:
                    await asyncio.to_thread(writing.kill)
                    said.append("transactor killed")
                await asyncio.to_thread(kafka.heal)
                await patient.progress(within=60)
                await asyncio.to_thread(writing.progress, within=90)
        counts, hastily = await patient.verify(), await hasty.verify()
        assert counts["failed"] == counts["unknown"] == 0, f"nothing had to be given up in two minutes: {counts}"
        again = await asyncio.to_thread(grouped, one, two, {sent.number for sent in patient.sent})
    decided = await asyncio.to_thread(verify, kafka, transacted, writing.told())
    return f"{', '.join(said)}: {counts}; hasty: {hastily}; the group read {again} again; {decided}"


def member(kafka: Kafka, topic: str, name: str) -> Background:
    words = [*KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", f"g-{topic}", "--from-beginning"]
    quick = ["-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=500"]
    return Background([*words, *quick], stdout=kafka.root / f"{topic}.{name}")


def grouped(one: Background, two: Background, wanted: set[int]) -> int:
    """Both members live, end well, and printed everything; returns how often something was printed again. Raises
    AssertionError."""
    deadline = time.monotonic() + 60
    while not wanted <= (printed := {int(word) for word in one.out.split() + two.out.split()}):
        for each in (one, two):
            assert each.process.poll() is None, f"a member ended: {each.err}"
        missing = sorted(wanted - printed)
        assert time.monotonic() < deadline, f"the group never printed {len(missing)}, such as {missing[:5]}"
        time.sleep(0.2)
    assert printed == wanted, "the group printed what nobody wrote"
    for each in (one, two):
        code = each.stop()
        assert code == 0, f"exit {code}: {each.err}"
        assert "Traceback" not in each.err, each.err
    return len(one.out.split()) + len(two.out.split()) - len(wanted)


def _create(kafka: Kafka, topic: str) -> None:
    made = kcli("topics", "create", topic, "-p", str(PARTITIONS), "-r", "3", "-b", kafka.bootstrap)
    assert made.code == 0, made.err  # every broker knows it now


def main() -> int:
    """Rounds until the time is over; exit code 1 at the first broken promise, with the seed to try it again."""
    reason = missing()
    if reason is not None:
        print(f"no real Apache Kafka: {reason}", file=sys.stderr)
        return 1
    seconds = float(os.environ.get("CHAOS_SECONDS") or 120)
    seed = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"CHAOS_SEED={seed} CHAOS_SECONDS={seconds:g}", flush=True)
    kafka = Kafka(3)
    kafka.start()
    deadline = time.monotonic() + seconds
    number = 0
    try:
        while number == 0 or time.monotonic() < deadline:
            number += 1
            print(f"round {number}: ", end="", flush=True)
            print(asyncio.run(one_round(kafka, random.Random(f"{seed}/{number}"))), flush=True)
    except BaseException:
        print(f"\nround {number} of CHAOS_SEED={seed} failed; the logs are in {kafka.root}", file=sys.stderr)
        for node in kafka.nodes:
            if node.alive:
                node.resume()
                node.kill()
        raise
    kafka.stop()
    print(f"{number} rounds, every promise kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())

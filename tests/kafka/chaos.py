"""`make chaos`: nodes killed, stopped and restarted at random under load; every promise checked at the end of a round.

    CHAOS_SECONDS=600 CHAOS_SEED=42 python -m tests.kafka.chaos

A round has topics of its own, two producers of single records, one that is patient and one whose delivery timeout is
shorter than an outage may be, a third that floods lines in bulk at full speed, a process that writes transactions and
is killed itself now and then, as is a copy of the first topic with exactly-once, and a group of two kcli processes that
must print every acknowledged record at least once. Of the transactions kcli, kcat and Java's console consumer must see
what was committed, whole, and nothing that was aborted. One node is away at a time, and now and then two or all. The
seed decides who and when; what the machine does in between is its own: a seed repeats a plan, not a run.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
import uuid
from collections import Counter

from kcli.settings import ProducerSettings
from tests.kafka.artifacts import missing
from tests.kafka.bulk import Flood
from tests.kafka.cluster import Kafka
from tests.kafka.copying import Copying
from tests.kafka.load import Load
from tests.kafka.transactions import Transactor, verify
from tests.kafka.troubles import Chaos
from tests.programs import KCLI, Background, kcli

PARTITIONS = 6
STEPS = 3  # troubles in a round
PATIENT = ProducerSettings(batch_size=16_384, linger=0.01)
HASTY = ProducerSettings(batch_size=4_096, linger=0.005, delivery_timeout=3.0, request_timeout=1.5)
MODES = ("sticky", "keyed", "placed")
RATE = int(os.environ.get("CHAOS_RATE") or 0)  # of the flood, records a second at most; 0 is full speed
CODECS = ("none", "lz4", "zstd", "snappy", "gzip")


async def one_round(kafka: Kafka, die: random.Random, totals: Counter[str]) -> str:
    """Topics, their load, some troubles. Raises AssertionError naming the broken promises; returns what happened."""
    topic = f"chaos-{uuid.uuid4().hex[:8]}"
    await asyncio.to_thread(_create, kafka, topic)
    chaos = Chaos(kafka, die, f"g-{topic}", f"id-{topic}-transactions")
    codec = die.choice(CODECS)
    said: list[str] = [f"{topic} {codec}"]
    patient = Load(kafka.bootstrap, topic, PARTITIONS, rate=1500, settings=PATIENT.replace(compression=codec))
    other = f"{topic}-hasty"
    await asyncio.to_thread(_create, kafka, other)
    hasty = Load(kafka.bootstrap, other, PARTITIONS, rate=300, settings=HASTY.replace(compression=codec))
    transacted = f"{topic}-transactions"
    await asyncio.to_thread(_create, kafka, transacted)
    writing = Transactor(kafka, transacted, PARTITIONS, f"{topic}/{die.random()}")
    flooded = f"{topic}-flood"
    await asyncio.to_thread(_create, kafka, flooded)
    flood = Flood(
        kafka, flooded, PARTITIONS, die.choice(MODES), rate=RATE, compression=codec,
        batch_size=die.choice([16_384, 1_000_000]), request_timeout=5.0, max_block=120.0,
    )  # fmt: skip
    copied = f"{topic}-copy"
    await asyncio.to_thread(_create, kafka, copied)
    copying = Copying(kafka, topic, copied)
    with member(kafka, topic, "one") as one, member(kafka, topic, "two") as two, writing, flood, copying:
        async with patient, hasty:
            await patient.progress()
            for _ in range(STEPS):
                said.append(await die.choice(chaos.troubles)())
                if die.random() < 0.5:
                    await asyncio.to_thread(writing.kill)
                    said.append("transactor killed")
                if die.random() < 0.5:
                    await asyncio.to_thread(copying.kill)
                    said.append("copy killed")
                await asyncio.to_thread(kafka.heal)
                await patient.progress(within=60)
                await asyncio.to_thread(writing.progress, within=90)
                await asyncio.to_thread(flood.progress)
                copying.tend()
            await asyncio.to_thread(flood.stop)
        counts, hastily = await patient.verify(), await hasty.verify()
        assert counts["failed"] == counts["unknown"] == 0, f"nothing had to be given up in two minutes: {counts}"
        again = await asyncio.to_thread(grouped, one, two, {sent.number for sent in patient.sent})
    copies = await asyncio.to_thread(copying.verify, PARTITIONS)
    told = writing.told()
    decided = await asyncio.to_thread(verify, kafka, transacted, told)
    flooding = await asyncio.to_thread(flood.verify, die.choice(["kcli", "kcat"]))
    assert flooding["failed"] == flooding["unknown"] == 0, f"nothing had to be given up in two minutes: {flooding}"
    for some in (counts, hastily, flooding):
        totals.update(some)
    totals.update({f"transactions {how}": len(told[how]) for how in ("committed", "aborted", "unknown", "open")})
    await asyncio.to_thread(kcli, "topics", "delete", flooded, "--execute", "-b", kafka.bootstrap)
    speed = f"{flood.mode} flood: {flooding['acked']:,} records, {flooding['acked'] / flood.seconds:,.0f} a second"
    return (
        f"{', '.join(said)}: {counts}; hasty: {hastily}; {speed}; the group read {again} again; {decided}; "
        f"{copies} copied exactly once in {copying.lives} lives; 0 lost, 0 twice, 0 out of order"
    )


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
    totals: Counter[str] = Counter()
    try:
        while number == 0 or time.monotonic() < deadline:
            number += 1
            print(f"round {number}: ", end="", flush=True)
            print(asyncio.run(one_round(kafka, random.Random(f"{seed}/{number}"), totals)), flush=True)
    except BaseException:
        print(f"\nround {number} of CHAOS_SEED={seed} failed; the logs are in {kafka.root}", file=sys.stderr)
        for node in kafka.nodes:
            if node.alive:
                node.resume()
                node.kill()
        raise
    kafka.stop()
    print(f"{number} rounds, every promise kept: {dict(totals)}; 0 lost, 0 twice, 0 out of order")
    return 0


if __name__ == "__main__":
    sys.exit(main())

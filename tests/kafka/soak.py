"""`make soak`: outages of a real Kafka at full input speed, and what `kcli produce` holds in memory over time.

    SOAK_SECONDS=600 SOAK_OUTAGE=60 python -m tests.kafka.soak

As many outages of SOAK_OUTAGE seconds (60) as begin within SOAK_SECONDS (60): all three nodes are frozen while the
input goes on at full speed, then thawed. Everything fed must be delivered at the end, memory must stay under three
times the buffer, and it may not creep from one outage to the next.
"""

from __future__ import annotations

import os
import sys
import time
import uuid

from kcli.settings import ProducerSettings
from tests.kafka.artifacts import missing
from tests.kafka.cluster import Kafka
from tests.kafka.outage import MIB, Fed
from tests.programs import kcli

PARTITIONS = 6
LIMIT = 3 * ProducerSettings().buffer_memory
FLOW = 2.0  # seconds at full speed before an outage and after it


def outage(kafka: Kafka, fed: Fed, seconds: float) -> int:
    """One outage; the most that was resident during it, in bytes. Raises AssertionError."""
    since = len(fed.samples)
    fed.resume()
    time.sleep(FLOW)
    for node in kafka.nodes:
        node.pause()
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(min(left, 5.0))
        said(fed, "frozen")
    for node in kafka.nodes:
        node.resume()
    time.sleep(FLOW)
    fed.pause()
    kafka.heal()
    said(fed, "healed")
    return max(resident for _, resident in fed.samples[since:])


def said(fed: Fed, what: str) -> None:
    assert fed.alive, f"kcli produce ended: {fed.err}"
    at, resident = fed.samples[-1]
    print(f"{at:7.1f} s  {what:7}  {resident / MIB:6.1f} MiB resident  {fed.sent:>11,} lines fed", flush=True)


def main() -> int:
    """Exit code 1 at the first broken promise."""
    reason = missing()
    if reason is not None:
        print(f"no real Apache Kafka: {reason}", file=sys.stderr)
        return 1
    seconds = float(os.environ.get("SOAK_SECONDS") or 60)
    length = float(os.environ.get("SOAK_OUTAGE") or 60)
    kafka = Kafka(3)
    kafka.start()
    try:
        topic = f"soak-{uuid.uuid4().hex[:8]}"
        made = kcli("topics", "create", topic, "-p", str(PARTITIONS), "-r", "3", "-b", kafka.bootstrap)
        assert made.code == 0, made.err
        deadline = time.monotonic() + seconds
        peaks: list[int] = []
        with Fed(kafka, topic) as fed:
            while not peaks or time.monotonic() < deadline:
                peaks.append(outage(kafka, fed, length))
            fed.finish()
            fed.verify(PARTITIONS, "kcat")
    finally:
        kafka.stop()
    print(f"{len(peaks)} outages of {length:g} s, {fed.sent:,} records, every one there once and in order")
    print(f"{fed.peak / MIB:.0f} MiB at most, the limit is {LIMIT / MIB:.0f} MiB")
    assert fed.peak < LIMIT, "it held more than three times its buffer"
    assert peaks[-1] < 1.2 * peaks[0], f"memory creeps: {[peak // MIB for peak in peaks]} MiB"
    return 0


if __name__ == "__main__":
    sys.exit(main())

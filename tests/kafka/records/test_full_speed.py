"""Lines in bulk at full speed while nodes are killed, frozen and restarted: nothing lost, twice or out of order."""

from __future__ import annotations

import signal
import time
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from tests.kafka.bulk import Flood, Told, problems
from tests.kafka.cluster import Kafka
from tests.programs import kcli

PARTITIONS = 4
RATE = 30_000  # records a second at most, to be read back soon; `make chaos` has no such bound


def create(kafka: Kafka, name: str) -> str:
    made = kcli("topics", "create", name, "-p", str(PARTITIONS), "-r", "3", "-b", kafka.bootstrap)
    assert made.code == 0, made.err
    return name


def progress(*floods: Flood) -> None:
    for flood in floods:
        flood.progress()


@pytest.mark.needs("kcat")
@pytest.mark.long
def test_R5_two_floods_survive_kill_freeze_restart_and_outage(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topics = create(kafka3, topic_name()), create(kafka3, topic_name())
    with (
        Flood(kafka3, topics[0], PARTITIONS, "sticky", rate=RATE, request_timeout=2.0, compression="lz4") as sticky,
        Flood(kafka3, topics[1], PARTITIONS, "keyed", rate=RATE, request_timeout=2.0, batch_size=16_384) as keyed,
    ):
        floods = sticky, keyed
        progress(*floods)
        kafka3.leader(topics[0]).kill()
        progress(*floods)
        kafka3.heal()
        frozen = kafka3.leader(topics[1], 1)
        frozen.pause()
        time.sleep(4.0)  # longer than its session and the request timeout: what it still holds is sent again elsewhere
        frozen.resume()
        progress(*floods)
        kafka3.heal()
        first, second, _ = kafka3.nodes
        first.kill()
        second.kill(signal.SIGTERM)  # one of three cannot acknowledge: everything waits
        time.sleep(1.0)
        kafka3.heal()
        progress(*floods)
        for flood in floods:
            flood.stop()
    for flood, reader in ((sticky, "kcat"), (keyed, "kcli")):
        counts = flood.verify(reader)
        print(f"{flood.mode}: {counts['acked'] / flood.seconds:,.0f} records/s through it all, {counts}")
        assert counts["failed"] == counts["unknown"] == 0
        assert counts["acked"] > 10_000


@pytest.mark.long
def test_R1_D29_what_a_hasty_flood_gives_up_is_counted_and_what_it_does_not_is_there(
    kafka3: Kafka, topic_name: Callable[[], str]
) -> None:
    topic = create(kafka3, topic_name())
    hasty: dict[str, Any] = {"delivery_timeout": 2.0, "request_timeout": 1.0, "batch_size": 8_192}
    with Flood(kafka3, topic, PARTITIONS, "placed", rate=RATE, **hasty) as flood:
        flood.progress()
        for node in kafka3.nodes:
            node.pause()
        time.sleep(3.5)
        kafka3.heal()
        flood.progress()
        flood.stop()
    counts = flood.verify()
    assert counts["failed"] + counts["unknown"] > 0, counts
    assert counts["acked"] > 0


LOGS = {0: [0, 2, 3], 1: [1, 5]}
TOLD: Told = [(0, 2, 0, "acked"), (1, 1, 0, "acked"), (0, 1, -1, "acked"), (0, 1, -1, "failed"), (1, 1, -1, "unknown")]


@pytest.mark.parametrize(
    ("sent", "told", "logs", "said"),
    [
        (6, TOLD, LOGS, None),
        (6, TOLD, {**LOGS, 1: [1]}, None),
        (6, TOLD, {0: [0, 2, 3], 1: []}, "partition 1: 1 acknowledged records past its end"),
        (6, TOLD, {0: [0, 2], 1: [1]}, "1 acknowledged records are lost"),
        (6, TOLD, {0: [0, 2, 3], 1: [1, 4, 5]}, "1 failed records are in the log"),
        (6, TOLD, {0: [0, 3, 2], 1: [1]}, "partition 0: 2 after 3, out of order or twice"),
        (6, TOLD, {0: [0, 2, 3], 1: [1, 3]}, "1 records are in the log twice"),
        (6, TOLD, {**LOGS, 1: [1, 6]}, "a record was read and never sent"),
        (7, TOLD, LOGS, "7 records sent, 6 settled"),
        (
            7,
            [*TOLD, (0, 1, 1, "acked")],
            {**LOGS, 0: [0, 2, 3, 4]},
            "partition 0: 1 records acknowledged at 1, and others there too",
        ),
    ],
)
def test_the_flood_checker_finds_each_broken_promise(
    sent: int, told: Told, logs: dict[int, list[int]], said: str | None
) -> None:
    found = problems(sent, told, {partition: array("q", log) for partition, log in logs.items()})
    assert not found if said is None else said in found

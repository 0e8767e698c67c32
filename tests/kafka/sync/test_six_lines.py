"""Everyday programs of kcli beside the same of confluent-kafka, kafka-python and aiokafka, on a real Apache Kafka."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

import pytest

import kcli
from kcli.model import TopicPartition
from tests.kafka.cluster import Kafka
from tests.kafka.sync.six_lines import CLIENTS, PROGRAMS

TOPIC = "six-lines"


class Result(NamedTuple):
    """The offsets that a program took, and what its group has committed."""

    took: list[int]
    committed: int


@pytest.fixture(scope="module")
def results(kafka: Kafka) -> dict[str, dict[str, Result]]:
    """Of each client and program; the clients run at the same time."""
    with kcli.SyncClient(kafka.bootstrap) as client:
        client.admin.create_topics([kcli.NewTopic(topic=TOPIC, partitions=1)])
        with client.producer() as producer:
            producer.send_records(TOPIC, [(0, None, None, b"%d" % number, ()) for number in range(60)])
        line = [sys.executable, "-m", "tests.kafka.sync.six_lines"]
        running = {
            name: subprocess.Popen([*line, name, kafka.bootstrap, TOPIC], stdout=subprocess.PIPE, text=True)
            for name in CLIENTS
        }
        try:
            took = {name: json.loads(process.communicate(timeout=60)[0]) for name, process in running.items()}
        finally:
            for process in running.values():
                process.kill()
                process.wait(10)
        found: dict[str, dict[str, Result]] = {}
        for name in CLIENTS:
            groups = client.admin.committed([f"{name} {program}" for program in PROGRAMS])
            found[name] = {
                program: Result(took[name][program], _place(groups[f"{name} {program}"])) for program in PROGRAMS
            }
        return found


def _place(offsets: object) -> int:
    assert isinstance(offsets, dict)
    place = offsets.get(TopicPartition(TOPIC, 0))
    return 0 if place is None else place.offset


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_six_lines_does_at_least_as_well_as_with_other_clients(
    program: str, results: dict[str, dict[str, Result]]
) -> None:
    due = PROGRAMS[program]
    mine = results["kcli"][program]
    assert mine.took == list(range(len(mine.took))), "each record once, in order"
    assert mine.committed == due
    for name in CLIENTS:
        assert len(set(mine.took)) >= len(set(results[name][program].took)), name

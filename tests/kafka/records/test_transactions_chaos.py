"""Transactions while the cluster and the producing process are hurt: whole or not at all, for every reader."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable

import pytest

from kcli.model import Transaction
from tests.kafka.cluster import Kafka
from tests.kafka.transactions import Transactor, problems, verify
from tests.kafka.troubles import coordinator
from tests.programs import kcli

PARTITIONS = 4


@pytest.fixture
def topic(kafka3: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    made = kcli("topics", "create", name, "-p", str(PARTITIONS), "-r", "3", "-b", kafka3.bootstrap)
    assert made.code == 0, made.err
    return name


@pytest.mark.long
@pytest.mark.needs("kcat")
def test_D38_transactions_are_whole_or_absent_through_kills_of_leader_coordinator_and_producer(
    kafka3: Kafka, topic: str
) -> None:
    with Transactor(kafka3, topic, PARTITIONS, "seed 1") as writing:
        writing.progress()
        kafka3.leader(topic).kill()
        writing.progress(within=90)
        kafka3.heal()
        writing.kill()
        writing.progress()
        asyncio.run(coordinator(kafka3, Transaction(f"id-{topic}"))).kill()
        writing.progress(within=90)
        kafka3.heal()
        for _ in range(3):
            writing.kill()
            writing.progress(2)
        node = kafka3.leader(topic, 1)
        node.pause()
        time.sleep(4.0)
        node.resume()
        writing.progress()
        node.kill(signal.SIGTERM)
        writing.progress(within=90)
        kafka3.heal()
    told = writing.told()
    assert len(told["committed"]) > 25
    assert told["aborted"]
    verify(kafka3, topic, told)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([b"1.0 of 2", b"1.1 of 2"], None),
        ([b"1.0 of 2"], "transaction 1 is there in part: 1 of 2 records"),
        ([b"1.0 of 2", b"1.1 of 2", b"1.1 of 2"], "transaction 1 has records twice"),
        ([], "transaction 1 was committed, and is lost"),
        ([b"1.0 of 2", b"1.1 of 2", b"2.0 of 1"], "transaction 2 was aborted, and is seen"),
        ([b"1.0 of 2", b"1.1 of 2", b"3.0 of 1"], None),
        ([b"1.0 of 2", b"1.1 of 2", b"9.0 of 1"], "transaction 9 was never begun"),
        ([b"1.0 of 2", b"1.1 of 2", b"nonsense"], "b'nonsense' was never sent"),
    ],
)
def test_the_checker_finds_each_broken_promise(values: list[bytes], sentence: str | None) -> None:
    told = {"begin": {1, 2, 3}, "committed": {1}, "aborted": {2}, "unknown": {3}, "open": set()}
    assert problems(told, values) == ([] if sentence is None else [sentence])

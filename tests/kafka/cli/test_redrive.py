"""`kcli redrive` on a real Apache Kafka: headers as Connect and Spring write them, a broker's refusal, exactly once."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.transactions import decided
from tests.programs import kcat, kcli

PER_FAMILY = 500


def letter(n: int, topic: str, spring: bool) -> str:
    """A dead letter, its headers byte for byte as DeadLetterQueueReporter or DeadLetterPublishingRecoverer has them."""
    headers: list[list[object]] = [["own", str(n)]]
    if spring:
        partition = b64encode((n % 3).to_bytes(4, "big")).decode()
        headers += [["kafka_dlt-original-topic", topic], ["kafka_dlt-original-partition", {"base64": partition}]]
        headers += [["kafka_dlt-exception-message", "no"]]
    else:
        headers += [["__connect.errors.topic", topic], ["__connect.errors.partition", str(n % 3)]]
        headers += [["__connect.errors.exception.message", "no"]]
    return json.dumps({"key": f"k{n}", "value": str(n), "timestamp": 1_700_000_000_000 + n, "headers": headers})


@pytest.mark.needs("kcat")
@pytest.mark.parametrize("words", [[], ["--exactly-once"]], ids=["at least once", "exactly once"])
def test_dead_letters_go_back_to_partition_time_and_headers(
    kafka: Kafka, topic_name: Callable[[], str], words: list[str]
) -> None:
    dlq, orders, payments = topic_name(), topic_name(), topic_name()
    for name in (dlq, orders, payments):
        made = kcli("topics", "create", name, "-p", "3", "--config", "retention.ms=-1", "-b", kafka.bootstrap)
        assert made.code == 0  # the times of the letters are years ago, and Kafka would delete them at its next look
    lines = [letter(n, payments if n % 2 else orders, spring=bool(n % 2)) for n in range(2 * PER_FAMILY)]
    sent = kcli("produce", dlq, "--input", "json", "-b", kafka.bootstrap, stdin="\n".join(lines).encode())
    assert sent.code == 0, sent.err
    plan = json.loads(kcli("redrive", dlq, "-J", "-b", kafka.bootstrap).out)
    assert {row["topic"]: row["records"] for row in plan["targets"]} == {orders: PER_FAMILY, payments: PER_FAMILY}
    some = ("--where", "matches(key, '7$')")
    for expected, filters in ((PER_FAMILY // 5, some), (2 * PER_FAMILY - PER_FAMILY // 5, ()), (0, ()), (0, some)):
        done = kcli("redrive", dlq, "--execute", "-J", *filters, *words, "-b", kafka.bootstrap, timeout=60)
        assert done.code == 0, done.err
        assert sum(row["redriven"] for row in json.loads(done.out)["targets"]) == expected
    for topic, odd in ((orders, 0), (payments, 1)):
        decided(kafka, topic)  # a commit is decided before its markers are written everywhere
        seen = kcat("-b", kafka.bootstrap, "-C", "-t", topic, "-e", "-q", "-f", "%p %T %k %s %h\\n").out.decode()
        assert sorted(seen.splitlines()) == sorted(
            f"{n % 3} {1_700_000_000_000 + n} k{n} {n} own={n},kcli-redrive-attempts=1"
            for n in range(2 * PER_FAMILY)
            if n % 2 == odd
        )

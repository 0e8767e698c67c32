"""Topics by pattern and `--order` on a real Apache Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import kcli

T0 = int(time.time() - 3600) * 1000


@pytest.fixture
def prefix(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    """Two topics of two partitions with 40 records, a second apart over all four."""
    name = topic_name()
    for number in range(2):
        assert kcli("topics", "create", f"{name}-{number}", "-p", "2", "-b", kafka.bootstrap).code == 0
        lines = [{"partition": n // 2 % 2, "value": f"{n}", "timestamp": T0 + n * 1000} for n in range(number, 40, 2)]
        given = "".join(json.dumps(line) + "\n" for line in lines).encode()
        assert kcli("produce", f"{name}-{number}", "--input", "json", "-b", kafka.bootstrap, stdin=given).code == 0
    return name


def test_the_topics_of_a_pattern_are_merged_by_time(kafka: Kafka, prefix: str) -> None:
    done = kcli("consume", f"^{prefix}", "-e", "--order", "time", "-b", kafka.bootstrap)
    assert (done.code, done.out.split()) == (0, [b"%d" % n for n in range(40)])
    done = kcli("consume", f"^{prefix}", "-e", "--order", "offset", "-f", "%t %p %o\\n", "-b", kafka.bootstrap)
    places = [line.split() for line in done.out.splitlines()]
    assert places == sorted(places, key=lambda place: (place[0], place[1], int(place[2])))
    assert len(places) == 40
    assert kcli("count", f"^{prefix}-1$", "-b", kafka.bootstrap).out == f"{prefix}-1\t20\n".encode()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_E54_E62_a_member_reads_the_topics_of_a_pattern_and_is_told_what_is_none(
    kafka: Kafka, prefix: str, protocol: str
) -> None:
    words = ["-g", f"g-{prefix}-{protocol}", "-X", f"group.protocol={protocol}", "-b", kafka.bootstrap]
    done = kcli("consume", f"^{prefix}-[01]", "-e", "--from-beginning", *words)
    assert (done.code, sorted(map(int, done.out.split()))) == (0, list(range(40))), done.err
    done = kcli("consume", "^bad(", "-e", *words)
    if protocol == "classic":
        assert (done.code, "missing )" in done.err) == (2, True)
    else:
        assert (done.code, "INVALID_REGULAR_EXPRESSION" in done.err) == (1, True), done.err

"""kcli members beside confluent-kafka's and kafka-python's in one group: whoever leads, everybody understands (E50)."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.strangers import Confluent, KafkaPython, Stranger, until
from tests.programs import KCLI, Background, kcli

# kafka-python leaves its wake-up sockets to the garbage collector: a stranger's leak, not ours to fix
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "6", "-b", kafka.bootstrap).code == 0
    return name


def member(kafka: Kafka, topic: str, path: Path, strategy: str = "range") -> Background:
    """A kcli that prints partition and value."""
    words = [
        *KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", f"g-{topic}", "--from-beginning", "-f", "%p %s\\n",
        "-X", "heartbeat.interval.ms=200", "-X", "session.timeout.ms=10000",
        "-X", f"partition.assignment.strategy={strategy}",
    ]  # fmt: skip
    return Background(words, stdout=path)


def commit_zeros(kafka: Kafka, topic: str) -> None:
    """The group gets a commit for every partition of the empty topic. Without one librdkafka asks for the beginning
    and may still do so after the partition has gone to another member and come back with a commit: the timer of the
    first assignment survives it, and what the other has read and committed is read again."""
    ended = kcli("consume", topic, "-b", kafka.bootstrap, "-g", f"g-{topic}", "--from-beginning", "-e")
    assert ended.code == 0, ended.err


def produce(kafka: Kafka, topic: str, first: int, count: int) -> None:
    lines = b"".join(b"k%d\t%d\n" % (n, n) for n in range(first, first + count))
    sent = kcli("produce", topic, "-b", kafka.bootstrap, "-K", "\t", stdin=lines)
    assert sent.code == 0, sent.err


def owned(kafka: Kafka, topic: str) -> list[int]:
    """How many partitions each member owns, as the coordinator says."""
    shown = kcli("groups", "members", f"g-{topic}", "-b", kafka.bootstrap, "--format", "ndjson")
    rows = map(json.loads, shown.out.splitlines() if shown.code == 0 else [])
    return sorted(row["partitions"] for row in rows if "member_id" in row)


def printed(one: Background) -> list[tuple[int, bytes]]:
    rows = [row.split() for row in one.out.splitlines()]
    return [(int(partition), value) for partition, value in rows]


@pytest.mark.parametrize("first", ["kcli", "confluent", "kafka-python"])
def test_E50_range_with_strangers_whoever_leads(kafka: Kafka, topic: str, tmp_path: Path, first: str) -> None:
    group = f"g-{topic}"
    strangers: dict[str, Stranger] = {
        "confluent": Confluent(kafka.bootstrap, group, topic),
        "kafka-python": KafkaPython(kafka.bootstrap, group, topic),
    }
    commit_zeros(kafka, topic)
    with ExitStack() as running:
        ours: Background | None = None
        # the first to join leads, and leads on as the others come
        for count, name in enumerate([first, *sorted({"kcli", *strangers} - {first})], 1):
            if name == "kcli":
                ours = running.enter_context(member(kafka, topic, tmp_path / "kcli"))
            else:
                running.enter_context(strangers[name])
            until(lambda count=count: owned(kafka, topic) == [6 // count] * count)
        assert ours is not None
        everybody = [ours, *strangers.values()]
        produce(kafka, topic, 0, 3000)

        def seen() -> list[bytes]:
            return [v for _, v in printed(ours)] + [v for one in strangers.values() for v in one.values]

        until(lambda: len(seen()) >= 3000)
        assert sorted(map(int, seen())) == list(range(3000))
        reads = [{p for p, _ in printed(ours)}, *(one.partitions for one in strangers.values())]
        assert sum(map(len, reads)) == 6, (reads, everybody)
        # one goes, and the others take its partitions
        assert ours.stop() == 0, ours.err
        until(lambda: owned(kafka, topic) == [3, 3], within=90)  # a stranger that lost its membership joins anew
        produce(kafka, topic, 3000, 3000)
        until(lambda: len(seen()) >= 6000)
        assert sorted(map(int, seen())) == list(range(6000))


@pytest.mark.parametrize("first", ["kcli", "confluent"])
def test_E52_cooperative_sticky_with_confluent(kafka: Kafka, topic: str, tmp_path: Path, first: str) -> None:
    strategy = "cooperative-sticky"
    stranger = Confluent(kafka.bootstrap, f"g-{topic}", topic, strategy)
    commit_zeros(kafka, topic)
    with ExitStack() as running:
        ours: Background | None = None
        for count, name in enumerate([first, *sorted({"kcli", "confluent"} - {first})], 1):
            if name == "kcli":
                ours = running.enter_context(member(kafka, topic, tmp_path / "kcli", strategy))
            else:
                running.enter_context(stranger)
            until(lambda count=count: owned(kafka, topic) == [6 // count] * count)
            if count == 1:
                produce(kafka, topic, 0, 1000)
        assert ours is not None
        produce(kafka, topic, 1000, 2000)

        def seen() -> list[bytes]:
            return [v for _, v in printed(ours)] + stranger.values

        until(lambda: len(seen()) >= 3000)
        with member(kafka, topic, tmp_path / "second", strategy) as second:
            until(lambda: owned(kafka, topic) == [2, 2, 2])
            produce(kafka, topic, 3000, 2000)
            until(lambda: len(seen()) + len(printed(second)) >= 5000)
            everything = seen() + [v for _, v in printed(second)]
            assert sorted(map(int, everything)) == list(range(5000))
            assert second.stop() == 0, second.err
        until(lambda: owned(kafka, topic) == [3, 3])
        assert ours.stop() == 0, ours.err

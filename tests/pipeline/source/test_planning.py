"""Planning of many partitions: linear in their number, with a sample of bounded size; tasks that are asked for."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from pyspark.sql.types import BinaryType, StructField, StructType

from kcli.model import TopicPartition
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.log import Log, exactly
from kcli.pipeline.options import ReadOptions, read_options
from kcli.pipeline.source import limits
from kcli.pipeline.source.limits import by_bytes, sizes_of
from kcli.pipeline.source.ranges import ranges_of
from kcli.pipeline.source.read import BatchReader
from kcli.pipeline.source.stream import FRESH, StreamReader
from kcli.pipeline.source.task_sizes import LARGE, SMALL, parts_by_bytes, shares, too_small
from kcli.sandbox.thread import SandboxThread
from tests.fakes.compared import Compared
from tests.pipeline.topics import Topics

MANY = 400
VALUE = StructType([StructField("value", BinaryType())])
A, B = TopicPartition("a", 0), TopicPartition("b", 0)


@pytest.fixture
def topics(sandbox: SandboxThread) -> Topics:
    return Topics(sandbox.bootstrap, "planning")


@pytest.fixture
def log(topics: Topics) -> Any:
    with Log(sealed_of({"kafka.bootstrap.servers": topics.bootstrap})) as log:
        yield log


def places(topic: str, count: int = MANY) -> list[TopicPartition]:
    return [TopicPartition(topic, Compared(number)) for number in range(count)]


def test_offsets_as_json_are_held_against_the_partitions_in_time_that_is_linear_in_their_number() -> None:
    given, Compared.times = {TopicPartition("t", number): 0 for number in range(MANY)}, 0
    exactly(given, places("t"), "startingOffsets")
    assert Compared.times <= 4 * MANY


def test_assigned_partitions_are_looked_up_in_time_that_is_linear_in_their_number(topics: Topics, log: Log) -> None:
    topic = topics.make(MANY)
    assigned, Compared.times = tuple((topic, Compared(number)) for number in range(MANY)), 0
    assert log.partitions(ReadOptions(kind="assign", assigned=assigned)) == places(topic)
    assert Compared.times <= 40 * MANY  # they are sorted too


@pytest.mark.parametrize("what", ["subscribe", "subscribePattern", "assign"])
def test_a_micro_batch_asks_for_metadata_once_and_for_the_ends_once(
    topics: Topics, sandbox: SandboxThread, what: str
) -> None:
    """Whatever the number of partitions; the progress asks nothing again."""
    topic = topics.make(20)
    topics.values(topic, 5)
    meant = json.dumps({topic: list(range(20))}) if what == "assign" else topic
    options = read_options({what: meant, "startingOffsets": "earliest"}, streaming=True)
    reader = StreamReader(options, sealed_of({"kafka.bootstrap.servers": topics.bootstrap}), VALUE)
    start = reader.initialOffset()
    before = sandbox.call(lambda kafka: dict(kafka.seen))
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    time.sleep(2 * FRESH)
    assert reader.reportLatestOffset()[topic] == end[topic]
    assert len(reader.partitions(start, end)) == 1
    asked = sandbox.call(lambda kafka: {api: count - before.get(api, 0) for api, count in kafka.seen.items()})
    assert {api: count for api, count in asked.items() if count} == {2: 1, 3: 2}  # one of them is for the cluster's id
    reader.log.close()


def test_a_bounded_number_of_partitions_says_how_large_the_records_of_all_are(
    topics: Topics, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest ranges are fetched; the others count as the mean of their topic."""
    monkeypatch.setattr(limits, "SAMPLED", 3)
    small, large = topics.make(4), topics.make(2)
    topics.fill(small, [(one, None, None, b"v" * 100, ()) for one in (0, 1, 1, 1, 1, 2, 3) for _ in range(50)])
    topics.fill(large, [(one, None, None, b"v" * 5000, ()) for one in (0, 0, 0, 1) for _ in range(50)])
    starts = {TopicPartition(name, one): 0 for name, count in ((small, 4), (large, 2)) for one in range(count)}
    ends = log.latest(starts)
    found = sizes_of(log, starts, ends)
    assert set(found) == set(starts)
    assert 100 < found[TopicPartition(small, 3)] < 200
    assert found[TopicPartition(large, 1)] == found[TopicPartition(large, 0)] > 5000
    limited = by_bytes(log, starts, ends, 200_000)
    about = sum((limited[at] - starts[at]) * found[at] for at in starts)
    assert 150_000 < about <= 200_000


@pytest.mark.parametrize("least", [1, 2, 3, 7, 20, 49, 50])
def test_min_partitions_is_as_many_tasks_where_there_are_as_many_offsets(least: int) -> None:
    made = ranges_of({A: 0, B: 10}, {A: 45, B: 15}, least=least)
    assert len(made) == max(least, 2)
    lengths = [len(one) for one in made]
    assert sum(lengths) == 50
    assert min(lengths) > 0
    if least >= 10:
        assert max(lengths) - min(lengths) <= max(1, 50 // least)


def test_fewer_offsets_than_min_partitions_are_a_task_each() -> None:
    assert [len(one) for one in ranges_of({A: 0, B: 0}, {A: 3, B: 1}, least=20)] == [1, 1, 1, 1]
    assert shares([], 5) == []


def test_a_task_below_32_mib_is_told_and_one_above_is_not() -> None:
    offsets, parts = {A: 1000, B: 1000}, {A: 4, B: 1}
    assert too_small("x", offsets, parts, {A: 4 * SMALL / 1000, B: 1.0}) is None
    sentence = too_small("x", offsets, parts, {A: 3 * SMALL / 1000, B: 1.0})
    assert sentence is not None
    assert sentence.startswith("x makes 4 tasks of less than 32 MiB, those of a[0] about 24 MiB each")


def test_no_task_of_a_thousand_large_partitions_has_more_than_a_gigabyte() -> None:
    ats = [TopicPartition("t", number) for number in range(1000)]
    each = {at: 500.0 + at.partition * 10 for at in ats}
    starts, ends = dict.fromkeys(ats, 7), dict.fromkeys(ats, 1_000_007)
    parts = parts_by_bytes({at: ends[at] - starts[at] for at in ats}, each, LARGE)
    made = ranges_of(starts, ends, parts=parts)
    assert max(len(one) * each[one.at] for one in made) < 1e9
    assert len(made) == sum(-(-1_000_000 * each[at] // LARGE) for at in ats)
    assert sum(len(one) for one in made) == 1000 * 1_000_000
    assert parts_by_bytes({A: 3, B: 5}, {A: 2.0**40}, LARGE) == {A: 3, B: 1}, "a task for each offset at most"
    assert [len(one) for one in ranges_of({A: 0}, {A: 10}, parts={A: 3}, most=2)] == [2] * 5


@pytest.mark.parametrize("streaming", [False, True])
def test_a_reader_cuts_a_partition_into_tasks_by_measured_bytes(topics: Topics, log: Log, streaming: bool) -> None:
    topic = topics.make(2)
    topics.fill(topic, [(0, None, None, b"v" * 5000, ()) for _ in range(60)] + [(1, None, None, b"v", ())])
    given = {"subscribe": topic, "startingOffsets": "earliest", "maxBytesPerPartition": "100k"}
    sealed = sealed_of({"kafka.bootstrap.servers": topics.bootstrap})
    options = read_options(given, streaming=streaming)
    if streaming:
        reader = StreamReader(options, sealed, VALUE)
        start = reader.initialOffset()
        made = reader.partitions(start, reader.latestOffset(start, reader.getDefaultReadLimit()))
        reader.log.close()
    else:
        made = BatchReader(options, sealed, VALUE).partitions()
    assert [(one.partition, len(one)) for one in made] == [(0, 20)] * 3 + [(1, 1)]


def test_the_reader_warns_in_the_log_of_tasks_that_are_small(topics: Topics, capfd: pytest.CaptureFixture[str]) -> None:
    topic = topics.make(1)
    topics.values(topic, 50)
    options = {"subscribe": topic, "minpartitions": "20"}
    sealed = sealed_of({"kafka.bootstrap.servers": topics.bootstrap})
    reader = BatchReader(read_options(options, streaming=False), sealed, VALUE)
    assert len(reader.partitions()) == 20
    assert "kcli: option minPartitions 20 makes 20 tasks of less than 32 MiB" in capfd.readouterr().err

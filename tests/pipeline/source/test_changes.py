"""What happens to topics under a query is told before records are passed over. The reader is asked, without Spark."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import BinaryType, StructField, StructType

from kcli.errors import KcliError
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.identity import NotTheSame
from kcli.pipeline.options import read_options
from kcli.pipeline.source import stream
from kcli.pipeline.source.fetching import DataLoss, LogChanged
from kcli.pipeline.source.ranges import NOTHING
from kcli.pipeline.source.stream import StreamReader
from tests.pipeline.source.test_source import delete_before
from tests.pipeline.source.test_stream import delete
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kcli.client import Client
    from kcli.sandbox.thread import SandboxThread

    Reader = Callable[..., StreamReader]

SCHEMA = StructType([StructField("value", BinaryType())])


@pytest.fixture
def here(sandbox: SandboxThread, request: pytest.FixtureRequest) -> Topics:
    return Topics(sandbox.bootstrap, request.node.name)


@pytest.fixture
def reader(here: Topics, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.setattr(stream, "PATIENCE", 0.3)
    made = []

    def make(**options: str) -> StreamReader:
        given = {"startingoffsets": "earliest", **options}
        connection = {"kafka.bootstrap.servers": here.bootstrap, "kafka.metadata.max.age.ms": "10"}
        made.append(StreamReader(read_options(given, streaming=True), sealed_of(connection), SCHEMA))
        return made[-1]

    yield make
    for one in made:
        one.log.close()


def ahead(reader: StreamReader, start: dict[str, Any]) -> dict[str, Any]:
    reader._looked = -stream.PATIENCE  # what it knows is of before
    return reader.latestOffset(start, ReadAllAvailable())


def test_a_log_that_lost_its_end_is_told_before_what_comes_then_is_passed_over(
    here: Topics, sandbox: SandboxThread, reader: Reader
) -> None:
    topic = here.make(1)
    here.values(topic, 20)
    query = reader(subscribe=topic)
    begun = ahead(query, query.initialOffset())
    assert begun[topic] == {"0": 20}
    sandbox.faults.logs.truncate(topic, 0, 12)
    here.values(topic, 3)
    with pytest.raises(
        LogChanged, match=r"ends at \d+, and this query was at 20: .* reset this one to the end, which continues"
    ):
        ahead(query, begun)
    with pytest.raises(LogChanged):
        ahead(reader(subscribe=topic), begun)  # a later start
    here.values(topic, 20)
    assert ahead(query, begun)[topic]["0"] >= 20, "what nobody can see any more is not said"


def test_who_begins_behind_the_end_is_told_or_waits_there(
    here: Topics, reader: Reader, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = here.make(1)
    here.values(topic, 5)
    given = {"subscribe": topic, "startingoffsets": f'{{"{topic}":{{"0":9}}}}'}
    with pytest.raises(LogChanged, match=r"\[0\] ends at 5, before offset 9; failOnDataLoss=false reads nothing there"):
        reader(**given).initialOffset()
    query = reader(**given, failondataloss="false")
    assert ahead(query, query.initialOffset())[topic] == {"0": 9}


def test_an_end_that_waits_for_a_transaction_is_no_lost_end(here: Topics, reader: Reader) -> None:
    topic = here.make(1)
    here.values(topic, 5)

    async def look(client: Client) -> Any:
        from kcli.settings import ProducerSettings

        async with client.producer(ProducerSettings(transactional_id="t-changes")) as producer:
            await producer.begin()
            await producer.send_records(topic, [(0, None, None, b"open", ())])
            await producer.flush()
            query = reader(subscribe=topic)  # a checkpoint of read_uncommitted, gone on with by read_committed
            query.sealed = query.sealed.replace(consumer=query.sealed.consumer.replace(isolation="read_committed"))
            begun = await asyncio.to_thread(query.initialOffset)
            found = await asyncio.to_thread(ahead, query, {**begun, topic: {"0": 6}})
            await producer.abort()
            return found

    assert here.run(look)[topic] == {"0": 6}


def test_a_topic_that_is_gone_is_told_by_a_run_to_what_is_there_now_too(here: Topics, reader: Reader) -> None:
    kept, lost = here.make(1), here.make(1)
    for topic in (kept, lost):
        here.values(topic, 5)
    pattern = {"subscribepattern": f"{kept}|{lost}"}
    query = reader(**pattern)
    begun = ahead(query, query.initialOffset())
    here.run(lambda client: delete(client, lost))
    later = reader(**pattern)
    later.prepareForTriggerAvailableNow()
    with pytest.raises(KcliError, match="was read by this query and is not there any more"):
        ahead(later, begun)


def test_a_partition_that_came_after_the_target_was_fixed_is_not_gone(here: Topics, reader: Reader) -> None:
    topic = here.make(1)
    query = reader(subscribe=topic)
    query.prepareForTriggerAvailableNow()
    more(here, topic)
    begun = query.initialOffset()
    assert begun[topic] == {"0": 0, "1": 0}
    assert ahead(query, begun)[topic] == {"0": 0, "1": 0}


@pytest.mark.parametrize("lenient", [False, True])
def test_records_that_a_new_partition_lost_before_its_batch_was_done_are_told(
    here: Topics, reader: Reader, capfd: pytest.CaptureFixture[str], lenient: bool
) -> None:
    topic = here.make(1)
    here.values(topic, 5)
    query = reader(subscribe=topic, failondataloss=str(not lenient).lower())
    start = ahead(query, query.initialOffset())
    more(here, topic)
    here.values(topic, 8, partition=1)
    end = ahead(query, start)
    assert end[topic] == {"0": 5, "1": 8}
    delete_before(here, topic, 3, partition=1)
    if lenient:
        assert [(one.partition, one.start, one.end) for one in query.partitions(start, end)] == [(1, 3, 8)]
        assert "starts at 3: records before it are gone" in capfd.readouterr().err
    else:
        with pytest.raises(DataLoss, match="starts at 3: records before it are gone"):
            query.partitions(start, end)


def more(topics: Topics, topic: str) -> None:
    """A second partition."""

    async def add(client: Client) -> None:
        from kcli.proto.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic

        broker = await client.cluster.controller()
        wanted = CreatePartitionsTopic(name=topic, count=2, assignments=None)
        await broker.ask(CreatePartitionsRequest(topics=[wanted], timeout_ms=5000))

    topics.run(add)


def again(here: Topics, topic: str) -> None:
    """Delete a topic and create it with another id."""

    async def make(client: Client) -> None:
        await delete(client, topic)
        from kcli.admin.topics.topics import NewTopic, create_topics

        assert not isinstance((await create_topics(client.cluster, [NewTopic(topic=topic)]))[topic], Exception)

    here.run(make)


@pytest.mark.parametrize("now", [False, True], ids=["stream", "available now"])
@pytest.mark.parametrize("kind", ["subscribepattern", "subscribe"])
def test_a_query_reads_on_without_a_deleted_topic_and_says_so_once(
    here: Topics, reader: Reader, capfd: pytest.CaptureFixture[str], kind: str, now: bool
) -> None:
    kept, lost = here.make(1), here.make(1)
    for topic in (kept, lost):
        here.values(topic, 5)
    what = {kind: f"{kept}|{lost}" if kind == "subscribepattern" else f"{kept},{lost}"}
    strict = reader(**what)
    start = ahead(strict, strict.initialOffset())
    here.run(lambda client: delete(client, lost))
    here.values(kept, 3)
    later = reader(**what, failondataloss="false")
    if now:
        later.prepareForTriggerAvailableNow()
    end = ahead(later, start)
    assert set(end) == {kept, "@kcli"}
    assert end[kept] == {"0": 8}
    assert [(one.topic, one.start, one.end) for one in later.partitions(start, end)] == [(kept, 5, 8)]
    assert ahead(later, end) == end
    said = f"kcli: {lost} is not there any more: it was deleted, and what was not read of it is lost"
    assert capfd.readouterr().err.count(said) == 1
    # a batch that was begun before, and is done again: its records of the topic are lost
    begun = {**start, kept: {"0": 0}, lost: {"0": 0}}
    assert [(one.topic, one.start, one.end) for one in later.partitions(begun, start)] == [(kept, 0, 5)]
    with pytest.raises(KcliError, match="does not exist|UNKNOWN_TOPIC" if kind == "subscribe" else "reads on without"):
        ahead(reader(**what), start)


def test_a_topic_that_was_created_again_is_read_from_its_beginning_where_lost_data_is_allowed(
    here: Topics, reader: Reader, capfd: pytest.CaptureFixture[str]
) -> None:
    kept, topic = here.make(1), here.make(1)
    here.values(kept, 5)
    here.values(topic, 5)
    pattern = {"subscribepattern": f"{kept}|{topic}"}
    strict = reader(**pattern)
    start = ahead(strict, strict.initialOffset())
    again(here, topic)
    here.values(topic, 2)
    with pytest.raises(NotTheSame, match="read it from its beginning with failOnDataLoss=false"):
        ahead(reader(**pattern), start)
    query = reader(**pattern, failondataloss="false")
    end = ahead(query, start)
    assert (end[kept], end[topic]) == ({"0": 5}, {"0": 2})
    assert [(one.topic, one.start, one.end) for one in query.partitions(start, end)] == [(topic, 0, 2)]
    assert f"{topic} was deleted and created again: it is read from its beginning" in capfd.readouterr().err
    assert [*query.partitions(end, end)] == [NOTHING]
    # a batch of the old topic that was begun and is done again: nothing of it is there
    begun = {**start, kept: {"0": 3}, topic: {"0": 1}}
    assert [(one.topic, one.start, one.end) for one in query.partitions(begun, start)] == [(kept, 3, 5)]

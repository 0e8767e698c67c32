"""Keys and values as objects: what confluent-kafka's serializers wrote is read, what kcli writes they read, and what
cannot be read says why and loses nothing."""

from __future__ import annotations

import asyncio
import io
import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from json import dumps, loads
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

import kcli
from kcli.formats import Undecoded, avro, json, json_schema, protobuf, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.sandbox.thread import SandboxThread

pytestmark = pytest.mark.kcli_sandbox(registry=True)
ORDER = {
    "type": "record", "name": "Order", "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "raw", "type": "bytes"},
        {"name": "mark", "type": {"type": "fixed", "name": "Mark", "size": 3}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "micros", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "hour", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "which", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "rate", "type": "double"},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "BLUE"]}},
        {"name": "parts", "type": {"type": "map", "values": "bytes"}},
        {"name": "next", "type": ["null", "Order"]},
    ],
}  # fmt: skip
CHOICE = {
    "type": "record", "name": "Choice",
    "fields": [
        {"name": "one", "type": ["null", "string", "bytes", "long", {"type": "array", "items": "bytes"}]},
        {"name": "two", "type": [{"type": "int", "logicalType": "date"}, "string"]},
    ],
}  # fmt: skip


def order(chance: random.Random, deep: int = 2) -> dict[str, Any]:
    moment = datetime(2020, 1, 1, 12, 30, 15, chance.randrange(1000) * 1000, tzinfo=UTC)
    return {
        "id": chance.randrange(-(2**40), 2**40), "raw": chance.randbytes(chance.randrange(5)),
        "mark": chance.randbytes(3),
        "total": Decimal(chance.randrange(-10**6, 10**6)).scaleb(-2), "at": chance.choice([None, moment]),
        "micros": moment.replace(microsecond=chance.randrange(10**6)), "day": date(1960 + chance.randrange(90), 3, 4),
        "hour": time(chance.randrange(24), 5, 6, chance.randrange(1000) * 1000),
        "which": UUID(int=chance.getrandbits(128)),
        "rate": chance.choice([0.5, -1e300, float("inf")]), "color": chance.choice(["RED", "BLUE"]),
        "parts": {"a": b"text", "b": chance.randbytes(2)}, "next": order(chance, deep - 1) if deep else None,
    }  # fmt: skip


def choice(chance: random.Random) -> dict[str, Any]:
    one = chance.choice([None, "text", b"text", b"\xff\0", 7, [b"text", b"\xfe"]])
    return {"one": one, "two": chance.choice([date(2026, 11, 30), "noon"])}


@pytest.fixture
def kafka(sandbox: SandboxThread) -> Iterator[kcli.SyncClient]:
    with kcli.SyncClient(
        {"bootstrap.servers": sandbox.bootstrap, "schema.registry.url": sandbox.registry_url}
    ) as client:
        client.admin.create_topics([kcli.NewTopic(topic="rows", partitions=2)]).check()
        yield client


def read(kafka: kcli.SyncClient, **formats: Any) -> list[kcli.Message]:
    with kafka.consumer("rows", stop_at_end=True, **formats) as consumer:
        return sorted(consumer, key=lambda message: (message.partition, message.offset))


@pytest.mark.parametrize(("schema", "made"), [(ORDER, order), (CHOICE, choice)], ids=["order", "choice"])
def test_avro_of_fastavro_is_read_value_by_value(
    kafka: kcli.SyncClient, sandbox: SandboxThread, schema: Any, made: Any
) -> None:
    fastavro = pytest.importorskip("fastavro")
    chance, parsed = random.Random(7), fastavro.parse_schema(loads(dumps(schema)))
    values = [made(chance) for _ in range(60)]
    if schema is CHOICE:
        values = [value | {"two": date(2026, 11, 30)} for value in values]  # fastavro takes texts for dates there
    with kafka.producer(value=avro(schema=dumps(schema), register=True)) as producer:
        producer.send_and_wait("rows", values[0], partition=1)
    front = read(kafka)[0].value[:5]
    with kafka.producer() as producer:
        for value in values:
            out = io.BytesIO()
            fastavro.schemaless_writer(out, parsed, value)
            producer.send_and_wait("rows", front + out.getvalue(), partition=0)
    *theirs, own = [message.value for message in read(kafka, value=avro())]
    assert own == values[0]
    assert theirs == values


@pytest.mark.parametrize(("schema", "made"), [(ORDER, order), (CHOICE, choice)], ids=["order", "choice"])
def test_avro_is_written_as_fastavro_reads_it(kafka: kcli.SyncClient, schema: Any, made: Any) -> None:
    fastavro = pytest.importorskip("fastavro")
    chance, parsed = random.Random(8), fastavro.parse_schema(loads(dumps(schema)))
    values = [made(chance) for _ in range(60)]
    if schema is CHOICE:
        values.append({"one": "2026-11-30", "two": "2026-11-30"})  # texts, though one may be a date
    with kafka.producer(value=avro(schema=dumps(schema), register=True)) as producer:
        producer.send_all("rows", [(0, None, None, value, ()) for value in values])
    for message, value in zip(read(kafka), values, strict=True):
        assert fastavro.schemaless_reader(io.BytesIO(message.value[5:]), parsed) == value


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # its client of the registry has no end
def test_the_serializers_of_another_client_and_ours_read_one_another(
    kafka: kcli.SyncClient, sandbox: SandboxThread
) -> None:
    module = pytest.importorskip("confluent_kafka.schema_registry")
    from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    client = module.SchemaRegistryClient({"url": sandbox.registry_url})
    context = SerializationContext("rows", MessageField.VALUE)
    serializer = AvroSerializer(client, dumps(ORDER))
    value = order(random.Random(3))
    with kafka.producer() as producer:
        producer.send_and_wait("rows", serializer(value, context))
    with kafka.producer(value=avro()) as producer:  # by the latest schema of the subject
        producer.send_and_wait("rows", value)
    assert [message.value for message in read(kafka, value=avro())] == [value, value]
    assert [AvroDeserializer(client)(message.value, context) for message in read(kafka)] == [value, value]


def test_keys_text_and_json(kafka: kcli.SyncClient) -> None:
    with kafka.producer(key=text(), value=json()) as producer:
        producer.send_and_wait("rows", {"n": [1, None, "ü"]}, key="ann", partition=0)
        producer.send_and_wait("rows", None, key="ann", partition=0)
        producer.send_records("rows", [(0, None, None, 7, ())])
        with pytest.raises(kcli.EncodeError, match="rows: key: expected a str, not int"):
            producer.send("rows", {}, key=7)
        with pytest.raises(kcli.EncodeError, match="rows: value: "):
            producer.send("rows", float("nan"), key="x")
    assert [(message.key, message.value) for message in read(kafka, key=text(), value=json())] == [
        ("ann", {"n": [1, None, "ü"]}), ("ann", None), (None, 7),
    ]  # fmt: skip
    assert [message.value for message in read(kafka)] == ['{"n":[1,null,"ü"]}'.encode(), None, b"7"]


PROTO = """syntax = "proto3"; package shop;
message Other { int32 x = 1; }
message Order { int64 id = 1; string user_name = 2; repeated double parts = 3; bytes raw = 4; }"""


def test_protobuf_and_json_schema(kafka: kcli.SyncClient) -> None:
    with kafka.producer(value=protobuf(schema=PROTO, register=True, message="shop.Order")) as producer:
        producer.send_and_wait("rows", {"id": 5, "user_name": "ann", "parts": [1.5]}, partition=0)
        with pytest.raises(kcli.EncodeError, match="no_such"):
            producer.send("rows", {"no_such": 1})
    shape = dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    (message,) = read(kafka, value=protobuf())
    assert {name: message.value[name] for name in ("user_name", "parts")} == {"user_name": "ann", "parts": [1.5]}
    assert int(message.value["id"]) == 5
    with kafka.producer(value=json_schema(schema=shape, subject="numbers", register=True)) as producer:
        producer.send_and_wait("rows", {"n": 1}, partition=1)
        with pytest.raises(kcli.EncodeError, match="rows: value: "):
            producer.send("rows", {"n": "one"})
    assert read(kafka, value=json_schema())[-1].value == {"n": 1}


def test_what_cannot_be_read_says_why_and_keeps_its_bytes(kafka: kcli.SyncClient) -> None:
    with kafka.producer() as producer:
        for value in (b'{"n": 1}', b"no json", b"\xff", None):
            producer.send_and_wait("rows", value, partition=0)
    first, bad, worse, none = [message.value for message in read(kafka, value=json())]
    assert (first, none) == ({"n": 1}, None)
    assert (type(bad), bad.data, bad.reason[:8]) == (Undecoded, b"no json", "no JSON:")
    assert worse.data == b"\xff"
    assert [message.value for message in read(kafka, value=json(errors="skip"))] == [{"n": 1}, None]
    with kafka.consumer("rows", group="g", value=json(errors="raise")) as consumer:
        assert next(consumer).value == {"n": 1}
        with pytest.raises(kcli.DecodeError, match=r"rows\[0\] offset 1: value: no JSON"):
            next(consumer)
        at = kcli.TopicPartition("rows", 0)
        consumer.seek(at, 3)
        assert next(consumer).value is None


def test_frames_that_are_not_of_the_registry(kafka: kcli.SyncClient) -> None:
    with kafka.producer() as producer:
        for value in (b"\0\0\0\xff\xff\x02", b"bare", b"\0"):
            producer.send_and_wait("rows", value, partition=0)
    reasons = [message.value.reason for message in read(kafka, value=avro())]
    assert "65535" in reasons[0]
    assert reasons[1:] == ["it has no frame that refers to a schema"] * 2


def test_a_registry_that_does_not_answer_loses_no_record(sandbox: SandboxThread, kafka: kcli.SyncClient) -> None:
    with kafka.producer(value=avro(schema=dumps(CHOICE), register=True)) as producer:
        producer.send_and_wait("rows", {"one": "x", "two": "y"}, partition=0)
    nowhere = avro("http://127.0.0.1:9")
    with kafka.consumer("rows", group="g", value=nowhere) as consumer:
        for _ in range(2):
            with pytest.raises(kcli.ConnectError):
                next(consumer)
    with kafka.consumer("rows", group="g", value=avro(sandbox.registry_url)) as consumer:
        assert next(consumer).value == {"one": "x", "two": "y"}


SECOND = {
    "type": "record", "name": "Note",
    "fields": [{"name": "id", "type": "long"}, {"name": "text", "type": "string", "default": "-"}],
}  # fmt: skip
FIRST = {"type": "record", "name": "Note", "fields": [{"name": "id", "type": "long"}]}
BY_LATEST = {"use.latest.version": True, "auto.register.schemas": False}


class TestSchemasThatChange:
    """A producer writes by the schema that its subject has by then, as confluent-kafka's serializers do."""

    @pytest.fixture
    def theirs(self, sandbox: SandboxThread, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        monkeypatch.setattr("kcli.formats.FRESH", 0.0)
        monkeypatch.setattr("kcli.registry.lookup.LATEST", 0.0)
        module = pytest.importorskip("confluent_kafka.schema_registry")
        with module.SchemaRegistryClient({"url": sandbox.registry_url, "cache.latest.ttl.sec": 0}) as client:
            yield client

    def serialized(self, theirs: Any, topic: str, value: Any, schema: Any = None, **settings: Any) -> bytes:
        from confluent_kafka.schema_registry.avro import AvroSerializer
        from confluent_kafka.serialization import MessageField, SerializationContext

        text = None if schema is None else dumps(schema)
        written: bytes | None = AvroSerializer(theirs, text, conf=settings)(
            value, SerializationContext(topic, MessageField.VALUE)
        )
        assert written is not None
        return written

    def register(self, theirs: Any, topic: str, schema: Any) -> None:
        from confluent_kafka.schema_registry import Schema

        theirs.register_schema(f"{topic}-value", Schema(dumps(schema), "AVRO"))

    def test_the_latest_version_is_used_for_later_records(self, kafka: kcli.SyncClient, theirs: Any) -> None:
        rows = [(FIRST, {"id": 1}), (SECOND, {"id": 2, "text": "new"}), (SECOND, {"id": 3, "text": "newer"})]
        written = []
        with kafka.producer(value=avro()) as producer:
            for schema, value in rows:
                self.register(theirs, "rows", schema)
                producer.send_and_wait("rows", value, partition=0)
                written.append(self.serialized(theirs, "rows", value, **BY_LATEST))
        assert [message.value for message in read(kafka)] == written
        assert len({value[:5] for value in written}) == 2
        assert [message.value for message in read(kafka, value=avro())] == [value for _, value in rows]

    @pytest.mark.parametrize("register", [False, True])
    def test_a_program_keeps_the_schema_that_it_was_written_for(
        self, kafka: kcli.SyncClient, theirs: Any, register: bool
    ) -> None:
        for schema in (FIRST, SECOND):
            self.register(theirs, "rows", schema)
        with kafka.producer(value=avro(schema=dumps(FIRST, indent=2), register=register)) as producer:
            producer.send_all("rows", [(0, None, None, {"id": number}, ()) for number in (1, 2)])
        settings = {"auto.register.schemas": register}
        expected = [self.serialized(theirs, "rows", {"id": number}, FIRST, **settings) for number in (1, 2)]
        assert [message.value for message in read(kafka)] == expected

    def test_each_topic_has_the_schema_of_its_own_subject(self, kafka: kcli.SyncClient, theirs: Any) -> None:
        kafka.admin.create_topics([kcli.NewTopic(topic="notes")]).check()
        self.register(theirs, "rows", FIRST)
        self.register(theirs, "notes", SECOND)
        with kafka.producer(value=avro()) as producer, kafka.consumer("rows", "notes", group="g") as consumer:
            for topic in ("rows", "notes", "rows"):
                value = {"id": 1, "text": "x"} if topic == "notes" else {"id": 1}
                producer.send_and_wait(topic, value)
                assert next(consumer).value == self.serialized(theirs, topic, value, **BY_LATEST)

    def test_a_schema_that_no_version_has_is_refused(self, kafka: kcli.SyncClient, theirs: Any) -> None:
        self.register(theirs, "rows", SECOND)
        with (
            kafka.producer(value=avro(schema=dumps(FIRST))) as producer,
            pytest.raises(kcli.UsageError, match="rows-value has no version with this schema: register=True"),
        ):
            producer.send("rows", {"id": 1})

    def test_a_registry_that_is_away_stops_no_producer(
        self, kafka: kcli.SyncClient, sandbox: SandboxThread, theirs: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        self.register(theirs, "rows", FIRST)
        with kafka.producer(value=avro()) as producer:
            producer.send_and_wait("rows", {"id": 1}, partition=0)
            sandbox.faults.registry.fail_registry(503, times=100)
            producer.send_and_wait("rows", {"id": 2}, partition=0)
        assert read(kafka)[1].value[5:] == b"\x04"
        assert "rows: still written by the last schema" in caplog.text

    def test_one_look_up_serves_all_records_that_are_sent_meanwhile(
        self, kafka: kcli.SyncClient, sandbox: SandboxThread, theirs: Any
    ) -> None:
        self.register(theirs, "rows", FIRST)

        async def sent(client: kcli.Client) -> int:
            async with client.producer(value=avro()) as producer:
                await producer.send_and_wait("rows", {"id": 0})
                before = len(asyncio.all_tasks())
                promises = [producer.send_soon("rows", {"id": number}) for number in range(500)]
                tasks = len(asyncio.all_tasks()) - before
                await asyncio.gather(*promises)
            return tasks

        assert kafka.run(sent) <= 1
        assert len(read(kafka)) == 501

    def test_a_schema_that_is_gone_is_the_error_of_later_records(self, kafka: kcli.SyncClient, theirs: Any) -> None:
        self.register(theirs, "rows", FIRST)

        async def sent(client: kcli.Client) -> None:
            async with client.producer(value=avro()) as producer:
                await producer.send_and_wait("rows", {"id": 0})
                await asyncio.to_thread(theirs.delete_subject, "rows-value")
                deadline = monotonic() + 10
                while monotonic() < deadline:
                    await producer.send_soon("rows", {"id": 1})
                raise AssertionError("records are still written by a schema that was deleted")

        with pytest.raises(kcli.KcliError, match="rows-value"):
            kafka.run(sent)

    def test_callbacks_keep_their_order_and_get_the_newer_schema(self, kafka: kcli.SyncClient, theirs: Any) -> None:
        self.register(theirs, "rows", FIRST)
        sent: list[Any] = []
        with kafka.producer(kcli.ProducerSettings(linger=0), value=avro()) as producer:
            producer.send_and_wait("rows", {"id": 0}, partition=0)
            self.register(theirs, "rows", SECOND)

            def more(stored: object, error: object) -> None:
                if len(sent) < 40:
                    row = {"id": len(sent) + 1, "text": "x"} if len(sent) > 20 else {"id": len(sent) + 1}
                    sent.append(producer.send("rows", row, partition=0, on_delivery=more))

            kafka.run(lambda client: called(lambda: more(None, None)))
            for number in range(40):
                deadline = monotonic() + 10
                while len(sent) <= number and monotonic() < deadline:
                    sleep(0.001)
                sent[number].result(10)
        found = [message.value for message in read(kafka, value=avro())]
        assert [value["id"] for value in found] == [*range(41)]
        assert found[-1]["text"] == "x"


async def called(function: Any) -> None:
    function()


def test_batches_and_workers_have_objects_when_asked_for(kafka: kcli.SyncClient) -> None:
    with kafka.producer(value=json()) as producer:
        producer.send_all("rows", [(0, None, b"k", {"n": n}, ()) for n in range(5)])
    with kafka.producer() as producer:
        producer.send_and_wait("rows", b"no json", partition=0)

    def polled(consumer: kcli.SyncConsumer) -> list[kcli.Message]:
        found: list[kcli.Message] = []
        while not found or found[-1].offset < 4:
            for fetched in consumer.poll(10):
                assert all(isinstance(record.value, bytes) for batch in fetched.batches for record in batch)
                found += consumer.messages_of(fetched)
        return found

    with kafka.consumer("rows", value=json(errors="skip")) as consumer:
        found = polled(consumer)
        assert [(one.key, one.value, one.offset) for one in found] == [(b"k", {"n": n}, n) for n in range(5)]
    with kafka.consumer("rows") as consumer:
        assert polled(consumer)[0].value == b'{"n":0}'
    with kafka.consumer("rows", value=json(errors="raise"), start=kcli.Bound("offset", 5)) as consumer:
        (fetched,) = consumer.poll(10)
        with pytest.raises(kcli.DecodeError, match=r"rows\[0\] offset 5: value: no JSON"):
            consumer.messages_of(fetched)
    seen: list[Any] = []

    def work(fetched: kcli.Fetched, stop: object) -> None:
        seen.extend(message.value for message in worked.messages_of(fetched))
        if len(seen) >= 5:
            workers.stop()

    with kafka.consumer(group="g", value=json(errors="skip")) as worked:
        workers = kcli.SyncWorkers(worked, work)
        workers.run(["rows"])
    assert seen == [{"n": n} for n in range(5)]


PLAIN = [
    (avro(schema=dumps(CHOICE)), {"one": "x", "two": "noon"}),
    (json_schema(schema=dumps({"type": "object", "required": ["n"]})), {"n": 1}),
]


@pytest.fixture
def bare(sandbox: SandboxThread) -> Iterator[kcli.SyncClient]:
    """A client without a registry."""
    with kcli.SyncClient(sandbox.bootstrap) as client:
        client.admin.create_topics([kcli.NewTopic(topic="rows")]).check()
        yield client


@pytest.mark.parametrize(("format", "value"), PLAIN, ids=["avro", "json"])
def test_a_schema_without_a_registry_has_no_frame(bare: kcli.SyncClient, format: Any, value: Any) -> None:
    with bare.producer(value=format) as producer:
        producer.send_all("rows", [(0, None, None, one, ()) for one in (value, None, value)])
        with pytest.raises(kcli.EncodeError, match="rows: value: "):
            producer.send("rows", {"wrong": 1})
    with bare.producer() as producer:
        producer.send_and_wait("rows", b"\xff")
    raw = [message.value for message in read(bare)]
    if format is PLAIN[0][0]:
        fastavro = pytest.importorskip("fastavro")
        schema = fastavro.parse_schema(loads(dumps(CHOICE)))
        assert fastavro.schemaless_reader(io.BytesIO(raw[0]), schema) == value
    else:
        assert loads(raw[0]) == value
    *good, bad = [message.value for message in read(bare, value=format)]
    assert good == [value, None, value]
    assert (type(bad), bad.data) == (Undecoded, b"\xff")
    with bare.consumer("rows", stop_at_end=True, value=avro()) as consumer, pytest.raises(kcli.UsageError):
        next(consumer)


def test_protobuf_without_a_registry_has_neither_frame_nor_indexes(bare: kcli.SyncClient) -> None:
    format = protobuf(schema=PROTO, message="shop.Order")
    with bare.producer(value=format) as producer:
        producer.send_and_wait("rows", {"id": 5, "user_name": "ann"})
    assert read(bare)[0].value == b"\x08\x05\x12\x03ann"
    assert read(bare, value=format)[0].value["user_name"] == "ann"


def test_a_transaction_has_objects(kafka: kcli.SyncClient) -> None:
    kafka.admin.create_topics([kcli.NewTopic(topic="made")]).check()
    with kafka.producer(value=json()) as producer:
        producer.send_all("rows", [(n % 2, None, None, {"n": n}, ()) for n in range(6)])
    sending = kcli.ProducerSettings(transactional_id="t")
    with kafka.producer(sending, value=json()) as producer, kafka.consumer("rows", group="g", value=json()) as consumer:
        count = 0
        while count < 6:
            with consumer.transaction(producer, timeout=5) as messages:
                for message in messages:
                    producer.send("made", {"twice": 2 * message.value["n"]})
            count += len(messages)
    with kafka.consumer("made", stop_at_end=True, value=json()) as consumer:
        assert sorted(message.value["twice"] for message in consumer) == [0, 2, 4, 6, 8, 10]


def test_what_is_no_format_is_refused(kafka: kcli.SyncClient) -> None:
    wrong: Any = "json"
    with pytest.raises(kcli.UsageError, match=r"value str: expected a format, such as kcli\.formats\.json\(\)"):
        kafka.consumer("rows", value=wrong)
    with pytest.raises(kcli.UsageError, match="errors 'json': expected keep, raise or skip"):
        json(errors=wrong)
    with pytest.raises(kcli.UsageError, match="register=True requires schema="):
        avro(register=True)

"""Keys and values as objects: what confluent-kafka's serializers wrote is read, what kcli writes they read, and what
cannot be read says why and loses nothing."""

from __future__ import annotations

import io
import random
from datetime import UTC, date, datetime, time
from decimal import Decimal
from json import dumps, loads
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
    assert reasons[1:] == ["no frame in front of it names a schema"] * 2


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
    with pytest.raises(kcli.UsageError, match="register=True goes with schema="):
        avro(register=True)

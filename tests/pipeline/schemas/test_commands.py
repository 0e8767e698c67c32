"""`kcli pipeline export` and `sql` of Avro as somebody types them: a real Apache Kafka, and the sandbox's registry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow.parquet as pq

from tests.pipeline.jobs.test_commands import kcli as kcli
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.kafka.cluster import Kafka
    from tests.pipeline.schemas.registries import Registry

    Kcli = Callable[..., int]

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]


@pytest.fixture
def topics(kafka: Kafka, request: pytest.FixtureRequest) -> Topics:
    return Topics(kafka.bootstrap, request.node.name)


def order(*more: Any) -> Any:
    fields = [{"name": "id", "type": "long"}, {"name": "user", "type": ["null", "string"], "default": None}, *more]
    return {"type": "record", "name": "Order", "fields": fields}


NEWER = order({"name": "total", "type": "double", "default": 0.5})
AVRO = ("--value-format", "avro", "--schema-registry")


@pytest.fixture
def topic(topics: Topics, registry: Registry) -> str:
    made = topics.make(2)
    values = registry.avro(made, order(), *[{"id": n, "user": f"u{n}" if n % 3 else None} for n in range(100)])
    topics.fill(made, [(n % 2, None, None, value, ()) for n, value in enumerate(values)])
    return made


def test_avro_becomes_columns_of_parquet_and_of_sql(
    kcli: Kcli, topic: str, registry: Registry, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert kcli("export", topic, "out", *AVRO, registry.url, "--select", "value.id, value.user") == 0
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert sorted((row["id"], row["user"]) for row in rows) == [(n, f"u{n}" if n % 3 else None) for n in range(100)]
    capfd.readouterr()
    words = f"SELECT count(value.user) AS n, max(value.id) AS m FROM `{topic}`"
    assert kcli("sql", words, "-X", f"schema.registry.url={registry.url}", "--value-format", "avro", "-J") == 0
    assert json.loads(capfd.readouterr().out)["rows"] == [{"n": 66, "m": 99}]


def test_bad_records_are_kept_and_counted(
    kcli: Kcli, topics: Topics, topic: str, registry: Registry, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topics.fill(topic, [(0, None, None, b"\0\0\0", ()), (1, None, None, b"none", ())])
    line = ("export", topic, "out", *AVRO, registry.url, "--select", "value.id")
    assert kcli(*line) == 1
    assert "bad value: no schema id is in front of it" in capfd.readouterr().err
    assert kcli(*line, "--on-bad", "quarantine") == 0
    assert "2" in capfd.readouterr().err
    assert pq.read_table(tmp_path / "out").num_rows == 100
    kept = pq.read_table(tmp_path / "out.quarantine").to_pylist()
    assert sorted((row["partition"], row["value"]) for row in kept) == [(0, b"\0\0\0"), (1, b"none")]
    assert {row["reason"] for row in kept} == {"value: no schema id is in front of it"}


def test_a_stream_keeps_the_schema_of_its_first_run(
    kcli: Kcli, topics: Topics, topic: str, registry: Registry, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ("export", topic, "out", *AVRO, registry.url, "--once")
    assert kcli(*line) == 0
    topics.fill(topic, [(0, None, None, registry.avro(topic, NEWER, {"id": 100, "user": None, "total": 1.5})[0], ())])
    assert kcli(*line) == 1
    assert "nothing was written; --schema-mode pinned reads by id:" in capfd.readouterr().err
    assert kcli(*line, "--schema-mode", "pinned") == 0
    rows = [row["value"] for row in pq.read_table(tmp_path / "out").to_pylist()]
    assert len(rows) == 101
    assert {"id": 100, "user": None} in rows
    capfd.readouterr()
    topics.fill(topic, [(0, None, None, registry.avro(topic, NEWER, {"id": 101, "user": None, "total": 2.5})[0], ())])
    assert kcli(*line, "--schema-mode", "evolve") == 0
    assert "with columns that id:" in capfd.readouterr().err
    written = [pq.ParquetFile(file).read().to_pylist() for file in (tmp_path / "out").glob("*.parquet")]
    assert {"id": 101, "user": None, "total": 2.5} in [row["value"] for rows in written for row in rows]


def test_rows_become_avro_by_the_schemas_of_the_topic_that_is_written(
    kcli: Kcli, topics: Topics, topic: str, registry: Registry, capfd: pytest.CaptureFixture[str]
) -> None:
    into, other = topics.make(1), topics.make(1)
    number, key = registry.register(f"{into}-value", order()), registry.register("ids", '"long"')
    registry.register(f"{other}-value", order())
    sql = f"SELECT value.id AS key, value.id, value.user FROM `{topic}` WHERE value.id < 3"
    keys = ("--to-key-format", "avro", "--to-key-subject", "ids")
    assert kcli("sql", sql, *AVRO, registry.url, "--into", into, "--to-value-format", "avro", *keys) == 0
    found = sorted((record.key, record.value) for _, record in topics.read(into))
    front, ids = (b"\0" + one.to_bytes(4, "big") for one in (number, key))
    assert found == [
        (ids + b"\0", front + b"\0\0"),
        (ids + b"\2", front + b"\2\2\4u1"),
        (ids + b"\4", front + b"\4\2\4u2"),
    ]
    assert kcli("export", into, "flat", *AVRO, registry.url, "--select", "value.id, value.user") == 0
    line = ("import", "flat", other, "--to-value-format", "avro", "--to-schema-registry", registry.url)
    assert kcli(*line) == 0
    assert sorted(record.value or b"" for _, record in topics.read(other)) == [value for _, value in found]
    capfd.readouterr()
    assert kcli(*line, "--value", "json") == 2
    assert "--value json and --to-value-format cannot be combined" in capfd.readouterr().err


def test_a_file_is_registered_where_that_is_said_and_unions_are_written_back(
    kcli: Kcli, topics: Topics, registry: Registry, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic, into = topics.make(1), topics.make(1)
    schema = order({"name": "it", "type": ["null", "long", "string"], "default": None})
    values = registry.avro(topic, schema, *[{"id": n, "user": None, "it": it} for n, it in enumerate((None, 5, "x"))])
    topics.fill(topic, [(0, None, None, value, ()) for value in values])
    (tmp_path / "row.avsc").write_text(json.dumps(schema))
    line = ["sql", f"SELECT value FROM `{topic}`", *AVRO, registry.url, "--into", into, "--to-value-format", "avro"]
    line += ["--to-value-schema", "file:row.avsc"]
    assert kcli(*line) == 2
    assert f"{into}-value has no schema; --register registers it" in capfd.readouterr().err
    assert kcli(*line, "--register", "--dry-run") == 0
    assert f"{into}-value" not in registry.client.get_subjects()
    assert kcli(*line, "--register") == 0
    number, _ = registry.latest(f"{into}-value")
    found = sorted(record.value or b"" for _, record in topics.read(into))
    assert found == sorted(b"\0" + number.to_bytes(4, "big") + value[5:] for value in values)


def test_what_does_not_go_together_is_refused(kcli: Kcli, topic: str, capfd: pytest.CaptureFixture[str]) -> None:
    for words, sentence in (
        (("--value-subject", "x"), "--value-subject requires --value-format avro"),
        (("--schema-registry", "http://127.0.0.1:1"), "--schema-registry requires --value-format avro"),
        (("--value-format", "avro", "--value-schema", "id INT"), "option valueSchema is DDL for json and msgpack"),
        (("--value-format", "avro"), "option valueFormat avro requires schemaRegistry"),
    ):
        assert kcli("export", topic, "out", *words) == 2
        assert sentence in capfd.readouterr().err


def test_change_events_of_avro_are_merged_into_a_table(
    kcli: Kcli, topics: Topics, registry: Registry, tmp_path: Path
) -> None:
    from confluent_kafka.serialization import MessageField
    from deltalake import DeltaTable

    row = {**order(), "name": "Value"}
    event = {"type": "record", "name": "Envelope", "fields": [
        {"name": "before", "type": ["null", row], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "op", "type": "string"},
    ]}  # fmt: skip
    key = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "long"}]}
    topic = topics.make(1)
    orders = [{"id": n, "user": f"u{n}"} for n in range(4)]
    events = [{"op": "c", "before": None, "after": one} for one in orders]
    events += [{"op": "d", "before": orders[1], "after": None}]
    events += [{"op": "u", "before": orders[2], "after": {"id": 2, "user": None}}]
    values = [*registry.avro(topic, event, *events), None]
    keys = registry.avro(topic, key, *[{"id": n} for n in (0, 1, 2, 3, 1, 2, 3)], field=MessageField.KEY)
    topics.fill(topic, [(0, None, *pair, ()) for pair in zip(keys, values, strict=True)])
    line = ["export", topic, "out", "--file-format", "delta", *AVRO, registry.url, "--key-format", "avro"]
    assert kcli(*line, "--merge", "id", "--unwrap", "debezium") == 0
    rows = DeltaTable(tmp_path / "out").to_pyarrow_table().to_pylist()
    assert sorted((one["id"], one["user"]) for one in rows) == [(0, "u0"), (2, None)]

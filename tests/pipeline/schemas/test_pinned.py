"""A stream into files keeps the registry's schemas of its first run, of keys as of values; `evolve` adds columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from kcli.cli.commands.pipeline.options import PayloadOptions
from kcli.cli.commands.pipeline.source.pinned import Pinned, SchemaChanged
from kcli.cli.commands.pipeline.source.registered import Registered
from kcli.errors import UsageError
from tests.each import each

if TYPE_CHECKING:
    from tests.pipeline.schemas.registries import Registry


def record(**fields: Any) -> Any:
    declared = [{"name": name, "type": type, "default": default} for name, (type, default) in fields.items()]
    return {"type": "record", "name": "R", "fields": declared}


INT, LONG, TEXT = ("int", 0), ("long", 0), ("string", "")


class Topic:
    """A topic of Avro keys and values that runs read; each returns the schemas that it reads by."""

    def __init__(self, registry: Registry, name: str, place: Path) -> None:
        self.registry, self.name, self.place = registry, name, place
        self.notes: list[str] = []

    def run(self, mode: str = "fail", **options: Any) -> list[str | None]:
        registered = Registered(PayloadOptions(key_format="avro", value_format="avro", **options))
        kept = Pinned(self.place / "checkpoint")
        given = {"subscribe": self.name, "schema.registry.url": self.registry.url}
        registered.pin(given, self.name, mode, kept)
        kept.keep()
        self._batch()
        self.notes = kept.notes
        return [registered.options().get(name) for name in ("keyReaderSchema", "readerSchema")]

    def _batch(self) -> None:
        """A run has written a batch: what it kept counts."""
        offsets = self.place / "checkpoint" / "offsets"
        offsets.mkdir(parents=True, exist_ok=True)
        (offsets / "0").touch()

    def schema(self, part: str, schema: Any) -> str:
        subject = f"{self.name}-{part}"
        self.registry.client.set_config(subject, _incompatible())
        return f"id:{self.registry.register(subject, schema)}"


def _incompatible() -> Any:
    """A subject's config that lets every schema follow."""
    from confluent_kafka.schema_registry import ConfigCompatibilityLevel, ServerConfig

    return ServerConfig(compatibility=ConfigCompatibilityLevel.NONE)


@pytest.fixture
def topic(registry: Registry, tmp_path: Path, request: pytest.FixtureRequest) -> Topic:
    return Topic(registry, request.node.name, tmp_path)


def test_keys_keep_the_schema_of_the_first_run_as_values_do(topic: Topic) -> None:
    key, value = topic.schema("key", '"int"'), topic.schema("value", record(n=INT))
    assert topic.run() == [key, value]
    newer = topic.schema("key", '"string"')
    with pytest.raises(
        SchemaChanged, match=rf"{topic.name}-key is {newer} with other columns than {key}.*--key-reader"
    ):
        topic.run()
    assert topic.run("pinned") == [key, value]
    assert topic.notes == [f"{topic.name} key: read by the first run's schema, {key}; the latest is {newer}"]
    with pytest.raises(SchemaChanged, match="it is STRING, not INT as in"):
        topic.run("evolve")


def test_evolve_reads_by_a_latest_schema_with_more_columns(topic: Topic) -> None:
    key, value = topic.schema("key", '"int"'), topic.schema("value", record(n=INT))
    assert topic.run("evolve") == [key, value]
    newer = topic.schema("value", record(added=TEXT, n=LONG))
    assert topic.run("evolve") == [key, newer]
    assert topic.notes == [
        f"{topic.name}: read by {newer}, with columns that {value} does not have (--schema-mode evolve)"
    ]
    assert topic.run("fail") == [key, newer], "the next run begins with these columns"
    last = topic.schema("value", record(n=LONG))
    with pytest.raises(SchemaChanged, match=f"is {last}, and it lacks added, which is in {newer} of the last run"):
        topic.run("evolve")


def test_a_checkpoint_that_is_elsewhere_keeps_no_schema(topic: Topic) -> None:
    value = topic.schema("value", record(n=INT))
    given = {"subscribe": topic.name, "schema.registry.url": topic.registry.url}
    kept = Pinned("hdfs://name/checkpoint")
    with pytest.raises(UsageError, match="--reader-schema id:N is needed"):
        Registered(PayloadOptions(value_format="avro")).pin(given, topic.name, "fail", kept)
    named = Registered(PayloadOptions(value_format="avro", reader_schema=value))
    named.pin(given, topic.name, "fail", kept)
    kept.keep()
    assert named.options() == {"readerSchema": value}
    assert isinstance(kept.path, Path)
    assert not kept.path.parent.exists()


@each(
    ("options", "sentence"),
    [
        ({"key_subject": "x"}, "--key-subject requires --key-format avro"),
        ({"key_reader_schema": "id:1", "value_format": "avro"}, "--key-reader-schema requires --key-format avro"),
        ({"reader_schema": "id:1", "key_format": "avro"}, "--reader-schema requires --value-format avro"),
    ],
)
def test_options_of_another_format_are_refused(options: dict[str, str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        Registered(PayloadOptions(**options))

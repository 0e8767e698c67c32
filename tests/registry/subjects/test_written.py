"""`produce --value-subject`: under which subject a file is registered, and which schema `topic` means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.each import each
from tests.registry.commands import Commands
from tests.registry.subjects.conftest import stored
from tests.registry.subjects.kinds import KINDS, LINE, TYPES, Kind, by_confluent

Name = Callable[[], str]
JAVA = "io.confluent.kafka.serializers.subject"
each_kind = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def subject(strategy: str, topic: str, name: str, field: str = "value") -> str:
    return {"record": f"shop.{name}", "topic-record": f"{topic}-shop.{name}"}.get(strategy, f"{topic}-{field}")


@each_kind
def test_a_file_is_registered_where_confluents_serializer_looks(
    kind: Kind, place: Commands, broker: Shell, name: Name
) -> None:
    """By `associated` that is the topic's subject: nothing is associated. Without --register the file is the latest
    version there, and no other subject has it."""
    for strategy in TYPES:
        record, topic = name(), broker.topic()
        path = place.file(f"{record}.{kind.ending}", kind.text(record))
        line = ["produce", topic, "--schema-registry", place.url, "--value-subject", strategy, "--value-schema"]
        line.append(kind.spec(f"file:{path}", record))
        refused = broker(*line, stdin=LINE.encode())
        wanted = subject(strategy, topic, record)
        assert refused.returncode == 1, strategy
        assert wanted in refused.stderr.decode()
        broker.ok(*line, "--register", stdin=LINE.encode())
        broker.ok(*line, stdin=LINE.encode())
        (row,) = place.rows("describe", wanted)
        assert (row["subject"], row["version"]) == (wanted, 1)
        first, second = stored(broker, topic)
        if kind.name == "protobuf":  # Confluent's reads no text of Protobuf: it registers a second version there
            theirs = by_confluent(place.url, kind, record, strategy, topic, register=True)
            assert (first[5:], len(place.rows("versions", wanted))) == (theirs[5:], 2)
        else:
            theirs = by_confluent(place.url, kind, record, strategy, topic)
            assert first == theirs, strategy
        assert first == second
        named = [row["subject"] for row in place.rows("list") if record in row["subject"] or topic == row["subject"]]
        assert named == ([wanted] if record in wanted else [])


@each_kind
def test_topic_with_a_name_is_the_latest_of_the_strategys_subject(
    kind: Kind, place: Commands, broker: Shell, name: Name
) -> None:
    for strategy in ("record", "topic-record"):
        record, topic = name(), broker.topic()
        theirs = by_confluent(place.url, kind, record, strategy, topic, register=True)
        assert len(place.rows("versions", subject(strategy, topic, record))) == 1
        by = ["--schema-registry", place.url, "--value-subject", strategy]
        broker.ok("produce", topic, *by, "--value-schema", f"topic#shop.{record}", stdin=LINE.encode())
        assert stored(broker, topic) == [theirs]
        assert broker.ok("consume", topic, "-e", *by, "--value-schema", f"topic@1#shop.{record}") == b'{"id":7}\n'


def test_properties_name_the_strategy_as_javas_serializers_do(place: Commands, broker: Shell, name: Name) -> None:
    kind, record, topic = KINDS[0], name(), broker.topic()
    path = place.file(f"{record}.avsc", kind.text(record))
    by = ["--schema-registry", place.url, "-X", f"value.subject.name.strategy={JAVA}.RecordNameStrategy"]
    line = ["produce", topic, *by, "--value-schema", f"file:{path}", "--register"]
    broker.ok(*line, stdin=LINE.encode())
    assert place.rows("describe", f"shop.{record}")[0]["version"] == 1
    broker.ok(*line, "--value-subject", "topic-record", stdin=LINE.encode())  # the option goes first
    assert place.rows("describe", f"{topic}-shop.{record}")[0]["version"] == 1
    assert len(stored(broker, topic)) == 2
    broker.ok(
        "produce",
        topic,
        *by,
        "--value-schema",
        f"id:{place.rows('describe', f'shop.{record}')[0]['id']}",
        stdin=LINE.encode(),
    )


def test_keys_and_values_have_a_strategy_each(place: Commands, broker: Shell, name: Name) -> None:
    kind, key, value, topic = KINDS[0], name(), name(), broker.topic()
    files = [place.file(f"{record}.avsc", kind.text(record)) for record in (key, value)]
    line = ["produce", topic, "--schema-registry", place.url, "--register", "-K", "|"]
    line += ["--key-schema", f"file:{files[0]}", "--key-subject", "record", "--value-schema", f"file:{files[1]}"]
    broker.ok(*line, stdin=f"{LINE}|{LINE}".encode())
    assert stored(broker, topic, "key") == [by_confluent(place.url, kind, key, "record", topic, "key")]
    assert stored(broker, topic) == [by_confluent(place.url, kind, value, "topic", topic)]


def test_a_name_is_the_subject_itself(place: Commands, broker: Shell, name: Name) -> None:
    record, topic = name(), broker.topic()
    path = place.file(f"{record}.avsc", KINDS[0].text(record))
    by = ["--schema-registry", place.url, "--value-subject", f"all/{record}"]
    broker.ok("produce", topic, *by, "--value-schema", f"file:{path}", "--register", stdin=LINE.encode())
    broker.ok("produce", topic, *by, "--value-schema", "topic", stdin=LINE.encode())
    assert place.rows("describe", f"all/{record}")[0]["version"] == 1
    assert len(set(stored(broker, topic))) == 1


@each(
    ("words", "says"),
    [
        (["--value-subject", ""], "--value-subject is empty"),
        (["--value-subject", "record", "--value-schema", "topic"], "write topic#NAME, or file:PATH"),
        (["--value-subject", "record", "--value-schema", "id:7"], "--value-subject requires --value-schema file:PATH"),
        (["--value-subject", "record", "--value-schema", "orders-value"], "--value-subject requires --value-schema"),
        (["--key-subject", "record"], "--key-subject requires --key-schema file:PATH or topic"),
        (
            ["--value-subject", "record", "--value-schema", "from-record", "--input", "json"],
            "--schema-in or --value-s",
        ),
        (
            ["--value-subject", "record", "--value-schema", "file:UNION"],
            "the strategy record needs",
        ),
        (
            ["-X", "value.subject.name.strategy=com.acme.Own"],
            "value.subject.name.strategy must be one of topic, record, ",
        ),
    ],
)
def test_what_leaves_the_subject_open_is_refused(words: list[str], says: str, tmp_path: Path, broker: Shell) -> None:
    (tmp_path / "union.avsc").write_text('["null", "int"]')
    (tmp_path / "schemas").mkdir(exist_ok=True)
    line = [
        "--schema-registry",
        f"file:{tmp_path}/schemas",
        *(word.replace("UNION", f"{tmp_path}/union.avsc") for word in words),
    ]
    line += [] if "--value-schema" in words else ["--value-schema", "topic"]
    done = broker("produce", "orders", *line, stdin=LINE.encode())
    assert done.returncode == 2
    assert says in done.stderr.decode()


@each(
    ("words", "says"),
    [
        (["--value-subject", "record"], "--value-subject requires --value-schema or --key-schema"),
        (["--value-subject", "record", "--value-schema", "file:order.avsc"], "--schema-registry"),
    ],
)
def test_a_strategy_needs_a_schema_and_a_registry(words: list[str], says: str, tmp_path: Path, broker: Shell) -> None:
    (tmp_path / "order.avsc").write_text(KINDS[0].text("Order"))
    line = [word.replace("order.avsc", f"{tmp_path}/order.avsc") for word in words]
    done = broker("produce", "orders", *line, stdin=LINE.encode())
    assert done.returncode == 2
    assert says in done.stderr.decode()

"""How a task finds schemas: those that came with it, then the registry, once; and what it does without an answer."""

from __future__ import annotations

import io
import json
import pickle
from array import array
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import fastavro
import pyarrow as pa

from kcli.errors import ConnectError
from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas import reading
from kcli.pipeline.schemas.fields import field_of
from kcli.pipeline.schemas.look_up import looked_up, named
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.pipeline.schemas.wanted import Wanted
from kcli.proto.plain.gather import spans
from kcli.proto.spans import Gathered
from kcli.registry.settings import RegistrySettings
from kcli.schemas import Schema
from kcli.serde.avro.columns import columns_of
from kcli.serde.avro.parse import parse
from tests.pipeline.formats.test_avro_arrow import arrow, cell
from tests.pipeline.schemas.registries import Registry
from tests.pipeline.schemas.sealing import NO_HEADERS, frame
from tests.serde.avro.samples import written
from tests.serde.avro.test_resolve import CASES

TEXT = '{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}'
KNOWN = Known(schema=Schema(text=TEXT))


@pytest.fixture(autouse=True)
def nothing_asked() -> Iterator[None]:
    """What other tests asked registries for is forgotten."""
    reading._found.clear()
    yield
    reading._found.clear()


def sealed(url: str, **more: Any) -> SealedSchemas:
    settings = registry_settings({"schemaregistry": url, **more})
    assert settings is not None
    return SealedSchemas(reader=KNOWN, written=((frame(7, b""), KNOWN),), settings=settings.replace(retries=0))


def run(field: Any, *values: bytes | None) -> tuple[list[Any], dict[int, str]]:
    made, errors = field(pa.array(values, pa.binary()), NO_HEADERS)
    return made.to_pylist(), errors


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The names that registries are asked for from now on."""
    asked: list[bytes] = []

    def ask(settings: RegistrySettings, name: bytes) -> Known:
        asked.append(name)
        return named(settings, name)

    monkeypatch.setattr("kcli.pipeline.schemas.reading.named", ask)
    return asked


def test_schemas_that_came_with_the_task_need_no_registry() -> None:
    field = field_of(sealed("http://127.0.0.1:9"))
    assert run(field, frame(7, b"\2"), None) == ([{"n": 1}, None], {})


def test_a_registry_that_cannot_be_asked_ends_the_task() -> None:
    with pytest.raises(ConnectError):
        run(field_of(sealed("http://127.0.0.1:9")), frame(8, b"\2"))


def test_an_id_is_asked_for_once_in_a_process(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    number = registry.register("reading", TEXT)
    asked = counted(monkeypatch)
    for _ in range(3):
        field = field_of(sealed(registry.url))
        assert run(field, frame(number, b"\2"), frame(7, b"\4")) == ([{"n": 1}, {"n": 2}], {})
    assert asked == [frame(number, b"")]


def test_ids_that_the_registry_does_not_have_are_asked_for_so_often_only(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = counted(monkeypatch)
    rows, errors = run(field_of(sealed(registry.url)), *[frame(10_000 + n, b"\2") for n in range(100)])
    assert rows == [None] * 100
    assert "10000" in errors[0]
    assert errors[99] == "more schema ids than the registry has"
    assert len(asked) == reading.GUESSES


def test_versions_of_the_subject_travel_by_id_and_guid(registry: Registry) -> None:
    numbers = [registry.register("versions", TEXT)]
    newer = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "n", "type": "int"}, {"name": "m", "type": "int", "default": 5}],
    }
    numbers.append(registry.register("versions", newer))
    settings = registry_settings({"schema.registry.url": registry.url})
    found = looked_up(Wanted(subject="versions"), settings)
    names = [name for name, _ in found.written]
    assert {frame(number, b"") for number in numbers} <= set(names)
    assert [name[:1] for name in names].count(b"\1") == 2
    field = field_of(pickle.loads(pickle.dumps(found.replace(settings=sealed("http://127.0.0.1:9").settings))))
    assert run(field, *[frame(number, b"\2\4") for number in numbers])[1] == {0: "bytes are left after the value"}


def test_a_header_names_the_schema_of_a_bare_payload() -> None:
    cells = pa.array([b"\2", b"\4", frame(7, b"\6")], pa.binary())
    names = spans([b"x", b"__value_schema_id", b"__value_schema_id", b"__value_schema_id"])
    contents = spans([b"1", frame(9, b""), frame(7, b""), b"odd"])
    got = Gathered(3, b"", b"", b"", None, None, array("i", [0, 3, 3, 4]).tobytes(), names, contents)
    made, errors = field_of(sealed("http://127.0.0.1:9"))(cells, got)
    assert made.to_pylist() == [{"n": 1}, None, {"n": 3}]
    assert errors == {1: "no schema id is in front of it"}


def test_secrets_travel_and_are_not_shown() -> None:
    made = sealed("http://127.0.0.1:9", **{"schema.registry.basic.auth.user.info": "me:hidden"})
    again = pickle.loads(pickle.dumps(made))
    assert again.settings == made.settings
    assert again.settings.origins[0].password.reveal() == "hidden"
    assert "hidden" not in repr(made) + repr(again.settings)


def test_a_value_is_read_by_the_readers_schema_as_fastavro_does() -> None:
    for writer, reader, value in CASES:
        payload = written(writer, value)
        older, newer = (fastavro.parse_schema(json.loads(json.dumps(one))) for one in (writer, reader))
        theirs: Any = fastavro.schemaless_reader(io.BytesIO(payload), older, newer)
        made, errors = arrow(writer, payload, reader=reader)
        assert errors == {}
        expected = theirs
        if isinstance(reader, dict) or (isinstance(reader, list) and len(reader) == 2):
            expected = cell(columns_of(parse(json.dumps(reader))), theirs, reader)
        elif isinstance(reader, list):
            expected = {"member0": None, "member1": theirs}
        assert made.to_pylist() == [expected], (writer, reader)

"""Columns by the schemas of Apicurio's registry."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from kcli.pipeline.connection import registry_settings
from kcli.pipeline.schemas import reading
from kcli.pipeline.schemas.look_up import looked_up
from kcli.pipeline.schemas.wanted import wanted_of
from tests.pipeline.schemas.sealing import cells_of, frame
from tests.registry.conftest import apicurio as apicurio
from tests.registry.oracles import Apicurio

FIELDS = [{"name": "id", "type": "long"}, {"name": "total", "type": "double"}]
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


@pytest.fixture(autouse=True)
def nothing_asked() -> Iterator[None]:
    """What other tests asked registries for is forgotten."""
    reading._found.clear()
    yield
    reading._found.clear()


def registered(url: str, subject: str, *fields: object) -> int:
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    body = json.dumps({"schema": text}).encode()
    asked = Request(f"{url}/subjects/{subject}/versions", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=60) as answer:
        return int(json.load(answer)["id"])


def test_versions_of_a_subject_of_apicurio_are_columns_of_its_latest(apicurio: Apicurio) -> None:
    older = registered(apicurio.url, "columns-value", *FIELDS)
    given = {"subscribe": "columns", "valueformat": "avro", "schemaregistry": apicurio.url}
    (wanted,) = wanted_of(given)
    newer = registered(apicurio.url, "columns-value", *FIELDS, NOTE)
    sealed = looked_up(wanted, registry_settings(given))
    payload = b"\x0e" + struct.pack("<d", 9.5)
    row = {"id": 7, "total": 9.5, "note": None}
    found = cells_of(sealed, frame(older, payload), frame(newer, payload + b"\0"), frame(9999, payload))
    assert found == ([row, row, None], {2: "schema 9999: the registry has no such schema (40403)"})
    apicurio.forget("columns-value")

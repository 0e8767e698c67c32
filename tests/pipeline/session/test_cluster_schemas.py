"""Schemas of a real registry on a standalone cluster of two workers: what executors read and write by them, and what
they ask the registry for."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import Request, urlopen

import pyarrow.dataset as ds
import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

from tests.pipeline.daemons import PATIENCE, ROOT, standalone_of
from tests.pipeline.schemas.sealing import frame
from tests.registry.conftest import apicurio as apicurio
from tests.registry.scripted import Scripted
from tests.registry.test_transfer import forwarding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.pipeline.topics import Topics
    from tests.registry.oracles import Apicurio

    Asking = Callable[..., dict[str, Any]]

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]

PARTITIONS = 4
EXECUTORS = 2  # of one core: as many processes of Python


class Format(NamedTuple):
    """A kind of schema: an older and a newer version, one of another subject, and payloads of each."""

    name: str
    kind: str
    older: str
    newer: str
    other: str
    payload: Callable[[int, float | None], bytes]
    """Of an order's number and its total, None for the older version."""


def record(*fields: object, **more: object) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *fields], **more})


def properties(title: str, **more: str) -> str:
    named = {name: {"type": kind} for name, kind in {"id": "integer", **more}.items()}
    return json.dumps({"title": title, "type": "object", "properties": named})


def message(*fields: str, comment: str = "") -> str:
    return f'syntax = "proto3"; {comment} package shop; message Order {{ {" ".join(("int64 id = 1;", *fields))} }}'


def as_message(id: int, total: float | None) -> bytes:
    fields = (b"\x08" + bytes([id]) if id else b"") + (b"" if total is None else b"\x11" + struct.pack("<d", total))
    return b"\0" + fields


TOTAL = {"name": "total", "type": ["null", "double"], "default": None}
FORMATS = [
    Format(
        "avro", "AVRO", record(), record(TOTAL), record(doc="another id"),
        lambda id, total: bytes([2 * id]) + (b"" if total is None else b"\2" + struct.pack("<d", total)),
    ),
    Format(
        "protobuf", "PROTOBUF", message(), message("double total = 2;"), message("bool paid = 7;"), as_message
    ),
    Format(
        "json-schema", "JSON", properties("Order"), properties("Order", total="number"), properties("Another"),
        lambda id, total: json.dumps({"id": id} if total is None else {"id": id, "total": total},
                                     separators=(",", ":")).encode(),
    ),
]  # fmt: skip


def registered(url: str, subject: str, kind: str, text: str) -> int:
    body = json.dumps({"schema": text, "schemaType": kind}).encode()
    asked = Request(f"{url}/subjects/{subject}/versions", body, {"Content-Type": "application/json"})
    with urlopen(asked, timeout=60) as answer:
        return int(json.load(answer)["id"])


@contextmanager
def driver(master: str, bootstrap: str, folder: Path) -> Iterator[Asking]:
    """What asks a driver on the cluster."""
    words = [sys.executable, "-W", "ignore", "-m", "tests.pipeline.driver", master, bootstrap, str(folder)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    process = subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def ask(**asked: object) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, (folder / "spark.log").read_text(errors="replace")[-3000:]
        found: dict[str, Any] = json.loads(line)
        return found

    try:
        yield ask
    finally:
        process.stdin.close()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.stdout.close()


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with standalone_of(tmp_path_factory.mktemp("standalone")) as (url, _):
        yield url


class Walk:
    """A topic of two versions of a subject of Apicurio's, and what executors make of it. Every request goes through
    `registry`, which keeps it."""

    def __init__(self, form: Format, ask: Asking, topics: Topics, registry: Scripted, folder: Path) -> None:
        self.form, self.ask, self.topics, self.registry, self.folder = form, ask, topics, registry, folder
        self.topic = topics.make(PARTITIONS)
        subject = f"{self.topic}-value"
        self.ids = [registered(registry.url, subject, form.kind, text) for text in (form.older, form.newer)]
        self.given = {"valueFormat": form.name, "schemaRegistry": registry.url, "subscribe": self.topic}
        self.given["readerSchema"] = "latest"
        self.expected: list[tuple[int, int, float | None]] = []

    def send(self, schema: int, total: float | None, partition: int) -> None:
        id = len(self.expected) + 1
        self.expected.append((partition, id, total))
        self.fill(partition, frame(schema, self.form.payload(id, total)))

    def fill(self, partition: int, value: bytes) -> None:
        self.topics.fill(self.topic, [(partition, None, None, value, ())])

    def read(self, **options: str) -> tuple[dict[str, Any], list[str]]:
        """The answer, and the paths that were asked for."""
        before = len(self.registry.asked)
        columns = ["partition", "value.id", "value.total", *(["valueError"] if "columns" in options else [])]
        found = self.ask(read=self.given | options, select=columns)
        return found, [asked.path for asked in self.registry.asked[before:]]

    def rows(self) -> list[dict[str, Any]]:
        """What is expected: partitions one after another, each in its order."""
        return [{"partition": at, "id": id, "total": total} for at, id, total in sorted(self.expected)]

    def run(self) -> None:
        self.two_ids_are_columns_of_the_latest()
        self.a_new_id_is_asked_for_once_in_a_process()
        self.columns_are_written_again()
        self.a_bad_record_fails_is_null_or_is_kept()

    def two_ids_are_columns_of_the_latest(self) -> None:
        self.send(self.ids[0], None, 0)
        self.send(self.ids[1], 1.5, 0)
        found, of_one = self.read()
        assert found == {"type": "struct<id:bigint,total:double>", "rows": self.rows()}
        for partition in range(1, PARTITIONS):
            self.send(self.ids[partition % 2], 2.5 if partition % 2 else None, partition)
        found, of_all = self.read()
        assert found["rows"] == self.rows()
        assert sorted(of_all) == sorted(of_one), "what the driver asked for; tasks ask for nothing"
        assert not [path for path in of_all if path.startswith("/schemas/ids/")]

    def a_new_id_is_asked_for_once_in_a_process(self) -> None:
        other = registered(self.registry.url, f"{self.topic}-other", self.form.kind, self.form.other)
        for partition in range(PARTITIONS):
            self.send(other, None, partition)
        asked = []
        for _ in range(2):
            found, paths = self.read()
            assert found["rows"] == self.rows()
            asked += [path for path in paths if path.startswith("/schemas/ids/")]
        assert {path.partition("?")[0] for path in asked} == {f"/schemas/ids/{other}"}
        assert len(asked) <= EXECUTORS

    def columns_are_written_again(self) -> None:
        into, subject = self.topics.make(PARTITIONS), f"{self.topic}-into"
        number = registered(self.registry.url, subject, self.form.kind, self.form.newer)
        write = {"topic": into, "valueFormat": self.form.name, "schemaRegistry": self.registry.url}
        assert self.ask(read=self.given, write=write | {"valueSubject": subject}) == {}
        found = self.ask(read=self.given | {"subscribe": into, "valueSubject": subject}, select=["value.*"])["rows"]
        key = lambda row: row["id"]  # noqa: E731 two rows of the same id would be a fault
        assert sorted(found, key=key) == sorted(({"id": id, "total": total} for _, id, total in self.expected), key=key)
        assert {(record.value or b"")[:5] for _, record in self.topics.read(into)} == {frame(number, b"")}

    def a_bad_record_fails_is_null_or_is_kept(self) -> None:
        bad = [b"plain", frame(999_999, b"\0\2")]
        for partition, value in enumerate(bad):
            self.fill(partition, value)
        found, _ = self.read()
        assert found["code"] == 1
        assert any(why in found["error"] for why in ("no schema id is in front of it", "schema 999999")), found
        found, _ = self.read(onBad="null", columns="partition,offset,value,valueError")
        reasons = [row for row in found["rows"] if row["valueError"] is not None]
        assert [(row["partition"], row["id"]) for row in reasons] == [(0, None), (1, None)]
        assert reasons[0]["valueError"] == "no schema id is in front of it"
        assert "schema 999999" in reasons[1]["valueError"]
        aside = self.folder / f"bad-{self.form.name}"
        found, _ = self.read(onBad="quarantine", quarantine=str(aside))
        assert found["rows"] == self.rows()
        kept = ds.dataset(aside, format="parquet").to_table(["partition", "value"]).to_pylist()
        assert sorted((row["partition"], row["value"]) for row in kept) == list(enumerate(bad))


def test_executors_read_and_write_by_the_schemas_of_apicurio(
    standalone: str, apicurio: Apicurio, topics: Topics, tmp_path: Path
) -> None:
    with Scripted() as registry, driver(standalone, topics.bootstrap, tmp_path) as ask:
        registry.route = forwarding(apicurio.url)
        for form in FORMATS:
            Walk(form, ask, topics, registry, tmp_path).run()

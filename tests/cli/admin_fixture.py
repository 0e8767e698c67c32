"""Administration commands on the tiny Kafka: the whole command line, no socket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kcli.cli.main import main
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.shape import Column, every
from kcli.cli.runtime import answer as admin
from kcli.settings import ClientSettings
from tests.admin.tiny import Tiny, member

KINDS: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "moment": int,
    "duration": (int, float),
    "boolean": bool,
    "strings": list,
    "integers": list,
    "object": dict,
}


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Line:
    """`line("lag", "--by", "partition")` runs a command line against `line.tiny`."""

    def __init__(self, tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
        self.tiny = tiny
        self.capsys = capsys

    def __call__(self, *words: str) -> Ran:
        code = main(list(words))
        out, err = self.capsys.readouterr()
        return Ran(code, out, err)


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Line:
    tiny = Tiny(brokers=3)
    tiny.topic("orders", (0, 95, 100), (50, 100, 100), (0, 100, 100))
    tiny.topic("mail", (0, 7, 7))
    tiny.topic("__consumer_offsets", (0, 1, 1))
    tiny.group("billing", members=[member("app", ("orders", [0, 1]), ("mail", [0]))], orders=[90, 5, 60])
    tiny.group("idle", state="Empty", mail=[7])

    async def connected(settings: object, work: Any, document: Document) -> Any:
        result = await work(tiny, document)
        conform(document)
        return result

    monkeypatch.setattr(admin, "_connected", connected)
    monkeypatch.setattr(admin.Connection, "client", lambda self: ClientSettings())
    return Line(tiny, capsys)


def conform(document: Document) -> None:
    """Every row has exactly the columns that its shape declares, of the kinds it declares."""
    assert document.shape in every()
    for section in document.shape.sections:
        for row in document.section(section):
            assert set(row) == {column.name for column in section.columns}
            for column in section.columns:
                check(column, row[column.name])
    assert document.rows.keys() <= {section.name for section in document.shape.sections}


def check(column: Column, value: object) -> None:
    if value is None:
        assert column.null, column.name
        return
    assert isinstance(value, KINDS[column.kind]), (column.name, value)
    assert column.kind != "integer" or not isinstance(value, bool)

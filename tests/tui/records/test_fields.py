"""A field of the values as a column."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.serde.decoded import value_of
from kcli.tui.records import fields
from kcli.tui.records.fields import MISSING, FieldColumns, at, offered
from kcli.tui.tail import Seen

VALUE = {"customer": {"country": "DE", "number": 3}, "tags": ["new"], "gone": None}


def seen(value: bytes | None, offset: int = 0) -> Seen:
    return Seen(offset, "orders", 0, offset, 1_700_000_000_000, None, value, ())


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("customer.country", "DE"), ("customer", {"country": "DE", "number": 3}), ("tags.0", "new"), ("gone", None),
        ("tags.1", MISSING), ("tags.-1", MISSING), ("customer.country.x", MISSING), ("nothing", MISSING), ("", MISSING),
    ],
)  # fmt: skip
def test_a_path_leads_into_objects_and_lists(path: str, found: Any) -> None:
    assert at(VALUE, path) is found or at(VALUE, path) == found


def test_a_column_sorts_numbers_by_size_and_leaves_out_what_has_no_field() -> None:
    columns = FieldColumns(lambda record: record)
    columns.turn("value.total")
    (column,) = columns.columns()
    assert column.label == "TOTAL"
    rows = [
        seen(b'{"total": 10}'),
        seen(b'{"total": 9.5}'),
        seen(b'{"total": "x\\u001b[31m"}'),
        seen(b"text"),
        seen(None),
    ]
    values = [column.value(row) for row in rows]
    assert values[3:] == [None, None]
    assert sorted(value for value in values if value is not None) == [values[1], values[0], values[2]]
    assert [column.cell(row).text for row in rows] == ["10", "9.5", "x\\x1b[31m", "", ""]
    columns.turn("total")
    assert not columns.columns()


def test_each_value_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes | None] = []

    def counted(data: bytes | None) -> Any:
        parsed.append(data)
        return value_of(data)

    monkeypatch.setattr(fields, "value_of", counted)
    columns = FieldColumns(lambda record: record)
    columns.turn("a")
    columns.turn("b")
    for column in columns.columns() * 3:
        assert column.cell(seen(b'{"a": 1, "b": 1}')).text == "1"
    assert len(parsed) == 1


def test_fields_of_the_last_records_are_offered() -> None:
    found = offered([seen(b'{"a": {"b": 1}}'), seen(b'{"c": [1]}'), seen(b"text"), seen(None)])
    assert "a.b" in found
    assert not any("[]" in path for path in found)

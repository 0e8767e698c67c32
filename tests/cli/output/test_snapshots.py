"""`make snapshots` writes what is new, and refuses what breaks the readers of a shape's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.output import snapshots

TEXT, COUNT = {"type": "string"}, {"type": "integer"}
Row = dict[str, dict[str, Any]]


def shape(row: Row, version: int = 1) -> tuple[snapshots.Schemas, snapshots.Keys]:
    schema = {"properties": {"rows": {"items": {"properties": row}}}}
    return {f"kcli.topics.list/{version}": schema}, {"topics.list": {"rows": [*row]}}


BEFORE: Row = {"name": TEXT, "size": COUNT}


@pytest.mark.parametrize(
    "after",
    [{"name": TEXT}, {"name": TEXT, "size": TEXT}, {"size": COUNT, "name": TEXT}, {"new": TEXT, **BEFORE}],
    ids=["gone", "another type", "moved", "new before the others"],
)
def test_what_breaks_a_reader_needs_a_new_version(after: Row) -> None:
    assert snapshots.breaks(shape(BEFORE), shape(after)) == ["kcli.topics.list/1: rows"]
    assert snapshots.breaks(shape(BEFORE), shape(after, version=2)) == []


def test_a_new_column_at_the_end_and_other_words_break_nobody() -> None:
    after = {"name": {**TEXT, "description": "Name."}, "size": COUNT, "new": TEXT}
    assert snapshots.breaks(shape(BEFORE), shape(after)) == []


def test_a_shape_without_a_snapshot_breaks_nobody() -> None:
    assert snapshots.breaks(({}, {}), shape(BEFORE)) == []


def test_nothing_is_written_when_a_column_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = json.loads(snapshots.KEYS.read_text())
    rows = json.loads(snapshots.SCHEMAS.read_text())
    rows["kcli.users.list/1"]["properties"]["users"]["items"]["properties"]["gone"] = TEXT
    kept["users.list"]["users"].append("gone")
    for name in ("SCHEMAS", "KEYS"):
        monkeypatch.setattr(snapshots, name, tmp_path / name)
    monkeypatch.setattr(snapshots, "GOLDEN", tmp_path)
    (tmp_path / "SCHEMAS").write_text(json.dumps(rows))
    (tmp_path / "KEYS").write_text(json.dumps(kept))
    assert snapshots.write() == ["kcli.users.list/1: users"]
    assert json.loads((tmp_path / "SCHEMAS").read_text()) == rows
    assert {path.name for path in tmp_path.iterdir()} == {"SCHEMAS", "KEYS"}

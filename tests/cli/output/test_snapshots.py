"""`make snapshots` writes what is new, and refuses what breaks the readers of a shape's JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.output import snapshots

BEFORE = {"name": "string", "size": "integer"}


def shape(row: dict[str, str], version: int = 1) -> snapshots.Shapes:
    return {f"kcli.topics.list/{version}": {"rows": row}}


@pytest.mark.parametrize(
    "after",
    [
        {"name": "string"},
        {"name": "string", "size": "string"},
        {"size": "integer", "name": "string"},
        {"new": "string", **BEFORE},
    ],
    ids=["gone", "another type", "moved", "new before the others"],
)
def test_what_breaks_a_reader_needs_a_new_version(after: dict[str, str]) -> None:
    assert snapshots.breaks(shape(BEFORE), shape(after)) == ["kcli.topics.list/1: rows"]
    assert snapshots.breaks(shape(BEFORE), shape(after, version=2)) == []


def test_a_new_column_at_the_end_and_a_new_shape_break_nobody() -> None:
    assert snapshots.breaks(shape(BEFORE), shape({**BEFORE, "new": "string"})) == []
    assert snapshots.breaks({}, shape(BEFORE)) == []


def test_nothing_is_written_when_a_column_is_gone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = json.loads(snapshots.SHAPES.read_text())
    kept["kcli.users.list/1"]["users"]["gone"] = "string"
    monkeypatch.setattr(snapshots, "SHAPES", tmp_path / "shapes.json")
    monkeypatch.setattr(snapshots, "GOLDEN", tmp_path)
    snapshots.SHAPES.write_text(json.dumps(kept))
    assert snapshots.write() == ["kcli.users.list/1: users"]
    assert json.loads(snapshots.SHAPES.read_text()) == kept
    assert [path.name for path in tmp_path.iterdir()] == ["shapes.json"]

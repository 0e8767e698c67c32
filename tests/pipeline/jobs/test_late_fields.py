"""A field that only records have which are not among the newest: it is a column, or the run is refused, or the records
are kept whole; it is always counted. DuckDB reads what was written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]
    Fill = Callable[[list[bytes]], str]

duckdb = pytest.importorskip("duckdb", reason="pip install --group dev")

LATE = [b'{"id":%d,"note":"n%d","user":{"name":"u","vip":true}}' % (n, n) for n in range(20)]
USUAL = [b'{"id":%d,"user":{"name":"u"}}' % n for n in range(20, 1_320)]  # 1,000 of them are sampled
LINE = ("--value-format", "json", "--select", "value.*")
ONCE = ("--once", "--name", "late")


@pytest.fixture
def fill(topics: Topics) -> Fill:
    """Add values to the test's topic; its name."""
    topic = topics.make(1)

    def add(values: list[bytes]) -> str:
        topics.fill(topic, [(0, None, None, value, ()) for value in values])
        return topic

    return add


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows, by their id."""
    found = duckdb.sql(f"SELECT * FROM read_parquet('{folder}/**/*.parquet', union_by_name=true) ORDER BY id")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def outcome(capfd: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """Return the printed job and stderr."""
    out, err = capfd.readouterr()
    return json.loads(out)["jobs"][0], err


def test_a_batch_reads_again_with_columns_for_the_fields_of_its_own_records(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = fill(LATE + USUAL)
    assert kcli("export", topic, "out", *LINE, "-J") == 0
    job, err = outcome(capfd)
    found = rows(tmp_path / "out")
    assert [row["note"] for row in found] == [f"n{n}" for n in range(20)] + [None] * 1_300
    assert [row["user"].get("vip") for row in found] == [True] * 20 + [None] * 1_300
    assert (job["records"], job["bad"], job["unknown"]) == (1_320, 0, 0)
    assert f"{topic}[0] offset 0 has new fields: started again with columns for them" in err
    assert [one.name for one in tmp_path.iterdir() if "part" in one.name] == []


def test_a_batch_widens_a_number_that_the_newest_records_do_not_show(kcli: Kcli, fill: Fill, tmp_path: Path) -> None:
    assert kcli("export", fill([b'{"id":0,"total":0.5}'] + [b'{"id":1,"total":1}'] * 1_100), "out", *LINE) == 0
    assert [row["total"] for row in rows(tmp_path / "out")][:2] == [0.5, 1.0]


@pytest.mark.parametrize("mode", ["fail", "pinned", "quarantine"])
def test_a_batch_does_what_schema_mode_says(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str], mode: str
) -> None:
    topic = fill(LATE + USUAL)
    line = ["export", topic, "out", *LINE, "-J", "--schema-mode", mode]
    if mode == "fail":
        assert kcli(*line) == 1
        err = capfd.readouterr().err
        assert f"{topic}[0] offset 0: its value has fields without a column: note, user.vip; --schema-mode ev" in err
        assert not (tmp_path / "out").exists()
        return
    if mode == "quarantine":
        assert kcli(*line) == 2
        assert "--schema-mode quarantine requires --on-bad quarantine" in capfd.readouterr().err
        line += ["--on-bad", "quarantine"]
    assert kcli(*line) == 0
    job, err = outcome(capfd)
    left = 0 if mode == "pinned" else 20
    assert len(rows(tmp_path / "out")) == 1_320 - left
    assert (job["records"], job["bad"], job["unknown"]) == (1_320 - left, left, 20 - left)
    if mode == "pinned":
        assert "20 records have fields without a column, which were left out: note, user.vip" in err
    else:
        kept = duckdb.sql(f"SELECT value, reason FROM read_parquet('{tmp_path}/out.quarantine/*.parquet')").fetchall()
        assert sorted(value for value, _ in kept) == sorted(LATE)
        assert {reason for _, reason in kept} == {"value: fields that no column has: note, user.vip"}


def test_a_schema_that_the_line_names_leaves_other_fields_out_and_counts_them(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = fill(LATE + USUAL)
    metrics = tmp_path / "metrics.ndjson"
    line = ["export", topic, "out", *LINE, "--value-schema", "id BIGINT", "-J", "--metrics", str(metrics)]
    assert kcli(*line) == 0
    job, err = outcome(capfd)
    assert (job["records"], job["unknown"]) == (1_320, 1_320)
    assert "1,320 records have fields without a column, which were left out: note, user" in err
    assert json.loads(metrics.read_text())["unknown"] == 1_320


@pytest.mark.parametrize("mode", ["", "fail", "pinned", "evolve", "quarantine"])
def test_a_stream_does_what_schema_mode_says_and_loses_nothing(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str], mode: str
) -> None:
    topic = fill(USUAL[:50])
    given = ["--schema-mode", mode] if mode else []
    given += ["--on-bad", "quarantine"] if mode == "quarantine" else []
    line = ["export", topic, "out", *LINE, *ONCE, *given, "-J"]
    assert kcli(*line) == 0
    fill(LATE + USUAL[50:])
    capfd.readouterr()
    if mode in ("", "fail"):
        assert kcli(*line) == 1
        assert "its value has fields without a column: note, user.vip; --schema-mode ev" in capfd.readouterr().err
        assert len(rows(tmp_path / "out")) == 50
        line += ["--schema-mode", "evolve"]
        capfd.readouterr()
    assert kcli(*line) == 0
    job, err = outcome(capfd)
    found = rows(tmp_path / "out")
    left = 20 if mode == "quarantine" else 0
    assert len(found) == 1_320 - left
    assert (job["records"], job["bad"]) == (1_270 - left, left)
    assert job["unknown"] == (20 if mode == "pinned" else 0)
    if mode in ("", "fail", "evolve"):
        assert [row["note"] for row in found][:21] == [*[f"n{n}" for n in range(20)], None]
        assert "offset 50 has new fields: started again with columns for them" in err
        assert f"{topic}: note (string) is added; user.vip (boolean) is added (--schema-mode evolve)" in err
    assert kcli(*line) == 0, "nothing is new"
    assert len(rows(tmp_path / "out")) == 1_320 - left


def test_sql_counts_what_it_leaves_out(kcli: Kcli, fill: Fill, capfd: pytest.CaptureFixture[str]) -> None:
    topic = fill(LATE + USUAL)
    assert kcli("sql", f"SELECT count(value.id) AS n FROM `{topic}`", "--value-format", "json", "--format", "csv") == 0
    out, err = capfd.readouterr()
    assert out == "n\n1320\n"
    assert "20 records have fields without a column, which were left out: note, user.vip" in err


def test_records_whose_fields_are_the_keys_of_a_map_end_in_a_sentence(
    kcli: Kcli, fill: Fill, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kcli.cli.commands.pipeline.source.source.WIDENED", 2)
    monkeypatch.setattr("kcli.cli.commands.pipeline.source.source.NEWEST", 10)
    topic = fill([b'{"k%d":1}' % n for n in range(1_100)])
    assert kcli("export", topic, "out", *LINE) == 1
    assert "if they are the keys of a map, use --value-schema '… MAP<STRING, STRING>' for that" in (
        capfd.readouterr().err
    )

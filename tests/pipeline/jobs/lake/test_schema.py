"""Records that drift, and records that do not fit, into an Iceberg table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from tests.pipeline.jobs.lake.readers import by_pyiceberg, strays, table_of
from tests.pipeline.jobs.test_commands import kcli as kcli
from tests.pipeline.jobs.test_schema_mode import CENTS, MORE, WHOLE
from tests.pipeline.jobs.test_schema_mode import fill as fill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Kcli = Callable[..., int]
    Fill = Callable[[list[bytes]], str]

INTO = ("raw.orders", "--file-format", "iceberg", "--warehouse", "lake", "--once", "--name", "lake")
JSON = ("--value-format", "json", "--select", "value.*", "-q")


def test_evolve_adds_columns_and_refuses_what_iceberg_cannot_widen(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["export", fill(WHOLE), *INTO, *JSON, "--schema-mode", "evolve"]
    assert kcli(*line, "--value-schema", "id INT, total BIGINT, user STRUCT<id: BIGINT>") == 0
    assert str(table_of(tmp_path / "lake", "raw.orders").schema().find_type("id")) == "int"
    fill(MORE * 100)
    assert kcli(*line) == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert str(table.schema().find_type("id")) == "long"
    rows = table.scan().to_arrow().to_pylist()
    assert [len(rows), sum(row["note"] == "n" for row in rows)] == [1020, 1000]
    assert sum(row["user"] == {"id": row["id"], "vip": True} for row in rows) == 1000
    fill(CENTS * 50)
    capfd.readouterr()
    assert kcli(*line) == 1
    assert "the column total is bigint in the table and double here" in (capfd.readouterr().err)
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "id")) == 1020
    assert kcli(*line[:-1], "pinned", "--on-bad", "null") == 0, "the refused schema was not kept"
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "id")) == 2020
    assert not strays(tmp_path / "lake", table_of(tmp_path / "lake", "raw.orders"))


def test_fail_and_pinned_mean_what_they_mean_for_files(
    kcli: Kcli, fill: Fill, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    line = ["export", fill(WHOLE), *INTO, *JSON]
    assert kcli(*line) == 0
    fill(MORE * 100)
    assert kcli(*line) == 1
    assert "the field note is string" in capfd.readouterr().err
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "id")) == 20
    assert kcli(*line, "--schema-mode", "pinned") == 0
    table = table_of(tmp_path / "lake", "raw.orders")
    assert [len(by_pyiceberg(table, "id")), table.schema().column_names[:2]] == [1020, ["id", "total"]]


def test_bad_records_are_kept_in_the_same_batch(kcli: Kcli, fill: Fill, tmp_path: Path) -> None:
    line = ["export", fill([*WHOLE, b"no JSON"]), *INTO, *JSON, "--on-bad", "quarantine"]
    line += ["--quarantine", "bad", "--value-schema", "id BIGINT"]
    assert kcli(*line) == 0
    fill([b'{"id":"x"}', *WHOLE])
    assert kcli(*line) == 0
    assert len(by_pyiceberg(table_of(tmp_path / "lake", "raw.orders"), "id")) == 40
    assert sorted(pq.read_table(tmp_path / "bad", columns=["offset"])["offset"].to_pylist()) == [20, 21]

"""--compact: small files of a Delta table, merged when it is due; refused where no library does it."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kcli.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytest.importorskip("pyiceberg", reason="pip install 'kcli-kafka[iceberg]'")


def test_small_files_are_merged_when_it_is_due(tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.delta import DeltaTable

    place = str(tmp_path / "lake")
    table = DeltaTable(place)
    table.compact(0)
    for n in range(4):
        deltalake.write_deltalake(place, pa.table({"n": [n]}), mode="append")
    table.compact(3600)
    assert len(deltalake.DeltaTable(place).file_uris()) == 4, "the table is younger than that"
    table.compact(0)
    merged = deltalake.DeltaTable(place)
    assert [len(merged.file_uris()), merged.version()] == [1, 4]
    assert sorted(merged.to_pyarrow_table()["n"].to_pylist()) == [0, 1, 2, 3]
    deltalake.write_deltalake(place, pa.table({"n": [4]}), mode="append")
    table.compact(3600)
    assert len(deltalake.DeltaTable(place).file_uris()) == 2, "the last time was just now"


def test_the_last_file_of_a_task_is_merged_with_the_full_one_before_it(tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.delta import DeltaTable

    place, size, random = str(tmp_path / "lake"), 100_000, Random(7)
    for _ in range(3):  # what tasks of 118, 118 and 25 KB leave
        for rows in (115, 115, 25):
            made = pa.table({"value": [random.randbytes(1024) for _ in range(rows)]})
            deltalake.write_deltalake(place, made, mode="append")
    DeltaTable(place, size=size).compact(0)
    known = deltalake.DeltaTable(place)
    sizes = pa.table(known.get_add_actions(flatten=True))["size_bytes"].to_pylist()
    assert len(sizes) == 6
    assert 0.4 * size < min(sizes) <= max(sizes) < 1.6 * size
    assert known.to_pyarrow_dataset().count_rows() == 765


@pytest.mark.slow
def test_pyiceberg_has_no_compaction() -> None:
    """Where this fails, --compact can be for Iceberg too."""
    from pyiceberg.table import Table
    from pyiceberg.table.maintenance import MaintenanceTable

    names = [*dir(Table), *dir(MaintenanceTable)]
    assert not [name for name in names if "compact" in name or "rewrite" in name or "optimize" in name]


def test_what_has_no_compaction_and_no_size_of_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["pipeline", "export", "orders", "raw.orders", "-b", "127.0.0.1:1", "--dry-run"]
    assert main([*line, "--file-format", "iceberg", "--warehouse", "lake", "--compact", "1h"]) == 2
    assert "--compact requires --file-format delta: pyiceberg has no compaction" in capsys.readouterr().err
    assert main([*line, "--file-size", "1MB"]) == 2
    assert "--file-size requires --file-format delta or iceberg" in capsys.readouterr().err

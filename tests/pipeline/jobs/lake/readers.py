"""Tables as strangers read them: pyiceberg by the catalog, DuckDB from the files that the table's metadata names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyiceberg.table import Table


duckdb = pytest.importorskip("duckdb", reason="pip install --group dev")
pytest.importorskip("pyiceberg", reason="pip install 'kcli-kafka[iceberg]'")


def table_of(warehouse: Path, name: str) -> Table:
    """By the embedded catalog, as the docs say that it is opened."""
    from pyiceberg.catalog import load_catalog

    catalog = load_catalog("kcli", type="sql", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    try:
        return catalog.load_table(name)
    finally:
        catalog.close()


def by_pyiceberg(table: Table, *columns: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.scan(selected_fields=columns).to_arrow().to_pylist())


def files_of(table: Table) -> list[str]:
    """The paths of the data files of the current snapshot."""
    return [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]


def by_duckdb(table: Table, sql: str) -> list[tuple[Any, ...]]:
    """SQL over `rows`, the files of the table by another engine."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        names = ", ".join(f"'{name}'" for name in files_of(table))
        rows = connection.execute(f"WITH rows AS (FROM read_parquet([{names}])) {sql}").fetchall()
    return [tuple(row) for row in rows]


def strays(warehouse: Path, table: Table) -> list[str]:
    """Data files in the warehouse that the table does not name."""
    return sorted({str(path) for path in warehouse.rglob("*.parquet")} - set(files_of(table)))

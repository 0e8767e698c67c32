"""A stream into an Iceberg table keeps a constant cost per commit: snapshots expire, and their files are deleted."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kcli.pipeline.jobs.lake.snapshots import EVERY, MADE, expired, named_files
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, table_of
from tests.pipeline.jobs.lake.test_commits import another, batch, entries, known, made

if TYPE_CHECKING:
    from pathlib import Path

    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

KEPT = 5
SHORT = {"history.expire.min-snapshots-to-keep": str(KEPT), "history.expire.max-snapshot-age-ms": "0"}


def stream(table: IcebergTable, start: int, end: int) -> list[float]:
    """Commits of three rows each; the seconds of CPU that each took."""
    took = []
    for epoch in range(start, end):
        files = entries(table, [epoch * 10 + n for n in range(3)])
        began = time.process_time()
        table.add(files, "append", batch(epoch))
        took.append(time.process_time() - began)
    return took


def metadata_of(lake: Path) -> set[str]:
    return {str(path) for path in (lake / "raw/orders/metadata").iterdir() if not path.name.startswith(".")}


def test_old_snapshots_and_their_files_go_and_the_table_is_the_same(tmp_path: Path) -> None:
    table = made(tmp_path / "lake", **SHORT)
    stream(table, 0, 3 * EVERY)
    lake = table_of(tmp_path / "lake", "raw.orders")
    assert KEPT <= len(lake.snapshots()) < KEPT + EVERY
    wanted = [(epoch * 10 + n,) for epoch in range(3 * EVERY) for n in range(3)]
    assert by_pyiceberg(lake, "n") == by_duckdb(lake, "SELECT n FROM rows ORDER BY 1") == wanted
    left = metadata_of(tmp_path / "lake") - named_files(lake)
    assert len(left) <= 2, "a manifest that was merged in the commit that wrote it goes with that snapshot"
    for snapshot in lake.snapshots():
        assert lake.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows > 0, "each can be read"


def test_what_readers_keep_does_not_expire(tmp_path: Path) -> None:
    """A tag, another branch, a snapshot that was rolled back, and those of a table that is maintained by others."""
    table = made(tmp_path / "lake", **SHORT)
    stream(table, 0, 4)
    lake = known(table)
    first, second, third, fourth = lake.snapshots()
    lake.manage_snapshots().create_tag(first.snapshot_id, "audit").commit()
    lake.manage_snapshots().create_branch(second.snapshot_id, "trial").commit()
    lake.manage_snapshots().rollback_to_snapshot(third.snapshot_id).commit()
    stream(table, 3, 3 + 2 * EVERY)
    lake = known(table)
    there = {one.snapshot_id for one in lake.snapshots()}
    assert {first.snapshot_id, second.snapshot_id, fourth.snapshot_id} <= there
    assert third.snapshot_id not in there
    assert len(there) < KEPT + EVERY + 3
    for one in (first, second, fourth):
        assert lake.scan(snapshot_id=one.snapshot_id).to_arrow().num_rows > 0
    assert by_pyiceberg(lake, "n")[-1] == ((3 + 2 * EVERY - 1) * 10 + 2,)
    for properties in ({"gc.enabled": "false"}, {"history.expire.min-snapshots-to-keep": "1000"}):
        with lake.transaction() as change:
            change.set_properties(properties)
        assert expired(known(table).metadata, time.time()) == []
        with lake.transaction() as change:
            change.set_properties({**SHORT, "gc.enabled": "true"})
    with lake.transaction() as change:
        change.remove_properties("history.expire.max-snapshot-age-ms")
    assert expired(known(table).metadata, time.time()) == []


def test_a_rollback_between_the_look_and_the_expiry_is_no_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table whose current snapshot expired would have no rows."""
    table = made(tmp_path / "lake", **SHORT)
    stream(table, 0, KEPT + EVERY - 1)
    other = known(another(tmp_path / "lake"))
    oldest = other.snapshots()[0].snapshot_id
    commit_table, calls = table.catalog.commit_table, []

    def rolled(*given: object) -> object:
        calls.append(1)
        if len(calls) == 2:  # the commit, then the expiry
            known(another(tmp_path / "lake")).manage_snapshots().set_current_snapshot(oldest).commit()
        return commit_table(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(table.catalog, "commit_table", rolled)
    stream(table, KEPT + EVERY - 1, KEPT + EVERY)
    assert len(calls) == 2
    assert known(table).metadata.current_snapshot_id == oldest
    assert by_pyiceberg(known(table), "n") == [(0,), (1,), (2,)]


def test_an_expiry_that_fails_is_said_once_and_fails_no_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kcli.pipeline.jobs.lake import snapshots

    told: list[str] = []
    table = made(tmp_path / "lake", **SHORT)
    table._expiry._tell = told.append

    def fail(*_: object) -> bool:
        raise OSError("the store is away")

    monkeypatch.setattr(snapshots, "_expire", fail)
    stream(table, 0, 2 * EVERY + KEPT)
    assert told == ["snapshots were not expired: raw.orders: the store is away; the rows are in the table"]


@pytest.mark.long
@pytest.mark.timeout(300)
def test_400_commits_cost_the_same_at_the_end_and_metadata_is_bounded(tmp_path: Path) -> None:
    """The last hundred, each beside one of the second hundred of another table, as other programs use the machine."""
    table, young = made(tmp_path / "lake"), made(tmp_path / "young")
    stream(table, 0, 300)
    stream(young, 0, 100)
    first, last = 0.0, 0.0
    for n in range(100):
        first += sum(stream(young, 100 + n, 101 + n))
        last += sum(stream(table, 300 + n, 301 + n))
    files = metadata_of(tmp_path / "lake")
    size = sum(os.path.getsize(path) for path in files)
    print(f"CPU per commit {first * 10:.1f} -> {last * 10:.1f} ms, {len(files)} files of metadata, {size:,} bytes")
    assert last < 1.3 * first
    assert size < 5_000_000
    lake = known(table)
    assert by_pyiceberg(lake, "n") == [(epoch * 10 + n,) for epoch in range(400) for n in range(3)]
    assert len(files - named_files(lake)) < 10
    assert int(MADE["history.expire.min-snapshots-to-keep"]) <= len(lake.snapshots())


def test_merges_keep_a_bounded_number_of_manifests(tmp_path: Path) -> None:
    from kcli.pipeline.jobs.lake.merging.latest import DELETED, Merge

    table = made(tmp_path / "lake", **SHORT, **{"commit.manifest.min-count-to-merge": "5"})
    for epoch in range(60):
        rows = pa.table({"n": pa.array([epoch, epoch // 2], pa.int64()), DELETED: [False, epoch % 3 == 0]})
        table.merge_rows(rows, Merge(keys=("n",)), batch(epoch))
    lake = known(table)
    snapshot = lake.current_snapshot()
    assert snapshot is not None
    assert len(snapshot.manifests(lake.io)) < 30
    wanted: set[int] = set()
    for epoch in range(60):
        wanted = (wanted | {epoch, epoch // 2}) - ({epoch // 2} if epoch % 3 == 0 else set())
    assert by_pyiceberg(lake, "n") == [(n,) for n in sorted(wanted)]

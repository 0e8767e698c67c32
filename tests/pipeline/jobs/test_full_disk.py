"""A disk that is full: an export into files fails, leaves nothing behind, and the next run works. And a text that is
what a folder of nulls is called."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.pipeline.topics import Topics

    Kcli = Callable[..., int]

duckdb = pytest.importorskip("duckdb", reason="pip install --group dev")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], check=False, capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk takes root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def rows(folder: Path, form: str) -> int:
    read = {"parquet": "read_parquet", "json": "read_json", "csv": "read_csv"}[form]
    return int(duckdb.sql(f"SELECT count(*) FROM {read}('{folder}/part-*.{form}*')").fetchall()[0][0])


@pytest.mark.process
@pytest.mark.parametrize("form", ["parquet", "json", "csv"])
@pytest.mark.parametrize("mode", ["--batch", "--once", "--append", "--once --checkpoint DISK/c"])
def test_what_fails_on_a_full_disk_is_done_by_the_next_run(
    kcli: Kcli, topics: Topics, disk: Path, capfd: pytest.CaptureFixture[str], form: str, mode: str
) -> None:
    topic = topics.make(2)
    topics.fill(topic, [(n % 2, None, None, os.urandom(20_000).hex().encode(), ()) for n in range(400)])
    line = ["export", topic, str(disk / "out"), "--file-format", form, *mode.replace("DISK", str(disk)).split()]
    assert kcli(*line) == 1
    assert "No space left on device" in capfd.readouterr().err
    if mode == "--batch":
        assert os.listdir(disk) == []
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    assert kcli(*line) == 0, capfd.readouterr().err
    if "--once" in mode:
        assert kcli("finalize", str(disk / "out")) == 0
    assert rows(disk / "out", form) == 400


NULLS = "__HIVE_DEFAULT_PARTITION__"


@pytest.mark.parametrize("mode", ["--batch", "--once"])
def test_a_text_that_means_null_as_a_folder_is_refused_or_null_and_counted(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str], mode: str
) -> None:
    topic = topics.make(1)
    values = [b'{"id":1,"r":"a"}', b'{"id":2,"r":"%s"}' % NULLS.encode(), b'{"id":3,"r":null}', b'{"id":4,"r":""}']
    topics.fill(topic, [(0, None, None, value, ()) for value in values])
    line = ["export", topic, "out", "--value-format", "json", "--select", "value.*", "--partition-by", "r", mode]
    line += ["--name", "nulls"] if mode == "--once" else []
    assert kcli(*line) == 1
    assert f"--partition-by r: a record has the text {NULLS}, which is the name of the folder for nulls" in (
        capfd.readouterr().err
    )
    assert kcli(*line, "--on-bad", "null") == 0
    assert "1 record does not match" in capfd.readouterr().err
    found = duckdb.sql(
        f"SELECT id, r FROM read_parquet('{tmp_path}/out/*/*.parquet', hive_partitioning=true) ORDER BY id"
    ).fetchall()
    assert found == [(1, "a"), (2, None), (3, None), (4, None)], "an empty text has no folder, either"
    if mode == "--batch":
        assert kcli(*line, "--overwrite", "--where", f"value.r <> '{NULLS}'") == 0

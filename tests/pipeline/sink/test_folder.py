"""The folder of an export: what may be written where, and that nothing of another pipeline's is mixed up with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kcli.errors import UsageError
from kcli.pipeline.jobs.files import finalize
from kcli.pipeline.jobs.files.folder import Folder, parts_of
from kcli.system.processes import machine


@pytest.fixture
def lake(tmp_path):
    """A folder and a checkpoint: `lake(log, offsets, commits)` have so many batches."""

    def make(log, offsets, commits):
        for place, numbers in (("out/_spark_metadata", log), ("c/offsets", offsets), ("c/commits", commits)):
            (tmp_path / place).mkdir(parents=True)
            for number in numbers:
                (tmp_path / place / str(number)).write_text("v1")
        if offsets:
            (tmp_path / "out" / "part-1.parquet").write_text("x")
        return Folder(str(tmp_path / "out"), "error", direct=True), tmp_path / "c"

    return make


@pytest.mark.parametrize(
    ("log", "offsets", "commits"),
    [
        ([0, 1], [0, 1], [0, 1]),
        ([0, "9.compact", 10], [9, 10], [9]),  # killed when the files were there, and the checkpoint did not say so
        ([0], [0, 1], [0]),
        ([], [0], []),  # killed in the first batch
        ([], [], []),  # stopped before it: Spark had made its log, and nothing in it
    ],
)
def test_a_stream_goes_on_in_the_folder_that_it_wrote(lake, log, offsets, commits):
    folder, checkpoint = lake(log, offsets, commits)
    folder.check_stream(checkpoint)
    assert folder.mode == "append"


def test_a_checkpoint_of_another_pipeline_is_refused_as_its_batches_would_be_left_out(lake):
    folder, checkpoint = lake(["9.compact", 10], [0, 1], [0, 1])
    with pytest.raises(
        UsageError, match=r"batches of a pipeline up to 10, but .* only up to 1: .* start at the missing offsets"
    ):
        folder.check_stream(checkpoint)


def test_a_folder_that_was_restored_without_its_last_batches_is_refused(
    lake: Callable[..., tuple[Folder, Path]],
) -> None:
    folder, checkpoint = lake([0, 1], [0, 1, 2, 3], [0, 1, 2])
    with pytest.raises(UsageError, match=r"says that batches up to 2 were written, but .* has them only up to 1"):
        folder.check_stream(checkpoint)


def test_a_folder_in_a_store_is_compared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    store = {"s3a://b/out/_spark_metadata": ["9.compact", "10"], "s3a://b/c/offsets": ["1"], "s3a://b/c/commits": ["1"]}
    monkeypatch.setattr(
        "kcli.pipeline.jobs.checkpoints.storage_here", lambda: type("S", (), {"names": staticmethod(store.get)})()
    )
    with pytest.raises(UsageError, match="s3a://b/out has batches of a pipeline up to 10, but s3a://b/c only up to"):
        Folder("s3://b/out", "error", direct=True).check_stream("s3a://b/c")
    store["s3a://b/c/offsets"] = store["s3a://b/c/commits"] = ["10"]
    Folder("s3://b/out", "error", direct=True).check_stream("s3a://b/c")
    Folder("hdfs://b/out", "error", direct=True).check_stream("hdfs://b/c")  # which kcli does not read


def test_a_stream_does_not_go_on_in_a_folder_that_was_replaced(lake):
    folder, checkpoint = lake([], [0, 1], [0, 1])
    with pytest.raises(UsageError, match="the folder was replaced since"):
        folder.check_stream(checkpoint)


def test_a_batch_is_not_added_to_what_a_stream_wrote_where_no_spark_would_read_it(lake, tmp_path):
    lake([0], [0], [0])
    with pytest.raises(UsageError, match="reads only the files listed in its log"):
        Folder(str(tmp_path / "out"), "append").check()
    Folder(str(tmp_path / "out"), "overwrite").check()


def export(place, mode, text):
    folder = Folder(str(place), mode)
    folder.check()
    part = folder.target.removeprefix("file://")
    os.mkdir(part)
    for name in ("part-1", "_SUCCESS"):
        with open(os.path.join(part, name), "w") as out:
            out.write(text)
    folder.settle()


def test_what_a_killed_run_had_not_yet_taken_away_is_in_nobodys_way(tmp_path):
    export(tmp_path / "out", "error", "first")
    (tmp_path / ".out.old").mkdir()
    (tmp_path / ".out.old" / "part-0").write_text("of the run before")
    export(tmp_path / "out", "overwrite", "second")
    assert (tmp_path / "out" / "part-1").read_text() == "second"
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "out")
    (tmp_path / "disk" / "out").mkdir()
    export(tmp_path / "link", "error", "first")
    export(tmp_path / "link", "overwrite", "second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "out" / "part-1").read_text() == "second"
    (tmp_path / "disk" / ".out.part-1x").mkdir()  # no process has this number
    assert parts_of((tmp_path / "link").resolve()) == ([], [], [])
    gone = f".out.part-{machine()}-999999999"
    (tmp_path / "disk" / gone).mkdir()
    assert [one.name for one in finalize.find_leftovers(tmp_path / "link").orphans] == [gone]
    assert Folder(str(tmp_path / "link"), "append").recover() == [
        f"removed {tmp_path}/disk/{gone}, left behind by a killed export"
    ]


def test_what_may_be_of_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    mine, other = f".out.part-{machine()}-{os.getpid()}", f".out.part-{'0' * 8}-999999999"
    for name in (mine, other, ".out.old", f".out2.part-{machine()}-999999999"):
        (tmp_path / name).mkdir()
    before = sorted(os.listdir(tmp_path))
    assert Folder(str(tmp_path / "out"), "error").recover() == [
        f"{tmp_path}/{other} belongs to an export on another machine: if none is running there, it was "
        "killed; remove the file"
    ]
    assert sorted(os.listdir(tmp_path)) == before, "another run may be just replacing the folder"


def test_an_export_that_lost_its_name_gets_it_back_and_one_that_was_replaced_goes(tmp_path: Path) -> None:
    (tmp_path / ".out.old").mkdir()
    (tmp_path / ".out.old" / "part-0").write_text("before")
    folder = Folder(str(tmp_path / "out"), "error")
    assert folder.recover() == [
        f"{tmp_path}/out has the previous export again, because the run that was replacing it was killed"
    ]
    assert (tmp_path / "out" / "part-0").read_text() == "before"
    (tmp_path / ".out.old").mkdir()
    assert folder.recover() == []
    assert os.listdir(tmp_path) == ["out"]


def test_a_mounted_disk_itself_is_refused_before_the_work_not_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "ismount", lambda path: str(path) == str(tmp_path))
    with pytest.raises(UsageError, match="which cannot be renamed: use a folder in it"):
        Folder(str(tmp_path), "error").check()
    Folder(str(tmp_path / "in"), "error").check()
    Folder(str(tmp_path), "append").check()


@pytest.mark.parametrize(
    ("there", "form", "partition_by", "why"),
    [
        ("part-0.c000.zstd.parquet", "json", [], "has parquet files, and json files cannot be added"),
        ("part-0.c000.json.gz", "csv", [], "has json files"),
        ("part-0.snappy.parquet", "parquet", ["date"], "is partitioned by no column: partition by the same columns"),
        (
            "date=1/n=2/part-0.snappy.parquet",
            "parquet",
            ["n", "date"],
            "is partitioned by date, n: partition by the same",
        ),
        ("_delta_log/0.json", "parquet", [], "is a Delta table"),
        ("part-0.c000.zstd.parquet", "parquet", [], None),
        ("date=1/n=2/part-0.snappy.parquet", "parquet", ["date", "n"], None),
        ("_SUCCESS", "parquet", [], None),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["append", "stream"])
def test_files_of_another_form_or_in_other_folders_are_not_added(
    tmp_path: Path, there: str, form: str, partition_by: list[str], why: str | None, stream: bool
) -> None:
    (tmp_path / "out" / there).parent.mkdir(parents=True)
    (tmp_path / "out" / there).write_text("x")
    (tmp_path / "c" / "offsets").mkdir(parents=True)
    (tmp_path / "c" / "offsets" / "0").write_text("v1")

    def check() -> None:
        folder = Folder(str(tmp_path / "out"), "append", direct=stream)
        if stream:
            folder.check_stream(tmp_path / "c", form, partition_by)
        else:
            folder.check(form, partition_by)

    if why is None:
        check()
    else:
        with pytest.raises(UsageError, match=re.escape(why)):
            check()

"""Command lines about Delta tables, without Spark: which writer they get, what is refused before anything starts, and
files that no version of a table names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kcli.cli.commands.pipeline.options import PipelineOptions
from kcli.cli.commands.pipeline.session import frame as frames
from kcli.cli.commands.pipeline.session.frame import DELTA_PACKAGE, Frame, delta_conf, delta_jars
from kcli.cli.main import main
from kcli.errors import UsageError
from kcli.pipeline.session import gateway
from tests.pipeline import connector

if TYPE_CHECKING:
    from pathlib import Path

    from tests.pipeline.topics import Topics

deltalake = pytest.importorskip("deltalake", reason="pip install 'kcli-kafka[delta]'")
pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark]'")
LINE = ["pipeline", "export", "orders", "-b", "127.0.0.1:1", "--file-format", "delta", "out", "--dry-run"]


def frame_of(*words: str, **given: object) -> Frame:
    return Frame(PipelineOptions(conf=list(words), bootstrap="127.0.0.1:1", **given), "export")


def test_a_cluster_takes_deltas_own_writer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--master", "spark://127.0.0.1:7077"]) == 2
    assert f"--file-format delta on a cluster needs Delta's own writer: --packages {DELTA_PACKAGE}" in (
        capsys.readouterr().err
    )
    assert main([*LINE, "--remote", "sc://127.0.0.1:15002"]) == 2
    assert "--file-format delta requires --master" in capsys.readouterr().err


def test_with_it_a_plan_is_shown(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    topic = topics.make(1)
    topics.values(topic, 3)
    line = ["pipeline", "export", topic, "-b", topics.bootstrap, "--file-format", "delta", "out", "--dry-run"]
    assert main([*line, "--master", "spark://127.0.0.1:7077", "--packages", DELTA_PACKAGE]) == 0
    assert topic in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--jars", "missing.jar"), "--jars: missing.jar is not a file"),
        (("--packages", DELTA_PACKAGE, "--remote", "sc://h:1"), "--packages configures a Spark that kcli starts"),
        (("--packages", DELTA_PACKAGE, "--file-size", "1MB"), "sizes files when it merges them: add --compact 1h"),
        (
            ("--packages", DELTA_PACKAGE, "--conf", "spark.sql.extensions=a.B"),
            "spark.sql.extensions=a.B: it must include",
        ),
    ],
)
def test_lines_that_do_not_go_together(
    words: tuple[str, ...],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*LINE, *words]) == 2
    assert why in capsys.readouterr().err


def test_packages_and_jars_are_settings_of_spark(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.touch()
    frame = frame_of("spark.jars.packages=a:b:1", packages="c:d:2,e:f:3", jars=str(jar))
    assert frame.conf == {"spark.jars.packages": "a:b:1,c:d:2,e:f:3", "spark.jars": str(jar)}
    assert dict(frame.session("x").conf)["spark.jars.packages"] == "a:b:1,c:d:2,e:f:3"


def test_where_deltas_own_writer_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar, folder = tmp_path / "delta-spark_4.2_2.13-4.4.0.jar", tmp_path / "delta"
    folder.mkdir()
    jar.touch()
    (folder / "other.jar").touch()
    assert not delta_jars(frame_of())
    assert not delta_jars(frame_of(jars=str(folder / "other.jar")))
    assert delta_jars(frame_of(packages=DELTA_PACKAGE))
    assert delta_jars(frame_of(jars=str(jar)))
    assert delta_jars(frame_of("spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension"))
    assert [name for name, _ in delta_conf(frame_of(packages=DELTA_PACKAGE))] == [
        "spark.sql.extensions", "spark.sql.catalog.spark_catalog", "spark.databricks.delta.snapshotPartitions",
    ]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(frames, "spark_jars", lambda: [tmp_path])
        assert delta_jars(frame_of())
    (tmp_path / "spark-defaults.conf").write_text(
        "# a comment\nspark.master  spark://h:7077\n\nspark.jars.packages=io.delta:delta-spark_4.2_2.13:4.4.0\nalone\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert gateway.defaults() == {"spark.master": "spark://h:7077", "spark.jars.packages": DELTA_PACKAGE}
    assert delta_jars(frame_of())
    assert not frame_of().on_cluster, "kcli names the master itself"
    assert frame_of(master="spark://h:7077").on_cluster
    assert frame_of("spark.master=yarn").on_cluster


def test_the_package_is_that_of_the_tests() -> None:
    group, name, version = DELTA_PACKAGE.split(":")
    text = connector.DELTA.read_text()
    assert f"<groupId>{group}</groupId>" in text
    assert f"<artifactId>{name}</artifactId>\n      <version>{version}</version>" in text


def table(place: Path) -> None:
    """Three versions, of which the last has one file of its own, and three files of no version."""
    for mode in ("append", "append", "overwrite"):
        deltalake.write_deltalake(place, pa.table({"n": [1]}), mode=mode)
    for number, days in enumerate((0.1, 2, 30)):
        file = place / f"stray-{number}.parquet"
        file.write_bytes(b"x")
        os.utime(file, (time.time() - days * 86400,) * 2)


def test_files_that_no_version_names_are_deleted_after_a_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "t"
    table(place)
    before = {path.name for path in place.glob("*.parquet")}
    for path in place.glob("part-*.parquet"):
        os.utime(path, (1, 1))
    assert main(["pipeline", "clean", str(place), "--dry-run", "-J"]) == 0
    assert "stray-2.parquet" in capsys.readouterr().out
    assert {path.name for path in place.glob("*.parquet")} == before
    assert main(["pipeline", "clean", str(place), "--execute"]) == 0
    assert {path.name for path in place.glob("*.parquet")} == before - {"stray-2.parquet"}
    assert main(["pipeline", "clean", str(place), "--execute", "--older-than", "1d"]) == 0
    assert {path.name for path in place.glob("*.parquet")} == before - {"stray-1.parquet", "stray-2.parquet"}
    for version in range(3):
        assert deltalake.DeltaTable(place, version=version).to_pyarrow_table().num_rows == [1, 2, 1][version]


def test_clean_refuses_what_is_no_table_and_files_that_may_be_of_a_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "clean", str(tmp_path)]) == 2
    assert "this table does not exist" in capsys.readouterr().err
    table(tmp_path / "t")
    assert main(["pipeline", "clean", str(tmp_path / "t"), "--older-than", "1m"]) == 2
    assert "--older-than 1m" in capsys.readouterr().err


def test_extensions_without_deltas_are_named() -> None:
    with pytest.raises(UsageError, match=r"it must include io\.delta\.sql\.DeltaSparkSessionExtension"):
        delta_conf(frame_of("spark.sql.extensions=a.B", packages=DELTA_PACKAGE))

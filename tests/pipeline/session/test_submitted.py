"""`kcli pipeline` as a program of spark-submit: the JVM that is there is used, with its settings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pytest

from kcli.cli.commands.pipeline.export import ExportOptions
from kcli.cli.commands.pipeline.session.drive import _host, _keep
from kcli.cli.commands.pipeline.session.frame import Frame
from kcli.cli.commands.pipeline.session.stored import store_conf
from kcli.cli.main import main
from kcli.errors import UsageError
from kcli.pipeline.session import gateway
from kcli.pipeline.session.gateway import spark_home
from kcli.pipeline.session.session import SessionSettings, conf_of
from tests.pipeline.daemons import PATIENCE, ROOT

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

PROGRAM = ROOT / "examples" / "spark_submit" / "pipeline.py"


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(400)
@pytest.mark.long
def test_spark_submit_runs_a_pipeline_in_its_own_jvm(topics: Topics, tmp_path: Path) -> None:
    topic = topics.make(2)
    for partition in range(2):
        topics.values(topic, 500, partition=partition)
    state = tmp_path / "state"
    environment = {
        **os.environ, "KCLI_BOOTSTRAP": topics.bootstrap, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state),
        "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
    }  # fmt: skip
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[2]", "--name", "mine"]
    submit += ["--conf", "spark.sql.shuffle.partitions=3", "--conf", "spark.ui.enabled=false"]
    out = tmp_path / "out"
    for words, code in ((["export", topic, str(out)], 0), (["export", topic, str(out)], 2)):
        done = subprocess.run(
            [*submit, str(PROGRAM), *words], env=environment, capture_output=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == code, done.stderr.decode()[-2000:]
    assert "is not empty: --append adds to it" in done.stdout.decode(), "spark-submit has one output of Python"
    assert ds.dataset(out, format="parquet").count_rows() == 1000
    assert not list(state.glob("kcli/spark/*.log")), "kcli started a JVM of its own"
    sql = ["sql", "SET spark.sql.shuffle.partitions", "--format", "ndjson"]
    printed = subprocess.run(
        [*submit, str(PROGRAM), *sql], env=environment, capture_output=True, timeout=PATIENCE, check=True
    )
    assert printed.stdout.decode().strip() == '{"key":"spark.sql.shuffle.partitions","value":"3"}'


@pytest.mark.slow
def test_what_spark_submit_was_given_stays_unless_the_line_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    known = {"spark.master": "yarn", "spark.ui.enabled": "true", "spark.archives": "env.tar.gz#env", "a": "known"}
    made = conf_of(SessionSettings(conf=(("a", "line"),)), known)
    assert [made["spark.master"], made["spark.ui.enabled"], made["a"]] == ["yarn", "true", "line"]
    assert made["spark.archives"].startswith("env.tar.gz#env,"), "kcli's code goes beside the archives"
    assert "spark.driver.host" not in made


def test_options_of_sparks_start_are_spark_submits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["pipeline", "export", "orders", "out", "-b", "127.0.0.1:1", "--dry-run"]
    assert main([*line, "--conf", "spark.submit.deployMode=cluster"]) == 2
    assert "spark-submit --deploy-mode cluster starts it on the cluster" in capsys.readouterr().err
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    for option in (["--master", "yarn"], ["--memory", "4g"], ["--remote", "sc://h"]):
        assert main([*line, *option]) == 2
        assert f"{option[0]}: spark-submit has started Spark" in capsys.readouterr().err


def test_the_log_of_an_error_is_written_where_kcli_started_no_jvm(tmp_path: Path) -> None:
    """Under spark-submit nothing else made the folder; its absence would hide the error."""
    log = tmp_path / "kcli" / "spark" / "one.log"
    _keep(ValueError("the real one"), log)
    assert "ValueError: the real one" in log.read_text()
    assert log.parent.stat().st_mode & 0o777 == 0o700


def given(monkeypatch: pytest.MonkeyPatch, **conf: str) -> None:
    """spark-submit runs this process, and was given these settings."""
    known = {f"spark.{name.replace('_', '.')}": value for name, value in conf.items()}
    monkeypatch.setattr(gateway, "submitted", lambda: True)
    monkeypatch.setattr(gateway, "submitted_conf", lambda: known)


def test_the_master_of_spark_submit_says_whether_spark_runs_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    frame = Frame(ExportOptions(once=True), "export")
    given(monkeypatch, master="local[2]", driver_host="10.0.0.7")
    assert frame.checkpoint("x") == tmp_path / "kcli" / "pipelines" / "x" / "checkpoint"
    assert _host(None, SessionSettings()) == "127.0.0.1"
    given(monkeypatch, master="k8s://https://10.0.0.1", driver_host="10.0.0.7")
    with pytest.raises(UsageError, match="--checkpoint DIR is needed"):
        frame.checkpoint("x")  # a pod's own folder goes with it, and the next one would write all again
    assert _host(None, SessionSettings()) == "10.0.0.7"


def test_a_master_in_conf_says_it_too() -> None:
    with pytest.raises(UsageError, match="--checkpoint DIR is needed"):
        Frame(ExportOptions(once=True, conf=["spark.master=yarn"]), "export").checkpoint("x")


def test_the_client_for_s3_and_the_store_that_spark_submit_was_given_are_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    given(monkeypatch, master="yarn")
    with pytest.raises(UsageError, match=r"spark-submit --packages org\.apache\.hadoop:hadoop-aws:"):
        store_conf("s3://lake/c", {})
    region = "spark.hadoop.fs.s3a.endpoint.region"
    given(monkeypatch, yarn_dist_jars="file:/ivy/org.apache.hadoop_hadoop-aws-3.5.0.jar")
    assert store_conf("s3://lake/c", {})[region] == "eu-west-1"
    given(monkeypatch, jars="/hadoop-aws-3.5.0.jar", hadoop_fs_s3a_endpoint_region="us-east-2")
    assert region not in store_conf("s3://lake/c", {}), "what spark-submit was given stays"
    given(monkeypatch)
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "hadoop-aws-3.5.0.jar").touch()
    assert store_conf("s3://lake/c", {})[region] == "eu-west-1", "it is beside the Spark of spark-submit"
    monkeypatch.setattr(gateway, "submitted", lambda: False)
    with pytest.raises(UsageError, match=r"PySpark does not include: --packages org\.apache\.hadoop:hadoop-aws:"):
        store_conf("s3://lake/c", {})  # the JVM that kcli starts has PySpark's jars

"""A stream whose checkpoint is in an object store (moto's server), beside its table: killed, and continued."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli.cli.commands.pipeline.session.stored import store_conf
from kcli.cli.main import main
from kcli.errors import UsageError
from kcli.pipeline.jobs.checkpoints import Beside, begun, names, read
from kcli.pipeline.jobs.lake.delta import DeltaTable
from kcli.pipeline.sink.storage import delta_options, storage_here
from tests.kafka import artifacts
from tests.pipeline.jobs.lake.test_killed import run
from tests.pipeline.jobs.lake.test_object_store import bucket as bucket

if TYPE_CHECKING:
    from tests.pipeline.topics import Topics

POM = Path(__file__).with_name("hadoop_aws.pom.xml")
CHECKPOINT = "s3a://lake/checkpoint"


@pytest.mark.spark
@pytest.mark.process
@pytest.mark.timeout(1000)
@pytest.mark.long
def test_a_stream_with_its_checkpoint_and_table_in_a_store_is_killed_and_continued(
    bucket: str, topics: Topics, tmp_path: Path
) -> None:
    import deltalake

    topic = topics.make(1)
    values = [b'{"n":%d}' % n for n in range(300)]
    topics.fill(topic, [(0, None, None, value, ()) for value in values[:200]])
    jars = ",".join(sorted(str(jar) for jar in artifacts.libs(POM, "hadoop-aws").glob("*.jar")))
    line = ["export", topic, "s3://lake/orders", "--file-format", "delta", "--once", "-q", "--value-format", "json"]
    line += ["--select", "value.n", "--checkpoint", "s3://lake/checkpoint", "--conf", f"spark.jars={jars}"]
    assert run("checkpoint", line, tmp_path, topics.bootstrap) == -signal.SIGKILL
    assert [names(CHECKPOINT, "offsets"), names(CHECKPOINT, "commits")] == [["0"], []]
    topics.fill(topic, [(0, None, None, value, ()) for value in values[200:]])
    assert run("never", line, tmp_path, topics.bootstrap) == 0
    table = deltalake.DeltaTable("s3://lake/orders", storage_options=delta_options())
    assert sorted(table.to_pyarrow_table()["n"].to_pylist()) == list(range(300))
    last = DeltaTable("s3://lake/orders").last(read(CHECKPOINT).query)
    assert last is not None
    assert (last.epoch, sum(last.end.values())) == (1, 300)
    assert Beside(CHECKPOINT, "schema", "a schema").known == {topic: "`n` bigint"}


@pytest.mark.process
def test_what_is_kept_beside_a_checkpoint_in_a_store_holds_with_its_first_batch(bucket: str) -> None:
    Beside(CHECKPOINT, "schema", "a schema").keep({"orders": "id BIGINT"})
    assert not begun(CHECKPOINT)
    assert Beside(CHECKPOINT, "schema", "a schema").known == {}
    storage_here().write(f"{CHECKPOINT}/offsets/0", b"v1")
    assert begun(CHECKPOINT)
    assert Beside(CHECKPOINT, "schema", "a schema").known == {"orders": "id BIGINT"}
    storage_here().write(f"{CHECKPOINT}.schema.json", b"no JSON")
    with pytest.raises(UsageError, match=r"s3a://lake/checkpoint\.schema\.json is not a schema"):
        Beside(CHECKPOINT, "schema", "a schema")


@pytest.mark.process
def test_a_checkpoint_in_a_store_is_shown_and_not_moved(bucket: str, capfd: pytest.CaptureFixture[str]) -> None:
    head = 'v1\n{"batchWatermarkMs":0}\n'
    for name, text in (
        ("metadata", '{"id":"7f"}'),
        ("offsets/0", head + '{"orders":{"0":5},"@kcli":{"cluster":"c","topics":{}}}'),
        ("offsets/1", head + '{"orders":{"0":9},"@kcli":{"cluster":"c","topics":{}}}'),
        ("commits/0", "v1"),
    ):
        storage_here().write(f"{CHECKPOINT}/{name}", text.encode())
    assert main(["pipeline", "checkpoint", "s3://lake/checkpoint/", "-J"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["checkpoint"] == [{"path": CHECKPOINT, "query": "7f", "batch": 1, "committed": 0, "cluster": "c"}]
    (row,) = shown["offsets"]
    assert (row["topic"], row["partition"], row["offset"], row["planned"]) == ("orders", 0, 5, 9)
    for words, why in (
        (
            ["s3://lake/checkpoint", "--reset-to", "beginning"],
            "s3a://lake/checkpoint is in an object store",
        ),
        (["s3://lake/other"], "s3a://lake/other is not a checkpoint: it has no folder offsets"),
        (["hdfs://lake/checkpoint"], "is neither on this machine nor in s3://"),
    ):
        assert main(["pipeline", "checkpoint", *words]) == 2
        assert why in capfd.readouterr().err


def test_spark_is_told_where_the_store_is_and_needs_hadoops_client(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:9000")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert store_conf("/tmp/here", {"a": "b"}) == {}
    said = r"--checkpoint s3a://lake/checkpoint: .*--packages org\.apache\.hadoop:hadoop-aws:3\."
    with pytest.raises(UsageError, match=said):
        store_conf(CHECKPOINT, {}, "--checkpoint ")
    given = {"spark.jars": "/jars/hadoop-aws-3.5.0.jar", "spark.hadoop.fs.s3a.endpoint": "http://other:1"}
    assert store_conf(CHECKPOINT, given) == {
        "spark.hadoop.fs.s3a.endpoint.region": "eu-west-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    }

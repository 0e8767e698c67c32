"""On Spark as others run it: a standalone cluster of processes, one killed in mid-job, and Spark Connect; by sessions
and from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from operator import itemgetter
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from kcli.pipeline.session.session import PLACE
from tests.pipeline.daemons import PATIENCE, ROOT, Daemon, connect_of, standalone_of
from tests.pipeline.jobs.test_quarantine import BAD, GOOD, KEPT, sent
from tests.pipeline.jobs.test_quarantine import LINE as BAD_LINE
from tests.pipeline.schemas.conftest import places as places
from tests.pipeline.schemas.conftest import registry as registry
from tests.pipeline.tree import descendants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.pipeline.schemas.registries import Registry
    from tests.pipeline.topics import Topics

pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Daemon]]]:
    with standalone_of(tmp_path_factory.mktemp("standalone")) as made:
        yield made


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("grpc", reason="pip install 'kcli-kafka[spark-connect]'")
    pytest.importorskip("pandas", reason="pip install 'kcli-kafka[spark-connect]'")
    with connect_of(tmp_path_factory.mktemp("connect")) as url:
        yield url


def executor_of(workers: list[Daemon]) -> int:
    """An executor's process."""
    for worker in workers:
        for pid in descendants(worker.process.pid):
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"CoarseGrainedExecutorBackend" in line:
                return pid
    raise AssertionError("no executor runs")


def pipeline(topics: Topics, folder: Path, *words: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`kcli pipeline WORDS` as a process of its own: the last line of its report, and those of progress before it."""
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(folder / "state"), "SPARK_LOCAL_IP": "127.0.0.1",
        "KCLI_BOOTSTRAP": topics.bootstrap,
    }  # fmt: skip
    line = [sys.executable, "-W", "ignore", "-m", "kcli", "pipeline", *words, "--format", "ndjson"]
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    lines = [json.loads(one) for one in done.stdout.splitlines()]
    return lines[-1], lines[:-1]


EXECUTORS = (
    "--conf", "spark.executor.memory=600m", "--conf", "spark.executor.cores=1",
    "--conf", "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1", "--memory", "1g",
)  # fmt: skip


@pytest.mark.long
def test_an_executor_that_is_killed_in_mid_job_costs_nothing(standalone, topics: Topics, tmp_path: Path):
    url, workers = standalone
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 100_000, partition=one)
    words = [sys.executable, "-m", "tests.pipeline.on_cluster", url, topics.bootstrap, topic, target, str(tmp_path)]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    ) as driver:
        done = tmp_path / "out" / "_temporary" / "0"
        deadline = time.monotonic() + PATIENCE
        while len(list(done.glob("task_*"))) < 2:
            assert driver.poll() is None
            assert time.monotonic() < deadline, "no task got done"
            time.sleep(0.02)
        victim = executor_of(workers)
        os.kill(victim, signal.SIGKILL)
        assert not (tmp_path / "out" / "_SUCCESS").exists()
        assert driver.stdout is not None
        printed = driver.stdout.read().decode().split()
        assert driver.wait(PATIENCE) == 0
    assert {Path(one).parts[-3] for one in printed} == {PLACE}, "executors took kcli from elsewhere"
    files = [str(path) for path in (tmp_path / "out").glob("part-*.parquet")]
    table = ds.dataset(files, format="parquet").to_table(["partition", "offset", "value"])
    rows = sorted(zip(*(table[name].to_pylist() for name in ("partition", "offset", "value")), strict=True))
    assert rows == [(one, n, b"%d" % n) for one in range(2) for n in range(100_000)]
    lost = sum("lost executor" in line.lower() for line in (tmp_path / "spark.log").read_text().splitlines())
    assert lost >= 1
    copied = [(partition, record.value) for partition, record in topics.read(target)]
    assert sorted(copied) == sorted((one, b"%d" % n) for one in range(2) for n in range(100_000))


def test_the_command_line_drives_a_standalone_cluster(standalone, topics: Topics, tmp_path: Path):
    """Progress comes from the executors; a stream keeps its checkpoint where all machines see it."""
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 20_000, partition=one)
    url, _ = standalone
    where = ["--master", url, *EXECUTORS]
    outcome, progress = pipeline(topics, tmp_path, "export", topic, "out", "--where", "offset < 15000", *where)
    assert (outcome["state"], outcome["records"]) == ("done", 30_000)
    assert sum(one["read"] for one in progress if one["state"] == "ended" and one["topic"] is None) == 30_000
    assert ds.dataset(tmp_path / "out", format="parquet").count_rows() == 30_000
    stream = ["copy", topic, target, "--once", "--checkpoint", str(tmp_path / "check"), *where]
    assert pipeline(topics, tmp_path, *stream)[0]["records"] == 40_000
    assert len(topics.read(target)) == 40_000


@pytest.mark.long
def test_spark_shuffles_over_the_cores_of_the_cluster(
    standalone: tuple[str, list[Daemon]], topics: Topics, tmp_path: Path
) -> None:
    """Two executors of two cores each, however many cores the driver's machine has."""
    where = ["--master", standalone[0], *EXECUTORS, "--conf", "spark.executor.cores=2"]
    (row, _) = pipeline(topics, tmp_path, "sql", "SET spark.sql.shuffle.partitions", *where)
    assert row == {"key": "spark.sql.shuffle.partitions", "value": "4"}


@pytest.mark.long
def test_spark_connect_reads_writes_and_streams(connect: str, topics: Topics, tmp_path: Path):
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 2000, partition=one)
    client = [sys.executable, "-W", "ignore", "-m", "tests.pipeline.connected", connect, topics.bootstrap, topic,
              target, str(tmp_path)]  # fmt: skip
    done = subprocess.run(client, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert json.loads(done.stdout) == {"rows": 4000, "most": 1999, "streamed": 4000}
    assert len(topics.read(target)) == 4000


def test_the_command_line_is_a_client_of_spark_connect(connect: str, topics: Topics, tmp_path: Path):
    topic, target = topics.make(2), topics.make(2)
    for one in range(2):
        topics.values(topic, 5000, partition=one)
    outcome, progress = pipeline(topics, tmp_path, "export", topic, "out", "--remote", connect)
    assert (outcome["state"], outcome["records"]) == ("done", 10_000)
    assert sum(one["read"] for one in progress if one["state"] == "ended" and one["topic"] is None) == 10_000
    assert ds.dataset(tmp_path / "out", format="parquet").count_rows() == 10_000
    stream = ["copy", topic, target, "--once", "--checkpoint", str(tmp_path / "check"), "--remote", connect]
    assert pipeline(topics, tmp_path, *stream)[0]["records"] == 10_000
    assert len(topics.read(target)) == 10_000
    back = topics.make(2)
    brought = pipeline(topics, tmp_path, "import", "out", back, "--keep-partitions", "--remote", connect)
    assert brought[0]["records"] == 10_000
    text = f"SELECT count(DISTINCT partition, offset) AS n FROM `{back}`"
    assert pipeline(topics, tmp_path, "sql", text, "--remote", connect)[0] == {"n": 10_000}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["standalone", "connect"])
def test_bad_records_go_to_a_topic_from_where_the_tasks_run(
    kind: str, request: pytest.FixtureRequest, topics: Topics, tmp_path: Path
) -> None:
    where = ["--remote", request.getfixturevalue(kind)]
    if kind == "standalone":
        where = ["--master", request.getfixturevalue(kind)[0], *EXECUTORS]
    topic, bad = topics.make(2), topics.make(2)
    topics.fill(topic, [*GOOD, *BAD])
    line = ["export", topic, "out", *BAD_LINE, "--quarantine", f"topic:{bad}", *where]
    outcome, _ = pipeline(topics, tmp_path, *line)
    assert (outcome["state"], outcome["records"], outcome["bad"]) == ("done", 40, 4)
    assert sorted(row["value"]["id"] for row in ds.dataset(tmp_path / "out").to_table().to_pylist()) == list(range(40))
    assert sent(topics, bad, topic) == KEPT


def order(*more: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, *more]}


NEWER = order({"name": "total", "type": ["null", "double", "string"], "default": None})
ROWS = [(0, None), (1, None), (2, {"member0": 1.5, "member1": None}), (3, {"member0": None, "member1": "x"})]
"""Of the records of `filled`, by the newer schema."""


def filled(topics: Topics, registry: Registry) -> str:
    """A topic of Avro: of the subject's two versions, and of a schema that only a task finds, by its id."""
    topic = topics.make(2)
    values = registry.avro(topic, order(), {"id": 0}) + registry.avro(topic, NEWER, {"id": 2, "total": 1.5})
    values += registry.avro(topic, NEWER, {"id": 3, "total": "x"})
    values += registry.avro(f"{topic}-other", {**order(), "doc": "another id"}, {"id": 1})
    topics.fill(topic, [(number % 2, None, None, value, ()) for number, value in enumerate(values)])
    return topic


def written(topics: Topics, registry: Registry, topic: str) -> list[bytes]:
    """The payloads of a topic, which has all of them by the latest schema of its subject."""
    values = [record.value or b"" for _, record in topics.read(topic)]
    front = b"\0" + registry.latest(f"{topic}-value")[0].to_bytes(4, "big")
    assert {value[:5] for value in values} == {front}
    return sorted(value[5:] for value in values)


PAYLOADS = [b"\0\0", b"\2\0", b"\4\2" + pack("<d", 1.5), b"\6\4\2x"]
"""Of ROWS."""


@pytest.mark.long
def test_executors_read_and_write_avro_of_a_registry(
    standalone: tuple[str, list[Daemon]], topics: Topics, registry: Registry, tmp_path: Path
) -> None:
    topic, into = filled(topics, registry), topics.make(2)
    where = ["--master", standalone[0], *EXECUTORS]
    avro = ["--value-format", "avro", "--schema-registry", registry.url]
    outcome, _ = pipeline(topics, tmp_path, "export", topic, "out", *avro, "--select", "value.id, value.total", *where)
    assert (outcome["state"], outcome["records"]) == ("done", 4)
    rows = ds.dataset(tmp_path / "out", format="parquet").to_table().to_pylist()
    assert sorted(((row["id"], row["total"]) for row in rows), key=itemgetter(0)) == ROWS
    (tmp_path / "row.avsc").write_text(json.dumps(NEWER))
    sink = ["--into", into, "--to-value-format", "avro", "--to-value-schema", "file:row.avsc", "--register"]
    pipeline(topics, tmp_path, "sql", f"SELECT value FROM `{topic}`", *avro, *sink, *where)
    assert written(topics, registry, into) == PAYLOADS


@pytest.mark.long
def test_spark_connect_reads_and_writes_avro_of_a_registry(
    connect: str, topics: Topics, registry: Registry, tmp_path: Path
) -> None:
    topic, target, back = filled(topics, registry), topics.make(2), topics.make(2)
    (tmp_path / "row.avsc").write_text(json.dumps(NEWER))
    client = [sys.executable, "-W", "ignore", "-m", "tests.pipeline.connected_avro", connect, topics.bootstrap,
              registry.url, topic, target, str(tmp_path / "row.avsc")]  # fmt: skip
    done = subprocess.run(client, cwd=ROOT, capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert json.loads(done.stdout) == {
        "type": "struct<id:bigint,total:struct<member0:double,member1:string>>",
        "rows": [[number, total and list(total.values())] for number, total in ROWS],
    }
    assert written(topics, registry, target) == PAYLOADS
    avro = ["--value-format", "avro", "--schema-registry", registry.url, "--remote", connect]
    registry.register(f"{back}-value", NEWER)
    sink = ["--into", back, "--to-value-format", "avro"]
    pipeline(topics, tmp_path, "sql", f"SELECT value FROM `{target}`", *avro, *sink)
    assert written(topics, registry, back) == PAYLOADS

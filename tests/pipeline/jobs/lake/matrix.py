"""`python -m tests.pipeline.jobs.lake.matrix [RUNS] [SEED]`: pipelines into tables and folders, hurt at random, on a
real Apache Kafka: whatever happens, the table ends equal to the topic.

A run is a form of output, a place where Spark runs, and a fault. After the fault one undisturbed run of the same line
follows. Only a restored checkpoint and a second driver may be refused instead, and then nothing has changed. Prints a
line for each run and exits 1 where a record is lost or twice. tests/pipeline/jobs/lake/test_matrix.py plays six.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.pipeline.daemons import standalone_of
from tests.pipeline.topics import Topics
from tests.pipeline.tree import descendants
from tests.ports import free_port

ROOT = Path(__file__).parents[4]
PATIENCE = 240.0
EACH = 900
"""Records between two events of a run, in batches of a fifth."""
DELTA = "io.delta:delta-spark_4.2_2.13:4.4.0"
CLUSTER = (
    "--conf", "spark.executor.memory=600m", "--conf", "spark.executor.cores=1",
    "--conf", "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1", "--memory", "1g",
)  # fmt: skip
Rows = list[tuple[int, int, int]]


@dataclass(frozen=True)
class Case:
    form: str
    """parquet, delta (by deltalake), delta-spark (by Delta's own jars) or iceberg."""
    place: str
    """local or cluster."""
    fault: str

    def __str__(self) -> str:
        return f"{self.form} {self.place} {self.fault}"


LOCAL = [Case(form, "local", fault) for form in ("parquet", "delta", "delta-spark", "iceberg")
         for fault in ("driver", "jvm", "python", "zombies", "restored", "clock", "disk")]  # fmt: skip
STORE = [Case(form, "local", "store") for form in ("delta", "iceberg")]
FAR = [Case(form, "cluster", fault) for form in ("parquet", "delta-spark", "iceberg")
       for fault in ("driver", "executor", "zombies", "restored")]  # fmt: skip
CASES = [*LOCAL, *STORE, *FAR]
FEW = [
    Case("delta", "local", "driver"), Case("iceberg", "local", "jvm"), Case("parquet", "local", "restored"),
    Case("delta", "local", "zombies"), Case("iceberg", "local", "restored"), Case("delta-spark", "local", "zombies"),
]  # fmt: skip
"""What `make test-spark` plays."""


class Lost(AssertionError):
    """The table is not the topic."""


@dataclass
class Bench:
    """What the runs share: a topic's cluster, Spark's master, programs that change time and stores."""

    topics: Topics
    folder: Path
    master: str = ""
    fake_time: str | None = field(default_factory=lambda: shutil.which("faketime"))

    def cannot(self, case: Case) -> str:
        """Why a case cannot be played here; "" where it can."""
        if case.place == "cluster" and not self.master:
            return "no standalone cluster was started"
        if case.fault == "clock" and self.fake_time is None:
            return "faketime is not installed"
        if case.fault == "disk" and os.geteuid() != 0:
            return "only root may mount a small disk"
        return ""


class Run:
    """One case, with a folder and a topic of its own."""

    def __init__(self, bench: Bench, case: Case, number: int, chance: random.Random) -> None:
        self.bench, self.case, self.chance = bench, case, chance
        self.folder = bench.folder / f"run-{number}"
        self.folder.mkdir()
        self.checkpoint = self.folder / "checkpoint"
        self.topic = bench.topics.make(3)
        self.wanted: Rows = []
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), "KCLI_BOOTSTRAP": bench.topics.bootstrap,
                            "SPARK_LOCAL_IP": "127.0.0.1", "XDG_DATA_HOME": str(self.folder / "share")}  # fmt: skip
        self.out = self.folder / "lake"
        self.store = ""

    # -- the line of a user ------------------------------------------------------------------------------------------

    def words(self) -> list[str]:
        case = self.case
        root = self.store or str(self.out)
        line = [
            "export",
            self.topic,
            "--once",
            "--checkpoint",
            str(self.checkpoint),
            "--max-per-batch",
            str(EACH // 5),
        ]
        line += ["--select", "partition, offset, CAST(CAST(value AS STRING) AS BIGINT) AS n", "-q"]
        if case.form == "iceberg":
            line += ["--file-format", "iceberg", "--out", "raw.orders", "--warehouse", root]
        else:
            line += ["--file-format", case.form.partition("-")[0], "--out", f"{root}/orders" if self.store else root]
        if case.form == "delta-spark":
            line += ["--packages", DELTA]
        if case.place == "cluster":
            line += ["--master", self.bench.master, *CLUSTER]
        return line

    def start(self, *more: str, home: str = "one", before: tuple[str, ...] = ()) -> Driver:
        """A driver; another `home` is another machine, which knows nothing of the locks of this one."""
        line = [*before, sys.executable, "-W", "ignore", "-m", "kcli", "pipeline", *self.words(), *more]
        return Driver(self, line, {**self.environment, "XDG_STATE_HOME": str(self.folder / home)})

    def fill(self, count: int = EACH) -> None:
        """Records more, each with its number, in random partitions."""
        first = len(self.wanted)
        ends = [sum(1 for at, _, _ in self.wanted if at == part) for part in range(3)]
        rows = []
        for number in range(first, first + count):
            part = self.chance.randrange(3)
            self.wanted.append((part, ends[part], number))
            ends[part] += 1
            rows.append((part, None, None, b"%d" % number, ()))
        self.bench.topics.fill(self.topic, rows)

    # -- what is in the table ----------------------------------------------------------------------------------------

    def rows(self) -> dict[str, Rows]:
        """The rows, as each reader has them."""
        form = self.case.form.partition("-")[0]
        return {"parquet": self._parquet, "delta": self._delta, "iceberg": self._iceberg}[form]()

    def _parquet(self) -> dict[str, Rows]:
        line = [sys.executable, "-m", "kcli", "pipeline", "finalize", str(self.out), "--execute", "-q"]
        if self.out.exists():
            done = subprocess.run(line, env=self.environment, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
        return {"DuckDB": _duckdb([str(path) for path in self.out.glob("*.parquet")]), "Spark": self._spark("parquet")}

    def _delta(self) -> dict[str, Rows]:
        import deltalake

        if self.store:
            from kcli.pipeline.sink.storage import delta_options

            table = deltalake.DeltaTable(f"{self.store}/orders", storage_options=delta_options())
            return {"deltalake": _rows(table.to_pyarrow_table())}
        if not deltalake.DeltaTable.is_deltatable(str(self.out)):
            return {"deltalake": []}
        table = deltalake.DeltaTable(self.out)
        files = [uri.removeprefix("file://") for uri in table.file_uris()]
        return {"deltalake": _rows(table.to_pyarrow_table()), "DuckDB": _duckdb(files), "Spark": self._spark("delta")}

    def _iceberg(self) -> dict[str, Rows]:
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        from kcli.pipeline.jobs.lake.catalogs import place_of

        try:
            with _environment(self.environment):
                table = place_of(self.store or str(self.out), None).opened().load_table("raw.orders")
                found = {"pyiceberg": _rows(table.scan().to_arrow())}
        except (NoSuchNamespaceError, NoSuchTableError):
            return {"pyiceberg": []}
        if not self.store:
            files = [task.file.file_path.removeprefix("file://") for task in table.scan().plan_files()]
            found["DuckDB"] = _duckdb(files)
        return found

    def _spark(self, form: str) -> Rows:
        if not any(self.out.glob("*.parquet")):
            return []
        return _rows(SPARK.get().read.format(form).load(str(self.out)).toArrow())

    # -- a case, from its first record to the comparison -------------------------------------------------------------

    def play(self) -> str:
        """equal or refused. Raises Lost."""
        with getattr(self, f"_with_{self.case.fault}", contextlib.nullcontext)():
            self.fill()
            getattr(self, f"_{self.case.fault}")()
            self.fill(EACH // 3)
            before = self.rows()
            driver = self.start()
            code = driver.wait()
        after = self.rows()
        if code and self.case.fault in ("restored", "zombies"):
            if after != before:
                raise Lost(f"refused, and changed all the same: {driver.said()}")
            self._no_twins(after)
            return "refused"
        if code:
            raise Lost(f"the last run failed with {code}: {driver.said()}")
        wanted = sorted(self.wanted)
        for reader, rows in after.items():
            if rows != wanted:
                missing, more = set(wanted) - set(rows), len(rows) - len(set(rows))
                raise Lost(f"{reader} has {len(rows)} rows of {len(wanted)}: {len(missing)} missing, {more} twice")
        return "equal"

    def _no_twins(self, found: dict[str, Rows]) -> None:
        for reader, rows in found.items():
            if len(set(rows)) < len(rows) or not set(rows) <= set(self.wanted):
                raise Lost(f"{reader} has a record twice, or one that is not in the topic")

    def _killed(self, victim: Callable[[Driver], int | None], again: int = 2) -> None:
        for _ in range(again):
            driver = self.start()
            driver.kill_at(self.chance, victim)
            driver.wait()
            self.fill(EACH // 3)

    def _driver(self) -> None:
        self._killed(lambda driver: driver.pid)

    def _jvm(self) -> None:
        self._killed(lambda driver: driver.below(b"SparkSubmit", b"GatewayServer"))

    def _python(self) -> None:
        self._killed(lambda driver: driver.below(b"pyspark.daemon", b"pyspark/worker", b"pyspark.worker"))

    def _executor(self) -> None:
        self._killed(lambda driver: executor(), again=1)

    def _zombies(self) -> None:
        """Two drivers on two machines with one checkpoint, at the same time, twice."""
        for _ in range(2):
            drivers = [self.start(home=home) for home in ("one", "two")]
            for driver in drivers:
                driver.wait()
            self.fill(EACH // 3)

    def _restored(self) -> None:
        """The checkpoint of a backup that is a run older than the table."""
        assert self.start().wait() == 0
        backup = self.folder / "backup"
        shutil.copytree(self.checkpoint, backup)
        self.fill(EACH // 3)
        driver = self.start()
        if self.chance.random() < 0.5:
            driver.kill_at(self.chance, lambda driver: driver.pid)
        driver.wait()
        shutil.rmtree(self.checkpoint)
        shutil.copytree(backup, self.checkpoint)

    def _clock(self) -> None:
        """A machine a day ahead, then one a day behind, which is killed."""
        assert self.bench.fake_time is not None
        for offset in ("+1d", "-1d"):
            driver = self.start(before=(self.bench.fake_time, "-f", offset))
            if offset == "-1d":
                driver.kill_at(self.chance, lambda driver: driver.pid)
            driver.wait()
            self.fill(EACH // 3)

    @contextlib.contextmanager
    def _with_disk(self) -> Iterator[None]:
        self.out = self.folder / "disk" / "lake"
        self.out.parent.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(self.out.parent)], check=True)
        try:
            yield
            copied = self.folder / "lake"
            shutil.copytree(self.out, copied)  # what is there is read after the disk is gone
        finally:
            # lazily: a worker of Python's that Spark is ending may still have it open
            subprocess.run(["umount", "-l", str(self.out.parent)], check=True)
        shutil.move(copied, self.out)

    def _disk(self) -> None:
        """A disk that becomes full in one of the batches, then gets larger."""
        filler = self.out.parent / "filler"
        filler.write_bytes(b"x" * self.chance.randrange(250_000, 390_000))
        self.start().wait()
        subprocess.run(["mount", "-o", "remount,size=200m", str(self.out.parent)], check=True)
        filler.unlink()

    @contextlib.contextmanager
    def _with_store(self) -> Iterator[None]:
        port = free_port()
        line = [sys.executable, "-m", "tests.pipeline.jobs.lake.flaky_store", str(port), str(self.chance.random())]
        with subprocess.Popen(
            line, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment
        ) as server:
            assert server.stdout is not None
            assert server.stdin is not None
            assert server.stdout.readline() == b"ready\n"
            self._server = server
            self.environment |= {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "key",
                "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true",
            }  # fmt: skip
            self.store = "s3://lake/tables"
            try:
                with _environment(self.environment):
                    yield
                    self._stored = self.rows()
                    self.rows = lambda: self._stored  # type: ignore[method-assign]
            finally:
                server.kill()
                server.wait(10)

    def _store(self) -> None:
        """One request in five is answered by 503 or 500."""
        assert self._server.stdin is not None
        self._switch(b"flaky\n")
        for _ in range(2):
            self.start().wait()
            self.fill(EACH // 3)
        self._switch(b"well\n")

    def _switch(self, how: bytes) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(how)
        self._server.stdin.flush()
        assert self._server.stdout.readline() == how


class Driver:
    """A process of `kcli pipeline`, which ends by itself, by a signal of the case, or at its deadline."""

    def __init__(self, run: Run, line: list[str], environment: dict[str, str]) -> None:
        self._log = run.folder / f"driver-{time.monotonic_ns()}.log"
        self._metrics = run.folder / f"driver-{time.monotonic_ns()}.ndjson"
        with self._log.open("wb") as out:
            self._process = subprocess.Popen(
                [*line, "--metrics", str(self._metrics)], cwd=run.folder, env=environment, stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        self.pid = self._process.pid

    def below(self, *words: bytes) -> int | None:
        """A process below with one of these words in its line."""
        for pid in descendants(self.pid):
            with contextlib.suppress(OSError):
                if any(word in Path(f"/proc/{pid}/cmdline").read_bytes() for word in words):
                    return pid
        return None

    def kill_at(self, chance: random.Random, victim: Callable[[Driver], int | None]) -> None:
        """Kill the victim a moment after some batches, where it runs then."""
        batches, deadline = chance.randrange(5), time.monotonic() + PATIENCE
        while self._batches() < batches and self._process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(chance.uniform(2, 8) if not batches else chance.uniform(0, 1))
        pid = victim(self) if self._process.poll() is None else None
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _batches(self) -> int:
        return self._metrics.read_text().count("\n") if self._metrics.exists() else 0

    def wait(self) -> int:
        """Its exit code; what it left is ended too."""
        try:
            return self._process.wait(PATIENCE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def said(self) -> str:
        return self._log.read_text(errors="replace")[-1500:]


def executor() -> int | None:
    """An executor of the standalone cluster."""
    for pid in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
    return None


class Reader:
    """Spark with Delta's jars as a reader, started when it is first wanted."""

    def __init__(self) -> None:
        self._session: Any = None

    def get(self) -> Any:
        if self._session is None:
            from kcli.pipeline.session.session import Session, SessionSettings

            conf = (
                ("spark.jars.packages", DELTA),
                ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
                ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
            )
            self._session = Session(SessionSettings(master="local[1]", quick=True, conf=conf, memory="700m"))
            self._spark = self._session.start()
        return self._spark

    def close(self) -> None:
        if self._session is not None:
            self._session.stop()
            self._session = None


SPARK = Reader()


def _rows(table: Any) -> Rows:
    return sorted(zip(*(table[name].to_pylist() for name in ("partition", "offset", "n")), strict=True))


def _duckdb(files: list[str]) -> Rows:
    import duckdb

    if not files:
        return []
    with duckdb.connect() as connection:
        names = ", ".join(f"'{name}'" for name in files)
        sql = f'SELECT partition, "offset", n FROM read_parquet([{names}]) ORDER BY ALL'
        return [tuple(row) for row in connection.execute(sql).fetchall()]


@contextlib.contextmanager
def _environment(given: dict[str, str]) -> Iterator[None]:
    known = dict(os.environ)
    os.environ.update({name: value for name, value in given.items() if name.startswith(("AWS_", "XDG_"))})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(known)


def main(runs: int, seed: int) -> int:
    from tests.kafka.cluster import Kafka

    print(f"seed {seed}", flush=True)
    kafka, wrong = Kafka(1), 0
    kafka.start()
    outcomes: dict[str, int] = {}
    try:
        with tempfile.TemporaryDirectory(prefix="kcli-matrix-") as name, standalone_of(Path(name)) as (master, _):
            bench = Bench(Topics(kafka.bootstrap, "matrix"), Path(name), master)
            chance = random.Random(seed)
            order = chance.sample(CASES, len(CASES))
            for number, case in enumerate(itertools.islice(itertools.cycle(order), runs)):
                why, since = bench.cannot(case), time.monotonic()
                try:
                    word = f"skipped: {why}" if why else Run(bench, case, number, random.Random(seed + number)).play()
                except Exception as problem:  # noqa: BLE001  # the others are played all the same
                    word, wrong = f"WRONG: {type(problem).__name__}: {problem}", wrong + 1
                print(
                    json.dumps(
                        {"run": number, "case": str(case), "seconds": round(time.monotonic() - since), "outcome": word}
                    ),
                    flush=True,
                )
                first = word.partition(":")[0]
                outcomes[first] = outcomes.get(first, 0) + 1
    finally:
        SPARK.close()
        kafka.stop()
    print(f"{runs} runs from seed {seed}: " + ", ".join(f"{count} {word}" for word, count in sorted(outcomes.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int((sys.argv[1:] or ["60"])[0]), int((sys.argv[2:] or [str(time.time_ns() % 100_000)])[0])))

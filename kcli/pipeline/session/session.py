"""A Spark session for pipelines: quiet, local by default, with kcli's source.

with Session(SessionSettings()) as spark:
    spark.read.format("kcli").option("kafka.bootstrap.servers", "localhost:9092").load("orders").count()
"""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kcli.errors import UsageError
from kcli.paths import cache_folder
from kcli.pipeline.session import gateway
from kcli.pipeline.session.gateway import Jvm, SparkFailed, log_file
from kcli.pipeline.session.java import find_java
from kcli.values import Frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[*,3]"
"""All cores, and a task may fail twice before its job does."""
REDACTED = "(?i)secret|password|token|jaas|passphrase|credential|access[.]key|ssl.key|user[.]info"
PARTITIONS = "spark.sql.shuffle.partitions"
CHANGING = "spark.dynamicAllocation.enabled"
"""With it the number of cores depends on the work, so Spark's default number of partitions is kept, and Spark merges
small ones."""

PATIENCE, SETTLED, EVERY = 10.0, 0.5, 0.1
"""Seconds: to wait for a first executor (which the first job would wait for, too), without another one until all count
as present, and between checks."""
PLACE = "kcli-code"
"""The name under which the archive is unpacked."""


ARCHIVES, PATH = "spark.archives", "spark.executorEnv.PYTHONPATH"


class SessionSettings(Frozen):
    """`conf` overrides everything set here. `quick` compiles with C1 only, which is right for jobs of a few seconds."""

    master: str = MASTER
    name: str = "kcli"
    java_home: str | None = None
    conf: tuple[tuple[str, str], ...] = ()
    memory: str = "2g"
    quick: bool = False
    log: Path | None = None


class Session:
    """`with Session(settings) as spark:`. `log` is where Spark's own output goes.

    Raises UsageError if pyspark or Java is missing, SparkFailed if Spark does not start. `options` are for the JVM,
    which may take `patience` seconds to end.
    """

    def __init__(self, settings: SessionSettings, *, options: tuple[str, ...] = (), patience: float = 10.0) -> None:
        self.settings = settings
        self.log = settings.log or log_file()
        self._options = options
        self._patience = patience
        self._jvm: Jvm | None = None
        self._spark: SparkSession | None = None

    def __enter__(self) -> SparkSession:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> SparkSession:
        """Return the session, after starting a JVM for it, unless spark-submit did that."""
        check_pyspark()
        settings = self.settings
        if gateway.submitted():
            return self._of_submitted()
        java = find_java(settings.java_home)
        conf = conf_of(settings)
        tuned = ["-XX:TieredStopAtLevel=1"] if settings.quick else []
        jvm = self._jvm = gateway.start(java, conf, self.log, memory=settings.memory, options=[*tuned, *self._options])
        try:
            with _environment(
                PYSPARK_GATEWAY_PORT=str(jvm.port),
                PYSPARK_GATEWAY_SECRET=jvm.secret,
                PYSPARK_PYTHON=gateway.python_of(conf),
            ):
                self._spark = _connected(conf)
            fit_shuffle(self._spark, conf)
        except Exception as problem:
            self.stop()
            raise SparkFailed(
                f"Spark did not start: {gateway.last_words(self.log)}; the log is {self.log}"
            ) from problem
        return self._spark

    def _of_submitted(self) -> SparkSession:
        """Return a session of the JVM that spark-submit started."""
        conf = conf_of(self.settings, gateway.submitted_conf())
        self._spark = _connected(conf)
        fit_shuffle(self._spark, conf)
        return self._spark

    def stop(self) -> None:
        """End the session and the JVM. A second call does nothing."""
        spark, jvm = self._spark, self._jvm
        self._spark = self._jvm = None
        if spark is not None:
            from pyspark import SparkContext

            spark.stop()
            held = SparkContext._gateway
            SparkContext._gateway = SparkContext._jvm = None  # so that the next session gets a new JVM
            if held is not None:
                held.shutdown()
        if jvm is not None:
            jvm.stop(self._patience)

    def kill(self) -> None:
        """Kill the JVM now; its Python processes end with it."""
        if self._jvm is not None:
            self._jvm.process.kill()


def _connected(conf: dict[str, str]) -> SparkSession:
    """Return the session of the JVM in the environment."""
    from pyspark.logger import PySparkLogger
    from pyspark.sql import SparkSession

    # it prints what is raised anyway, with Java's whole stack
    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True

    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def _environment(**given: str) -> Iterator[None]:
    """Set these environment variables temporarily."""
    known = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in known.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def conf_of(settings: SessionSettings, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return Spark's configuration; `known` is that of spark-submit, which overrides everything except the conf of
    settings."""
    given = {**(known or {}), **dict(settings.conf)}
    master = (known or {}).get("spark.master", settings.master)
    local = master.startswith("local")
    made = {
        "spark.master": master,
        "spark.app.name": settings.name,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        "spark.speculation": "false",  # a task that runs twice writes twice
        "spark.redaction.regex": REDACTED,
        # time for a Python process to identify itself; the ten seconds for its start are fixed (jobs/work.py)
        "spark.python.authenticate.socketTimeout": "120s",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # Spark's default INT96 has no statistics
        "spark.sql.warehouse.dir": os.path.join(cache_folder(), "warehouse"),
    }
    if local:
        made |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if not local:
        given |= executor_conf(given)
    return made | given


def check_pyspark() -> None:
    """Raise UsageError unless a pyspark is installed that supports the features of our source."""
    gateway.spark_home()
    from pyspark import __version__ as version

    numbers = tuple(int(part) for part in version.split(".")[:2])
    if not (4, 2) <= numbers < (4, 4):
        raise UsageError(
            f'pyspark {version} is installed; kcli\'s source needs 4.2.1 to 4.3: pip install "kcli-kafka[spark]"'
        )


# The number of shuffle partitions: one per core that runs tasks, wherever it is. Spark's default of 200 makes 200 tiny
# tasks of a small job; the driver's number of cores leaves a cluster idle.
def fit_shuffle(spark: SparkSession, conf: Mapping[str, str]) -> None:
    """Set it for this session, unless `conf` does. A cluster without executors yet keeps Spark's number."""
    if PARTITIONS in conf or conf.get(CHANGING, "").lower() == "true":
        return
    if conf["spark.master"].startswith("local") or _executors_came(spark):
        spark.conf.set(PARTITIONS, max(spark.sparkContext.defaultParallelism, 1))


def _executors_came(spark: SparkSession) -> bool:
    """Wait until executors have registered with the driver."""
    scala: Any = spark._jsc.sc()
    begin = changed = time.monotonic()
    seen = 1  # the driver counts as one
    while True:
        found, now = int(scala.getExecutorMemoryStatus().size()), time.monotonic()
        if found != seen:
            seen, changed = found, now
        if seen > 1 and now - changed >= SETTLED:
            return True
        if seen == 1 and now - begin >= PATIENCE:
            return False
        time.sleep(EVERY)


# Ships kcli to executors on other machines: an archive that Spark unpacks into each executor's working folder.
#
# Executors need numpy and pyarrow in their own Python. The archive contains the compiled record core for the Python it
# was built for; any other Python uses the plain-Python core.
def executor_conf(given: Mapping[str, str]) -> dict[str, str]:
    """Return Spark settings that ship kcli to the executors, in addition to the given archives and path. An archive
    already given under kcli's name is kept."""
    archives, path = given.get(ARCHIVES, ""), given.get(PATH, "")
    if not any(one.strip().endswith(f"#{PLACE}") for one in archives.split(",")):
        archives = ",".join(filter(None, [archives, f"{packed()}#{PLACE}"]))
    return {ARCHIVES: archives, PATH: ":".join(filter(None, [f"./{PLACE}", path]))}


def packed() -> Path:
    """Return the archive in the cache folder, rebuilt if one of kcli's files is newer."""
    import kcli

    root = Path(kcli.__file__).parent.parent
    files = sorted(
        path
        for package in ("kcli", "pyspark_kcli")
        for path in (root / package).rglob("*")
        if path.suffix in (".py", ".so", ".pyd", ".typed", ".tcss") and "__pycache__" not in path.parts
    )
    newest = max(file.stat().st_mtime_ns for file in files)
    path = Path(cache_folder()) / f"kcli-code-{newest}-{len(files)}.zip"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        try:
            with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as out:
                for file in files:
                    out.write(file, file.relative_to(root).as_posix())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)  # a full disk leaves nothing
        for old in path.parent.glob("kcli-code-*.zip"):
            if old.stat().st_mtime < path.stat().st_mtime - 86_400:
                old.unlink(missing_ok=True)
    return path

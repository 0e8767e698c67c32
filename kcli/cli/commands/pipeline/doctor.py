"""`kcli pipeline doctor` and `warmup`: can Spark run here, and how fast does it start?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.session.frame import conf_of
from kcli.errors import KcliError
from kcli.pipeline.session.session import SessionSettings

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

LEAST_MEMORY = 3_000_000_000
LEAST_DISK = 1_000_000_000
OLDEST = {"pyarrow": 18, "numpy": 1}


def warmup(values: Values) -> int:
    """Make the archive. Returns the exit code."""
    from kcli.cli.commands.pipeline.session.progress import Watch, human_size
    from kcli.cli.main import complain
    from kcli.pipeline.session.session import check_pyspark, warm_up

    check_pyspark()
    begun = monotonic()
    with Watch("warmup", hidden=values["quiet"]).starting("running Spark once, for about half a minute …"):
        made = warm_up(_settings(values))
    if not values["quiet"]:
        complain(f"{made} has {human_size(made.stat().st_size)}, made in {monotonic() - begun:.0f} s")
    return 0


def doctor(values: Values) -> int:
    """Look, and try. Returns the exit code: 0 when pipelines run here."""
    from kcli.cli.output.render import Document, write
    from kcli.cli.output.shapes.shape import shape

    steps: list[Row] = []
    for name, look in (
        ("PySpark", _pyspark), ("pyarrow", lambda _: _package("pyarrow")), ("numpy", lambda _: _package("numpy")),
        ("Java", _java), ("archive", _archive), ("memory", _memory), ("disk", _disk),
    ):  # fmt: skip
        steps.append(_step(name, look, values))
    whole = all(step["status"] != "failed" for step in steps)
    if whole and not values["no_job"]:
        steps.append(_step("job", _job, values))
    elif not whole:
        steps.append({"step": "job", "status": "skipped", "result": "something before it failed", "mend": None})
    made = Document(shape=shape("pipeline.doctor"))
    made.rows["steps"] = steps
    write(made, "json" if values["json"] else values["format"] or "table")
    if not values["quiet"]:
        from kcli.cli.main import complain

        for step in steps:
            if step["mend"]:
                complain(f"{step['step']}: {step['mend']}")
    return 1 if any(step["status"] == "failed" for step in steps) else 0


def _step(name: str, look: Callable[[Values], tuple[str, str, str | None]], values: Values) -> Row:
    """One row. What cannot be is a failed step, and its sentence."""
    try:
        status, result, mend = look(values)
    except KcliError as problem:
        status, result, mend = "failed", str(problem), None
    return {"step": name, "status": status, "result": result, "mend": mend}


def _settings(values: Values) -> SessionSettings:
    from kcli.pipeline.session.session import SessionSettings

    java, memory, conf = values["java_home"], values["memory"], conf_of(values["conf"])
    return SessionSettings(name="kcli doctor", java_home=java, conf=tuple(conf.items()), memory=memory or "2g")


def _pyspark(values: Values) -> tuple[str, str, str | None]:
    from kcli.pipeline.session.session import check_pyspark

    check_pyspark()
    import pyspark

    return "ok", f"{pyspark.__version__} in {os.path.dirname(pyspark.__file__)}", None


def _package(name: str) -> tuple[str, str, str | None]:
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version(name)
    except PackageNotFoundError:
        return "failed", "not installed", 'pip install "kcli-kafka[spark]"'
    if int(found.split(".")[0]) < OLDEST[name]:
        return "failed", f"{found} is too old", f"pip install --upgrade {name}"
    return "ok", found, None


def _java(values: Values) -> tuple[str, str, str | None]:
    from kcli.pipeline.session.java import find_java

    java = find_java(values["java_home"])
    return "ok", f"{java.version} of {java.where}: {java.home}", None


def _archive(values: Values) -> tuple[str, str, str | None]:
    from kcli.pipeline.session import archive, gateway
    from kcli.pipeline.session.java import find_java

    made = archive.path_of(find_java(values["java_home"]), gateway.spark_home())
    if made.exists():
        return "ok", str(made), None
    return "warning", "none for this Spark and Java", "`kcli pipeline warmup` makes it: Spark starts in half the time"


def _memory(values: Values) -> tuple[str, str, str | None]:
    from kcli.cli.commands.pipeline.session.progress import human_size

    free = _free_memory()
    if free is None:
        return "ok", "this system does not say how much is free", None
    if free < LEAST_MEMORY:
        return "warning", f"{human_size(free)} free", "--memory 1g lets Spark's driver take less than 2 GB"
    return "ok", f"{human_size(free)} free", None


def _free_memory() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def _disk(values: Values) -> tuple[str, str, str | None]:
    import tempfile

    from kcli.cli.commands.pipeline.session.progress import human_size

    given = conf_of(values["conf"]).get("spark.local.dir") or os.environ.get("SPARK_LOCAL_DIRS")
    folder = os.path.abspath((given or tempfile.gettempdir()).split(",")[0])
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)  # Spark makes what is missing
    free = shutil.disk_usage(folder).free
    if free < LEAST_DISK:
        return "warning", f"{human_size(free)} free in {folder}", "--conf spark.local.dir=DIR names another place"
    return "ok", f"{human_size(free)} free in {folder}", None


def _job(values: Values) -> tuple[str, str, str | None]:
    """A sandbox, a record, and Spark that reads it with our source."""
    from kcli.cli.commands.pipeline.session.progress import Watch
    from kcli.pipeline.errors import told
    from kcli.pipeline.session.session import Session
    from kcli.sandbox.thread import SandboxThread

    begun = monotonic()
    session = Session(_settings(values).replace(quick=True))
    try:
        with SandboxThread() as cluster, Watch("doctor", hidden=values["quiet"]).starting(), session as spark:
            up = monotonic() - begun
            _fill(cluster.bootstrap)
            frame = spark.read.format("kcli").option("kafka.bootstrap.servers", cluster.bootstrap).load("doctor")
            found = frame.selectExpr("CAST(value AS STRING) AS value").collect()
    except Exception as problem:  # whatever Spark raises is this step's finding
        raise told(problem, session.log) from problem
    finally:
        session.stop()
    if [row["value"] for row in found] != ["ok"]:
        return "failed", f"read {found}, not what was written; the log is {session.log}", None
    return "ok", f"Spark was up after {up:.1f} s, one record was read after {monotonic() - begun:.1f} s", None


def _fill(bootstrap: str) -> None:
    """One record for the job to find."""
    from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
    from kcli.client import Client
    from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
    from kcli.sync.client import SyncClient

    async def send(client: Client) -> None:
        await create_topics(client.cluster, [NewTopic(topic="doctor", partitions=1)])
        await wait_for_topics(client.cluster, ["doctor"])
        async with client.producer(ProducerSettings()) as producer:
            await producer.send_records("doctor", [(0, None, None, b"ok", ())])
            await producer.flush()

    with SyncClient(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as kafka:
        kafka.run(send)

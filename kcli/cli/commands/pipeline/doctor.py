"""`kcli pipeline doctor`: can pipelines run here?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from kcli.cli.commands.pipeline.options import ReportOptions, SparkOptions, report_format
from kcli.cli.commands.pipeline.session.frame import conf_of
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import QuietOptions
from kcli.cli.runtime.views import view_of
from kcli.errors import KcliError
from kcli.system.processes import free_memory
from kcli.text.numbers import size as size_of

if TYPE_CHECKING:
    from typing import Annotated

    import typer
    from pyspark.sql import SparkSession

Result = tuple[str, str, str | None]
"""Of a check: ok, warning or failed; what was seen; how to fix it."""

LEAST_MEMORY = 3_000_000_000
LEAST_DISK = 1_000_000_000
OLDEST = {"pyarrow": 18, "numpy": 1}


class StepRow(Row, section="steps"):
    step: str = column("Name of the check.", rank=1)
    status: str = column("ok, warning or failed.", unit="word", rank=1)
    result: str = column("The finding.", rank=1, unit="sentence")
    fix: str | None = column("Suggested fix.", table=False, unit="sentence")


SHAPE = shape("pipeline.doctor", "Requirements of a pipeline, checked.", StepRow)


class DoctorOptions(SparkOptions, ReportOptions, QuietOptions):
    no_job: Annotated[bool, typer.Option("--no-job", help="Only check; do not start Spark.")] = False


@command(
    "pipeline doctor",
    help="Check PySpark, Java and memory; run a tiny job.",
    examples="""
kcli pipeline doctor
kcli pipeline doctor --java-home /opt/jdk-21 -J""",
)
def doctor(options: DoctorOptions) -> int:
    """Check the requirements of a pipeline: PySpark and its version, pyarrow and NumPy, which Java is used and why,
    memory and disk; then start Spark, and run a tiny job with kcli's own source. The first time on a machine it also
    writes a class-data archive to ~/.cache/kcli, which halves every later start of this Spark and Java."""
    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.tables.render import write

    steps = [_step(name, check, options) for name, check in CHECKS.items()]
    whole = all(step.status != "failed" for step in steps)
    if whole and not options.no_job:
        steps.append(_step("job", _job, options))
    elif not whole:
        steps.append(StepRow(step="job", status="skipped", result="an earlier check failed", fix=None))
    if whole:
        steps.append(_step("archive", _archive, options))
    document = Document(shape=SHAPE, view=view_of(options))
    document.of(StepRow).extend(steps)
    write(document, report_format(options) or "table")
    if not options.quiet:
        from kcli.cli.output.messages import complain

        for step in steps:
            if step.fix:
                complain(f"{step.step}: {step.fix}")
    return 1 if any(step.status == "failed" for step in steps) else 0


def _step(name: str, check: Callable[[DoctorOptions], Result], options: DoctorOptions) -> StepRow:
    """One row. What cannot be is a failed step, and its sentence."""
    try:
        status, result, fix = check(options)
    except KcliError as problem:
        status, result, fix = "failed", str(problem), None
    return StepRow(step=name, status=status, result=result, fix=fix)


def _pyspark(options: DoctorOptions) -> Result:
    from kcli.pipeline.session.session import check_pyspark

    check_pyspark()
    import pyspark

    return "ok", f"{pyspark.__version__} in {os.path.dirname(pyspark.__file__)}", None


def _pyarrow(options: DoctorOptions) -> Result:
    return _package("pyarrow")


def _numpy(options: DoctorOptions) -> Result:
    return _package("numpy")


def _package(name: str) -> Result:
    from importlib.metadata import PackageNotFoundError, version

    try:
        installed = version(name)
    except PackageNotFoundError:
        return "failed", "not installed", 'pip install "kcli-kafka[spark]"'
    if int(installed.split(".")[0]) < OLDEST[name]:
        return "failed", f"{installed} is too old", f"pip install --upgrade {name}"
    return "ok", installed, None


def _java(options: DoctorOptions) -> Result:
    from kcli.pipeline.session.java import find_java

    java = find_java(options.java_home)
    where = "--java-home" if options.java_home else java.where
    return "ok", f"{java.version} of {where}: {java.home}", None


def _archive(options: DoctorOptions) -> Result:
    from kcli.pipeline.session import archive, gateway
    from kcli.pipeline.session.java import find_java

    path = archive.path_of(find_java(options.java_home), gateway.spark_home())
    if path.exists():
        return "ok", str(path), None
    return (
        "warning",
        "none for this Spark and Java",
        "the job of `kcli pipeline doctor` creates it, which halves the start time of Spark",
    )


def _memory(options: DoctorOptions) -> Result:
    free = free_memory()
    if free is None:
        return "ok", "this system does not report free memory", None
    if free < LEAST_MEMORY:
        return "warning", f"{size_of(free)} free", "--memory 1g lets Spark's driver use less than 2 GiB"
    return "ok", f"{size_of(free)} free", None


def _disk(options: DoctorOptions) -> Result:
    import tempfile

    given = conf_of(options.conf).get("spark.local.dir") or os.environ.get("SPARK_LOCAL_DIRS")
    folder = os.path.abspath((given or tempfile.gettempdir()).split(",")[0])
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)  # Spark makes what is missing
    free = shutil.disk_usage(folder).free
    if free < LEAST_DISK:
        return "warning", f"{size_of(free)} free in {folder}", "--conf spark.local.dir=DIR uses another folder"
    return "ok", f"{size_of(free)} free in {folder}", None


def _job(options: DoctorOptions) -> Result:
    """A sandbox, a record, and Spark that reads it with our source."""
    from kcli.cli.commands.pipeline.session.progress import Watch
    from kcli.pipeline.errors import told
    from kcli.pipeline.session.gateway import log_file
    from kcli.pipeline.session.session import Session, SessionSettings
    from kcli.pipeline.session.warm_up import archived, warm_up
    from kcli.sandbox.thread import SandboxThread

    begun, log = monotonic(), log_file()
    settings = SessionSettings(
        name="kcli doctor",
        java_home=options.java_home,
        conf=tuple(conf_of(options.conf).items()),
        memory=options.memory or "2g",
        log=log,
    )
    try:
        with SandboxThread() as cluster:
            _fill(cluster.bootstrap)
            read = partial(_read, cluster.bootstrap)
            if not archived(settings):
                with Watch("doctor", hidden=options.quiet).starting("running Spark once, for about half a minute …"):
                    rows = warm_up(settings, read)
            else:
                with Watch("doctor", hidden=options.quiet).starting(), Session(settings.replace(quick=True)) as spark:
                    rows = read(spark)
    except Exception as problem:  # whatever Spark raises is this step's finding
        raise told(problem, log) from problem
    if rows != ["ok"]:
        return "failed", f"read {rows}, which differs from what was written; the log is {log}", None
    return "ok", f"Spark started and read a record in {monotonic() - begun:.1f} s", None


def _read(bootstrap: str, spark: SparkSession) -> list[str]:
    """The records of the job's topic, through kcli's source."""
    frame = spark.read.format("kcli").option("kafka.bootstrap.servers", bootstrap).load("doctor")
    return [row["value"] for row in frame.selectExpr("CAST(value AS STRING) AS value").collect()]


CHECKS = {
    "PySpark": _pyspark,
    "pyarrow": _pyarrow,
    "numpy": _numpy,
    "Java": _java,
    "memory": _memory,
    "disk": _disk,
}


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

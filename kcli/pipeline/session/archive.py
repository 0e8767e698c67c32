"""The class-data archive: Spark's classes in the JVM's memory format, mapped from a file, which halves the start time.

One per Spark and Java, in the cache folder, the newest ones kept; created by running a JVM once. It is only passed if
it exists, because some JVMs complain on stdout otherwise; the JVM ignores one that does not match.
"""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from kcli.paths import cache_folder
from kcli.pipeline.session.java import Java

KEPT = 6
"""Number of archives kept, each about 200 MB."""
HALF_WRITTEN = 3600.0
"""Seconds after which an incomplete file is left over from a killed warm-up, which takes half a minute."""


def path_of(java: Java, home: Path) -> Path:
    """Return the path of the archive for this Spark and Java, whether it exists or not."""
    from zlib import crc32

    # an archive only matches the same paths of Spark and Java
    mark = crc32(f"{home}\n{java.home}\n{java.version}".encode())
    version = next((jar.stem.rpartition("-")[2] for jar in (home / "jars").glob("spark-core_*.jar")), "unknown")
    return Path(cache_folder()) / f"spark-{version}-java-{java.version}-{mark:08x}.jsa"


def flags(java: Java, home: Path) -> list[str]:
    """Return JVM options that use the archive; empty without one."""
    path = path_of(java, home)
    if not path.exists():
        return []
    base = _base(path)
    return [
        f"-XX:SharedArchiveFile={f'{base}{os.pathsep}{path}' if base.exists() else path}",
        "-Xlog:cds=off",
        "-Xlog:cds+dynamic=off",
    ]


def making(java: Java, home: Path) -> tuple[list[str], Path]:
    """Return JVM options that write an archive when the JVM ends, and the file, which is renamed afterwards. Raises
    CalledProcessError and TimeoutExpired if the base archive cannot be created."""
    path = path_of(java, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent)
    part = _part(path)
    options = []
    if not (java.home / "lib" / "server" / "classes.jsa").exists():  # jlinked: without the base archive
        base = _base(path)
        if not _fits(java, base):  # another process may be creating an archive based on a valid one
            _dump(java, base)
        options.append(f"-XX:SharedArchiveFile={base}")
    return [*options, f"-XX:ArchiveClassesAtExit={part}"], part


def _fits(java: Java, base: Path) -> bool:
    """Whether the base archive exists and this JVM accepts it; it rejects that of an earlier installation."""
    return base.exists() and _java(java, "-Xshare:on", f"-XX:SharedArchiveFile={base}", "-version").returncode == 0


def _dump(java: Java, base: Path) -> None:
    """Create the base archive, renamed when complete."""
    part = _part(base)
    try:
        _java(java, "-Xshare:dump", f"-XX:SharedArchiveFile={part}").check_returncode()
        part.replace(base)
    finally:
        part.unlink(missing_ok=True)


def _java(java: Java, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [java.command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=120
    )


def prune(new: Path, kept: int = KEPT) -> None:
    """Delete the oldest archives beside a new one. Those that this user may not delete are kept."""
    others = [path for path in new.parent.glob("spark-*.jsa") if path != new and not path.name.endswith(".base.jsa")]
    for old in sorted(others, key=_made, reverse=True)[kept - 1 :]:
        for path in (old, _base(old)):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Delete incomplete files of killed runs, by age: process ids are meaningless, because a container with the same
    cache folder has its own."""
    for part in folder.glob("spark-*.part"):
        if time.time() - _made(part) > HALF_WRITTEN:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _made(path: Path) -> float:
    """Return its creation time; a very old one if another process just deleted it."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _base(archive: Path) -> Path:
    return archive.with_suffix(".base.jsa")


def _part(archive: Path) -> Path:
    """Return where an archive is written before it is renamed: a file unique to this run."""
    return archive.with_suffix(f".{token_hex(8)}.part")

"""The class-data archive: Spark's classes as the JVM keeps them in memory, mapped from a file. It halves the start.

One for each Spark and Java, in the cache folder, the newest of them; made by running a JVM once. Passed only where it
exists, because a missing one makes some JVMs complain on stdout; one that does not fit is ignored by the JVM.
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
"""Archives that are kept, each of some 200 MB."""
HALF_WRITTEN = 3600.0
"""Seconds after which a half-written file is of a warm-up that was killed: one lasts half a minute."""


def path_of(java: Java, home: Path) -> Path:
    """Where the archive of this Spark and Java is, or would be."""
    from zlib import crc32

    # the paths of Spark and Java are part of what an archive fits to
    mark = crc32(f"{home}\n{java.home}\n{java.version}".encode())
    version = next((jar.stem.rpartition("-")[2] for jar in (home / "jars").glob("spark-core_*.jar")), "unknown")
    return Path(cache_folder()) / f"spark-{version}-java-{java.version}-{mark:08x}.jsa"


def flags(java: Java, home: Path) -> list[str]:
    """JVM options that use the archive, none without one."""
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
    """JVM options that write an archive when the JVM ends, and the file they write: rename it when that is done. Raises
    CalledProcessError and TimeoutExpired where the base archive cannot be made."""
    path = path_of(java, home)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent)
    part = _part(path)
    options = []
    if not (java.home / "lib" / "server" / "classes.jsa").exists():  # jlinked: without the base archive
        base = _base(path)
        if not _fits(java, base):  # another process may be making an archive on top of one that fits
            _dump(java, base)
        options.append(f"-XX:SharedArchiveFile={base}")
    return [*options, f"-XX:ArchiveClassesAtExit={part}"], part


def _fits(java: Java, base: Path) -> bool:
    """Whether the base archive exists and this JVM accepts it; it refuses that of an earlier installation."""
    return base.exists() and _java(java, "-Xshare:on", f"-XX:SharedArchiveFile={base}", "-version").returncode == 0


def _dump(java: Java, base: Path) -> None:
    """Make the base archive, which has its name when it is whole."""
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
    """Delete the oldest archives beside a new one. What this user may not delete stays: the new one is there."""
    others = [path for path in new.parent.glob("spark-*.jsa") if path != new and not path.name.endswith(".base.jsa")]
    for old in sorted(others, key=_made, reverse=True)[kept - 1 :]:
        for path in (old, _base(old)):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Delete what runs that were killed had half written. Their age says it, not a process's number: a container that
    has the same cache folder counts its processes anew."""
    for part in folder.glob("spark-*.part"):
        if time.time() - _made(part) > HALF_WRITTEN:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _made(path: Path) -> float:
    """When it was made; of one that another process just deleted: long ago."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _base(archive: Path) -> Path:
    return archive.with_suffix(".base.jsa")


def _part(archive: Path) -> Path:
    """Where an archive is written before it has its name: a file of this run's own."""
    return archive.with_suffix(f".{token_hex(8)}.part")

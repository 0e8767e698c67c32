"""An archive of the classes that Kafka loads (class data sharing, JEP 310 and 350): a broker starts with half the CPU.

It is made once for a Java and a Kafka, beside the jars, by a broker that is used a little and then ends. Who finds it
in the making starts without it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import time
from pathlib import Path

from tests.kafka.artifacts import libs
from tests.programs import kcli

QUIET = "-Xlog:cds=off,class+path=off"  # a Java that cannot use the archive goes on without a word
WRITTEN = 120.0
"""Seconds for a broker to write its archive at its end."""
STALE = 300.0
"""Seconds after which nobody is at work on an archive any more."""


@functools.cache
def archive() -> Path | None:
    """Where the archive of this Java is, or is to be; None for a Java that cannot make one (before 13)."""
    version = subprocess.run(["java", "-Xinternalversion"], capture_output=True, timeout=60, check=False)
    if version.returncode or b"(1." in version.stdout:
        return None
    return libs() / f"classes-{hashlib.sha256(version.stdout).hexdigest()[:12]}.jsa"


def options() -> list[str]:
    """What a virtual machine of Kafka's is started with to take classes from the archive."""
    path = archive()
    return [f"-XX:SharedArchiveFile={path}", QUIET] if path is not None and path.exists() else []


def make() -> None:
    """Make the archive unless it is there, or somebody else makes it."""
    path = archive()
    if path is None or path.exists() or not _mine(path.with_suffix(".lock")):
        return
    from tests.kafka.cluster import Kafka  # it starts brokers with options()

    fresh = path.with_suffix(f".{os.getpid()}")
    kafka = Kafka()
    kafka.options = [f"-XX:ArchiveClassesAtExit={fresh}", QUIET]
    try:
        kafka.start()
        _use(kafka.bootstrap)
        process = kafka.nodes[0].process
        assert process is not None
        process.terminate()
        process.wait(WRITTEN)
        fresh.rename(path)
    finally:
        kafka.stop()
        path.with_suffix(".lock").unlink(missing_ok=True)


def _mine(lock: Path) -> bool:
    try:
        if time.time() - lock.stat().st_mtime > STALE:
            lock.unlink()
    except FileNotFoundError:
        pass
    try:
        lock.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _use(bootstrap: str) -> None:
    """Have the broker load what most tests use: topics, records of each codec, groups, a transaction."""
    at = ("-b", bootstrap)
    lines = [
        ("topics", "create", "t", "-p", "2"),
        *(("produce", "t", "-z", codec) for codec in ("none", "gzip", "lz4", "zstd", "snappy")),
        ("produce", "t", "--transactional-id", "id"),
        ("consume", "t", "-g", "g", "-e", "--from-beginning"),
        ("consume", "t", "-g", "g2", "-e", "--from-beginning", "-X", "group.protocol=consumer"),
        ("lag",),
        ("topics", "delete", "t", "--execute"),
    ]
    for words in lines:
        done = kcli(*words, *at, stdin=b"a\nb\n")
        assert done.code == 0, done

"""The broker of the run: kcli's sandbox as a process of its own, or any Kafka named by KCLI_BENCH_BOOTSTRAP."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator

from benchmarks.cases import KCLI


@contextlib.contextmanager
def sandbox() -> Iterator[str]:
    """Its bootstrap address, for as long as the block runs."""
    given = os.environ.get("KCLI_BENCH_BOOTSTRAP")
    if given:
        yield given
        return
    shared_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk's pace is nobody's figure
    with tempfile.TemporaryDirectory(prefix="kcli-bench-", dir=shared_memory) as folder:
        words = [KCLI, "sandbox", "--port", "0", "--format", "json", "--data", folder]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["bootstrap"]
        finally:
            process.terminate()
            process.wait(30)


def create(bootstrap: str, topic: str) -> None:
    _run("topics", "create", topic, "-p", "1", "-b", bootstrap, "--wait")


def delete(bootstrap: str, topic: str) -> None:
    _run("topics", "delete", topic, "--execute", "-b", bootstrap)


def _run(*words: str) -> None:
    subprocess.run([KCLI, *words], check=True, stdout=subprocess.DEVNULL, timeout=60)

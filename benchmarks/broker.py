"""The broker of the run: kcli's sandbox as a process of its own, or any Kafka named by KCLI_BENCH_BOOTSTRAP."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from benchmarks.cases import KCLI


@contextlib.contextmanager
def sandbox() -> Iterator[str]:
    """Its bootstrap address, for as long as the block runs."""
    given = os.environ.get("KCLI_BENCH_BOOTSTRAP")
    if given:
        yield given
        return
    process = subprocess.Popen([KCLI, "sandbox", "--port", "0", "--format", "json"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        import json

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

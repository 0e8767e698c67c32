"""The broker of the run: kcli's sandbox as a process of its own, or any Kafka named by KCLI_BENCH_BOOTSTRAP."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.cases import KCLI


class Sandbox:
    """A sandbox in a process of its own, for as long as the `with` runs: its address and process id. With `tls` it
    speaks nothing else; `words` are what a client of it has to be told, kcat in the same ones."""

    def __init__(self, *, tls: bool = False) -> None:
        self._tls = tls
        self.words: list[str] = []

    def __enter__(self) -> Sandbox:
        shared_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a disk's pace is nobody's figure
        self._folder = tempfile.TemporaryDirectory(prefix="kcli-bench-", dir=shared_memory)
        words = [KCLI, "sandbox", "--port", "0", "--format", "json", "--data", self._folder.name]
        if self._tls:
            certificates = Path(self._folder.name, "certificates")
            words += ["--tls", str(certificates)]
            self.words = ["-X", "security.protocol=SSL", "-X", f"ssl.ca.location={certificates / 'ca.pem'}"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.bootstrap: str = json.loads(self._process.stdout.readline())["bootstrap"]
        self.pid = self._process.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(30)
        self._folder.cleanup()


@contextlib.contextmanager
def sandbox() -> Iterator[str]:
    """The address of the broker of the run."""
    given = os.environ.get("KCLI_BENCH_BOOTSTRAP")
    if given:
        yield given
        return
    with Sandbox() as own:
        yield own.bootstrap


def create(bootstrap: str, topic: str, partitions: int = 1, words: Sequence[str] = ()) -> None:
    _run("topics", "create", topic, "-p", str(partitions), "-b", bootstrap, "--wait", *words)


def delete(bootstrap: str, topic: str, words: Sequence[str] = ()) -> None:
    _run("topics", "delete", topic, "--execute", "-b", bootstrap, *words)


def _run(*words: str) -> None:
    subprocess.run([KCLI, *words], check=True, stdout=subprocess.DEVNULL, timeout=300)

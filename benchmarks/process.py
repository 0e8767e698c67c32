"""One program run once: wall seconds, CPU seconds and peak memory as the operating system counted them."""

from __future__ import annotations

import functools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    wall: float
    cpu: float
    peak_mib: float
    exit_code: int


@functools.cache
def _spawner(number: int) -> subprocess.Popen[str]:
    """The small process from which others are started, one at a time; it ends with us."""
    words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("spawner.py"))]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def measure(
    command: Sequence[str],
    *,
    stdin: str = os.devnull,
    timeout: float = 300,
    meanwhile: Callable[[int], None] | None = None,
    spawner_number: int = 0,
) -> Run:
    """Run `command` with a file as stdin and stdout thrown away; `meanwhile` is called with its process id as it
    runs. Each spawner runs one at a time. Raises RuntimeError with stderr when it fails."""
    spawner = _spawner(spawner_number)
    assert spawner.stdin is not None
    assert spawner.stdout is not None
    with tempfile.NamedTemporaryFile() as errors:
        order = {"argv": list(command), "env": dict(os.environ), "stdin": stdin, "stderr": errors.name}
        spawner.stdin.write(json.dumps(order) + "\n")
        pid = int(spawner.stdout.readline())
        killer = threading.Timer(timeout, os.kill, (pid, signal.SIGKILL))
        killer.daemon = True
        killer.start()
        if meanwhile is not None:
            meanwhile(pid)
        wall, cpu, peak_kib, code = json.loads(spawner.stdout.readline())
        killer.cancel()
        if code:
            text = errors.read().decode(errors="replace")[-500:]
            raise RuntimeError(f"{' '.join(command)} ended with {code}: {text}")
    return Run(wall, cpu, peak_kib / 1024, code)


def measure_together(commands: Sequence[Sequence[str]], *, timeout: float = 300) -> list[Run]:
    """Run the commands at the same time. Raises as `measure`."""
    with ThreadPoolExecutor(len(commands)) as threads:
        runs = [
            threads.submit(measure, command, timeout=timeout, spawner_number=number)
            for number, command in enumerate(commands)
        ]
        return [run.result() for run in runs]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)

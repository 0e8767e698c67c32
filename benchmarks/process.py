"""One program run once: wall seconds, CPU seconds and peak memory as the operating system counted them."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    wall: float
    cpu: float
    peak_mib: float
    exit_code: int


def measure(command: Sequence[str], *, stdin: str = os.devnull, timeout: float = 300) -> Run:
    """Run `command` with a file as stdin and stdout thrown away. Raises RuntimeError with stderr when it fails."""
    with open(stdin, "rb") as source, open(os.devnull, "wb") as sink:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.PIPE)
        killer = _kill_later(process, timeout)
        assert process.stderr is not None
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {errors.decode()[-500:]}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def _kill_later(process: subprocess.Popen[bytes], seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    return timer


def median(values: Sequence[float]) -> float:
    return statistics.median(values)

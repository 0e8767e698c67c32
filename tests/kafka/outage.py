"""`kcli produce` fed through a pipe as fast as it takes lines, and what it holds in memory meanwhile.

Memory is resident memory as the kernel counts it (VmRSS of /proc), sampled all the while; the peak is the kernel's own
(VmHWM), so that nothing is missed between two samples. Linux only.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import time
from pathlib import Path

from tests.kafka.bulk import numbers, problems
from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background

MIB = 1 << 20
BLOCK = 5000  # lines written at once
PAD = b"." * 90
SAMPLE = 0.25  # seconds
SAID = re.compile(r"(\d+) records? read: (\d+) acknowledged, (\d+) failed, (\d+) unknown, (\d+) not sent")


class Fed:
    """`with Fed(kafka, topic, ...) as fed:` feeds until `pause`; `finish` closes the input and waits for the end."""

    def __init__(self, kafka: Kafka, topic: str, *options: str) -> None:
        self._kafka, self._topic = kafka, topic
        self._words = [*KCLI, "produce", topic, "-b", kafka.bootstrap, "-v", *options]
        self.sent = 0  # lines the process may have read
        self.samples: list[tuple[float, int]] = []  # seconds since the start, bytes resident
        self.peak = 0  # bytes
        self._go, self._over = threading.Event(), threading.Event()
        self._busy = threading.Lock()

    def __enter__(self) -> Fed:
        path = self._kafka.root / f"{self._topic}.fed"
        self._began = time.monotonic()
        self._kcli = Background(self._words, stdout=path, stdin=subprocess.PIPE)
        self._threads = [threading.Thread(target=one, daemon=True) for one in (self._feed, self._sample)]
        for thread in self._threads:
            thread.start()
        self.resume()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._go.set()
        if self._kcli.process.poll() is None:
            self._kcli.process.kill()  # which ends a write that waits
        for thread in self._threads:
            thread.join(10)
        with contextlib.suppress(BrokenPipeError):  # what it did not read
            self._kcli.__exit__()

    def pause(self) -> None:
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def _feed(self) -> None:
        pipe = self._kcli.process.stdin
        assert pipe is not None
        while self._go.wait() and not self._over.is_set():
            lines = b"".join([b"%d %s\n" % (n, PAD) for n in range(self.sent, self.sent + BLOCK)])
            try:
                with self._busy:
                    if self._over.is_set():
                        return
                    self.sent += BLOCK
                    pipe.write(lines)
            except (BrokenPipeError, ValueError):
                return  # it ended before its input did; `finish` says how

    def _sample(self) -> None:
        status = Path(f"/proc/{self._kcli.process.pid}/status")
        while not self._over.is_set():
            try:
                said = dict(line.split(":", 1) for line in status.read_text().splitlines())
            except (FileNotFoundError, ProcessLookupError):
                return
            if "VmRSS" not in said:
                return  # it ended
            self.samples.append((time.monotonic() - self._began, int(said["VmRSS"].split()[0]) * 1024))
            self.peak = max(self.peak, int(said["VmHWM"].split()[0]) * 1024)
            time.sleep(SAMPLE)

    @property
    def alive(self) -> bool:
        return self._kcli.process.poll() is None

    @property
    def err(self) -> str:
        return self._kcli.err

    def finish(self, within: float = 120.0) -> None:
        """No more input. Every line must be acknowledged, and be in the log once and in order. Raises AssertionError
        naming what was broken."""
        pipe = self._kcli.process.stdin
        assert pipe is not None
        self._over.set()
        self._go.set()
        with self._busy:
            pipe.close()
        code = self._kcli.process.wait(within)
        said = SAID.search(self.err)
        assert said is not None, self.err
        told = tuple(map(int, said.groups()))
        assert (code, told) == (0, (self.sent, self.sent, 0, 0, 0)), (code, told, self.sent, self.err)

    def verify(self, partitions: int, reader: str) -> None:
        """Every line fed is in the log, once and in order. Raises AssertionError."""
        logs = {n: numbers(self._kafka, self._topic, n, reader) for n in range(partitions)}
        found = problems(self.sent, [(0, self.sent, -1, "acked")], logs)
        assert not found, "; ".join(found)

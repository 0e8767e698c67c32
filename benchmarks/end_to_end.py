"""From a line that `produce` reads to the same line as `consume` prints it: two processes, a pipe into one and a pipe
out of the other, at a steady rate. `python -m benchmarks.end_to_end` prints the part of the page.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

from benchmarks import broker
from benchmarks.cases import KCLI

TITLE = "## From a produced line to the printed line (milliseconds)"
RATE, LINES = 100, 1000  # lines a second, and how many
PATIENCE = 30.0  # seconds


def delays(bootstrap: str, topic: str, producer: list[str], consumer: list[str]) -> list[float]:
    """Milliseconds of each line, ascending. The first lines, which wait for the two to be ready, do not count."""
    took: list[float] = []
    first = threading.Event()
    writer = subprocess.Popen([*producer, "-b", bootstrap, "-t", topic], stdin=subprocess.PIPE)
    reader = subprocess.Popen([*consumer, "-b", bootstrap, "-t", topic], stdout=subprocess.PIPE)
    assert writer.stdin is not None
    assert reader.stdout is not None

    def read() -> None:
        for line in reader.stdout or ():
            took.append((time.perf_counter_ns() - int(line)) / 1e6)
            first.set()

    taking = threading.Thread(target=read, daemon=True)
    taking.start()
    try:
        begin = time.monotonic()
        while not first.wait(0.1):
            _write(writer, time.perf_counter_ns())
            if time.monotonic() - begin > PATIENCE:
                raise RuntimeError(f"{consumer[0]} printed nothing within {PATIENCE:g} s")
        time.sleep(0.5)
        before, begin = len(took), time.monotonic()
        for number in range(LINES):
            time.sleep(max(begin + number / RATE - time.monotonic(), 0))
            _write(writer, time.perf_counter_ns())
        end = time.monotonic() + PATIENCE
        while len(took) < before + LINES and time.monotonic() < end:
            time.sleep(0.05)
        if len(took) < before + LINES:
            raise RuntimeError(f"{len(took) - before} of {LINES} lines were printed")
        return sorted(took[before:])
    finally:
        writer.stdin.close()
        writer.wait(30)
        reader.terminate()
        reader.wait(30)


def _write(process: subprocess.Popen[bytes], stamp: int) -> None:
    assert process.stdin is not None
    process.stdin.write(b"%d\n" % stamp)
    process.stdin.flush()


def section() -> str:
    """The part of the page."""
    producers = {
        "kcli produce, kcli consume": [KCLI, "produce"],
        "kcli produce -X linger.ms=0, kcli consume": [KCLI, "produce", "-X", "linger.ms=0"],
    }
    out = [
        "",
        TITLE,
        "",
        f"{LINES:,} lines, {RATE} a second, to a consumer that follows. kcat -P sends lines of a pipe once",
        "1,024 bytes of them have come, so its last ones would not be printed: it has no row.",
        "",
    ]
    out += ["| | p50 | p99 |", "|---|---:|---:|"]
    with broker.sandbox() as bootstrap:
        for number, (name, producer) in enumerate(producers.items()):
            broker.create(bootstrap, f"line-{number}")
            found = delays(bootstrap, f"line-{number}", producer, [KCLI, "consume", "-q"])
            out.append(f"| {name} | {found[len(found) // 2]:.2f} | {found[len(found) * 99 // 100]:.2f} |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(section())
    sys.exit(0)

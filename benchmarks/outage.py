"""`python -m benchmarks.outage [seconds]`: what `kcli produce` holds in memory while its broker stands still.

Input comes as fast as a file can be read; the broker is stopped (SIGSTOP) for so many seconds and goes on. The peak
must stay below three times the buffer memory, whatever the outage takes, and every record must arrive.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import broker, data
from benchmarks.cases import KCLI
from benchmarks.process import Run, measure
from kcli.settings import ProducerSettings

LIMIT = 3 * ProducerSettings().buffer_memory / 2**20
"""MiB."""


def outage(path: Path, seconds: float) -> Run:
    """Produce the file while the broker stands still for a while. Raises RuntimeError if a record was lost."""
    with broker.Sandbox() as sandbox:
        broker.create(sandbox.bootstrap, "outage")

        def stop(_: int) -> None:
            time.sleep(0.3)
            os.kill(sandbox.pid, signal.SIGSTOP)
            try:
                time.sleep(seconds)
            finally:
                os.kill(sandbox.pid, signal.SIGCONT)

        return measure([KCLI, "produce", "outage", "-b", sandbox.bootstrap], stdin=str(path), meanwhile=stop)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory(prefix="kcli-outage-") as folder:
        path = Path(folder) / "lines"
        data.write_lines(path, 10_000_000, (100, 100))
        run = outage(path, seconds)
    print(f"{run.peak_mib:.0f} MiB at most over an outage of {seconds:g} s; the limit is {LIMIT:.0f} MiB")
    return 0 if run.peak_mib < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())

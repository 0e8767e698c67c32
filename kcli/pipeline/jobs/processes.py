"""Is a process still the one it was: its number is used again, the moment it was born is not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def born(pid: int) -> str:
    """What tells a process from every other that had or will have its number; "" where the system has none."""
    if pid <= 0:
        return ""
    if os.path.isdir("/proc/self"):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return ""
        state, *_, ticks = stat.rpartition(")")[2].split()[:20]
        return "" if state in "ZX" else f"{boot}/{ticks}"
    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()

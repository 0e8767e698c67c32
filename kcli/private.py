"""Files that nobody else on the machine may read: undo files, logs, the state of jobs."""

from __future__ import annotations

import os


def private(path: str, flags: int) -> int:
    """The `opener` of `open` that creates a file with mode 600."""
    return os.open(path, flags, 0o600)

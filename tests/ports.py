"""Ports for servers of other people's, which want to be told theirs.

Below the range from which the kernel takes the ports of outgoing connections, so that none of those has one by the time
the server comes up; and each is locked by the process that got it until that ends, so that nobody gets one twice.
"""

from __future__ import annotations

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

LOWEST, HIGHEST = 12_000, 32_000
"""Linux takes outgoing ports from 32768 on."""

_locks: dict[int, int] = {}  # the lock's descriptor of each port of this process


def free_ports(count: int) -> list[int]:
    """`count` ports of 127.0.0.1 that are free and stay so. Raises RuntimeError when there are not as many."""
    candidates = random.SystemRandom().sample(range(LOWEST, HIGHEST), HIGHEST - LOWEST)
    found = [port for port, _ in zip(filter(_take, candidates), range(count), strict=False)]
    if len(found) < count:
        raise RuntimeError(f"no {count} free ports between {LOWEST} and {HIGHEST}")
    return found


def free_port() -> int:
    """One of `free_ports`."""
    return free_ports(1)[0]


def _take(port: int) -> bool:
    if port in _locks or not _unused(port):
        return False
    folder = Path(tempfile.gettempdir()) / "kcli-test-ports"
    folder.mkdir(exist_ok=True)
    lock = os.open(folder / str(port), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    _locks[port] = lock
    return True


def _unused(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True

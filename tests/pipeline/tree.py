"""The processes below one, and what they cost, as Linux tells it."""

from __future__ import annotations

import os


def _stat(pid: int | str) -> list[str]:
    """From the state on (proc(5)); nothing for a process that is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def descendants(pid: int) -> list[int]:
    """Every process below."""
    parents: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = _stat(name)
        if stat:
            parents.setdefault(int(stat[1]), []).append(int(name))
    found, ahead = [], [pid]
    while ahead:
        children = parents.get(ahead.pop(), [])
        found += children
        ahead += children
    return found


def alive(pid: int) -> bool:
    """Whether it is there and not only waited for by nobody."""
    stat = _stat(pid)
    return bool(stat) and stat[0] != "Z"


def cpu(pids: list[int]) -> float:
    """CPU seconds of these processes and of their children that have ended."""
    ticks = sum(sum(map(int, stat[11:15])) for pid in pids if (stat := _stat(pid)))
    return ticks / os.sysconf("SC_CLK_TCK")

"""Windows API calls that Python does not provide. Untested on Windows: the tests use a library with the same names.

Names and numbers are those of Microsoft's reference.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_uint32, c_uint64, c_void_p
from typing import Any

QUERY_LIMITED = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
STILL_ACTIVE = 259  # STATUS_PENDING
OUTPUTS = (-11, -12)  # STD_OUTPUT_HANDLE, STD_ERROR_HANDLE
ESCAPES = 0x0004  # ENABLE_VIRTUAL_TERMINAL_PROCESSING


class MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = [
        ("length", c_uint32),
        ("load", c_uint32),
        ("total", c_uint64),
        ("available", c_uint64),
        *((name, c_uint64) for name in ("total_page", "free_page", "total_virtual", "free_virtual", "extended")),
    ]


class Counters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = [
        ("size", c_uint32),
        ("faults", c_uint32),
        *((name, ctypes.c_size_t) for name in ("peak", "resident", "q1", "q2", "q3", "q4", "paged", "peak_paged")),
    ]


def library() -> Any:
    """kernel32, with handles as wide as pointers."""
    kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    for name in ("OpenProcess", "GetStdHandle", "GetCurrentProcess"):
        getattr(kernel32, name).restype = c_void_p
    return kernel32


def born(pid: int) -> str:
    """Return when the process with that id started, in ticks of 100 ns; "" if it does not exist."""
    kernel32 = library()
    handle = kernel32.OpenProcess(QUERY_LIMITED, False, pid)
    if not handle:
        return ""
    try:
        code, times = c_uint32(), [c_uint64() for _ in range(4)]
        kernel32.GetExitCodeProcess(c_void_p(handle), byref(code))
        if code.value != STILL_ACTIVE:
            return ""
        kernel32.GetProcessTimes(c_void_p(handle), *(byref(time) for time in times))
        return str(times[0].value)
    finally:
        kernel32.CloseHandle(c_void_p(handle))


def memory() -> int:
    """Resident memory of this process in bytes."""
    kernel32, counters = library(), Counters()
    counters.size = ctypes.sizeof(counters)
    kernel32.K32GetProcessMemoryInfo(c_void_p(kernel32.GetCurrentProcess()), byref(counters), counters.size)
    return int(counters.resident)


def free_memory() -> int:
    """Free physical memory in bytes."""
    status = MemoryStatus()
    status.length = ctypes.sizeof(status)
    library().GlobalMemoryStatusEx(byref(status))
    return int(status.available)


def obey_escapes() -> None:
    """Make the console of stdout and stderr interpret escape sequences; pipes have no mode and are skipped."""
    kernel32 = library()
    for number in OUTPUTS:
        handle, mode = c_void_p(kernel32.GetStdHandle(number)), c_uint32()
        if kernel32.GetConsoleMode(handle, byref(mode)):
            kernel32.SetConsoleMode(handle, mode.value | ESCAPES)

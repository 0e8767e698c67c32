"""Differences between Linux, macOS and Windows: a module per subject, used by the rest of kcli.

    signals     which signals end a process
    files       flags of open files, owners, locks, a file that only OpenSSL reads
    pipes       stdin and stdout that are not files
    child       a child process that outlives its parent
    processes   whether a process runs, memory, limits
    sockets     addresses to listen on, readiness
    terminal    type-ahead, colours, settings to restore
    windows     calls of the Windows API

kcli/watchdog.py and kcli/paths.py belong to it, too. Each module checks for Python's features on this system
(`hasattr(os, "memfd_create")`), so a test that hides one gets the other branch. `WINDOWS` and `MACOS` are for
differences that cannot be checked like that. Imports nothing else of kcli.
"""

from __future__ import annotations

import sys

_PLATFORM = str(sys.platform)  # a str to mypy, which would otherwise treat other systems' code as unreachable
WINDOWS = _PLATFORM == "win32"
MACOS = _PLATFORM == "darwin"

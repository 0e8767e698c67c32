"""What differs between Linux, macOS and Windows: a module per subject, and the rest of kcli asks only here.

    signals     which signals end a process
    files       flags of open files, owners, locks, a file that only OpenSSL reads
    pipes       stdin and stdout that are no files
    child       a child that outlives its parent
    processes   whether a process runs, memory, limits
    sockets     addresses to listen on, readiness
    terminal    keys that were typed, colours, the settings to restore
    windows     calls of Windows' own library

kcli/watchdog.py and kcli/paths.py belong to it. Each module chooses by what Python has on this system
(`hasattr(os, "memfd_create")`), so a test that hides it gets the other way. `WINDOWS` and `MACOS` are for what cannot
be seen like that. Imports nothing of kcli.
"""

from __future__ import annotations

import sys

_PLATFORM = str(sys.platform)  # a text to mypy, which else takes the other systems' code for unreachable
WINDOWS = _PLATFORM == "win32"
MACOS = _PLATFORM == "darwin"

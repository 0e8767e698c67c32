"""Processes of this machine: whether one runs, and is still the same one; memory and limits of our
own; programs that get the terminal."""

from __future__ import annotations

import os

from kcli.system import MACOS, WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILES = 512
"""Files and sockets that a process of Windows may wait for at once, as Python is built there."""


def runs(pid: int) -> bool:
    """Whether there is a process of that number. Windows' `os.kill` would end it."""
    if WINDOWS:
        from kcli.system import windows

        return windows.born(pid) != ""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def limit_cpu(seconds: float) -> None:
    """End this process, by SIGPROF, once it has used so much CPU from now on; 0 lifts the limit. Windows has no such
    timer: there a caller waits as long as it wants to."""
    if not WINDOWS:
        import signal

        signal.setitimer(signal.ITIMER_PROF, seconds)


def born(pid: int) -> str:
    """What tells a process from every other that had or will have its number; "" without such a process."""
    if pid <= 0:
        return ""
    if os.path.isdir("/proc/self"):
        return _born_here(pid)
    if WINDOWS:
        from kcli.system import windows

        return windows.born(pid)
    import subprocess

    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()


def machine() -> str:
    """Eight digits that tell this machine, or the container on it, from others that see the same disk: there a number
    of a process says nothing here."""
    from hashlib import sha256
    from socket import gethostname

    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return sha256(f"{gethostname()}/{space}".encode()).hexdigest()[:8]


def _born_here(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stat = file.read()
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
    except OSError:
        return ""
    state, *_, ticks = stat.rpartition(")")[2].split()[:20]
    return "" if state in "ZX" else f"{boot}/{ticks}"


def memory() -> int:
    """Resident bytes of this process; on macOS the most there ever were."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        if WINDOWS:
            from kcli.system import windows

            return windows.memory()
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if MACOS else most * 1024


def free_memory() -> int | None:
    """Bytes that programs can have without swapping; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        if WINDOWS:
            from kcli.system import windows

            return windows.free_memory()
        if MACOS:
            import subprocess

            return of_vm_stat(subprocess.run(["vm_stat"], capture_output=True, text=True, check=False).stdout)
    return None


def of_vm_stat(printed: str) -> int | None:
    """The bytes of free and inactive pages that macOS' `vm_stat` prints; None where it prints something else."""
    first, *lines = printed.splitlines() or [""]
    words = first.split()
    if "bytes)" not in words:
        return None
    page = int(words[words.index("bytes)") - 1])
    pages = {name: count.strip(" .") for name, _, count in (line.partition(":") for line in lines)}
    return page * sum(int(pages.get(name, "0")) for name in ("Pages free", "Pages inactive"))


def most_files() -> int | None:
    """Files and sockets that this process may have open; None without a limit."""
    try:
        import resource
    except ImportError:
        return FILES
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if files == resource.RLIM_INFINITY else files


def in_foreground(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program as a shell does: the terminal's keys, also ctrl+c, are its own. Returns its exit code. Raises
    OSError."""
    import signal
    import subprocess

    if WINDOWS or not os.isatty(0):
        return subprocess.run(words, env=environment, check=False).returncode
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # else taking the terminal back would stop this process
    try:
        child = subprocess.Popen(words, env=environment, process_group=0)
        os.tcsetpgrp(0, child.pid)
        os.kill(child.pid, signal.SIGCONT)  # it may have asked for a key before the terminal was its own
        while True:
            _, status = os.waitpid(child.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode
            os.kill(child.pid, signal.SIGCONT)  # there is no shell here that could bring it back after ctrl+z
    finally:
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)

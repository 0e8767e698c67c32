"""Processes of this machine: whether one still runs, our memory and limits, and programs that take over the
terminal."""

from __future__ import annotations

import os

from kcli.system import MACOS, WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILES = 512
"""Files and sockets that a Windows process can wait for at once, as Python is built there."""


def runs(pid: int) -> bool:
    """Whether there is a process with that id. On Windows, `os.kill` would end it."""
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
    """End this process with SIGPROF after it has used so much more CPU time; 0 removes the limit. Windows has no such
    timer, so there the caller's own waiting is the only limit."""
    if not WINDOWS:
        import signal

        signal.setitimer(signal.ITIMER_PROF, seconds)


def born(pid: int) -> str:
    """Return a text that distinguishes a process from all others with the same id; "" if it does not exist."""
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
    """Return eight digits that identify this machine or container among others that use the same disk, where a process
    id alone means nothing."""
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
    """Resident memory of this process in bytes; on macOS its maximum so far."""
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
    """Memory in bytes that programs can get without swapping; None if the system does not tell."""
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
    """Return the free and inactive memory from the output of macOS' `vm_stat`; None if the output is unexpected."""
    first, *lines = printed.splitlines() or [""]
    words = first.split()
    if "bytes)" not in words:
        return None
    page = int(words[words.index("bytes)") - 1])
    pages = {name: count.strip(" .") for name, _, count in (line.partition(":") for line in lines)}
    return page * sum(int(pages.get(name, "0")) for name in ("Pages free", "Pages inactive"))


def most_files() -> int | None:
    """Number of files and sockets that this process may have open; None if unlimited."""
    try:
        import resource
    except ImportError:
        return FILES
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if files == resource.RLIM_INFINITY else files


def in_foreground(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program like a shell: it gets the terminal's keys, including Ctrl-C. Returns its exit code. Raises
    OSError."""
    import signal
    import subprocess

    if WINDOWS or not os.isatty(0):
        return subprocess.run(words, env=environment, check=False).returncode
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # otherwise taking the terminal back would stop this process
    try:
        child = subprocess.Popen(words, env=environment, process_group=0)
        os.tcsetpgrp(0, child.pid)
        os.kill(child.pid, signal.SIGCONT)  # it may have read a key before it had the terminal
        while True:
            _, status = os.waitpid(child.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                child.returncode = os.waitstatus_to_exitcode(status)
                return child.returncode
            os.kill(child.pid, signal.SIGCONT)  # no shell is here to resume it after Ctrl-Z
    finally:
        os.tcsetpgrp(0, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)

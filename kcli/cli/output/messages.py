"""Messages on stderr, and the line of --version: one line each."""

from __future__ import annotations

import os
import sys


def complain(sentence: str) -> None:
    """One line on stderr, with nothing in it that a terminal would obey."""
    from kcli.text.escape import visible

    line = f"kcli: {visible(sentence)}\n"
    try:
        sys.stderr.write(line)
        sys.stderr.flush()
    except RuntimeError:  # the last words after a signal that came while Python itself wrote to stderr
        os.write(2, line.encode(errors="backslashreplace"))
    except OSError:
        discard(2)  # its reader left, or its disk is full; the exit code still tells


def sentence(problem: Exception) -> str:
    """What a person reads of an error."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return str(problem)


def name_of(fd: int) -> str:
    """What an output is called: its file, where it is one."""
    from kcli.system.pipes import path_of

    return path_of(fd) or "stdout"


def discard(fd: int) -> None:
    """Discard what stdout (1) or stderr (2) still gets."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, fd)
    os.close(null)


def settle() -> None:
    """Flush stdout and stderr, and discard what they do not take: a reader left, or a disk is full.

    The interpreter flushes them again at exit. If that fails, it ends with 120 in place of the exit code.
    """
    for fd, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            discard(fd)


def print_version() -> int:
    """`kcli 0.1.0 (record core: compiled)`."""
    from kcli.proto import core
    from kcli.version import __version__

    note = ""
    if core.NAME == "python":
        from kcli.proto.checksum import NOTE

        note = f"; {NOTE}" if NOTE else ""
    sys.stdout.write(f"kcli {__version__} (record core: {core.NAME}{note})\n")
    sys.stdout.flush()
    return 0

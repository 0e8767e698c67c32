"""Messages on stderr, and the line of --version: one line each."""

from __future__ import annotations

import os
import sys


def complain(sentence: str) -> None:
    """One line on stderr, with nothing in it that a terminal would obey."""
    from kcli.text.escape import visible

    try:
        sys.stderr.write(f"kcli: {visible(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = None  # the reader has gone; the exit code still tells


def sentence(problem: Exception) -> str:
    """What a person reads of an error."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return str(problem)


def name_of(fd: int) -> str:
    """What an output is called: its file, where it is one."""
    from kcli.system.pipes import path_of

    return path_of(fd) or "stdout"


def silence_stdout() -> None:
    """The reader of our stdout left; the interpreter must not complain about it while it shuts down."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def print_version() -> int:
    """`kcli 0.1.0 (record core: compiled)`."""
    from kcli.proto import core
    from kcli.version import __version__

    sys.stdout.write(f"kcli {__version__} (record core: {core.NAME})\n")
    sys.stdout.flush()
    return 0

"""The console script. Hot commands start without Typer; whatever goes wrong is one sentence and an exit code."""

from __future__ import annotations

import sys

from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values

HOT = ("produce", "consume", "tail", "count")
ADMINISTRATION = ("topics", "topic", "groups", "group", "lag", "offsets", "offset")


def main(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    try:
        return _dispatch(words)
    except KcliError as problem:
        complain(sentence(problem))
        return problem.exit_code
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as problem:
        complain(sentence(problem))
        return 1


def _dispatch(words: list[str]) -> int:
    import os

    if "_KCLI_COMPLETE" not in os.environ:
        if words in (["--version"], ["-V"]):
            return print_version()
        if words in (["--help"], ["-h"], ["help"]) or not words:
            from kcli.cli.app import help_text

            sys.stdout.write(help_text())
            sys.stdout.flush()
            return 0 if words else 2
        if words[0] in HOT:
            from kcli.cli.options import HOT as TABLE
            from kcli.cli.quick import parse

            command = TABLE[words[0]]
            values = parse(command, words[1:])
            if values is not None:
                return _run(command.run, values)
        if words[0] in ADMINISTRATION:
            from kcli.cli.admin_options import find
            from kcli.cli.quick import parse

            found = find(words)
            values = parse(*found) if found is not None else None
            if found is not None and values is not None:
                return _run(found[0].run, values)
    from kcli.cli.typed import dispatch

    return dispatch(words)


def _run(where: str, values: Values) -> int:
    from importlib import import_module

    module, _, function = where.partition(":")
    code: int = getattr(import_module(module), function)(values)
    return code


def print_version() -> int:
    """`kcli 0.1.0 (record core: compiled)`."""
    from kcli.proto import core
    from kcli.version import __version__

    sys.stdout.write(f"kcli {__version__} (record core: {core.NAME})\n")
    sys.stdout.flush()
    return 0


def sentence(problem: Exception) -> str:
    """What a person reads of an error."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return str(problem)


def complain(sentence: str) -> None:
    """One line on stderr, with nothing in it that a terminal would obey."""
    from kcli.cli.escape import visible

    try:
        sys.stderr.write(f"kcli: {visible(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        sys.stderr = None  # nobody listens any more: the exit code still tells


def _silence_stdout() -> None:
    """The reader of our stdout left; the interpreter must not complain about it while it shuts down."""
    import os

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)

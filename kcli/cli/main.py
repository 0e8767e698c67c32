"""The console script. Hot commands start without Typer; whatever goes wrong is one sentence and an exit code."""

from __future__ import annotations

import errno
import os
import sys

from kcli import cli
from kcli.cli.output.messages import complain, name_of, print_version, sentence, settle
from kcli.errors import Hint, KcliError, set_wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)
"""What a write says that was no mistake of its own."""
HELP = (["--help"], ["-h"], ["--help-all"])


def main(argv: list[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    words = [word if word.isascii() else _utf8(word) for word in (sys.argv[1:] if argv is None else argv)]
    if argv is None and sys.argv[0].endswith(("kcat", "kafkacat")):
        words = ["cat", *words]  # linked as kcat
    if (sys.stdin is None or sys.stdout is None or sys.stderr is None) and not _reopen(words):
        return 1
    cli.typed = words
    before = set_wording(_worded)
    try:
        code = _dispatch(words)
        sys.stdout.flush()
        return code
    except KcliError as problem:
        complain(sentence(problem))
        return problem.exit_code
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    except OSError as problem:
        about = f"{name_of(1)}: " if problem.filename is None and problem.errno in FULL else ""
        complain(f"{about}{sentence(problem)}")
        return 1
    finally:
        settle()
        set_wording(before)  # of a program that calls this: its errors are the library's


def _worded(text: str, hint: Hint) -> str:
    from kcli.cli.output.hints import worded  # only where there is an error

    return worded(text, hint)


def _utf8(word: str) -> str:
    """A word as it was typed in a terminal of UTF-8: without a locale Python takes it for bytes."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


def console() -> NoReturn:
    """The console script. The process ends without the interpreter's clean-up, which costs 8 ms and frees what
    the system frees anyway; unless there are threads that are waited for, or things registered for the end, as
    logging's are."""
    from kcli.system.terminal import prepare
    from kcli.watchdog import arm

    prepare()
    arm()
    code = main()
    threading = sys.modules.get("threading")  # a command without threads does not import it
    waited_for = threading is not None and any(
        not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    )
    if waited_for or "logging" in sys.modules:
        sys.exit(code)
    os._exit(code)


def _dispatch(words: list[str]) -> int:
    if words[:1] == ["__complete"]:
        from kcli.cli.completion.command import run

        return run(words[1:])
    if words in (["--version"], ["-V"], ["version"]):
        return print_version()
    if words and words[0][:1] == "-" and words[:1] not in HELP:  # help needs no declaration of options
        from kcli.cli.parsing.resolver import command_first

        words = command_first(words)
    if len(words) > 1 and words[:1] in HELP:
        words = [*words[1:], words[0]]  # kcli --help topics
    if words[:1] == ["help"]:
        from kcli.cli.parsing.help.command import answer

        text, words = answer(words[1:])
        if text:
            _print(text)
            return 0
    if not words or words in HELP:
        from kcli.cli.parsing.typer_app import print_help

        print_help()
        if not words:
            from kcli.cli.commands.config.importing.first_contact import listing

            _print(listing())
        return 0 if words else 2
    return run_words(words)


def run_words(words: list[str]) -> int:
    """Run the command that a line names. Typer reads what the fast parser does not: without a table, for help, and
    where there is a mistake; KCLI_PARSER=typer sends everything to it."""
    from kcli.cli.parsing import table
    from kcli.cli.parsing.resolver import find

    chosen = find(words)
    if "--help-json" in words:
        from kcli.cli.parsing.help.as_json import document

        _print(document(words, chosen))
        return 0
    if chosen is None:
        from kcli.cli.parsing.registry import subject
        from kcli.cli.parsing.typer_app import print_help

        return print_help(subject(words[0]) or words[0])
    command, rest, path = chosen
    line = None
    if table.read(path.split()[0]) is not None and os.environ.get("KCLI_PARSER") != "typer":
        from kcli.cli.parsing.parser import parse

        line = parse(command, rest)
    if line is None:
        from kcli.cli.parsing.typer_app import read

        return read(command, rest, path)
    from kcli.cli.parsing.command import run_command
    from kcli.cli.runtime.startup import start_lean

    start_lean()
    return run_command(command, line)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _reopen(words: list[str]) -> bool:
    """Open /dev/null in place of a closed stdin, stdout or stderr (`>&-`), before a socket gets its number. False
    where the command needs that file for its input or output."""
    stdin, stdout = sys.stdin is None, sys.stdout is None
    while os.open(os.devnull, os.O_RDWR) < 2:
        continue  # the lowest number that is free, so this fills the gaps
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # as long as the process
    produces = words[:1] == ["produce"]
    if stdout and not produces:
        complain("stdout is closed")
    elif stdin and produces:
        complain("stdin is closed")
    if stdout:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    return not (produces and stdin) and (produces or not stdout)

"""`kcli cat …`, and kcli under the name kcat: kcat's command lines, with its output, its words and its exit codes.

Exit code 0 is done or interrupted, 1 is anything else. What differs from kcat 1.7.1 on purpose: docs/kcat.md.
"""

from __future__ import annotations

import sys

from kcli.cli.commands.cat.parsing.words import FATAL, Done, Fatal, Misused, fail
from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options, flag, text, texts
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.runtime.signals import Stop

NAMES = ("kcat", "kafkacat")
ENDED = (130, 143)
"""By Ctrl-C or SIGTERM, which is no error to kcat."""


class CatOptions(Options):
    """kcat's letters, for completion: kcat's own grammar (parsing/getopt.py) reads the words."""

    consume = flag("-C", help="")
    produce = flag("-P", help="")
    list = flag("-L", help="")
    query = flag("-Q", help="")
    group = text("-G", metavar="GROUP", help="")
    topics = texts("-t", metavar="TOPIC", help="")
    bootstrap = text("-b", metavar="SERVERS", help="")
    partition = text("-p", metavar="N", help="")
    start = text("-o", metavar="WHERE", help="")
    properties = texts("-X", metavar="PROPERTY", help="")
    config_file = text("-F", metavar="FILE", help="")
    compression = text("-z", metavar="codec", help="")
    delimiter = text("-D", metavar="DELIM", help="")
    key_delimiter = text("-K", metavar="DELIM", help="")
    key = text("-k", metavar="KEY", help="")
    headers = texts("-H", metavar="NAME=VALUE", help="")
    count = text("-c", metavar="N", help="")
    template = text("-f", metavar="FORMAT", help="")
    serdes = text("-s", metavar="SERDES", help="")
    registry = text("-r", metavar="URL", help="")
    patience = text("-m", metavar="SECONDS", help="")
    exit_at_end = flag("-e", help="")
    json = flag("-J", help="")
    unbuffered = flag("-u", help="")
    quiet = flag("-q", help="")
    verbose = flag("-v", help="")
    lines = flag("-l", help="")
    nulls = flag("-Z", help="")
    offsets = flag("-O", help="")
    errors = flag("-E", help="")
    tee = flag("-T", help="")
    bare = flag("-U", help="")


@command("cat", words="FILE", own_words=True)
def cat(options: CatOptions) -> int:
    """Run a command line of kcat's; `kcli cat -h` prints its options."""
    return run(options.words)


def run(words: list[str], program: str = "kcli cat") -> int:
    """Run a command line of kcat's (without the program's name). Returns the exit code."""
    from kcli.cli.runtime.startup.fast_start import start_lean

    if words[:1] and words[0] in NAMES:
        words = words[1:]  # as kcat does, for containers whose entry point already is kcat
    start_lean()
    try:
        return _run(words, program)
    except Done as done:
        sys.stdout.write(done.text)
        sys.stdout.flush()
        return 0
    except Misused as problem:
        from kcli.cli.commands.cat.parsing.usage import usage

        sys.stderr.write(f"Error: {problem}\n\n{usage(program)}")
        return FATAL


def _run(words: list[str], program: str) -> int:
    if program == "kcli cat" and "--help" in words:
        words = ["-h"]
    from kcli.cli.commands.cat.parsing.line import CommandLine

    try:
        line = CommandLine(words, program)
        return _mode(line)
    except BrokenPipeError:
        raise
    except (KcliError, OSError) as problem:
        from kcli.cli.output.messages import sentence

        fail(str(problem) if isinstance(problem, Fatal) else sentence(problem))
        return FATAL


def _mode(line: CommandLine) -> int:
    from functools import partial

    from kcli.cli.runtime.signals import run as run_loop

    work: Callable[[CommandLine, Stop], Awaitable[int]]
    if line.mode == "C":
        from kcli.cli.commands.cat.consume import consume as work
    elif line.mode == "P":
        from kcli.cli.commands.cat.produce import produce as work
    elif line.mode == "G":
        from kcli.cli.commands.cat.group import join as work
    elif line.mode == "L":
        from kcli.cli.commands.cat.look import look as work
    else:
        from kcli.cli.commands.cat.look import query as work

    code = run_loop(partial(work, line))
    return 0 if code in ENDED else code

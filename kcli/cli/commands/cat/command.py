"""`kcli cat …`, and kcli under the name kcat: kcat's command lines, with its output, its words and its exit codes.

Exit code 0 is done or interrupted, 1 is anything else. What differs from kcat 1.7.1 on purpose: docs/kcat.md.
"""

from __future__ import annotations

import sys

from kcli.cli.commands.cat.parsing.words import FATAL, Done, Fatal, Misused, fail
from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Annotated

    import typer

    from kcli.cli.commands.cat.parsing.line import CommandLine
    from kcli.cli.runtime.signals import Stop

NAMES = ("kcat", "kafkacat")
ENDED = (130, 143)
"""By Ctrl-C or SIGTERM, which is no error to kcat."""


class CatOptions(Options):
    """kcat's letters, for completion: kcat's own grammar (parsing/line.py) reads the words."""

    consume: Annotated[bool, typer.Option("-C", help="")] = False
    produce: Annotated[bool, typer.Option("-P", help="")] = False
    listing: Annotated[bool, typer.Option("-L", help="")] = False
    query: Annotated[bool, typer.Option("-Q", help="")] = False
    group: Annotated[str | None, typer.Option("-G", metavar="GROUP", help="")] = None
    topics: Annotated[list[str], typer.Option("-t", metavar="TOPIC", help="")]
    bootstrap: Annotated[str | None, typer.Option("-b", metavar="SERVERS", help="")] = None
    partition: Annotated[str | None, typer.Option("-p", metavar="N", help="")] = None
    start: Annotated[str | None, typer.Option("-o", metavar="WHERE", help="")] = None
    properties: Annotated[list[str], typer.Option("-X", metavar="PROPERTY", help="")]
    config_file: Annotated[str | None, typer.Option("-F", metavar="FILE", help="")] = None
    compression: Annotated[str | None, typer.Option("-z", metavar="codec", help="")] = None
    delimiter: Annotated[str | None, typer.Option("-D", metavar="DELIM", help="")] = None
    key_delimiter: Annotated[str | None, typer.Option("-K", metavar="DELIM", help="")] = None
    key: Annotated[str | None, typer.Option("-k", metavar="KEY", help="")] = None
    headers: Annotated[list[str], typer.Option("-H", metavar="NAME=VALUE", help="")]
    count: Annotated[str | None, typer.Option("-c", metavar="N", help="")] = None
    template: Annotated[str | None, typer.Option("-f", metavar="FORMAT", help="")] = None
    serdes: Annotated[str | None, typer.Option("-s", metavar="SERDES", help="")] = None
    registry: Annotated[str | None, typer.Option("-r", metavar="URL", help="")] = None
    patience: Annotated[str | None, typer.Option("-m", metavar="SECONDS", help="")] = None
    exit_at_end: Annotated[bool, typer.Option("-e", help="")] = False
    json: Annotated[bool, typer.Option("-J", help="")] = False
    unbuffered: Annotated[bool, typer.Option("-u", help="")] = False
    quiet: Annotated[bool, typer.Option("-q", help="")] = False
    verbose: Annotated[bool, typer.Option("-v", help="")] = False
    lines: Annotated[bool, typer.Option("-l", help="")] = False
    nulls: Annotated[bool, typer.Option("-Z", help="")] = False
    offsets: Annotated[bool, typer.Option("-O", help="")] = False
    errors: Annotated[bool, typer.Option("-E", help="")] = False
    tee: Annotated[bool, typer.Option("-T", help="")] = False
    bare: Annotated[bool, typer.Option("-U", help="")] = False


@command("cat", words="FILE", own_words=True)
def cat(options: CatOptions) -> int:
    """Run a kcat command line; `kcli cat -h` prints its options."""
    return run(options.words)


def run(words: list[str], program: str = "kcli cat") -> int:
    """Run a command line of kcat's (without the program's name). Returns the exit code."""
    from kcli.cli.runtime.startup import start_lean

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
        from kcli.cli.commands.cat.metadata import list_metadata as work
    else:
        from kcli.cli.commands.cat.metadata import query as work

    code = run_loop(partial(work, line))
    return 0 if code in ENDED else code

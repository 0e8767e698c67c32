"""How a command that copies records keeps its place: options that copy and redrive share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.cli.parsing.option import Options
from kcli.copying.rate import Rate
from kcli.errors import UsageError
from kcli.grammar.units import bytes_of

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class ResumeOptions(Options):
    """How fast records are sent, and how a later run knows where to resume."""

    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="RATE", help="At most this many records (500) or bytes (10MB) per second."),
    ] = None
    restart: Annotated[bool, typer.Option("--restart", help="Ignore saved progress and start over.")] = False
    no_resume: Annotated[bool, typer.Option("--no-resume", help="Neither store nor use saved progress.")] = False
    exactly_once: Annotated[
        bool,
        typer.Option("--exactly-once", help="Commit records and progress in one transaction; only within one cluster."),
    ] = False
    transactional_id: Annotated[
        str | None,
        typer.Option(
            "--transactional-id",
            metavar="ID",
            help="For --exactly-once; a second process with the same id fences the first. Default: the name of the "
            "progress.",
        ),
    ] = None


def rate_of(given: str | None) -> Rate | None:
    """`500`, `500/s` as records, `10MB`, `10MiB/s` as bytes. Raises UsageError."""
    if given is None:
        return None
    try:
        of_bytes = given.strip().removesuffix("/s")[-1:].isalpha()
        number = bytes_of(given, "--rate")
    except UsageError:
        number = 0.0
    if not 0 < number < 1e18:
        raise UsageError(f"--rate {given}: expected records or bytes per second, such as 500 or 10MB")
    return Rate(number, of_bytes=of_bytes)

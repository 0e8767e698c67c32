"""How a command that copies records keeps its place: options that copy and redrive share."""

from __future__ import annotations

from kcli.cli.parsing.option import Options, flag, text
from kcli.copying.rate import Rate
from kcli.errors import UsageError

UNITS = {"": 0, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KIB": 1024, "MIB": 1024**2, "GIB": 1024**3, "B": 1}


class ResumeOptions(Options):
    """How fast records are sent, and how a later run knows where to go on."""

    rate = text("--rate", metavar="N", help="At most N records a second, or bytes: 500, 10MB.")
    restart = flag("--restart", help="Begin anew, whatever was kept.")
    no_resume = flag("--no-resume", help="Keep no positions, and look for none.")
    exactly_once = flag("--exactly-once", help="Records and positions in one transaction; within one cluster.")
    transactional_id = text(
        "--transactional-id",
        metavar="ID",
        help="Of --exactly-once; a second process with it fences the first. Else the name of the positions.",
    )


def rate_of(given: str | None) -> Rate | None:
    """`500`, `500/s`, `10MB`, `10MiB/s` as a Rate. Raises UsageError."""
    if given is None:
        return None
    word = given.strip().removesuffix("/s")
    digits = word.rstrip("kmgibKMGIB")
    unit = word[len(digits) :].upper()
    try:
        number = float(digits)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e18 or unit not in UNITS:
        raise UsageError(f"--rate {given}: expected records or bytes a second, such as 500 or 10MB")
    return Rate(number * UNITS[unit], of_bytes=True) if UNITS[unit] else Rate(number)

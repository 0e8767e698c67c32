"""Examples in lines that fit: comments in one column where there is room, else behind their command or above it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BEFORE = "  # "
"""What parts a comment from its command."""


def fitted(lines: list[str], width: int) -> Iterator[str]:
    """The lines of an example block, of at most `width` columns except for commands that are longer."""
    pairs = [_parted(line) for line in lines]
    column = _column([pair for pair in pairs if pair[1]], width)
    for line, comment in pairs:
        if not comment:
            yield line
        elif _fits(column, line, comment, width):
            yield f"{line:<{column}}{BEFORE}{comment}"
        elif _fits(len(line), line, comment, width):
            yield f"{line}{BEFORE}{comment}"
        else:
            yield from (f"{line[: len(line) - len(line.lstrip())]}# {comment}", line)


def _column(pairs: list[tuple[str, str]], width: int) -> int:
    """The column at which most comments have room, the least of several."""
    columns = sorted({len(line) for line, _ in pairs})
    return max(columns, key=lambda column: sum(_fits(column, *pair, width) for pair in pairs), default=0)


def _fits(column: int, line: str, comment: str, width: int) -> bool:
    return len(line) <= column and column + len(BEFORE + comment) <= width


def _parted(line: str) -> tuple[str, str]:
    """A command and its comment, "" where it has none."""
    command, _, comment = line.partition(" # ")
    return (command.rstrip(), comment) if command.strip() else (line, "")

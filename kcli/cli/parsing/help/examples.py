"""Examples in lines that fit: comments in one column where there is room, else behind their command or above it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BEFORE = "  # "
"""What parts a comment from its command."""


def fitted(lines: list[str], width: int) -> Iterator[str]:
    """The lines of an example block, of at most `width` columns: a longer command is continued on the next line, as in
    a shell."""
    pairs = [_parted(line) for line in lines]
    column = _column([pair for pair in pairs if pair[1]], width)
    for line, comment in pairs:
        if not comment:
            yield from continued(line, width)
        elif _fits(column, line, comment, width):
            yield f"{line:<{column}}{BEFORE}{comment}"
        elif _fits(len(line), line, comment, width):
            yield f"{line}{BEFORE}{comment}"
        else:
            yield f"{line[: len(line) - len(line.lstrip())]}# {comment}"
            yield from continued(line, width)


def continued(line: str, width: int) -> list[str]:
    """A command in lines of at most `width` columns, each but the last with a backslash at its end. It is broken in
    front of options and pipes, else at any space; never in quotes."""
    if len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    lines, rest = [], line
    while len(rest) > width:
        every = [place for place in _spaces(rest) if place > len(indent)]
        places = [place for place in every if place <= width - 2]
        better = [place for place in places if rest[place + 1] in "-|>" and place > width // 2]
        if not every:
            break
        place = max(better or places, default=every[0])
        lines.append(f"{rest[:place].rstrip()} \\")
        rest = f"{indent}  {rest[place + 1 :].lstrip()}"
    return [*lines, rest]


def _spaces(line: str) -> list[int]:
    """The places of spaces that part words, as a shell sees them."""
    places, quote = [], ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == " " and line[:place].strip():
            places.append(place)
    return places


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

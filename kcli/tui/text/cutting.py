"""Text cut to a number of cells. Pure."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

MARK = "…"


def fitted(text: str, cells: int, *, right: bool = False, middle: bool = False) -> str:
    """The text in exactly this number of cells: padded at its right, or at its left with `right`. Text that is too long
    is cut at its end, or in the middle with `middle`: the end of a name distinguishes it as much as its beginning."""
    wide = cell_len(text)
    if wide > cells:
        return _without_middle(text, cells) if middle else set_cell_size(text, max(cells - 1, 0)) + MARK
    return " " * (cells - wide) + text if right else text + " " * (cells - wide)


def cut(text: str, cells: int) -> str:
    """The text in at most this number of cells, without its middle where it is longer."""
    return _without_middle(text, cells) if cell_len(text) > cells else text


def _without_middle(text: str, cells: int) -> str:
    """`kcli-copy…3b93ca67`: the beginning gets the odd cell."""
    room = max(cells - 1, 0)
    tail = ""
    while tail != text and cell_len(text[-len(tail) - 1 :]) <= room // 2:
        tail = text[-len(tail) - 1 :]
    return set_cell_size(text, room - cell_len(tail)) + MARK + tail

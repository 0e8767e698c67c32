"""A JSON text laid out for reading: in colour, on one line where there is room for it, else indented.

The text is cut into its tokens and never read as numbers, so every digit is shown as it was written.
"""

from __future__ import annotations

from kcli.cli.output.terminal import painted
from kcli.serde.json_text import TOKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Node = str | list[tuple[str, "Node"]]
    """A token, or what is between two brackets: first ("", bracket), then (name or "", node) of each."""

STEP = 2  # columns of an indent
DEEP = 60  # levels that are laid out; deeper ones are on one line
NAME, TEXT, NUMBER, WORD = "34;1", "32", "36", "33"
CLOSES = {"{": "}", "[": "]"}


def laid_out(text: str, room: int, indent: int = 0, *, color: bool = False) -> list[str]:
    """The lines of a JSON text, without the indent of the first one; `room` is the width of a line in columns. Raises
    RecursionError."""
    return _lines(_node(TOKEN.finditer(text)), room, indent, color, 0)


def _node(tokens: Iterator[object]) -> Node:
    return _after(_next(tokens), tokens)


def _next(tokens: Iterator[object]) -> str:
    return next(tokens).group()  # type: ignore[attr-defined, no-any-return]


def _after(token: str, tokens: Iterator[object]) -> Node:
    """The node that begins with a token."""
    if token not in CLOSES:
        return token
    node: list[tuple[str, Node]] = [("", token)]
    closing = CLOSES[token]
    while (token := _next(tokens)) != closing:
        if token == ",":
            continue
        name = ""
        if closing == "}":
            name, _ = token, _next(tokens)  # the colon
            token = _next(tokens)
        node.append((name, _after(token, tokens)))
    return node


def _lines(node: Node, room: int, indent: int, color: bool, depth: int) -> list[str]:
    if isinstance(node, str) or len(node) == 1 or depth > DEEP or indent + _width(node, room) <= room:
        return [_flat(node, color)]
    bracket = str(node[0][1])
    lines = [bracket]
    for number, (name, child) in enumerate(node[1:], 2):
        label = painted(name, NAME, color) + ": " if name else ""
        first, *rest = _lines(child, room - len(name) - 3, indent + STEP, color, depth + 1)
        lines += [" " * (indent + STEP) + label + first, *rest]
        if number < len(node):
            lines[-1] += ","
    lines.append(" " * indent + CLOSES[bracket])
    return lines


def _width(node: Node, most: int) -> int:
    """Columns of a node on one line; more than `most` is not counted to its end."""
    if isinstance(node, str):
        return len(node)
    width = 2 + 2 * max(len(node) - 2, 0)
    for name, child in node[1:]:
        width += (len(name) + 2 if name else 0) + _width(child, most - width)
        if width > most:
            break
    return width


def _flat(node: Node, color: bool) -> str:
    if isinstance(node, str):
        return painted(node, TEXT if node[0] == '"' else WORD if node[0].isalpha() else NUMBER, color)
    bracket = str(node[0][1])
    parts = [(painted(name, NAME, color) + ": " if name else "") + _flat(child, color) for name, child in node[1:]]
    return bracket + ", ".join(parts) + CLOSES[bracket]

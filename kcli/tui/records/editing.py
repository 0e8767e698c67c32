"""JSON in several lines, for an editor, and on one line again: token by token, so that numbers, escapes and fields stay
as they were written. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.tui.widgets.pager import TOKEN, indented

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = 128 * 1024
"""Letters of a longer text, which is edited as it is."""


def wrong_json(text: str) -> json.JSONDecodeError | RecursionError | None:
    """Why a text is no JSON; None where it is. NaN and Infinity, which Python reads, are none."""

    def refuse(word: str) -> None:
        raise json.JSONDecodeError(f"{word} is no JSON", text, text.find(word))

    try:
        json.loads(text, parse_constant=refuse)
    except (json.JSONDecodeError, RecursionError) as problem:
        return problem
    return None


def looks_like_json(text: str) -> bool:
    """Whether a text is meant as an object or a list."""
    return text.lstrip()[:1] in ("{", "[")


def can_be_edited(text: str) -> bool:
    """Whether a text is an object or a list on one line that is better edited in several."""
    return len(text) <= LARGE and "\n" not in text.strip() and looks_like_json(text) and wrong_json(text) is None


def tokens_of(line: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a line of JSON that have a colour, each with its kind, start and end."""
    for match in TOKEN.finditer(line):
        text = match[0]
        if text[0] == '"':
            kind = "key" if line[match.end() :].lstrip().startswith(":") else "string"
        elif text[0] in "-0123456789":
            kind = "number"
        elif text[0].isalpha():
            kind = "word"
        else:
            continue
        yield kind, match.start(), match.end()


def in_lines(text: str) -> str:
    """JSON, indented."""
    return "\n".join(indented(text))


def on_one_line(text: str, like: str = "") -> str:
    """JSON without its line ends. `like` is the text that it was before: it is that again where no token changed, and
    has its spaces after commas and colons."""
    gaps = {sign: _gap(like, sign) for sign in ",:"}
    line = _joined(text, gaps)
    return like if line == _joined(like, gaps) else line


def _joined(text: str, gaps: dict[str, str]) -> str:
    return "".join(gaps.get(match[0], match[0]) for match in TOKEN.finditer(text))


def _gap(like: str, sign: str) -> str:
    """A comma or a colon with the space that is after the first one."""
    end = next((match.end() for match in TOKEN.finditer(like) if match[0] == sign), len(like))
    return sign + " " * (like[end : end + 1] == " ")

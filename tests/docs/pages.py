"""Code blocks of Markdown pages, and which of their lines a test does not run.

A comment in front of a block, which readers do not see, says why: `<!-- not run: REASON -->` for the whole block,
``<!-- not run `BEGINNING`, `BEGINNING`: REASON -->`` for the lines that begin like this.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCED = re.compile(r"((?:^<!-- not run[^\n]*-->\n)*)^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^<!-- not run((?: `[^`]+`,?)*): (.+) -->$", re.MULTILINE)


class Line(NamedTuple):
    """A line of a block; `why_not` is why no test runs it, "" for one that is run."""

    text: str
    why_not: str


class Block(NamedTuple):
    language: str
    lines: list[Line]


def blocks(text: str) -> list[Block]:
    """The blocks of a page; lines that a backslash joins are one, and blank lines are left out. Raises AssertionError
    for a comment that is malformed, or that names a line that is not there."""
    found = []
    for comments, language, code in FENCED.findall(text):
        joined = re.sub(r"[ ]*\\\n[ ]*", " ", code)
        reasons: dict[str, str] = {}
        for comment in comments.splitlines():
            match = COMMENT.fullmatch(comment)
            assert match is not None, comment
            for beginning in re.findall(r"`([^`]+)`", match[1]) or [""]:
                assert any(line.startswith(beginning) for line in joined.splitlines()), comment
                reasons[beginning] = match[2]
        lines = []
        for line in filter(str.strip, joined.splitlines()):
            why_not = next((reason for start, reason in reasons.items() if line.startswith(start)), "")
            lines.append(Line(line, why_not))
        found.append(Block(language, lines))
    return found


def shell_lines(text: str) -> list[str]:
    """The lines of all blocks of shell that a test runs, with their comments."""
    return [line.text for block in blocks(text) if block.language == "sh" for line in block.lines if not line.why_not]

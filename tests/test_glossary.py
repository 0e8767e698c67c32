"""One word for one thing: tables speak the language of docs/glossary.md (A4.28)."""

from __future__ import annotations

import re
from pathlib import Path

from kcli import codes
from kcli.cli.output.tables import shape as shapes
from tests.each import each

ROOT = Path(__file__).parent.parent
ROWS = re.findall(r"^\| ([^|]+?) \| [^|]+? \| ?([^|]*?) ?\|$", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)[
    1:
]
WORDS = {word.strip().lower() for words, _ in ROWS for word in words.split(",")}
AVOIDED = {word.strip() for _, words in ROWS for word in words.split(",") if word.strip()}
KNOWN = re.compile(rf"\b({'|'.join(sorted(map(re.escape, WORDS), key=len, reverse=True))})", re.IGNORECASE)
WRONG = re.compile(rf"(?<![.\w-])({'|'.join(map(re.escape, sorted(AVOIDED)))})s?(?![.\w-])", re.IGNORECASE)
PLAIN = {  # columns whose one word is plain English
    "name", "note", "status", "result",
    "from", "first", "last", "bar", "count", "records", "bytes", "problem", "about", "new", "old", "seconds", "reason",
    "done", "action", "size",
}  # fmt: skip


def titles() -> list[tuple[str, str]]:
    return sorted({(one.name, c.name) for one in shapes.every() for part in one.sections for c in part.columns})


@each(("shape", "column"), titles(), ids=lambda text: text)
def test_A4_28_a_column_title_is_a_word_of_the_glossary(shape: str, column: str) -> None:
    words = column.replace("_", " ")
    assert KNOWN.search(words) or words in PLAIN, f"{words!r} of {shape}"
    assert not WRONG.search(words)


@each("code", [c for c in vars(codes).values() if isinstance(c, codes.ErrorCode)], ids=lambda code: code.name)
def test_A4_28_an_error_code_is_told_in_the_words_of_the_glossary(code: codes.ErrorCode) -> None:
    assert KNOWN.search(code.text), code.text
    assert not WRONG.search(code.text), code.text


def test_A4_28_there_is_something_to_check() -> None:
    assert len(titles()) > 50
    assert len(WORDS) > 60

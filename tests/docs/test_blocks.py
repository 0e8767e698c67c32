"""Each block of shell and Python in the docs is run by a test, or a comment in front of it says why not (pages.py); and
each line of kcli in any block can be parsed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from kcli.cli.parsing import parser, resolver
from tests.docs.pages import blocks
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    if not path.is_symlink()
)
RUN = {
    "README.md": "tests/test_readme.py",
    "docs/records.md": "tests/test_pages.py",
    "docs/sandbox.md": "tests/docs/test_sandbox_page.py",  # its sh lines: tests/test_pages.py
    "docs/schemas.md": "tests/test_pages.py",
    "docs/how-to.md": "tests/docs/test_how_to.py",
    "docs/start.md": "tests/docs/test_how_to.py",
    "docs/lake.md": "tests/docs/test_lake.py",
    "docs/library/": "tests/docs/test_programs.py",
    "docs/reference/": "tests/cli/parsing/test_examples_of_help.py",  # read by the parser: what they name is not there
}
"""Pages, or folders of them, with the test that runs their blocks."""
ENDS = ("|", ">", ">>", "<", "&&", ";", "&", "2>")


class Line(NamedTuple):
    page: str
    language: str
    text: str
    why_not: str


def lines() -> list[Line]:
    found = ((page, block) for page in PAGES for block in blocks((ROOT / page).read_text()))
    return [Line(page, block.language, *line) for page, block in found for line in block.lines]


LINES = lines()


def test_each_block_is_run_or_says_why_not() -> None:
    code = [line for line in LINES if line.language in ("sh", "bash", "python")]
    silent = [line for line in code if not line.page.startswith(tuple(RUN)) and not line.why_not]
    assert silent == []
    print(*[f"{line.page}: {line.text}: {line.why_not}" for line in code if line.why_not], sep="\n")


@each("test", RUN.values())
def test_the_test_of_a_page_is_there(test: str) -> None:
    assert (ROOT / test).exists()


def words_of(text: str) -> list[str]:
    """The words of a command line, up to a pipe, a redirection or a comment."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    for word in lexer:
        if word.startswith("#") or word in ENDS:
            break
        words.append(word)
    return words


EXAMPLES = [
    line
    for line in LINES
    if re.match(r"(\$ )?kcli ", line.text)
    and not line.page.startswith("docs/reference/")
    and line.language != "text"
    and not line.text.startswith(("kcli help", "kcli --version"))
]


@each("line", EXAMPLES, ids=lambda line: line.text)
def test_a_line_of_kcli_is_a_command_line(line: Line) -> None:
    chosen = resolver.find(words_of(line.text.removeprefix("$ "))[1:])
    assert chosen is not None, line
    command, rest, _ = chosen
    assert command.own_words or parser.parse(command, rest) is not None, line

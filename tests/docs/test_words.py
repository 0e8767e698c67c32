"""What users read is free of riddle words (words.py)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.each import each
from tests.words import main, page_text, riddles, text_of


def test_a_place_with_more_riddles_than_it_may_have_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make check` counts the riddles of the tree itself."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.words.PAGES", ())
    Path("kcli/lag").mkdir(parents=True)
    Path("kcli/lag/status.py").write_text('"""The status that a group has."""\n')
    assert main([]) == 0
    text_of.cache_clear()
    Path("kcli/lag/status.py").write_text('"""What stands there."""\n')
    assert main([]) == 1
    assert "docstrings:kcli/lag: 1 riddles, 0 are allowed" in capsys.readouterr().out


SAID_BEFORE = """
a time inside the values|who is how far behind|what a sandbox shall do wrong|what mends it|what there is of apis
where logs start and end|leaders: not the preferred ones|write a cluster down|tells about one command|who must have it
of every record; else|that is no record|as it was at the start|for so long|control bytes as they are|record by itself
batches that are damaged|so many looks|between two looks|look until|of the last so long|after what is committed
do it. without|is no failure|keeps how far this is|and look for none|may everything|of everybody|let tokens end
back to what is inherited|that somebody set|is it done?|is too much|say of what|nothing was done: add|goes on after
left out|has nothing set|what holds for it|lets it through|the least is|no property is named|what stands above
--fail-if-none is given|looked for|there is no option|there is no command|answer leaves|passed over|--execute does it
which files?|which command?|from which|of which topics?|what, and where to?|would have ended|is told|was told
"""
"""Sentences that were reworded: nothing that users read has them again."""


BROKEN = re.compile(r'"\s*\n\s*f?"')
"""Where a string is broken in two lines of a source."""


def test_what_was_reworded_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    phrases = [phrase for line in SAID_BEFORE.strip().splitlines() for phrase in line.split("|")]
    found = [
        f"{path}:{number}: {phrase}"
        for path in sorted(Path("kcli").rglob("*.py"))
        if any(map(BROKEN.sub("", path.read_text().lower()).__contains__, phrases))  # only these are worth parsing
        for number, text in text_of(path).user
        for phrase in phrases
        if phrase in text.lower() and len(text.split()) >= 3
    ]
    assert not found, "\n".join(found)


@each(
    "text",
    [
        "Who must have it (default all)",
        "Stop after so many records",
        "a line that stands behind it",
        "it goes on after the end",
        "the broker is told about it",
        "Records that the filters left out",
        "Seconds of the last look",
    ],
)
def test_a_riddle_is_found(text: str) -> None:
    assert riddles(text)


@each(
    "text",
    ["Required acknowledgements (default: all)", "kcli acls who-can read topic", "looks for a file there", "nobody"],
)
def test_plain_words_and_names_are_none(text: str) -> None:
    assert not riddles(text)


def test_users_read_strings_and_the_help_of_commands(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""Module."""\n@command("a")\ndef run():\n    """Help."""\n    # why\n    return f"one {run} two"\n'
    )
    assert sorted(text for _, text in text_of(path).user) == ["Help.", "a", "one … two"]
    assert [text for _, text in text_of(path).inner] == ["Module.", "# why"]


@each(
    ("source", "found"),
    [
        ("a = 1  # why\n\n# alone\n", ["# why", "# alone"]),
        ("a = '#no'  # yes\n# more\n", ["# yes", "# more"]),
        ("a = (\n    'ä'  # between\n    'b'\n)\n", ["# between"]),
        ("a = f'{1}#'\nb = 2  # ä # c\n", ["# ä # c"]),
    ],
)
def test_a_comment_begins_where_no_string_is(source: str, found: list[str], tmp_path: Path) -> None:
    path = tmp_path / f"{abs(hash(source))}.py"
    path.write_text(source)
    assert [text for _, text in text_of(path).inner] == found


def test_code_on_a_page_is_not_read() -> None:
    assert [*page_text("one `who`\n```\nwho\n```\ntwo")] == [(1, "one `…`"), (5, "two")]

"""What users read is free of riddle words (words.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.each import each
from tests.words import inner_text, main, page_text, riddles, user_text


def test_no_place_has_more_riddles_than_it_may(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent.parent.parent)
    assert main([]) == 0, capsys.readouterr().out


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
    assert sorted(text for _, text in user_text(path)) == ["Help.", "a", "one … two"]
    assert [text for _, text in inner_text(path)] == ["Module.", "# why"]


def test_code_on_a_page_is_not_read() -> None:
    assert [*page_text("one `who`\n```\nwho\n```\ntwo")] == [(1, "one `…`"), (5, "two")]

"""docs/tui.md is true: its table of keys is the bindings, its pictures are there, its statuses are all there are."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import Path

import pytest

from kcli.lag.formats.page import STATUSES
from kcli.tui.routes import NAMES
from tests.tui import admin_pictures, pictures
from tests.tui.picture_font import CHARACTERS, FOLDER

PAGE = pictures.PAGE.read_text()


def test_the_table_of_keys_is_written_from_the_bindings() -> None:
    assert pictures.with_keys(PAGE) == PAGE, "make screenshots writes it anew"


def test_every_picture_is_there_and_shown() -> None:
    shown = set(re.findall(r"pictures/(\w+)\.svg", PAGE))
    there = {path.stem for path in pictures.PICTURES.glob("*.svg")}
    made = pictures.REPLAYED.keys() | pictures.LIVE.keys() | admin_pictures.PLACES.keys() | {"clusters"}
    assert shown <= there
    assert there == made


@pytest.mark.parametrize("path", sorted(FOLDER.parent.glob("*/*.svg")), ids=lambda path: path.stem)
def test_a_picture_has_its_font_in_it_and_loads_nothing(path: Path) -> None:
    svg = path.read_text()
    assert svg.count("src: url(data:font/woff2;base64,") == 2
    assert not re.search(r"url\((?!data:|#)|@import|href=", svg)
    assert set(re.findall(r"font-family: ([^;]*);", svg)) == {'"kcli mono"', '"kcli mono", monospace'}
    words = "".join(map(unescape, re.findall(r"<text[^>]*>([^<]*)</text>", svg))).replace("\xa0", " ")
    assert set("".join(words.split())) <= CHARACTERS, "python -m tests.tui.picture_font makes a font that has them"


def test_every_status_and_every_place_is_told() -> None:
    for status, (glyph, _) in STATUSES.items():
        if status != "UNKNOWN":
            assert f"| {glyph} | {status} |" in PAGE
    assert NAMES in PAGE


async def test_the_picture_of_the_groups_is_what_the_screen_looks_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    keys, words = pictures.REPLAYED["groups"]
    _, text = await pictures.replayed(keys, words)
    monkeypatch.undo()
    time.tzset()
    picture = (pictures.PICTURES / "groups.svg").read_text().replace("&#160;", " ")
    for line in text.splitlines():
        for word in re.findall(r"[A-Za-z]{3,}", line):
            assert word in picture, "make screenshots makes it anew"

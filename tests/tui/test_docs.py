"""docs/tui.md is true: its table of keys is the bindings, its pictures are there, its statuses are all there are."""

from __future__ import annotations

import re
import time

import pytest

from kcli.lag.formats.marks import STATUSES
from kcli.tui.routes import NAMES
from tests.tui import admin_pictures, pictures

PAGE = pictures.PAGE.read_text()


def test_the_table_of_keys_is_written_from_the_bindings() -> None:
    assert pictures.with_keys(PAGE) == PAGE, "make screenshots writes it anew"


def test_every_picture_is_there_and_shown() -> None:
    shown = set(re.findall(r"pictures/(\w+)\.svg", PAGE))
    there = {path.stem for path in pictures.PICTURES.glob("*.svg")}
    made = pictures.REPLAYED.keys() | pictures.LIVE.keys() | admin_pictures.PLACES.keys() | {"clusters"}
    assert shown <= there
    assert there == made


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

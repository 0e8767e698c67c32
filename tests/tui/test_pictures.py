"""What the screens look like, at three sizes: the recording of `kcli demo`, replayed, beside what it looked like.

`KCLI_SNAPSHOTS=write` makes them anew. The colours are compared where Textual is the version they were made with;
the words and where they stand always.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import textual

from tests.tui import pictures

SNAPSHOTS = Path(__file__).parent / "snapshots"
MADE_WITH = SNAPSHOTS / "textual.txt"
SIZES = [(80, 24), (120, 40), (300, 80)]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield None
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", ["groups", "group"])
async def test_a_screen_looks_as_it_did(name: str, size: tuple[int, int]) -> None:
    keys, words = pictures.REPLAYED[name]
    await same(f"{name}-{size[0]}x{size[1]}", *await pictures.replayed(keys, words, size))


async def test_the_light_theme_looks_as_it_did() -> None:
    keys, words = pictures.REPLAYED["group"]
    await same("group-light", *await pictures.replayed(keys, words, (80, 24), "kcli-light"))


async def test_without_colours_it_looks_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    keys, words = pictures.REPLAYED["groups"]
    picture, text = await pictures.replayed(keys, words, (80, 24))
    colours = {word.strip("\"';") for word in picture.split("fill: ")[1:] for word in word.split()[:1]}
    assert all(is_grey(colour) for colour in colours if colour.startswith("#")), colours
    assert "■ STUCK" in text
    assert "● OK" in text


def is_grey(colour: str) -> bool:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return max(red, green, blue) - min(red, green, blue) < 16


async def same(name: str, picture: str, text: str) -> None:
    words, svg = SNAPSHOTS / f"{name}.txt", SNAPSHOTS / f"{name}.svg"
    if os.environ.get("KCLI_SNAPSHOTS") == "write":
        SNAPSHOTS.mkdir(exist_ok=True)
        words.write_text(text + "\n")
        svg.write_text(picture)
        MADE_WITH.write_text(textual.__version__ + "\n")
    assert text + "\n" == words.read_text()
    if MADE_WITH.read_text().strip() == textual.__version__:
        assert picture == svg.read_text(), f"{name} has other colours than tests/tui/snapshots/{svg.name}"

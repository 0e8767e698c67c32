"""Nothing that the world wrote may act on a terminal."""

from __future__ import annotations

import json

import pytest

from kcli.text.escape import visible, visible_bytes, visible_json
from tests.each import each

HOSTILE = [
    "\x1b]52;c;x\x07",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202eevil",
    "\u200b",
    "\ufeff",
    "\U000e0041",
    "\r",
    "\x7f",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_spelled_out(text: str) -> None:
    shown = visible(text)
    assert shown != text
    assert shown.isprintable()


@pytest.mark.parametrize("text", ["plain", "é😀", "a b"])
def test_harmless_text_stays(text: str) -> None:
    assert visible(text) == text


def test_newlines_stay_where_they_may() -> None:
    assert visible("a\n\x1b", keep="\n") == "a\n\\x1b"
    assert visible("a\n") == "a\\x0a"


@each("byte", range(256))
def test_every_single_byte_is_harmless(byte: int) -> None:
    shown = visible_bytes(bytes([byte])).decode()
    assert shown.isprintable()


def test_json_on_a_terminal_is_still_the_same_json() -> None:
    for text in HOSTILE:
        line = json.dumps({"value": text}, ensure_ascii=False).encode() + b"\n"
        shown = visible_json(line)
        assert shown.endswith(b"\n")
        assert shown[:-1].decode().isprintable()
        assert json.loads(shown) == {"value": text}


def test_lone_surrogates_are_spelled_out() -> None:
    assert visible("\ud800") == "\\ud800"

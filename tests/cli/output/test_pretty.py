"""The view of records for people: what stands where, what fits, and that nothing of a record acts."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as some

from kcli.cli.output.records.pretty import LONGEST, Pretty, laid_out
from kcli.proto import core
from kcli.proto.batch import Batch, read_batches, seal

if TYPE_CHECKING:
    from kcli.proto.columns import Headers

    Row = tuple[bytes | None, bytes | None, Headers]

COLOUR = re.compile(r"\x1b\[[\d;]*m")
VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
)


def batch(*rows: Row) -> Batch:
    builder = core.Builder()
    for number, (key, value, headers) in enumerate(rows):
        builder.append(1_700_000_000_000 + number, key, value, headers)
    sealed = seal(builder.take(), len(rows), 1_700_000_000_000, 1_700_000_000_000 + len(rows) - 1)
    return read_batches(bytes(sealed.data))[0]


def shown(*rows: Row, color: str = "never", terminal: bool = False) -> str:
    out = bytearray()
    view = Pretty(terminal=terminal, color=color, value_format="auto")
    assert view.put(out, batch(*rows), "t", 3) == (len(rows), len(rows))
    return out.decode()


def test_a_record_is_time_place_key_and_value() -> None:
    assert shown((b"k", b"some text", []), (b"key-2", b'{"a":1.10}', [])).splitlines() == [
        "2023-11-14T22:13:20.000Z  3:0  k  some text",
        '2023-11-14T22:13:20.001Z  3:1  key-2  {"a": 1.10}',
    ]


def test_null_and_empty_are_told_apart_from_text() -> None:
    lines = shown((None, None, []), (b"", b"", []), (b"null", b"null", [])).splitlines()
    assert [line.split()[2:] for line in lines] == [["<null>"] * 2, ["<empty>"] * 2, ["null"] * 2]


def test_what_does_not_fit_stands_below_and_json_is_laid_out() -> None:
    value = {"name": "x" * 50, "list": [1, 2, 3], "deep": {"text": "y" * 60, "more": "z" * 30}}
    head, *lines = shown((b"k", json.dumps(value).encode(), [])).splitlines()
    assert head == "2023-11-14T22:13:20.000Z  3:0  k"
    assert "    " + '"list": [1, 2, 3],' in lines
    assert max(map(len, lines)) <= 100
    assert json.loads("".join(lines)) == value


def test_lines_of_a_text_stand_below_one_another() -> None:
    assert shown((b"k", b"one\ntwo\n", [])).splitlines()[1:] == ["  one", "  two"]


def test_headers_are_shown_where_there_are_any() -> None:
    text = shown((b"k", b"v", [("a", b"1"), ("b", None), ("c\x1b", b"\x9b")]))
    assert text.splitlines()[1] == r"  headers: a=1, b, c\x1b=\x9b"


def test_msgpack_is_shown_as_json() -> None:
    assert shown((b"k", msgpack.packb({"a": [1, b"\xff"]}), [])).endswith('{"a": [1, {"base64": "/w=="}]}\n')


@pytest.mark.parametrize(
    "hostile", [b"\x1b]0;x\x07", b"\xff\x9b", "\u202e\u200b\x85".encode(), b"\r\x00", b'"\x7f\xc2\x9b"']
)
def test_nothing_of_a_record_acts_on_a_terminal(hostile: bytes) -> None:
    text = shown((hostile, hostile, [("h", hostile)]), (b"k", b"\n" + hostile, []), terminal=True)
    assert text.replace("\n", "").isprintable()
    painted = shown((hostile, hostile, [("h", hostile)]), (b"k", b'{"a":"' + hostile, []), color="always")
    assert COLOUR.sub("", painted).replace("\n", "").isprintable()


def test_a_terminal_is_not_flooded_by_one_value_and_a_pipe_gets_all() -> None:
    value = b"x" * (LONGEST + 1234)
    text = shown((b"k", value, []), terminal=True)
    assert "… 1,234 more bytes" in text
    assert len(text) < LONGEST + 200
    assert value.decode() in shown((b"k", value, []))


@pytest.mark.parametrize(
    ("color", "terminal", "no_color", "coloured"),
    [
        ("auto", True, "", True),
        ("auto", True, "1", False),
        ("auto", False, "", False),
        ("always", False, "1", True),
        ("never", True, "", False),
    ],
)
def test_when_there_are_colours(
    color: str, terminal: bool, no_color: str, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    row: Row = (b"k", b'{"a":1}', [])
    text = shown(row, color=color, terminal=terminal)
    assert ("\x1b[" in text) == coloured
    assert COLOUR.sub("", text) == shown(row)


def test_each_record_has_its_topic_where_there_are_several() -> None:
    view, out = Pretty(terminal=False, color=None, value_format="auto", several=True), bytearray()
    for topic in ("a", "b"):
        view.put(out, batch((b"k", b"v", [])), topic, 0)
    assert [line.split()[1:-2] for line in out.decode().splitlines()] == [["a", "0:0"], ["b", "0:0"]]


def test_a_limit_says_where_to_go_on() -> None:
    view = Pretty(terminal=False, color=None, value_format="auto")
    rows: list[Row] = [(b"k", b"v", [])] * 3
    assert view.put(bytearray(), batch(*rows), "t", 0, 2) == (2, 2)


@pytest.mark.slow
@given(VALUES, some.integers(10, 120), some.booleans())
def test_json_that_is_laid_out_is_the_same_json(value: object, room: int, color: bool) -> None:
    lines = laid_out(json.dumps(value), room, color=color)
    text = "\n".join(lines)
    assert json.loads(COLOUR.sub("", text)) == value
    if not color:
        assert text.count("\x1b") == 0


def test_json_that_is_nested_deeply_is_shown_all_the_same() -> None:
    value = b"[" * 900 + b"]" * 900
    assert shown((b"k", value, [])).replace("\n", "").replace(" ", "").endswith(value.decode())


def test_a_terminal_decides_how_much_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda fd: os.terminal_size((60, 24)))
    row: Row = (b"k", b'{"a":"' + b"x" * 30 + b'"}', [])
    assert len(shown(row, terminal=True).splitlines()) == 2
    assert len(shown(row).splitlines()) == 1

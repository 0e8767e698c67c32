"""-f: kcat's tokens, our modifiers, and what is refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from kcli.cli.output.records.template import columns, compile_template
from kcli.errors import UsageError


def shown(text: str, value: Any, **options: Any) -> bytes:
    """What the only token of a template makes of a value."""
    (item,) = compile_template(text, **options)
    assert not isinstance(item, bytes)
    assert item[1] is not None
    return item[1](value)


def test_plain_tokens_need_no_conversion_so_the_core_runs_them() -> None:
    assert compile_template("%s%v%S%V%R%k%K%T%h%t%p%o") == tuple((token, None) for token in "ssSSRkKThtpo")


def test_literals_and_escapes() -> None:
    assert compile_template(r"a%%b\n\t\r\x41\0\\%sé") == (b"a%b\n\t\rA\0\\", ("s", None), "é".encode())


@pytest.mark.parametrize(
    ("text", "value", "out"),
    [
        ("%s{hex}", b"\x00\xff", b"00ff"),
        ("%v{base64}", b"\x00\xff", b"AP8="),
        ("%k{hex}", None, b""),
        ("%T{iso}", 1_700_000_000_123, b"2023-11-14T22:13:20.123Z"),
        ("%T{iso}", -1, b""),
        ("%T{local}", -1, b""),
        ("%s{json}", b'{"a": 1.10,\n"b":[]}', b'{"a": 1.10, "b": []}'),
        ("%s{json}", b'text "', b'"text \\""'),
        ("%s{json}", b"\xff", b'{"base64": "/w=="}'),
        ("%k{json}", None, b"null"),
        ("%s{json}", b"\x81\xa1a\x01", b'{"a": 1}'),
        ("%s{msgpack}", b"\x93\x01\xc0\xa1x", b'[1, null, "x"]'),
        ("%s{msgpack}", None, b""),
        ("%k{int32}", b"\xff\xff\xff\xfe", b"-2"),
        ("%k{uint8}", b"\xfe", b"254"),
        ("%k{int32}", b"no number", b"no number"),
        ("%k{int32}", None, b""),
        ("%s{double}", b"\x40\x04" + bytes(6), b"2.5"),
        ("%s{uuid}", bytes(15) + b"\x01", b"00000000-0000-0000-0000-000000000001"),
        ("%h{%k=%v{int16};}", [("a", b"\x00\x07")], b"a=7;"),
        ("%T{strftime[%Y]}", 1_700_000_000_123, b"2023"),
        ("%h{%k=%v;}", [("a", b"1"), ("a", None)], b"a=1;a=;"),
        ("%h{%k:%v{hex} }", [("a", b"\xff")], b"a:ff "),
        ("%h{%k=%v;}", [], b""),
        ("%h{trace}", [("trace", b"1"), ("other", b"2"), ("trace", b"3")], b"3"),
        ("%h{trace}", [("trace", None)], b""),
        ("%h{none}", [("trace", b"1")], b""),
    ],
)
def test_modifiers(text: str, value: Any, out: bytes) -> None:
    assert shown(text, value) == out


def test_null_prints_as_asked() -> None:
    assert shown("%s", None, null=b"NULL") == b"NULL"
    assert shown("%s", b"", null=b"NULL") == b""
    assert shown("%s{hex}", None, null=b"NULL") == b"NULL"


@pytest.mark.parametrize(
    "text", ["%", "%x", "%s{nope}", "%s{hex", "%T{hex}", "%o{iso}", "%h{%o}", "%h{%x}", r"\xg1", r"\x"]
)
def test_what_is_no_template_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="-f"):
        compile_template(text)


@pytest.mark.parametrize("token", ["%s", "%k"])
def test_on_a_terminal_hostile_bytes_are_shown(token: str) -> None:
    got = shown(token, b"\x1b]52;c;x\x07\xc2\x9b\xe2\x80\xae\xff\n", terminal=True)
    assert got == rb"\x1b]52;c;x\x07\x9b\u202e\xff" + b"\n"


def test_columns_are_key_delimiter_value_delimiter() -> None:
    assert columns(b":", b"\n") == (("k", None), b":", ("s", None), b"\n")
    assert columns(None, b"\n") == (("s", None), b"\n")


def test_local_time_has_its_distance_from_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "IST-5:30")
    time.tzset()
    try:
        assert shown("%T{local}", 1_700_000_000_123) == b"2023-11-15T03:43:20.123+05:30"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_is_not_msgpack_stays_as_it_is_and_that_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    (item,) = compile_template("%s{msgpack}")
    assert not isinstance(item, bytes)
    assert item[1] is not None
    assert [item[1](b"text\xff"), item[1](b"more"), item[1](b"\x01")] == [b"text\xff", b"more", b"1"]
    assert capsys.readouterr().err == "kcli: a value is not msgpack, so it is printed unchanged (others may be, too)\n"


def test_json_on_a_terminal_has_nothing_that_acts() -> None:
    got = shown("%s{json}", b"\xc2\x9b\xe2\x80\xae\x1b\xff", terminal=True)
    assert got.isascii()
    assert json.loads(got) == {"base64": "wpvigK4b/w=="}
    assert shown("%s{json}", "\u202e".encode(), terminal=True) == b'"\\u202e"'

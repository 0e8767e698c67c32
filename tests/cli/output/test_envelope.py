"""JSON lines into records, and every wrong line by its number."""

from __future__ import annotations

import json

import pytest

from kcli.cli.output.records.envelope import BadLine, read_line

NONE = (None, None, None)


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ('{"value":"v"}', (*NONE, b"v", [])),
        ('{"value":null}', (*NONE, None, [])),
        ('{"value":""}', (*NONE, b"", [])),
        (' {"value":"v"} \r', (*NONE, b"v", [])),
        ('{"key":"k","value":{"base64":"/wA="}}', (None, None, b"k", b"\xff\x00", [])),
        ('{"key":{"base64":""},"value":"é"}', (None, None, b"", "é".encode(), [])),
        ('{"value":"\\u0000\\u001b"}', (*NONE, b"\0\x1b", [])),
        ('{"value":"\\ud83d\\ude00"}', (*NONE, "😀".encode(), [])),
        (
            '{"topic":"t","partition":3,"offset":5,"timestamp":1700000000000,"timestamp_type":"create",'
            '"key":"k","value":"v","headers":[["a","1"],["a",null],["b",{"base64":"/w=="}]]}',
            (3, 1700000000000, b"k", b"v", [("a", b"1"), ("a", None), ("b", b"\xff")]),
        ),
        ('{"timestamp":-1,"value":"v"}', (None, -1, None, b"v", [])),
    ],
)
def test_kclis_own_envelope(line: str, row: object) -> None:
    assert read_line(line.encode(), 1) == row


@pytest.mark.parametrize(
    ("headers", "read"),
    [
        ('["a","1","b",""]', [("a", b"1"), ("b", b"")]),
        ('{"a":"1"}', [("a", b"1")]),
        ("[]", []),
        ('["a",null]', [("a", None)]),
    ],
)
def test_kcats_lines_are_accepted(headers: str, read: object) -> None:
    line = (
        '{"topic":"t","partition":0,"offset":1,"tstype":"create","ts":17,"broker":1,'
        f'"headers":{headers},"key":null,"payload":"p"}}'
    )
    assert read_line(line.encode(), 1) == (0, 17, None, b"p", read)
    assert read_line(line.encode(), 1, kcat=True) == (0, 17, None, b"p", read)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("x", "is not JSON"),
        ("{", "is not JSON"),
        ('{"value":"v"} {}', "unexpected data"),
        ("[]", "is not a JSON object"),
        ("{}", 'has no "value"'),
        ('{"val":"v","value":"v"}', '"val" is not a field of a record'),
        ('{"value":5}', '"value" must be text, null or {"base64": "…"}'),
        ('{"value":{"base64":"%"}}', '"value" is not base64'),
        ('{"value":{"base64":"é"}}', '"value" is not base64'),
        ('{"value":{"base64":5}}', '"value" must be text'),
        ('{"value":"\\ud800"}', '"value" contains an unpaired surrogate'),
        ('{"value":"v","partition":"0"}', '"partition" is not a number'),
        ('{"value":"v","partition":-2}', '"partition" is not a number'),
        ('{"value":"v","partition":true}', '"partition" is not a number'),
        ('{"value":"v","timestamp":1.5}', '"timestamp" is not a number'),
        ('{"value":"v","timestamp":' + "9" * 5000 + "}", "is not JSON"),
        ('{"value":"v","headers":5}', '"headers" must be a list'),
        ('{"value":"v","headers":["a"]}', '"headers" must be a list'),
        ('{"value":"v","headers":[[1,"v"]]}', "a header's name must be text"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(line: str, says: str) -> None:
    with pytest.raises(BadLine) as caught:
        read_line(line.encode(), 7)
    assert str(caught.value).startswith("input line 7: ")
    assert says in str(caught.value)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(BadLine, match="is not UTF-8"):
        read_line(b'{"value":"\xff"}', 1)


def test_the_reader_agrees_with_the_json_module() -> None:
    text = 'a"\\/\b\f\n\r\t\u2028é😀'
    assert read_line(json.dumps({"value": text}).encode(), 1)[3] == text.encode()
    assert read_line(json.dumps({"value": text}, ensure_ascii=False).encode(), 1)[3] == text.encode()

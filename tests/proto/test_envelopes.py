"""Lines of envelopes as columns: what the reader of single lines makes of them, or left to it."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcli.cli.output.records.envelope import BadLine, read_line
from kcli.proto import core
from kcli.proto import records as plain
from kcli.proto.batch import Batch, read_batches, seal
from kcli.proto.columns import Envelopes
from tests.effort import tries

Row = tuple[int | None, int | None, bytes | None, bytes | None, list[tuple[str, bytes | None]]]
NOW = 1_234
READS = core.NAME == "compiled"
"""Plain Python leaves all lines to the reader of single lines."""
data = (
    st.none() | st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogateescape"))
)
records = st.lists(
    st.tuples(
        st.integers(-1, 2**40),
        data,
        data,
        st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"]), max_size=70), data), max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def cut(made: Envelopes, start: int, length: int) -> bytes | None:
    return None if length < 0 else bytes(made.arena[start : start + length])


def rows_of(made: Envelopes) -> list[Row]:
    """The rows, their headers by way of a batch."""
    lines, places = made.lines, made.partitions
    rows: list[Row] = []
    for row in range(lines.count):
        tail = cut(made, made.headers[0][row], made.headers[1][row]) or b"\0"
        rows.append(
            (
                None if places[row] < 0 else places[row],
                made.timestamps[row],
                cut(made, lines.key_starts[row], lines.key_lengths[row]),
                cut(made, lines.value_starts[row], lines.value_lengths[row]),
                [(name, value) for name, value in core.read_headers(tail[1:], 0, tail[0] >> 1)],
            )
        )
    return rows


def read(text: bytes, kcat: bool = False) -> Envelopes:
    return core.read_envelopes(bytearray(text), 0, len(text), 10, kcat, NOW)


def expected(line: bytes, kcat: bool = False) -> Row | None:
    """What the reader in Python says; None for no record."""
    try:
        partition, timestamp, key, value, headers = read_line(line, 1, kcat or None)
    except BadLine:
        return None
    return partition, NOW if timestamp is None else timestamp, key, value, headers


def batch_of(rows: list[Any]) -> Batch:
    builder = core.Builder()
    for row in rows:
        builder.append(*row)
    count, base, latest = builder.count, builder.base_timestamp, builder.max_timestamp
    (batch,) = read_batches(bytes(seal(builder.take(), count, base, latest).data))
    return batch


@given(records)
@settings(max_examples=tries(200), deadline=None)
def test_what_consume_writes_is_read_without_the_reader_of_lines(rows: list[Any]) -> None:
    out = bytearray()
    batch_of(rows).write_json(out, "orders", 3, limit=-1)
    made = read(bytes(out))
    if not READS:
        assert (made.lines.consumed, made.lines.count) == (0, 0)
        return
    assert made.lines.consumed == len(out)
    assert made.lines_read == len(rows)
    assert rows_of(made) == [expected(line) for line in bytes(out).splitlines()]


def lines_of(texts: list[bytes | None], named: dict[int, bytes] | None = None, core: Any = core) -> list[bytes]:
    """The lines of `consume -J` for records that have these keys and values."""
    batch, out = batch_of([(0, text, text, []) for text in texts]), bytearray()
    core.write_readable(plain_header(batch) if core is plain else batch, out, "t", 0, -1, named, named)
    return bytes(out).splitlines()


def plain_header(batch: Batch) -> Any:
    header = plain.Header()
    for name in dir(header):
        if not name.startswith("_"):
            setattr(header, name, getattr(batch, name))
    return header


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("base64"), inner, max_size=3)
    ),
    max_leaves=8,
)
layouts = st.sampled_from([{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": "\t"}])


@st.composite
def nearly_json(draw: Any) -> bytes:
    """JSON as programs write it, some of it with space around it or a byte that is another."""
    text: bytes = json.dumps(draw(JSON), **draw(layouts)).encode("utf-8", "surrogatepass")
    text = draw(st.sampled_from([b"", b" ", b"\n"])) + text + draw(st.sampled_from([b"", b"\r\n", b" x", b"}"]))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text) - 1))
        text = (
            text[:at]
            + draw(st.sampled_from([b"", b"0", b'"', b"\\", b"\xff", b"\x1f", b"e", b",", b"[", b"null"]))
            + text[at + 1 :]
        )
    return text


def refuse(name: str) -> Any:
    raise ValueError(name)


def parsed(data: bytes) -> Any:
    """What JSON says; a ValueError where it is none."""
    return json.loads(data.decode(), parse_constant=refuse)


@given(st.lists(nearly_json(), min_size=1, max_size=6))
@settings(max_examples=tries(150), deadline=None)
def test_json_is_shown_as_json_and_read_back_as_it_was(texts: list[bytes]) -> None:
    shown = lines_of(list(texts))
    assert shown == lines_of(list(texts), core=plain)
    for text, line in zip(texts, shown, strict=True):
        found = json.loads(line)
        try:
            held = parsed(text)
        except ValueError:
            held = None
        for name, kinds in (("key", (dict, list)), ("value", (dict, list, bool, int, float))):
            if line.find(b'"%s":{"base64":' % name.encode()) > 0:
                assert base64.b64decode(found[name]["base64"]) == text
            elif isinstance(found[name], kinds):
                assert found[name] == held
            elif isinstance(held, kinds):  # it could be taken for bytes, or is a number between spaces
                assert b'"base64"' in text or not isinstance(held, dict | list)
        *_, key, value, _ = read_line(line, 1, readable=True)
        for again in (key, value):
            assert again == text or (parsed(again or b"") == held and held is not None)
        assert rows_of(core.read_envelopes(bytearray(line + b"\n"), 0, len(line) + 1, 10, False, NOW, True)) == (
            [(0, 0, key, value, [])] if READS else []
        )


@given(
    st.lists(
        JSON.filter(lambda value: "Infinity" not in (text := json.dumps(value)) and "NaN" not in text),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=tries(50), deadline=None)
def test_what_a_schema_decoded_is_json_with_its_schema(values: list[Any]) -> None:
    texts: list[bytes | None] = [json.dumps(value, indent=1).encode() for value in values]
    labels = b',"key_schema":{"id":7},"value_schema":{"id":%d}'
    named = {row: b"" if row % 2 else labels % row for row in range(len(texts))}
    shown = lines_of(texts, named)
    assert shown == lines_of(texts, named, plain)
    for row, (text, line) in enumerate(zip(texts, shown, strict=True)):
        found, again = json.loads(line), json.loads(text or b"")
        assert repr([found["key"], found["value"]]) == repr([again, again])
        assert found.get("value_schema") == (None if row % 2 else {"id": row})
        if row % 2 == 0:
            assert repr(json.loads(read_line(line, 1, readable=True)[3] or b"")) == repr(again)


@pytest.mark.parametrize("depth", [255, 256, 257, 100_000])
def test_json_is_shown_as_json_down_to_a_depth(depth: int) -> None:
    text: bytes = b"[" * depth + b"]" * depth
    line = lines_of([text])[0]
    assert line == lines_of([text], core=plain)[0]
    assert (b'"value":[' in line) == (depth <= 256)
    assert read_line(line, 1, readable=True)[3] == text


WHOLE = [
    b'{"value":"a"}',
    b' { "value" : "a" , "key" : null } \r',
    b'{"value":null,"headers":null}',
    b'{"value":"","headers":[]}',
    b'{"key":"k","payload":"a","ts":5,"tstype":"create","broker":1,"topic":"t","partition":0,"offset":7,"headers":["a","b","c",null]}',
    b'{"value":{"base64":"/w=="},"key":{ "base64" : "AP8=" },"headers":[["h",{"base64":"gIGC"}],["h",""]]}',
    '{"value":"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\"\\\\é日本😀"}'.encode(),
    b'{"value":"a","timestamp":-1,"partition":-1,"offset":null}',
    b'{"value":"a","timestamp":0,"partition":2147483647,"timestamp_type":"append"}',
    b'{"value":{"base64":""}}',
    b'{"headers":[["' + b"n" * 64 + b'","' + b"v" * 9000 + b'"]],"value":"x"}',
]
LEFT = [
    b"[]",
    b"{}",
    b'{"value":1}',
    b'{"value":"a"',
    b'{"value":"a"}x',
    b'{"value":"a","value":"b"}',
    b'{"valu":"a"}',
    b'{"value":"a","payload":"b"}',
    b'{"value":"a","ts":1}',
    b'{"payload":"a","timestamp":1}',
    b'{"value":"\xff"}',
    b'{"value":"\\ud800"}',
    b'{"value":"\\udc00"}',
    b'{"value":"\\x"}',
    b'{"value":"\\u12g4"}',
    b'{"value":"\t"}',
    b'{"value":{"base64":"/x=="}}',
    b'{"value":{"base64":"/w="}}',
    b'{"value":{"base64":"/w==a"}}',
    b'{"value":{"base64":"a"}}',
    b'{"value":{"base64":"____"}}',
    b'{"value":"a","partition":-2}',
    b'{"value":"a","partition":2147483648}',
    b'{"value":"a","timestamp":1.5}',
    b'{"value":"a","timestamp":01}',
    b'{"value":"a","timestamp":1e3}',
    b'{"value":"a","partition":true}',
    b'{"value":"a","headers":[["a"]]}',
    b'{"value":"a","headers":["a"]}',
    b'{"value":"a","headers":{"a":"b"}}',
    b'{"value":"a","headers":[[1,"b"]]}',
    b'{"value":"a","offset":[1]}',
    b'{"error":{"message":"no"}}',
    b'{"value":"a","value_schema":{"id":1}}',
    b'{"value":"a",}',
    b'{"value":"a" "key":"b"}',
    b'\xef\xbb\xbf{"value":"a"}',
    b"null",
    b'{"value":"a","headers":[' + b",".join([b'["a","b"]'] * 64) + b"]}",
]


@pytest.mark.parametrize("line", WHOLE)
def test_a_line_that_is_written_otherwise_is_read_too(line: bytes) -> None:
    made = read(line + b"\n")
    assert made.lines.consumed == (len(line) + 1 if READS else 0)
    assert rows_of(made) == ([expected(line)] if READS else [])


@pytest.mark.parametrize("line", LEFT)
def test_what_it_does_not_know_is_left_to_the_reader_of_lines(line: bytes) -> None:
    good = b'{"value":"a"}\n'
    made = read(good + b"\n" + line + b"\n" + good)
    assert (made.lines.count, made.lines_read, made.lines.consumed) == ((1, 2, len(good) + 1) if READS else (0, 0, 0))


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_line_is_never_read_as_another_record(seed: int) -> None:
    """Cut, doubled and changed bytes: the same record as the reader of lines, or none."""
    chance = random.Random(seed)
    for _ in range(300):
        line = bytearray(chance.choice(WHOLE))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(line) + 1)
            line[at : at + chance.randint(0, 2)] = chance.choice(
                [
                    b"",
                    b'"',
                    b"\\",
                    b"\\u",
                    b"{",
                    b"}",
                    b"[",
                    b"]",
                    b",",
                    b":",
                    b"0",
                    b"-",
                    b"=",
                    b"\xff",
                    b"\xc3\xa9",
                    b" ",
                    b"e",
                ]
            )
        text = bytes(line).replace(b"\n", b"")
        for kcat in (False, True):
            rows = rows_of(read(text + b"\n", kcat))
            assert rows in ([], [expected(text, kcat)]), text
    assert rows_of(read(b"\n \t\r\n")) == []


def test_an_input_may_end_within_a_line() -> None:
    made = read(b'{"value":"a"}\n{"value":"b"}')
    assert (made.lines.count, made.lines.consumed) == ((1, 14) if READS else (0, 0))
    assert read(b"").lines.count == 0


def test_a_line_of_many_escapes_and_headers_keeps_to_its_room() -> None:
    line = json.dumps({"value": "é" * 50_000, "headers": [["", ""]] * 60}).encode()
    made = read((line + b"\n") * 20)
    assert made.lines.count in (0, 20)
    assert len(made.arena) >= sum(made.lines.value_lengths)

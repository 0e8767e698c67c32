"""What `kcli produce` reads beside lines: templates, JSON values, msgpack, compressed input, records of --repeat."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as some

from kcli.cli.commands.produce.filling import filled
from kcli.cli.commands.produce.input.json_values import JsonValues
from kcli.cli.commands.produce.input.line_template import LineTemplate
from kcli.cli.commands.produce.input.unpacking import PIECE, unpacker
from kcli.cli.output.records.envelope import BadLine
from kcli.errors import UsageError
from tests.cli.conftest import Shell

JSON = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.text(max_size=5)
    | some.floats(allow_nan=False, allow_infinity=False),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=3),
)


def records(kcli: Shell, topic: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kcli.ok("consume", topic, "-e", "--envelope").splitlines()]


# -- templates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "line", "row"),
    [
        ("%s", b"a b", (None, None, None, b"a b", [])),
        ("%k %s", b"a b c", (None, None, b"a", b"b c", [])),
        (r"%k\t%h{a}\t%s\n", b"k\th\tv\tw", (None, None, b"k", b"v\tw", [("a", b"h")])),
        ("<%p|%T> %v{hex}!", b"<3|17> 00ff!!", None),
        ("<%p|%T> %v{hex}!", b"<3|17> 00ff!", (3, 17, None, b"\x00\xff", [])),
        ("%T{iso} %t %o %s", b"1970-01-01T00:00:01Z t 5 v", (None, 1000, None, b"v", [])),
        ("%k{base64}:%s", b"AP8=:", (None, None, b"\x00\xff", b"", [])),
        ("%k{int32} %s", b"-2 v", (None, None, b"\xff\xff\xff\xfe", b"v", [])),
        ("%k{uint8} %s", b"254 v", (None, None, b"\xfe", b"v", [])),
        ("%k{uint8} %s", b"256 v", None),
        ("%k{int64} %s", b"x v", None),
        ("%s{double}", b"2.5", (None, None, None, b"\x40\x04" + bytes(6), [])),
        ("%s{float}", b"1e99", None),
        ("%s{uuid}", b"00000000-0000-0000-0000-000000000001", (None, None, None, bytes(15) + b"\x01", [])),
        ("%s{uuid}", b"7", None),
        ("%k %s", b"a", None),
        ("id=%k %s", b"x=1 a", None),
        ("%T %s", b"yesterday-ish x", None),
        ("%p %s", b"-1 x", None),
    ],
)
def test_a_line_is_read_by_its_template(template: str, line: bytes, row: Any) -> None:
    read = LineTemplate(template, b"\n")
    if row is None:
        with pytest.raises(ValueError, match=r"has no|does not|is not"):
            read.row(line)
    else:
        assert read.row(line) == row


@pytest.mark.parametrize("template", ["", "%k", "%k%s", "%s %S", "%h %s", "%h{%k} %s", "%x %s", "%T{strftime[%F]} %s"])
def test_a_template_that_no_line_can_be_read_by_is_refused(template: str) -> None:
    with pytest.raises(UsageError, match="-f"):
        LineTemplate(template, b"\n")


def test_what_consume_prints_by_a_template_produce_reads_by_it(kcli: Shell) -> None:
    first, second, template = kcli.topic(), kcli.topic(), r"%T %k %h{trace} %s\n"
    kcli.ok("produce", first, "-f", template, stdin=b"5 a t-1 one two\n6 b t-2 three\n")
    assert [(one["timestamp"], one["key"], one["value"], one["headers"]) for one in records(kcli, first)] == [
        (5, "a", "one two", [["trace", "t-1"]]),
        (6, "b", "three", [["trace", "t-2"]]),
    ]
    assert kcli.ok("consume", first, "-e", "-f", template) == b"5 a t-1 one two\n6 b t-2 three\n"
    printed = kcli.ok("consume", first, "-e", "-f", r"%T %k %h{%v} %s\n")
    kcli.ok("produce", second, "-f", template, stdin=printed)
    assert kcli.ok("consume", second, "-e", "-f", r"%T %k %h{%v} %s\n") == printed


def test_a_line_of_another_form_stops_or_is_skipped(kcli: Shell) -> None:
    topic = kcli.topic()
    done = kcli("produce", topic, "-f", "%k %s", stdin=b"a 1\nb\nc 3\n")
    assert (done.returncode, kcli.ok("consume", topic, "-e")) == (1, b"1\n")
    assert done.stderr.startswith(b"kcli: stdin: input line 2: has no ' ' after its %k; no record after it was sent\n")
    done = kcli("produce", topic, "-f", "%k %s", "--on-error", "skip", stdin=b"a 1\nb\nc 3\n")
    assert (done.returncode, kcli.ok("consume", topic, "-e")) == (1, b"1\n1\n3\n")


# -- JSON values ------------------------------------------------------------------------------------------------------


def cut(text: bytes, sizes: list[int], limit: int = 10_000) -> list[bytes]:
    values, place = JsonValues(limit), 0
    found: list[bytes] = []
    for size in sizes:
        found += values.feed(text[place : place + size])
        place += size
    found += values.feed(text[place:])
    return found + list(values.feed(b"", last=True))


@given(some.lists(JSON, max_size=5), some.lists(some.integers(1, 9), max_size=30), some.sampled_from(" \n\r\t"))
def test_values_are_found_wherever_the_input_is_cut(values: list[Any], sizes: list[int], space: str) -> None:
    text = space.join(json.dumps(value, ensure_ascii=False) for value in values)
    if not text.startswith("["):
        assert [json.loads(one) for one in cut(text.encode(), sizes)] == values
    array = f"{space}[{space}" + f"{space},{space}".join(json.dumps(value, indent=1) for value in values) + f"]{space}"
    assert [json.loads(one) for one in cut(array.encode(), sizes)] == values
    assert b"\n" not in b"".join(cut(array.encode(), sizes))


def test_a_value_is_kept_as_it_is_written() -> None:
    for size in range(1, 8):
        assert cut(b"1.5e-3 2", [size]) == [b"1.5e-3", b"2"], size
    assert cut(b'{"a":1.10,"a" :  2}\n{"b":\n 1e2}', []) == [b'{"a":1.10,"a" :  2}', b'{"b": 1e2}']


@pytest.mark.parametrize(
    ("text", "before", "said"),
    [
        (b'{"a":1}\n\n{"b"', 1, "input line 3: is not JSON"),
        (b"1 2 x", 2, "input line 1: is not JSON"),
        (b"1 2x", 1, "input line 1: is not JSON"),
        (b"[1 2]", 1, "input line 1: a comma is missing between two values"),
        (b"[1,2", 2, "input line 1: the array is not closed"),
        (b"[1]\n2", 1, "input line 2: unexpected data after the end of the array"),
        (b"NaN", 0, "input line 1: is not JSON"),
        (b"1 \xff", 0, "input line 1: is not UTF-8"),
        (b"[" * 100_000, 0, "input line 1: is not JSON"),
    ],
)
def test_what_is_not_json_is_said_with_its_line(text: bytes, before: int, said: str) -> None:
    values, found = JsonValues(1000), []
    heard = ""
    try:
        for piece, last in ((text, False), (b"", True)):
            for value in values.feed(piece, last=last):
                found.append(value)
    except BadLine as problem:
        heard = str(problem)
    assert (heard, len(found)) == (said, before)


@pytest.mark.parametrize("form", ["json", "envelope", "json-values"])
def test_a_byte_order_mark_is_no_part_of_json(kcli: Shell, form: str) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--input", form, stdin=b'\xef\xbb\xbf{"value":"a"}\n{"value":"b"}\n')
    assert len(records(kcli, topic)) == 2
    done = kcli("produce", topic, "--input", form, stdin=b'{"value":"c"}\n\xef\xbb\xbf{"value":"d"}\n')
    assert (done.returncode, b"input line 2: is not JSON" in done.stderr) == (1, True)


@pytest.mark.parametrize("form", ["lines", "json", "json-values"])
def test_a_record_that_is_too_long_names_the_limit(kcli: Shell, form: str) -> None:
    value = b'{"value":"' + b"x" * 9_000_000 + b'"}'
    done = kcli("produce", kcli.topic(), "--input", form, stdin=value)
    assert done.returncode == 1
    assert b"max.request.size" in done.stderr


def test_json_values_are_records_up_to_what_is_not_json(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--input", "json-values", "-k", "k", stdin=b'[{"a":1},\n{"b":\n2}]')
    done = kcli("produce", topic, "--input", "json-values", stdin=b"3 oops")
    assert done.returncode == 1
    assert done.stderr.startswith(b"kcli: stdin: input line 1: is not JSON; no record after it was sent\n")
    assert kcli.ok("consume", topic, "-e", "-Z", "-K:") == b'k:{"a":1}\nk:{"b": 2}\nNULL:3\n'


# -- msgpack ----------------------------------------------------------------------------------------------------------


def test_json_is_stored_as_msgpack_and_printed_as_json(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--value-format", "msgpack", "-K:", "-Z", stdin=b'a:{"n":1.5,"t":"x"}\nb:[1]\nc:\n')
    kcli.ok("produce", topic, "--value-format", "msgpack", "--input", "json-values", stdin=b'{"m":{}}')
    packed = [bytes.fromhex(line.decode()) for line in kcli.ok("consume", topic, "-e", "-f", r"%s{hex}\n").splitlines()]
    assert packed == [msgpack.packb({"n": 1.5, "t": "x"}), msgpack.packb([1]), b"", msgpack.packb({"m": {}})]
    plain = kcli.ok("consume", topic, "-e", "--value-format", "msgpack")
    assert plain == b'{"n": 1.5, "t": "x"}\n[1]\n\n{"m": {}}\n'


@pytest.mark.parametrize("words", [["--value", "no json"], ["--value", "1" * 30], ["--whole"], []])
def test_what_cannot_be_packed_is_said(kcli: Shell, words: list[str]) -> None:
    done = kcli("produce", kcli.topic(), "--value-format", "msgpack", *words, stdin=b"{\n")
    assert done.returncode in (1, 2)
    assert b"is not JSON, which --value-format msgpack requires" in done.stderr or b"cannot be packed" in done.stderr


# -- compressed input -------------------------------------------------------------------------------------------------


def packed(codec: str, data: bytes) -> bytes:
    return gzip.compress(data) if codec == "gzip" else zstandard.ZstdCompressor(write_checksum=True).compress(data)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
@given(some.lists(some.binary(max_size=2000), min_size=1, max_size=3), some.integers(1, 700))
def test_compressed_input_is_unpacked_wherever_it_is_cut(codec: str, parts: list[bytes], size: int) -> None:
    data = b"".join(packed(codec, part) for part in parts)
    unpack, out = unpacker(data[:4]), b""
    assert unpack is not None
    for place in range(0, len(data), size):
        unpack.feed(data[place : place + size])
        while piece := unpack.more():
            out += piece
    unpack.end()
    while piece := unpack.more():
        out += piece
    assert out == b"".join(parts)


@pytest.mark.process
@pytest.mark.parametrize("codec", ["gzip", "zstd"])
@pytest.mark.parametrize("where", ["file", "pipe", "two files"])
def test_compressed_input_is_lines_as_plain_input_is(kcli: Shell, tmp_path: Path, codec: str, where: str) -> None:
    topic, lines = kcli.topic(), b"".join(b"line %d\n" % n for n in range(50_000))
    (tmp_path / "data").write_bytes(packed(codec, lines))
    if where == "pipe":
        assert kcli.process("produce", topic, stdin=packed(codec, lines)).returncode == 0
    else:
        kcli.ok("produce", topic, *[str(tmp_path / "data")] * (2 if where == "two files" else 1))
    assert kcli.ok("consume", topic, "-e") == lines * (2 if where == "two files" else 1)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_input_that_is_cut_off_is_an_error_after_what_was_whole(kcli: Shell, codec: str) -> None:
    topic, lines = kcli.topic(), b"".join(b"line %d %d\n" % (n, hash(n * 7919)) for n in range(50_000))
    data = packed(codec, lines)
    for stop in (len(data) // 2, len(data) - 1):
        done = kcli("produce", topic, stdin=data[:stop])
        assert done.returncode == 1
        assert b"is truncated" in done.stderr
    assert kcli.ok("consume", topic, "-e", "-c", "3") == b"".join(lines.splitlines(keepends=True)[:3])


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_damaged_input_is_an_error(kcli: Shell, codec: str) -> None:
    data = bytearray(packed(codec, bytes(range(256)) * 40))
    data[40:60] = bytes(20)
    done = kcli("produce", kcli.topic(), stdin=bytes(data))
    assert done.returncode == 1
    assert b"damaged" in done.stderr


def test_bytes_are_sent_as_they_are_with_whole_and_no_unpack(kcli: Shell) -> None:
    topic, data = kcli.topic(), gzip.compress(b"a\nb\n", mtime=0).replace(b"\n", b"")
    kcli.ok("produce", topic, "--whole", stdin=data)
    kcli.ok("produce", topic, "--no-unpack", stdin=data + b"\n")
    assert kcli.ok("consume", topic, "-e") == (data + b"\n") * 2


@pytest.mark.parametrize("first", [b"(", b"\x1f", b"(\xb5/", b""])
def test_input_that_only_begins_like_a_magic_number_is_plain(kcli: Shell, first: bytes) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=first)
    assert kcli.ok("consume", topic, "-e") == (first + b"\n" if first else b"")


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_a_little_input_that_becomes_much_is_unpacked_in_pieces(codec: str) -> None:
    data = packed(codec, bytes(64 << 20))
    unpack = unpacker(data[:4])
    assert unpack is not None
    tracemalloc.start()
    try:
        unpack.feed(data)
        total = 0
        while piece := unpack.more():
            total += len(piece)
        assert tracemalloc.get_traced_memory()[1] < 8 * PIECE
    finally:
        tracemalloc.stop()
    assert total == 64 << 20


# -- records of the command line --------------------------------------------------------------------------------------


def test_tombstones_are_keys_without_values(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--tombstone", "a", "--tombstone", "b", "--value", "v", "-k", "k", "-H", "h=1")
    assert [(one["key"], one["value"], one["headers"]) for one in records(kcli, topic)] == [
        ("k", "v", [["h", "1"]]),
        ("a", None, [["h", "1"]]),
        ("b", None, [["h", "1"]]),
    ]


def test_repeat_fills_in_numbers_ids_and_times(kcli: Shell) -> None:
    topic, value = kcli.topic(), '{"n":{{seq}},"id":"{{ uuid }}","at":"{{now}}"}'
    kcli.ok("produce", topic, "--value", value, "-k", "{{uuid}}", "-H", "n={{seq}}", "--repeat", "2500")
    found = records(kcli, topic)
    values = [json.loads(one["value"]) for one in found]
    assert [one["n"] for one in values] == list(range(1, 2501))
    assert [one["headers"] for one in found] == [[["n", str(n)]] for n in range(1, 2501)]
    assert [one["id"] for one in values] == [one["key"] for one in found]
    assert len({one["id"] for one in values}) == 2500
    assert all(a["at"] <= b["at"] and a["at"].endswith("Z") for a, b in pairwise(values))


def test_rows_without_places_are_not_made_anew() -> None:
    row: Any = (None, None, None, b"same", [])
    steps = list(filled([row], 2500))
    assert [len(step) for step in steps] == [1000, 1000, 500]
    assert all(one is row for step in steps for one in step)


def test_places_are_text_without_repeat_and_that_is_said(kcli: Shell) -> None:
    topic = kcli.topic()
    done = kcli("produce", topic, "--value", "{{seq}}")
    assert (done.returncode, done.stderr) == (
        0,
        b"kcli: {{seq}}, {{uuid}} and {{now}} are sent as text; --repeat 1 fills them in\n",
    )
    assert kcli.ok("consume", topic, "-e") == b"{{seq}}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--repeat 3", "--repeat needs --value or --tombstone"),
        ("--tombstone k FILE", "--tombstone cannot be combined with files"),
        ("--value v -f %s", "--value cannot be combined with files, --whole, --input or -f"),
        ("-f %s -K :", "-f describes the whole line"),
        ("--rate 0", "--rate 0: expected records per second"),
        ("--rate 5/y", "--rate 5/y: expected records per second"),
        ("--input json-values -K :", "--input json-values"),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(kcli: Shell, words: str, said: str) -> None:
    done = kcli("produce", "t", *words.split())
    assert done.returncode == 2
    assert said in done.stderr.decode()


@pytest.mark.parametrize(
    "words", [["--value", "{{nope}}"], ["--value", "x", "-k", "{{ nope }}"], ["--value", "x", "-H", "a={{nope}}"]]
)
def test_a_name_that_nothing_is_known_for_is_refused(kcli: Shell, words: list[str]) -> None:
    topic = kcli.topic()
    done = kcli("produce", topic, *words, "--repeat", "2")
    assert (done.returncode, done.stderr) == (
        2,
        b"kcli: --repeat: {{nope}} is unknown; known: {{seq}}, {{uuid}}, {{now}}\n",
    )
    assert kcli.ok("count", topic) == b"0\n"
    assert b"did you mean seq?" in kcli("produce", topic, "--value", "{{sequ}}", "--repeat", "2").stderr
    kcli.ok("produce", topic, "--value", '{"a": {"b": {{seq}}}}', "--repeat", "1")


@pytest.mark.parametrize("line", [b"[1, 2]", b"5", b'{"a": 1}'])
def test_values_where_envelopes_are_wanted_are_answered_with_json_values(kcli: Shell, line: bytes) -> None:
    done = kcli("produce", kcli.topic(), "--input", "json", stdin=line + b"\n")
    assert done.returncode == 1
    assert b"--input json-values sends" in done.stderr


@pytest.mark.parametrize("words", ["--input values.json", "--input ./values", "--input=a.ndjson.gz"])
def test_a_file_is_no_form_of_the_input(kcli: Shell, words: str) -> None:
    done = kcli("produce", "t", *words.split())
    assert done.returncode == 2
    assert b"a file is an argument: kcli produce TOPIC FILE --input json-values" in done.stderr

"""Printing whole batches: values, templates, envelopes; on a pipe and on a terminal."""

from __future__ import annotations

import json

import pytest

from kcli.cli.commands.consume.plan import ConsumeOptions
from kcli.cli.output.records.printer import Printer
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.registry import declared
from kcli.errors import UsageError
from kcli.proto import core
from kcli.proto.batch import Batch, read_batches, seal

ROWS: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]] = [
    (b"k", b"v", [("a", b"1"), ("a", None)]),
    (None, b"", []),
    (b"", None, []),
    (b"\x1b]0;x\x07", b"\xff\x1b[31m", [("h\u202e", b"\x9b")]),
]


def batch() -> Batch:
    builder = core.Builder()
    for number, (key, value, headers) in enumerate(ROWS):
        builder.append(1_700_000_000_000 + number, key, value, headers)
    sealed = seal(builder.take(), len(ROWS), 1_700_000_000_000, 1_700_000_000_003)
    return read_batches(bytes(sealed.data))[0]


def options(line: str) -> ConsumeOptions:
    command = declared("consume")
    assert isinstance(command, Command)
    given = parse(command, line.split())
    assert given is not None
    return ConsumeOptions(words=given.words, **given.values)


def printed(line: str, limit: int = -1, terminal: bool = False) -> bytes:
    out = bytearray()
    Printer(options(line), terminal=terminal).put(out, batch(), "t", 2, limit)
    return bytes(out)


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("t", b"v\n\n\n\xff\x1b[31m\n"),
        ("t -Z", b"v\n\nNULL\n\xff\x1b[31m\n"),
        ("t -D ||", b"v||||||\xff\x1b[31m||"),
        (r"t -K \t -Z", b"k\tv\nNULL\t\n\tNULL\n\x1b]0;x\x07\t\xff\x1b[31m\n"),
        (r"t -f %o:%K:%S;", b"0:1:1;1:-1:0;2:0:-1;3:6:6;"),
        (
            r"t -f %t/%p/%T/%s{hex}\n",
            b"t/2/1700000000000/76\nt/2/1700000000001/\nt/2/1700000000002/\nt/2/1700000000003/ff1b5b33316d\n",
        ),
        ("t --value-format auto", b"v\n\n\n\xff\x1b[31m\n"),
        ("t -f %s --value-format msgpack", b"v\xff\x1b[31m"),
    ],
)
def test_on_a_pipe_the_bytes_are_the_bytes(line: str, out: bytes) -> None:
    assert printed(line) == out


def test_a_limit_stops_between_records() -> None:
    assert printed("t", limit=1) == b"v\n"
    out = bytearray()
    assert Printer(options("t"), terminal=False).put(out, batch(), "t", 0, 3) == (3, 3)
    assert Printer(options("t -K:"), terminal=True).put(out, batch(), "t", 0, 3) == (3, 3)


def test_envelopes_are_lossless() -> None:
    read = [json.loads(line) for line in printed("t -J").splitlines()]
    assert [one["value"] for one in read] == ["v", "", None, {"base64": "/xtbMzFt"}]
    assert [one["key"] for one in read] == ["k", None, "", "\x1b]0;x\x07"]
    assert read[0] == {
        "topic": "t",
        "partition": 2,
        "offset": 0,
        "timestamp": 1_700_000_000_000,
        "timestamp_type": "create",
        "key": "k",
        "value": "v",
        "headers": [["a", "1"], ["a", None]],
    }


@pytest.mark.parametrize(
    "line",
    [
        "t",
        "t -K:",
        "t -J",
        r"t -f %s|%k|%h|%t|%p|%o|%T\n",
        r"t -f %h{%k=%v;}\n",
        "t -Z",
        "t --meta",
        "t --meta -K:",
        "t --pretty --color never",
    ],
)
def test_on_a_terminal_nothing_acts(line: str) -> None:
    out = printed(line, terminal=True)
    assert out.decode().replace("\n", "").replace("\t", "").isprintable()
    if "-J" in line.split():
        assert [json.loads(one)["headers"] for one in out.splitlines()][3] == [["h\u202e", {"base64": "mw=="}]]


def test_raw_is_raw_on_a_terminal_too() -> None:
    assert printed("t --raw", terminal=True) == printed("t")


@pytest.mark.parametrize(
    "line",
    ["t -J -f %s", "t -f plain", "t -f %q", "t --meta -J", "t --meta -f %s"]
    + [f"t --pretty {other}" for other in ("-J", "-f %s", "-K :", "-D x", "-Z", "--raw", "--meta")],
)
def test_two_ways_to_print_are_one_too_many(line: str) -> None:
    given = options(line) if line != "t -D" else options("t").replace(delimiter="")
    with pytest.raises(UsageError):
        Printer(given, terminal=False)


META = "2023-11-14T22:13:20.00{}Z\tt\t2\t{}\t"


def test_meta_is_time_topic_partition_offset_and_key_before_the_value() -> None:
    lines = printed("t --meta -Z").decode("latin-1").split("\n")
    assert lines[:3] == [META.format(0, 0) + "k\tv", META.format(1, 1) + "NULL\t", META.format(2, 2) + "\tNULL"]
    assert printed("t --meta -K=").startswith(META.format(0, 0).encode() + b"k=v\n")


@pytest.mark.parametrize("line", ["t", "t -K:", "t --meta", r"t -f %s\n"])
def test_the_plain_ways_have_no_view(line: str) -> None:
    for view in (True, False):
        out = bytearray()
        Printer(options(line), terminal=False, view=view).put(out, batch(), "t", 2)
        assert out == printed(line)


def test_the_view_is_for_a_terminal_where_no_option_shapes_the_records() -> None:
    def shown(line: str) -> bytes:
        out = bytearray()
        Printer(options(line), terminal=True, view=True).put(out, batch(), "t", 2)
        return bytes(out)

    assert b"2:0" in shown("t")
    for line in ("t -f %s", "t -K:", "t -D;", "t -Z", "t -J", "t --raw", "t --meta"):
        assert shown(line) == printed(line, terminal=True)

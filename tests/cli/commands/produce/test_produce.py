"""produce against a ten-line producer: what is handed over, what is counted, what is said."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kcli.cli.commands.produce import sending
from kcli.cli.commands.produce.plan import Plan, ProduceOptions
from kcli.cli.output.report import Report
from kcli.cli.parsing.command import Command
from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.registry import declared
from kcli.cli.runtime.signals import Stop
from kcli.errors import KcliError, UsageError
from kcli.proto.columns import Lines
from kcli.proto.core import read_headers


class FakeProducer:
    """Acknowledges everything at once, but what `fails` says; blocks for ever after `room` records."""

    def __init__(self, room: int = 1 << 60, fails: Any = lambda row: False) -> None:
        self.counts = SimpleNamespace(accepted=0, acked=0, failed=0, unknown=0)
        self.unanswered = 0
        self.on_batch: Any = None
        self.rows: list[Any] = []
        self.calls: list[dict[str, Any]] = []
        self.room = room
        self.fails = fails
        self.full = asyncio.Event()

    async def take(self, rows: list[Any]) -> None:
        for row in rows:
            if self.counts.accepted >= self.room:
                self.full.set()
                await asyncio.Event().wait()
            failed = self.fails(row)
            self.counts.accepted += 1
            self.counts.failed += failed
            self.counts.acked += not failed
            self.rows.append(row)
            error = KcliError("too large") if failed else None
            self.on_batch(SimpleNamespace(topic="t", partition=0, count=1, base_offset=7, error=error, unknown=False))

    async def send_lines(self, topic: str, chunk: bytearray, start: int, end: int, **options: Any) -> int:
        self.calls.append(options)
        delimiter = bytes([options["delimiter"]])
        await self.take(bytes(chunk[start:end]).split(delimiter)[:-1])
        return end

    async def send_records(self, topic: str, rows: list[Any]) -> None:
        await self.take(rows)

    async def send_columns(
        self, topic: str, chunk: bytearray, lines: Lines, places: Any, times: Any, headers: Any
    ) -> None:
        def cut(start: int, size: int) -> bytes | None:
            return None if size < 0 else bytes(chunk[start : start + size])

        rows: list[Any] = []
        for row in range(lines.count):
            key = cut(lines.key_starts[row], lines.key_lengths[row])
            value = cut(lines.value_starts[row], lines.value_lengths[row])
            tail = b"\0" if headers is None else cut(headers[0][row], headers[1][row]) or b"\0"
            place = None if places is None or places[row] < 0 else places[row]
            rows.append((place, times[row], key, value, read_headers(tail[1:], 0, tail[0] >> 1)))
        await self.take(rows)

    async def flush(self, timeout: float | None = None) -> int:
        return 0


AB = b"a\nb"
A__B = b"a\n\nb"


def plan(line: str) -> Plan:
    command = declared("produce")
    assert isinstance(command, Command)
    given = parse(command, line.split())
    assert given is not None
    return Plan(ProduceOptions(words=given.words, **given.values))


async def send(line: str, producer: FakeProducer, report: Report | None = None, stop: Stop | None = None) -> int:
    run = sending.Sending(plan(line), cast(Any, producer), report)
    return await sending.send(run, stop or Stop())


def written(folder: Path, content: bytes, name: str = "in") -> str:
    (folder / name).write_bytes(content)
    return str(folder / name)


async def test_lines_are_records_and_the_last_needs_no_newline(tmp_path: Path) -> None:
    producer = FakeProducer()
    assert await send(f"t {written(tmp_path, A__B)}", producer) == 0
    assert producer.rows == [b"a", b"", b"b"]
    assert producer.calls[0] == {
        "delimiter": 10,
        "key_delimiter": None,
        "key": None,
        "partition": None,
        "timestamp": None,
        "empty_is_null": False,
    }


async def test_the_options_of_the_fast_way_are_handed_on(tmp_path: Path) -> None:
    producer = FakeProducer()
    file = written(tmp_path, b"a:1\0b:2\0")
    assert await send(rf"-t t -K : -D \0 -Z -p 3 --timestamp 1700000000 {file}", producer) == 0
    assert producer.calls[0] == {
        "delimiter": 0,
        "key_delimiter": b":",
        "key": None,
        "partition": 3,
        "timestamp": 1_700_000_000_000,
        "empty_is_null": True,
    }


@pytest.mark.parametrize(
    ("options", "content", "rows"),
    [
        ("-D ||", b"a||b", [(None, None, None, b"a", []), (None, None, None, b"b", [])]),
        ("-H h=1 -H n", b"a\n", [(None, None, None, b"a", [("h", b"1"), ("n", None)])]),
        ("-K : -k d -Z", b"k:v\nv\n:x\nk:\n", None),
        ("--whole -k k", b"a\nb\n", [(None, None, b"k", b"a\nb\n", [])]),
    ],
)
async def test_the_general_way(tmp_path: Path, options: str, content: bytes, rows: list[Any] | None) -> None:
    producer = FakeProducer()
    assert await send(f"t {options} {written(tmp_path, content)}", producer) == 0
    if rows is None:
        rows = [
            (None, None, b"k", b"v", []),
            (None, None, b"d", b"v", []),
            (None, None, None, b"x", []),
            (None, None, b"k", None, []),
        ]
    assert producer.rows == rows


NOVALUE = b"novalue\nk:v\n\nl:w\n"


@pytest.mark.parametrize("way", ["", "-H h=1", "--rate 1000000"])
async def test_P10_a_line_without_the_key_delimiter_is_malformed(
    tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, producer = written(tmp_path, b"a:b\n" + NOVALUE), FakeProducer()
    assert await send(f"t -K : {way} {file}", producer) == 1
    said = capsys.readouterr().err
    assert f"{file}: input line 2: has no ':' between key and value (-K)" in said
    assert [row[2:4] for row in producer.rows] == [(b"a", b"b")]
    producer = FakeProducer()
    await send(f"t -K : --on-error skip {way} {file}", producer)
    assert [row[2:4] for row in producer.rows] == [(b"a", b"b"), (b"k", b"v"), (b"l", b"w")]
    assert "input line 4: " in capsys.readouterr().err


async def test_P10_a_default_key_is_for_lines_without_one(tmp_path: Path) -> None:
    producer = FakeProducer()
    assert await send(f"t -K : -k d {written(tmp_path, NOVALUE)}", producer) == 0
    assert [row[2:4] for row in producer.rows] == [(b"d", b"novalue"), (b"k", b"v"), (b"d", b""), (b"l", b"w")]


@pytest.mark.parametrize("form", ["", "--input json-values", "-f %s"])
async def test_keys_come_from_a_field_of_the_value(tmp_path: Path, form: str) -> None:
    values = [b'{"user": {"id": "a"}}', b'{"user": {"id": 7}}', b'{"user": {"id": null}}']
    producer = FakeProducer()
    file = written(tmp_path, b"\n".join(values))
    assert await send(f"t --key-from user.id {form} {file}", producer) == 0
    assert [row[2:4] for row in producer.rows] == list(zip([b"a", b"7", None], values, strict=True))


async def test_a_value_without_the_field_of_the_key_is_malformed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, b'{"id": 1}\n{"no": 2}\nplain\n')
    producer = FakeProducer()
    await send(f"t --key-from value.id --on-error skip {file}", producer)
    assert [row[2] for row in producer.rows] == [b"1"]
    said = capsys.readouterr().err
    assert "input line 2: has no field value.id (--key-from)" in said
    assert "input line 3: is not JSON" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [("t -k {{value.id}}", "use --key-from id"), ("t --key-from id -K :", "it cannot be combined with -k or -K")],
)
def test_a_key_is_not_a_template(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        plan(line)


async def test_values_of_the_command_line() -> None:
    producer = FakeProducer()
    assert await send("t --value a --value= -k k", producer) == 0
    assert producer.rows == [(None, None, b"k", b"a", []), (None, None, b"k", b"", [])]


async def test_several_files_follow_each_other(tmp_path: Path) -> None:
    producer = FakeProducer()
    files = f"{written(tmp_path, b'a', 'one')} {written(tmp_path, b'b', 'two')}"
    assert await send(f"t {files}", producer) == 0
    assert producer.rows == [b"a", b"b"]


LINE = b"x\n"


def test_a_header_as_rpk_and_kaf_write_it_is_not_taken_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert plan("orders -H a:b --value x").headers == [("a:b", None)]
    assert capsys.readouterr().err == "kcli: -H a:b: a header without a value; write -H a=b to give it one\n"
    plan("orders -q -H a:b --value x")
    plan("orders -H a:b=c -H d --value x")
    assert capsys.readouterr().err == ""


ENVELOPE = b'{"partition":1,"timestamp":5,"key":"k","value":"v","headers":[["h","1"]]}\n'


@pytest.mark.parametrize(
    ("options", "row"),
    [
        ("", (1, 5, b"k", b"v", [("h", b"1")])),
        ("-p 2 --timestamp 1700000000", (2, 1_700_000_000_000, b"k", b"v", [("h", b"1")])),
        ("-p -1 -H x=y", (None, 5, b"k", b"v", [("h", b"1"), ("x", b"y")])),
    ],
)
async def test_envelopes_keep_their_place_and_time_unless_told(tmp_path: Path, options: str, row: Any) -> None:
    producer = FakeProducer()
    assert await send(f"t --input json {options} {written(tmp_path, ENVELOPE)}", producer) == 0
    assert producer.rows == [row]


async def test_nothing_is_sent_after_a_bad_line_and_what_was_before_it_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    producer = FakeProducer()
    file = written(tmp_path, ENVELOPE + b"\nnonsense\n" + ENVELOPE)
    assert await send(f"t --input json {file}", producer) == 1
    assert len(producer.rows) == 1
    assert capsys.readouterr().err == (
        f"kcli: {file}: input line 3: is not JSON; no record after it was sent\n"
        "kcli: 1 record read: 1 acknowledged, 0 failed, 0 unknown, 0 not sent\n"
    )


async def test_on_error_skip_goes_on_and_still_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    producer = FakeProducer()
    file = written(tmp_path, ENVELOPE + b"nonsense\n" + ENVELOPE)
    assert await send(f"t --input json --on-error skip {file}", producer) == 1
    assert len(producer.rows) == 2
    assert "input line 2: is not JSON; skipped" in capsys.readouterr().err


async def test_R1_a_record_that_failed_is_not_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    producer = FakeProducer(fails=lambda row: row == b"b")
    assert await send(f"t {written(tmp_path, AB)}", producer) == 1
    err = capsys.readouterr().err
    assert "kcli: too large\n" in err
    assert "2 records read: 1 acknowledged, 1 failed, 0 unknown, 0 not sent" in err


@pytest.mark.parametrize("room", [0, 1, 5, 9])
async def test_D45_after_ctrl_c_the_counts_add_up_to_the_lines_read(
    tmp_path: Path, room: int, capsys: pytest.CaptureFixture[str]
) -> None:
    producer = FakeProducer(room=room)
    stop = Stop()

    async def interrupt() -> None:
        await producer.full.wait()
        stop.interrupt()

    interrupting = asyncio.create_task(interrupt())
    assert await send(f"t {written(tmp_path, 10 * LINE)}", producer, stop=stop) == 130
    await interrupting
    assert capsys.readouterr().err == (
        f"kcli: interrupted: 10 records read: {room} acknowledged, 0 failed, 0 unknown, {10 - room} not sent\n"
    )


async def test_the_report_has_a_line_per_settled_batch(tmp_path: Path) -> None:
    report = Report(str(tmp_path / "report"))
    producer = FakeProducer(fails=lambda row: row == b"b")
    await send(f"t {written(tmp_path, AB)}", producer, report)
    report.close()
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert lines == [
        {"status": "acked", "topic": "t", "partition": 0, "count": 1, "base_offset": 7, "error": None},
        {"status": "failed", "topic": "t", "partition": 0, "count": 1, "base_offset": 7, "error": "too large"},
    ]


async def test_a_missing_file_is_said_before_anything_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    producer = FakeProducer()
    assert await send("t /no/such/file", producer) == 1
    assert "/no/such/file: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "missing topic: kcli produce TOPIC"),
        ("-t a -t b", "one topic"),
        ("t --value x file", "--value cannot be combined with files"),
        ("t --input json -K :", "-K cannot be combined with --input"),
        ("t --whole -K :", "--whole cannot be combined"),
        ("t -z brotli", "-z brotli"),
        ("t --timestamp soon", "--timestamp soon"),
        ("t --acks 1 -X enable.idempotence=true", "needs acks=all"),
        ("t -H =x", "-H =x"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(line: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan(line)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("t", 120),
        ("t -X delivery.timeout.ms=600000", 600),
        ("t -X delivery.timeout.ms=5000 -X request.timeout.ms=3000", 60),
        ("t -X max.block.ms=7000", 7),
    ],
)
def test_D7_input_waits_for_room_until_the_delivery_timeout_decides(line: str, seconds: float) -> None:
    assert plan(line).settings.max_block == seconds


def test_settings_come_from_flags_over_properties() -> None:
    made = plan("t -X linger.ms=7 -X compression.type=gzip -z zstd:5 --acks 1").settings
    assert (made.linger, made.compression, made.compression_level, made.acks) == (0.007, "zstd", 5, 1)
    assert not made.idempotence

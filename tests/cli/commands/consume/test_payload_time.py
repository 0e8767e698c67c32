"""`--start`, `--end`, `--time-field`: what consume and count keep in every format, what is told, what is refused."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import sys
import threading
from datetime import UTC, datetime
from urllib.parse import urlencode

import msgpack
import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.commands.consume.test_corrupt import batch, broken_inside, store
from tests.cli.conftest import Shell

BASE = 1_700_000_000
WRITE = {
    "json": lambda row: json.dumps({"n": row["n"], "event": {"ts": row["ts"]}}).encode(),
    "msgpack": lambda row: msgpack.packb({"n": row["n"], "event": {"ts": msgpack.Timestamp.from_unix(row["ts"])}}),
    "url": lambda row: urlencode({"n": row["n"], "event.ts": iso(row["ts"])}).encode(),
}


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def times(size: int, jitter: float) -> list[dict[str, float]]:
    rng = random.Random(size)
    return [{"n": n, "ts": BASE + n + round(rng.uniform(-jitter, 0), 3)} for n in range(size)]


def envelopes(values: list[bytes | None], partitions: int = 1) -> bytes:
    """Records for `produce --input json`, in turn over the partitions."""
    rows = [
        {
            "partition": place % partitions,
            "value": None if value is None else {"base64": base64.b64encode(value).decode()},
        }
        for place, value in enumerate(values)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def numbers(out: bytes) -> list[int]:
    """The n of every record of `-J`, whatever its format."""
    found = []
    for line in out.splitlines():
        value = json.loads(line)["value"]
        data = value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])
        if data[:1] == b"{":
            found.append(json.loads(data)["n"])
        elif data[:1] == b"n":
            found.append(int(data.split(b"&")[0][2:]))
        else:
            found.append(msgpack.unpackb(data, timestamp=1)["n"])
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "msgpack", "url"])
def test_consume_and_count_find_a_range_of_payload_times(kcli: Shell, format: str) -> None:
    topic = kcli.topic(3)
    rows = times(1200, 20)
    kcli.ok("produce", topic, "--input", "json", stdin=envelopes([WRITE[format](row) for row in rows], 3))
    for start, end in ((100, 160), (0, 3), (1190, 5000), (-50, 0), (500, 500.5)):
        first, last = BASE + start, BASE + end
        words = ["--time-field", "event.ts", "--start", iso(first), "--end", iso(last)]
        expected = [row["n"] for row in rows if first <= row["ts"] < last]
        assert numbers(kcli.ok("consume", topic, "--envelope", *words)) == expected
        assert numbers(kcli.ok("consume", topic, "--envelope", "-u", *words, "--value-format", format)) == expected
        assert int(kcli.ok("count", topic, *words)) == len(expected)
    told = kcli("count", topic, "-v", "--time-field", "event.ts", "--start", iso(BASE + 1190)).stderr.decode()
    assert told.startswith(f"kcli: values are {format}; ")
    assert "of 1,200 offsets are read for event.ts" in told
    after = [row["n"] for row in rows if row["ts"] >= BASE + 1100]
    words = ["--time-field", "event.ts", "--start", iso(BASE + 1100)]
    assert numbers(kcli.ok("consume", topic, "-e", "--envelope", *words)) == after
    assert int(kcli.ok("count", topic, *words, "-p", "1")) == len([n for n in after if n % 3 == 1])
    assert len(kcli.ok("consume", topic, "-n", "3", *words, "-f", "%o\\n").splitlines()) == 3
    before = [row["n"] for row in rows if row["ts"] < BASE + 40]
    assert (
        numbers(kcli.ok("consume", topic, "--envelope", "--time-field", "event.ts", "--end", iso(BASE + 40))) == before
    )


def test_conditions_go_with_it_and_see_values_in_the_same_format(kcli: Shell) -> None:
    topic = kcli.topic(2)
    rows = times(300, 5)
    values = [urlencode({"n": row["n"], "ts": row["ts"], "odd": row["n"] % 2}).encode() for row in rows]
    kcli.ok("produce", topic, "--input", "json", stdin=envelopes(values, 2))
    words = ["--time-field", "ts", "--start", iso(BASE + 100), "--end", iso(BASE + 200)]
    expected = [row["n"] for row in rows if BASE + 100 <= row["ts"] < BASE + 200 and row["n"] % 2]
    for more in (["--where", "value.odd == '1'", "--value-format", "url"], ["--grep", "odd=1"]):
        assert numbers(kcli.ok("consume", topic, "--envelope", *words, *more)) == expected
        assert int(kcli.ok("count", topic, *words, *more)) == len(expected)
    assert int(kcli.ok("count", topic, "--where", "number(value.n) < 10", "--value-format", "auto")) == 10
    text = kcli("count", topic, "--where", "number(value.n) < 10")  # as long as nothing else is asked for
    assert (text.stdout, text.stderr) == (b"0\n", b"kcli: value.n: none of the first 100 values is a JSON object\n")


def test_where_sees_msgpack_maps(kcli: Shell) -> None:
    topic = kcli.topic()
    values = [msgpack.packb({"user": {"id": n}, "tags": ["a", n]}) for n in range(20)]
    kcli.ok("produce", topic, "--input", "json", stdin=envelopes([*values, b'{"user":{"id":3}}', b"text"]))
    assert int(kcli.ok("count", topic, "--where", "value.user.id == 3")) == 2
    assert int(kcli.ok("count", topic, "--where", "value.user.id == 3", "--value-format", "msgpack")) == 1
    assert int(kcli.ok("tail", topic, "--no-follow", "--where", "value.tags[1] == 7", "-f", "%o").decode()) == 7


def test_records_without_a_time_are_left_out_counted_and_told(kcli: Shell) -> None:
    topic = kcli.topic()
    good = [json.dumps({"ts": BASE + n}).encode() for n in range(4)]
    kcli.ok("produce", topic, "--input", "json", stdin=envelopes([*good, None, b"{}", b"?", b'{"ts":"soon"}', good[3]]))
    done = kcli("count", topic, "--time-field", "ts", "--start", iso(BASE + 2))
    assert (done.returncode, done.stdout) == (0, b"3\n")
    assert b"skipped 4 records that have no time: 1 without the field ts, 1 with something in ts that" in done.stderr
    assert f"(the first: {topic}[0] offset 5)".encode() in done.stderr
    assert kcli("count", topic, "-q", "--time-field", "ts", "--start", iso(BASE + 2)).stderr == b""


def test_a_field_that_no_record_has_is_an_error_that_names_those_there(kcli: Shell) -> None:
    topic = kcli.topic(2)
    kcli.ok("produce", topic, stdin=b'{"event":{"ts":1700000000},"user":1}\n' * 5)
    for wrong, hint in (("evnt.ts", "did you mean event.ts?"), ("ts", "did you mean event.ts?"), ("user.x", "user")):
        done = kcli("consume", topic, "-e", "--time-field", wrong, "--start", "-1h")
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"its fields are event.ts, user" in done.stderr
        assert hint.encode() in done.stderr
        assert f"no record has a time in {wrong}".encode() in done.stderr
    plain = kcli.topic()
    kcli.ok("produce", plain, stdin=b"hello\n")
    done = kcli("count", plain, "--time-field", "ts", "--start", "-1h")
    assert done.returncode == 1
    assert b"neither JSON, msgpack nor the query of a URL" in done.stderr
    done = kcli("count", plain, "--time-field", "ts", "--start", "-1h", "--value-format", "json")
    assert done.returncode == 1
    assert b"it is not json" in done.stderr


def test_an_empty_topic_has_no_records_of_any_time(kcli: Shell) -> None:
    topic = kcli.topic(3)
    assert kcli.ok("count", topic, "--time-field", "ts", "--start", "-1h") == b"0\n"
    assert kcli.ok("consume", topic, "--time-field", "ts", "--end", "now") == b""


def test_a_jitter_that_is_too_small_is_told(kcli: Shell) -> None:
    topic = kcli.topic()
    order = [*range(50), 20, *range(50, 100)]
    kcli.ok("produce", topic, stdin="\n".join(json.dumps({"ts": BASE + n}) for n in order).encode())
    words = ["count", topic, "--time-field", "ts", "--start", iso(BASE + 10), "--end", iso(BASE + 60), "--jitter"]
    done = kcli(*words, "5s")
    assert b"times in ts decrease by up to 29s, which is more than --jitter 5s" in done.stderr
    assert b"try --jitter 29s or more" in done.stderr
    assert kcli.ok(*words, "29s") == b"51\n"


def test_start_and_end_without_a_field_are_of_the_records_own_timestamps(kcli: Shell) -> None:
    topic = kcli.topic(2)
    for n in range(6):
        kcli.ok("produce", topic, "-p", str(n % 2), "--value", f"v{n}", "--timestamp", str((BASE + n) * 1000))
    words = ["--start", iso(BASE + 2), "--end", iso(BASE + 5)]
    assert sorted(kcli.ok("consume", topic, *words).splitlines()) == [b"v2", b"v3", b"v4"]
    assert kcli.ok("count", topic, *words) == b"3\n"
    assert kcli.ok("count", topic, "--start", f"@{BASE + 4}") == b"2\n"
    assert kcli.ok("count", topic, "-o", "2", "--end", str(BASE + 5)) == b"1\n"


def test_an_offset_range_narrows_what_is_searched(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin="\n".join(json.dumps({"ts": BASE + n}) for n in range(100)).encode())
    words = ["--time-field", "ts", "--start", iso(BASE + 10), "--end", iso(BASE + 60)]
    assert kcli.ok("count", topic, "-o", "50:55", *words) == b"5\n"
    assert kcli.ok("count", topic, "-o", "-45", *words) == b"5\n"


@pytest.mark.process
def test_following_begins_at_the_payload_time(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin="\n".join(json.dumps({"ts": BASE + n}) for n in range(100)).encode())
    process = kcli.start("consume", topic, "--time-field", "ts", "--start", iso(BASE + 98), "-n", "3")
    deadline = threading.Timer(20, process.kill)
    deadline.start()
    try:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == [b'{"ts": 1700000098}\n', b'{"ts": 1700000099}\n']
        early, late = (json.dumps({"ts": BASE + n}) for n in (1, 200))
        kcli.ok("produce", topic, stdin=f"{early}\n{late}\n".encode())
        out, _ = process.communicate()
        assert out == late.encode() + b"\n"
        assert process.returncode == 0
    finally:
        deadline.cancel()
        process.kill()


REFUSED = [
    (["--time-field", "ts"], "add --start TIME or --end TIME"),
    (["--jitter", "5s"], "is for times in values; add --time-field NAME"),
    (["--start", "someday"], "--start someday: expected a time"),
    (["--start", "latest", "--time-field", "ts"], "--start latest is not a time that --time-field can use"),
    (["--start", "earliest", "-o", "5"], "--start and -o both set where to start; use only one"),
    (["--start", "now", "--end", "-1h"], "--end -1h is before --start now"),
    (["--start", "-1h", "-o", "5"], "--start and -o both set where to start; use only one"),
    (["--end", "-1h", "-o", ":5"], "--end and -o both set where to stop; use only one"),
    (["--start", "-1h", "--time-field", "ts", "--jitter", "soon"], "--jitter soon: expected a duration"),
    (["--start", "-1h", "--time-field", "a..b"], "needs the name of a field"),
    (["--value-format", "json"], "sets how --where and --time-field read values"),
    (["--value-format", "avro"], "expected auto, json, msgpack, url"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_what_makes_no_sense_is_refused_before_anything_is_asked(words: list[str], sentence: str) -> None:
    shell = Shell("127.0.0.1:1")
    for command in ("consume", "count"):
        done = shell(command, "t", *words)
        assert (done.returncode, done.stdout) == (2, b"")
        assert sentence in done.stderr.decode()


def test_earliest_and_latest_are_starts(kcli: Shell) -> None:
    """kpax's words; a group without a commit starts there, too."""
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\nb\n")
    for command in ("consume", "count"):
        every, none = (b"a\nb\n", b"") if command == "consume" else (b"2\n", b"0\n")
        end = ("-e",) if command == "consume" else ()
        assert kcli.ok(command, topic, "--start", "earliest", *end) == every
        assert kcli.ok(command, topic, "--start", "latest", *end) == none
    assert kcli.ok("consume", topic, "-g", f"{topic}-a", "--start", "earliest", "-e") == b"a\nb\n"
    assert kcli.ok("consume", topic, "-g", f"{topic}-b", "--start", "latest", "-e") == b""
    later = ("--time-field", "ts", "--start", "earliest", "--end", "2100-01-01T00:00:00Z")
    timed = kcli.topic()
    kcli.ok("produce", timed, stdin=b'{"ts": 1700000000}\n')
    assert kcli.ok("consume", timed, *later, "-e") == b'{"ts": 1700000000}\n'


def test_msgpack_is_printed_as_json_and_written_from_it(kcli: Shell) -> None:
    """kpax's own format, each way round."""
    topic, rows = kcli.topic(), b'{"user": {"id": 1}, "x": [1, null, 2.5]}\n{"user": {"id": 2}}\n'
    kcli.ok("produce", topic, "--value-format", "msgpack", stdin=rows)
    stored = kcli.ok("consume", topic, "-e", "-f", "%s")
    assert stored == msgpack.packb({"user": {"id": 1}, "x": [1, None, 2.5]}) + msgpack.packb({"user": {"id": 2}})
    for words in (["--value-format", "msgpack"], ["--value-format", "auto"], ["-f", "%s{json}\\n"]):
        assert kcli.ok("consume", topic, "-e", *words) == rows, words
    assert kcli.ok("tail", topic, "-e", "--value-format", "msgpack") == rows


def test_a_group_is_not_started_at_a_time() -> None:
    done = Shell("127.0.0.1:1")("consume", "t", "-g", "g", "--time-field", "ts", "--start", "-1h")
    assert done.returncode == 2
    assert b"kcli groups reset" in done.stderr


@pytest.mark.process
def test_plain_consuming_imports_nothing_of_it(kcli: Shell) -> None:
    topic = kcli.topic()
    code = (
        "import sys; from kcli.cli.main import main; assert main(sys.argv[1:]) == 0;"
        "assert not [m for m in sys.modules if m.startswith(('msgpack', 'kcli.seeking', 'kcli.serde', 'json'))]"
    )
    words = [sys.executable, "-c", code, "consume", topic, "-e"]
    done = subprocess.run(words, env=kcli.environment, capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_damaged_batch_is_searched_past_and_told_where_it_is_read(kcli: Shell, shared_sandbox: SandboxThread) -> None:
    topic = kcli.topic()
    parts = [[json.dumps({"ts": BASE + n}).encode() for n in range(start, start + 5)] for start in range(0, 100, 5)]
    made = [broken_inside(*values) if number in (9, 14) else batch(*values) for number, values in enumerate(parts)]
    store(shared_sandbox, topic, *made)
    words = ["count", topic, "--time-field", "ts", "--jitter", "0", "--start"]
    assert kcli.ok(*words, iso(BASE + 80)) == b"20\n"  # both are behind it
    assert kcli.ok(*words, iso(BASE + 10), "--end", iso(BASE + 40)) == b"30\n"
    done = kcli(*words, iso(BASE + 40), "--end", iso(BASE + 70))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"the batch at offset 45 is corrupt" in done.stderr
    done = kcli(*words, iso(BASE + 40), "--end", iso(BASE + 70), "--skip-corrupt")
    assert (done.returncode, done.stdout) == (0, b"25\n")
    kcli.ok("groups", "reset", "g", "-t", topic, "--to-earliest", "--create", "--execute", "-q")
    rolled = kcli("rollback", "g", "-t", topic, "--time-field", "ts", "--jitter", "0", "--start", iso(BASE + 47))
    assert rolled.returncode == 1
    assert b"the batch at offset 45 is corrupt" in rolled.stderr

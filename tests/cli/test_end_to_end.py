"""The record commands as processes against the sandbox: the same bytes out, whatever goes in."""

from __future__ import annotations

import base64
import json
import os
import random
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import KCLI, Shell
from tests.programs import until


def lines(count: int, seed: int = 1) -> bytes:
    rng = random.Random(seed)
    return b"".join(b"%d %s\n" % (n, b"x" * rng.randrange(200)) for n in range(count))


def wait_for(process: subprocess.Popen[bytes], want: bytes, seconds: float = 10) -> bytes:
    """What a process prints until it has printed so much."""
    assert process.stdout is not None
    got = b""
    until = time.monotonic() + seconds
    while len(got) < len(want) and time.monotonic() < until:
        if select.select([process.stdout], [], [], 0.2)[0]:
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                break
            got += piece
    return got


def end(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """The exit code and stderr of a process that is about to end."""
    try:
        _, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, err


@pytest.fixture(scope="module")
def digits(bootstrap: str) -> str:
    """A topic with the values 0 to 9, a second apart."""
    kcli = Shell(bootstrap)
    topic = kcli.topic()
    envelopes = b"".join(b'{"value":"%d","timestamp":%d}\n' % (n, 1_700_000_000_000 + 1000 * n) for n in range(10))
    kcli.ok("produce", topic, "--input", "json", stdin=envelopes)
    return topic


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_lines_in_are_the_same_bytes_out(kcli: Shell, codec: str) -> None:
    topic = kcli.topic()
    data = lines(5000)
    kcli.ok("produce", topic, "-z", codec, stdin=data)
    assert kcli.ok("consume", topic, "-e") == data


def test_the_last_line_needs_no_newline_and_empty_lines_are_records(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\n\nb")
    assert kcli.ok("consume", topic, "-e") == b"a\n\nb\n"
    assert kcli.ok("count", topic) == b"3\n"


def test_no_input_is_no_record_and_an_empty_topic_ends_at_once(kcli: Shell) -> None:
    topic = kcli.topic(3)
    kcli.ok("produce", topic)
    assert kcli.ok("consume", topic, "-e") == b""
    assert kcli.ok("count", topic) == b"0\n"
    assert kcli.ok("tail", topic, "--no-follow") == b""


def test_keyed_lines_come_back_keyed(kcli: Shell) -> None:
    topic = kcli.topic(4)
    data = b"".join(b"k%d:v%d\n" % (n % 50, n) for n in range(1000))
    kcli.ok("produce", topic, "-K", ":", stdin=data)
    out = kcli.ok("consume", topic, "-e", "-K", ":")
    assert sorted(out.splitlines()) == sorted(data.splitlines())
    for key in (b"k1:", b"k7:"):
        assert [line for line in out.splitlines() if line.startswith(key)] == [
            line for line in data.splitlines() if line.startswith(key)
        ]


@pytest.mark.parametrize("partitions", [1, 4])
def test_lines_without_a_key_keep_their_place_among_the_keyed_ones(kcli: Shell, partitions: int) -> None:
    rng = random.Random(partitions)
    given = [b"%d:%d" % (rng.randrange(50), n) if rng.random() < 0.5 else b":%d" % n for n in range(20_000)]
    topic = kcli.topic(partitions)
    kcli.ok("produce", topic, "-K", ":", "-Z", stdin=b"\n".join(given) + b"\n")
    rows = kcli.ok("consume", topic, "-o", "beginning", "-e", "-f", "%p %s\\n").split(b"\n")[:-1]
    assert len(rows) == len(given)
    last: dict[bytes, int] = {}
    for row in rows:
        partition, number = row.split()
        assert last.get(partition, -1) < int(number)
        last[partition] = int(number)


def test_formats_nulls_and_delimiters(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "-K:", "-Z", "-H", "a=1", "-H", "b", "--timestamp", "1700000000123", stdin=b"k:v\nk:\n")
    template = r"%t %p %o %k %K %s %S %T %T{iso} %h{%k=%v;} %k{hex}\n"
    assert kcli.ok("consume", topic, "-e", "-f", template).decode().splitlines() == [
        f"{topic} 0 0 k 1 v 1 1700000000123 2023-11-14T22:13:20.123Z a=1;b=; 6b",
        f"{topic} 0 1 k 1  -1 1700000000123 2023-11-14T22:13:20.123Z a=1;b=; 6b",
    ]
    assert kcli.ok("consume", topic, "-e", "-Z", "-D", r"\0") == b"v\0NULL\0"


@pytest.mark.parametrize(
    ("options", "out"),
    [
        (["-o", "7"], "789"),
        (["-o", "-2"], "89"),
        (["-o", "+8"], "89"),
        (["-o", "2:5"], "234"),
        (["-o", ":3"], "012"),
        (["-o", "8:100"], "89"),
        (["-o", "100"], ""),
        (["-o", "end"], ""),
        (["-o", "beginning", "-c", "4"], "0123"),
        (["-o", "@1700000005:@1700000007"], "56"),
        (["-o", "s@1700000008000"], "89"),
        (["-o", "s@1700000001000", "-o", "e@1700000003000"], "12"),
        (["--from-beginning", "--max-messages", "2"], "01"),
        (["-c", "0"], ""),
    ],
)
def test_the_offset_grammar_on_a_log(kcli: Shell, digits: str, options: list[str], out: str) -> None:
    topic = digits
    assert kcli.ok("consume", topic, "-e", "-q", *options).decode().replace("\n", "") == out
    if options[0] == "-o" and "-c" not in options:
        assert kcli.ok("count", topic, "-q", *options).decode() == f"{len(out)}\n"


BYTES = st.one_of(
    st.none(), st.binary(max_size=12), st.text(max_size=8).map(lambda text: text.encode("utf-8", "ignore"))
)
ROW = st.tuples(
    st.integers(0, 1), st.integers(0, 2**40), BYTES, BYTES, st.lists(st.tuples(st.text('aé"\\\n', max_size=4), BYTES))
)


def envelope(row: tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]) -> bytes:
    def shown(value: bytes | None) -> object:
        if value is None:
            return None
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode()}

    partition, timestamp, key, value, headers = row
    made = {
        "partition": partition,
        "timestamp": timestamp,
        "key": shown(key),
        "value": shown(value),
        "headers": [[name, shown(content)] for name, content in headers],
    }
    return json.dumps(made).encode() + b"\n"


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(ROW, min_size=1, max_size=200))
def test_consume_J_into_produce_input_json_reproduces_the_log(kcli: Shell, rows: list[object]) -> None:
    first, second = kcli.topic(2), kcli.topic(2)
    kcli.ok("produce", first, "--input", "json", stdin=b"".join(envelope(row) for row in rows))  # type: ignore[arg-type]
    for partition in ("0", "1"):
        dumped = kcli.ok("consume", first, "-e", "--envelope", "-p", partition)
        kcli.ok("produce", second, "--input", "json", stdin=dumped)
        again = kcli.ok("consume", second, "-e", "--envelope", "-p", partition)
        assert again.replace(second.encode(), first.encode()) == dumped
        wanted = [row for row in rows if str(row[0]) == partition]  # type: ignore[index]
        read = [json.loads(line) for line in dumped.splitlines()]
        assert [(one["timestamp"], one["key"], one["value"], one["headers"]) for one in read] == [
            (made["timestamp"], made["key"], made["value"], made["headers"])
            for made in (json.loads(envelope(row)) for row in wanted)  # type: ignore[arg-type]
        ]


def test_tail_merges_partitions_and_topics_by_time(kcli: Shell) -> None:
    one, two = kcli.topic(2), kcli.topic(1)
    for topic, start in ((one, 0), (two, 1)):
        rows = [
            b'{"value":"%d","timestamp":%d,"partition":%d}\n'
            % (n, 1_700_000_000_000 + n, n // 2 % (2 if topic == one else 1))
            for n in range(start, 40, 2)
        ]
        kcli.ok("produce", topic, "--input", "json", stdin=b"".join(rows))
    assert kcli.ok("tail", one, two, "-n", "7", "--no-follow").split() == [b"%d" % n for n in range(33, 40)]
    assert kcli.ok("tail", one, "-n", "0", "--no-follow") == b""
    assert len(kcli.ok("tail", one, two, "-n", "100", "--no-follow").split()) == 40


@pytest.mark.process
def test_tail_follows_what_comes(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"1\n2\n3\n")
    process = kcli.start("tail", topic, "-n", "2")
    assert wait_for(process, b"2\n3\n") == b"2\n3\n"
    kcli.ok("produce", topic, stdin=b"4\n")
    assert wait_for(process, b"4\n") == b"4\n"
    process.send_signal(signal.SIGINT)
    assert end(process) == (0, b"")


def test_count_by_partition(kcli: Shell) -> None:
    topic = kcli.topic(2)
    kcli.ok("produce", topic, "-p", "1", stdin=b"a\nb\n")
    assert json.loads(kcli.ok("count", topic, "-J"))["partitions"] == [
        {"topic": topic, "partition": 0, "count": 0},
        {"topic": topic, "partition": 1, "count": 2},
    ]


@pytest.mark.process
def test_a_follow_ends_with_ctrl_c_and_exit_0(kcli: Shell) -> None:
    topic = kcli.topic()
    process = kcli.start("consume", topic)
    kcli.ok("produce", topic, stdin=b"a\nb\n")
    assert wait_for(process, b"a\nb\n") == b"a\nb\n"
    process.send_signal(signal.SIGINT)
    assert end(process) == (0, b"")


@pytest.mark.process
def test_a_slow_pipe_is_sent_as_it_comes(kcli: Shell) -> None:
    topic = kcli.topic()
    producer, consumer = kcli.start("produce", topic), kcli.start("consume", topic)
    assert producer.stdin is not None
    for line in (b"one\n", b"two\n"):
        producer.stdin.write(line)
        assert wait_for(consumer, line) == line
    assert end(producer) == (0, b"")
    consumer.send_signal(signal.SIGINT)
    assert end(consumer) == (0, b"")


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [("consume",), ("consume", "--order", "time"), ("tail",), ("consume", "-g", "left"), ("consume", "--share-group")],
)
def test_D46_head_ends_a_run_that_nothing_comes_to_any_more(kcli: Shell, words: tuple[str, ...]) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\nb\n")
    more = [f"s-{topic}", "--from-beginning"] if words[-1] == "--share-group" else []
    process = kcli.start(*words, *more, topic, "-q")
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"a\n"
        process.stdout.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.process
def test_a_reader_that_leaves_is_a_quiet_stop(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=lines(50_000))
    process = kcli.start("consume", topic)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"0 ")
    process.stdout.close()
    assert process.stderr is not None
    assert process.wait(20) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize("options", [(), ("--transactional-id", "full")])
def test_a_report_that_takes_no_more_is_a_failure_and_the_records_are_sent(
    kcli: Shell, options: tuple[str, ...]
) -> None:
    topic = kcli.topic()
    done = kcli("produce", topic, "--report", "/dev/full", *options, stdin=b"a\nb\n")
    said = b"kcli: --report /dev/full: No space left on device; the report is incomplete\n"
    assert (done.returncode, done.stderr) == (1, said)
    assert kcli.ok("consume", topic, "-e", "--isolation", "read_committed") == b"a\nb\n"


@pytest.mark.process
def test_ctrl_c_is_heard_while_nobody_writes_to_a_named_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    listening = (
        "import signal, sys; from kcli.cli.commands.produce.input.source import Source; "
        "signal.signal(signal.SIGINT, lambda *_: None); print(flush=True); Source(sys.argv[1])"
    )
    words = [sys.executable, "-c", listening, str(tmp_path / "pipe")]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        until = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < until:
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        process.kill()
    assert process.returncode == -signal.SIGINT


def test_a_producer_that_may_have_nothing_in_flight_is_refused(kcli: Shell) -> None:
    done = kcli("produce", kcli.topic(), "--value", "a", "-X", "max.in.flight.requests.per.connection=0")
    said = b"kcli: -X max.in.flight.requests.per.connection=0: expected a whole number, 1 or more\n"
    assert (done.returncode, done.stderr) == (2, said)


@pytest.mark.process
def test_R1_what_was_sent_and_not_answered_when_ctrl_c_came_is_unknown(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli("faults", "never_answer", "api=Produce", "times=1000")
    try:
        process = kcli.start("produce", topic)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"a\nb\n")
        deadline = time.monotonic() + 20
        while kcli.ok("count", topic).strip() != b"2":
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        assert b"waiting for responses to 2 records" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        said = (130, b"kcli: stopped: 2 records read: 0 acknowledged, 0 failed, 2 unknown, 0 not sent\n")
        assert end(process) == said
    finally:
        kcli("faults", "clear")


@pytest.mark.process
def test_D45_sigint_while_producing_the_counts_add_up(kcli: Shell) -> None:
    rng = random.Random(7)
    for _ in range(4):
        topic = kcli.topic()
        process = kcli.start("produce", topic)
        assert process.stdin is not None
        fed = 0
        until = time.monotonic() + 0.3 + rng.random() * 0.5
        while time.monotonic() < until:
            process.stdin.write(b"line\n" * 1000)
            fed += 1000
        process.send_signal(signal.SIGINT)
        code, err = end(process)
        assert code == 130, err
        words = err.decode().splitlines()[-1].split()  # it may say first that it waits for answers
        read, acked, failed, unknown, unsent = (int(word) for word in words if word.isdigit())
        assert read == acked + failed + unknown + unsent
        assert read <= fed
        assert (failed, unknown) == (0, 0)
        assert int(kcli.ok("count", topic)) == acked


@pytest.mark.parametrize(
    ("words", "stdin", "code", "says"),
    [
        (["produce", "T", "--input", "envelope"], b'{"value":1}\n', 1, 'stdin: input line 1: "value" must be text'),
        (["produce", "T", "/no/such"], b"", 1, "/no/such: No such file or directory"),
        (["produce", "T", "-p", "9"], b"x\n", 2, "partition 9"),
        (["produce", "no such topic"], b"x\n", 1, "no such topic"),
        (["produce"], b"", 2, "missing topic"),
        (["consume", "T", "-e", "-p", "5"], b"", 2, "has no partition 5"),
        (["consume", "absent", "-e"], b"", 1, "absent"),
        (["consume", "T", "-o", "x"], b"", 2, "-o x: expected beginning"),
        (["consume", "T", "-f", "%q"], b"", 2, "unknown token %q"),
        (["consume", "T", "-J", "-f", "%s"], b"", 2, "cannot be combined"),
        (["consume", "T", "-o", "end", "--timeout-ms", "50"], b"", 4, "no record arrived for 50 ms"),
        (["consume", "T", "-b", "127.0.0.1:1", "-e", "-X", "default.api.timeout.ms=300"], b"", 5, "127.0.0.1:1"),
        (["consume", "T", "-X", "nope=1"], b"", 2, "unknown property nope"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(
    kcli: Shell, digits: str, words: list[str], stdin: bytes, code: int, says: str
) -> None:
    done = kcli(*(digits if word == "T" else word for word in words), stdin=stdin)
    err = done.stderr.decode()
    assert (done.returncode, done.stdout) == (code, b""), err
    assert says in err
    assert err.startswith("kcli: ")
    assert "Traceback" not in err


def test_a_group_commits_what_was_written_and_goes_on_there(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"1\n2\n3\n4\n5\n")
    assert kcli.ok("consume", topic, "-g", f"g-{topic}", "-c", "2") == b"1\n2\n"
    assert kcli.ok("consume", topic, "-g", f"g-{topic}", "-e") == b"3\n4\n5\n"
    assert kcli.ok("consume", topic, "-g", f"g-{topic}", "-e") == b""


@pytest.mark.process
def test_R4_after_ctrl_c_a_group_goes_on_where_the_output_ended(kcli: Shell) -> None:
    topic = kcli.topic()
    data = lines(60_000)
    kcli.ok("produce", topic, stdin=data)
    process = kcli.start("consume", topic, "-e", "-g", f"g-{topic}")
    first = wait_for(process, b"some")
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    while piece := os.read(process.stdout.fileno(), 1 << 20):
        first += piece
    code, err = end(process)
    assert code == 130, err
    assert first.endswith(b"\n")
    assert first + kcli.ok("consume", topic, "-e", "-g", f"g-{topic}") == data


@pytest.mark.process
def test_R7_a_reader_that_does_not_read_does_not_hold_up_ctrl_c(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"x" * 1000 * 1000 + b"\n" + lines(20_000))
    reader, writer = os.pipe()
    try:
        process = kcli.start("consume", topic, "-e", stdout=writer)
        until(lambda: not select.select([], [writer], [], 0)[1])  # the pipe is full
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    finally:
        os.close(reader)
        os.close(writer)
        process.kill()
    process.communicate()


@pytest.mark.process
def test_a_full_disk_is_said(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"x\n")
    with open("/dev/full", "wb") as full:
        process = kcli.start("consume", topic, "-e", stdout=full.fileno())
        said = b"kcli: /dev/full: No space left on device; no record was written completely\n"
        assert end(process) == (1, said)


@pytest.mark.process
def test_on_a_terminal_hostile_bytes_are_shown(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\x1b]0;x\x07b\n")
    for words, shown in (
        ([], rb"a\x1b]0;x\x07b"),
        (["-J"], rb'"value":"a\u001b]0;x\u0007b"'),
        (["--raw"], b"a\x1b]0;x\x07b"),
    ):
        master, slave = os.openpty()
        process = kcli.start("consume", topic, "-e", *words, stdout=slave)
        code, err = end(process)
        os.close(slave)
        got = os.read(master, 4096)
        os.close(master)
        assert (code, err) == (0, b"")
        assert shown in got


@pytest.mark.process
def test_tail_on_a_terminal_shows_records_for_reading_and_a_pipe_gets_their_bytes(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "-K:", stdin=b'k:{"a":1.10}\n')
    master, slave = os.openpty()
    code, err = end(kcli.start("tail", topic, "--no-follow", stdout=slave))
    os.close(slave)
    got = os.read(master, 4096)
    os.close(master)
    assert (code, err) == (0, b"")
    text = re.sub(rb"\x1b\[[\d;]*m", b"", got)
    assert text != got
    assert text.split(None, 2)[1:] == [b"0:0", b'k  {"a": 1.10}\r\n']
    assert kcli.process("tail", topic, "--no-follow").stdout == b'{"a":1.10}\n'


@pytest.mark.process
@pytest.mark.parametrize(
    ("redirected", "words", "code", "says"),
    [
        ("<&-", "produce T", 1, "kcli: stdin is closed\n"),
        (">&-", "consume T -e", 1, "kcli: stdout is closed\n"),
        (">&-", "topics", 1, "kcli: stdout is closed\n"),
        (">&- 2>&-", "topics", 1, ""),
        (">&-", "produce T --value x", 0, ""),
        ("<&-", "count T", 0, ""),
    ],
)
def test_closed_streams_are_said(kcli: Shell, redirected: str, words: str, code: int, says: str) -> None:
    line = " ".join([*KCLI, words.replace("T", kcli.topic()), redirected])
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, env=kcli.environment, timeout=30)
    assert (done.returncode, done.stderr.decode()) == (code, says)


@pytest.mark.parametrize("command", ["produce", "consume -e", "consume -g g -e", "count", "tail"])
def test_a_topic_that_does_not_exist_is_said_with_the_nearest_name(kcli: Shell, command: str) -> None:
    kcli("topics", "create", "invoices", "--if-not-exists")
    name, *options = command.split()
    done = kcli(name, "invoicse", *options, stdin=b"x\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.splitlines()[0] == b"kcli: invoicse: this topic does not exist; did you mean invoices?"
    assert b"did you mean" not in kcli(name, "qqq", *options, stdin=b"x\n").stderr


def test_R4_a_group_has_a_commit_also_where_nothing_was_read(kcli: Shell) -> None:
    topic = kcli.topic(3)
    kcli.ok("produce", topic, "-p", "1", stdin=lines(10))
    assert len(kcli.ok("consume", topic, "-g", f"{topic}-g", "--from-beginning", "-c", "4").splitlines()) == 4
    rows = kcli.ok("offsets", topic, "-g", f"{topic}-g", "--format", "ndjson").splitlines()
    assert [(row["committed"], row["lag"]) for row in map(json.loads, rows)] == [(0, 0), (4, 6), (0, 0)]


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (["-K:", "-Z"], b"a:0\n:1\nb:2\n:3\na:4\n"),
        (["-K:", "-Z", "-H", "x=y"], b"a:0\n:1\nb:2\n:3\na:4\n"),
        (["--input", "json"], b"".join(b'{"key":%s,"value":"%d"}\n' % ((b'"k"', b"null")[n % 2], n) for n in range(5))),
    ],
)
def test_D12_one_partition_keeps_the_order_of_the_input_with_and_without_keys(
    kcli: Shell, words: list[str], stdin: bytes
) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, *words, stdin=stdin)
    assert kcli.ok("consume", topic, "-e") == b"0\n1\n2\n3\n4\n"


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_E21_a_group_whose_commit_is_past_the_log_reads_what_is_there(kcli: Shell, isolation: str) -> None:
    topic = kcli.topic()
    group = ("consume", topic, "-g", f"past-{topic}", "-e", "--isolation", isolation)
    kcli.ok("produce", topic, stdin=lines(100))
    assert kcli.ok(*group, "-q").count(b"\n") == 100
    kcli("faults", "truncate", f"topic={topic}", "partition=0", "offset=0")
    kcli.ok("produce", topic, stdin=b"a\nb\n")
    done = kcli(*group)
    assert (done.returncode, done.stdout) == (0, b"a\nb\n")
    assert b"offset 100 is out of range, the log contains 0 to 2; continuing at 0 (earliest)" in done.stderr
    assert kcli.ok(*group) == b""
    assert kcli.ok("lag", f"past-{topic}", "--max-lag", "0", "--format", "csv").count(b"\n") == 2


def test_E21_without_a_reset_policy_a_commit_past_the_log_is_an_error(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=lines(10))
    kcli.ok("consume", topic, "-g", f"none-{topic}", "-e")
    kcli("faults", "truncate", f"topic={topic}", "partition=0", "offset=0")
    done = kcli("consume", topic, "-g", f"none-{topic}", "-e", "-X", "auto.offset.reset=none")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"offset 10 is out of range, the log contains 0 to 0" in done.stderr

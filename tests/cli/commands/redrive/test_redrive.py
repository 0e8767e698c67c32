"""`kcli redrive`: the plan, what goes back and how it looks, what fails, where it stops and goes on."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Shell


class Letters:
    """A dead-letter topic and two topics its records came from."""

    def __init__(self, kcli: Shell) -> None:
        self.kcli = kcli
        self.dlq, self.orders, self.other = kcli.topic(), kcli.topic(3), kcli.topic()

    def write(self, *letters: tuple[str, str | None, dict[str, str]]) -> None:
        """Value, original topic (Connect's header) and more headers."""
        lines = []
        for n, (value, topic, more) in enumerate(letters):
            headers = [["own", "1"], *map(list, more.items())]
            if topic is not None:
                headers += [["__connect.errors.topic", topic], ["__connect.errors.partition", str(n % 3)]]
                headers += [["__connect.errors.exception.message", "boom"]]
            lines.append({"key": f"k{n}", "value": value, "headers": headers, "timestamp": 1_700_000_000_000 + n})
        text = "\n".join(map(json.dumps, lines)).encode()
        self.kcli.ok("produce", self.dlq, "--input", "json", stdin=text)

    def run(self, *words: str) -> tuple[int, dict[str | None, dict], dict, str]:
        """Exit code, rows by target, totals, stderr; every record read is in one count (the summary adds up)."""
        done = self.kcli("redrive", self.dlq, "-J", *words)
        document = json.loads(done.stdout)
        rows = {row["topic"]: row for row in document["targets"]}
        return done.returncode, rows, document["totals"][0], done.stderr.decode()

    def values(self, topic: str) -> list[str]:
        return sorted(self.kcli.ok("consume", topic, "-e").decode().splitlines())


@pytest.fixture
def letters(kcli: Shell) -> Letters:
    return Letters(kcli)


def test_without_execute_it_is_a_plan_and_publishes_nothing(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", letters.other, {}), ("c", "nowhere", {}), ("d", None, {}))
    code, rows, totals, said = letters.run()
    assert code == 1, "some of it would fail"
    assert {topic: row["records"] for topic, row in rows.items()} == {
        letters.orders: 1, letters.other: 1, "nowhere": 1, None: 1,
    }  # fmt: skip
    assert rows["nowhere"]["note"] == "the topic does not exist"
    assert rows[None]["note"] == "no header names its topic"
    assert totals["read"] == 4
    assert "4 records read: 2 to be redriven, 2 failed" in said
    assert "add --execute to apply it" in said
    assert "--execute" not in letters.run("--execute", "--dry-run")[3]
    assert letters.values(letters.orders) == letters.values(letters.other) == []


def test_a_record_goes_back_as_it_was(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", letters.orders, {}), ("c", letters.other, {}))
    code, rows, _, _ = letters.run("--execute")
    assert (code, rows[letters.orders]["redriven"], rows[letters.other]["redriven"]) == (0, 2, 1)
    seen = [json.loads(line) for line in letters.kcli.ok("consume", letters.orders, "-e", "--envelope").splitlines()]
    assert sorted((one["partition"], one["key"], one["value"], one["timestamp"]) for one in seen) == [
        (0, "k0", "a", 1_700_000_000_000),
        (1, "k1", "b", 1_700_000_000_001),
    ]
    assert all(one["headers"] == [["own", "1"], ["kcli-redrive-attempts", "1"]] for one in seen)
    one = json.loads(letters.kcli.ok("consume", letters.other, "-e", "--envelope"))
    assert one["partition"] == 0, "partition 2 is not there any more: by key"


def test_run_again_it_goes_on_where_it_was(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}))
    assert letters.run("--execute")[0] == 0
    letters.write(("b", letters.orders, {}))
    assert letters.run("--execute")[2]["read"] == 1
    assert letters.values(letters.orders) == ["a", "b"]
    assert letters.run("--execute", "--restart")[2]["read"] == 2
    assert letters.values(letters.orders) == ["a", "a", "b", "b"]


def test_other_options_of_what_is_sent(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", None, {"source": letters.orders, "where": "2"}))
    words = ("--execute", "--topic-header", "source", "--partition-header", "where", "--now", "--keep-headers")
    assert letters.run(*words)[0] == 0
    seen = [json.loads(line) for line in letters.kcli.ok("consume", letters.orders, "-e", "--envelope").splitlines()]
    by_value = {one["value"]: one for one in seen}
    assert by_value["b"]["partition"] == 2
    assert ["source", letters.orders] in by_value["b"]["headers"]
    assert ["__connect.errors.exception.message", "boom"] in by_value["a"]["headers"]
    assert all(one["timestamp"] > 1_700_000_100_000 for one in seen)


def test_filters_leave_out_and_have_a_progress_of_their_own(letters: Letters) -> None:
    letters.write(
        ("1", letters.orders, {"why": "slow"}), ("2", letters.orders, {"why": "bad"}), ("3", letters.orders, {})
    )
    code, _, totals, _ = letters.run("--execute", "--where", "headers.why == 'slow'")
    assert (code, totals["read"], totals["filtered"]) == (0, 3, 2)
    assert letters.values(letters.orders) == ["1"]
    assert letters.run("--execute", "--where", "headers.why == 'slow'")[2]["read"] == 0
    assert letters.run("--execute", "--where", "headers.why == 'bad'")[2]["read"] == 3
    assert letters.values(letters.orders) == ["1", "2"]


def test_what_an_offset_to_begin_at_left_out_is_not_done(letters: Letters) -> None:
    letters.write(*((str(n), letters.orders, {}) for n in range(5)))
    assert letters.run("--execute", "-o", "3:")[1][letters.orders]["redriven"] == 2
    assert letters.run("--execute", "-o", "3:")[1] == {}
    assert letters.run("--execute", "-o", ":2")[1][letters.orders]["redriven"] == 2
    assert letters.run("--execute")[1][letters.orders]["redriven"] == 1
    assert letters.values(letters.orders) == list("01234")


def test_what_a_time_to_stop_at_left_out_is_not_done(letters: Letters) -> None:
    letters.write(*((str(n), letters.orders, {}) for n in range(4)))
    assert letters.run("--execute", "-o", ":@1700000000002")[1][letters.orders]["redriven"] == 2
    assert letters.run("--execute")[1][letters.orders]["redriven"] == 2
    assert letters.values(letters.orders) == list("0123")


SLOW = ("--where", "headers.why == 'slow'")


def test_what_a_filtered_redrive_sent_is_counted_and_left_out(letters: Letters) -> None:
    letters.write(*((str(n), letters.orders, {"why": "slow" if n in (1, 2, 5) else "bad"}) for n in range(6)))
    assert letters.run("--execute", *SLOW)[1][letters.orders]["redriven"] == 3
    _, rows, totals, said = letters.run()
    assert (rows[letters.orders]["records"], totals["read"], totals["sent_before"]) == (3, 6, 3)
    assert "6 records read: 3 to be redriven, 3 sent before" in said
    assert "earlier redrives sent 3 of these records; --restart sends them again" in said
    assert letters.run("--restart")[1][letters.orders]["records"] == 6
    assert letters.run("--no-resume")[1][letters.orders]["records"] == 6
    assert letters.run("--execute")[2]["sent_before"] == 3
    assert letters.values(letters.orders) == list("012345")
    letters.write(("6", letters.orders, {"why": "slow"}))
    assert letters.run("--execute")[1][letters.orders]["redriven"] == 1
    totals = letters.run("--execute", *SLOW)[2]
    assert (totals["read"], totals["sent_before"]) == (1, 1), "what the one without a filter sent counts as well"
    assert letters.values(letters.orders) == list("0123456")
    assert letters.run("--execute", "--restart")[1][letters.orders]["redriven"] == 7


@pytest.mark.parametrize("more", [(), ("--exactly-once",), ("--group", "mine"), ("-n", "2")])
def test_every_way_of_sending_is_remembered(letters: Letters, more: tuple[str, ...]) -> None:
    letters.write(
        *((str(n), letters.orders if n else None, {"why": "slow" if n % 2 == 0 else "bad"}) for n in range(6))
    )
    letters.run("--execute", *SLOW, "--missing", "skip", *more)
    assert letters.values(letters.orders) == (["2"] if "-n" in more else ["2", "4"])
    assert letters.run("--execute", "--to", letters.other)[0] == 0
    assert letters.values(letters.orders) == list("12345")
    assert letters.values(letters.other) == ["0"]


def test_what_was_skipped_between_others_is_not_taken_for_sent(letters: Letters) -> None:
    for value, topic in (("a", letters.orders), ("b", None), ("c", letters.orders)):
        letters.write((value, topic, {}))  # a batch of its own
    assert letters.run("--execute", "--missing", "skip")[1][letters.orders]["redriven"] == 2
    _, rows, totals, _ = letters.run("--execute", "--where", "timestamp > 0", "--to", letters.other)
    assert (rows[letters.other]["redriven"], totals["sent_before"]) == (1, 2)


def test_what_was_acknowledged_after_a_failure_is_not_sent_twice(letters: Letters) -> None:
    small = letters.kcli.topic()
    letters.kcli.ok("topics", "create", f"{small}-small", "--config", "max.message.bytes=300")
    letters.write(("a", letters.orders, {}), ("b" * 2000, f"{small}-small", {}), ("c", letters.orders, {}))
    assert letters.run("--execute")[0] == 1
    assert letters.values(letters.orders) == ["a", "c"]
    letters.kcli.ok("configs", "unset", "topic", f"{small}-small", "max.message.bytes", "--execute", "-q")
    code, _, totals, _ = letters.run("--execute")
    assert (code, totals["read"], totals["sent_before"]) == (0, 2, 1)
    assert letters.values(letters.orders) == ["a", "c"]
    assert letters.values(f"{small}-small") == ["b" * 2000]


def test_a_commit_that_tells_nothing_is_said(letters: Letters, tmp_path: Path) -> None:
    letters.write(*((str(n), letters.orders, {}) for n in range(3)))
    (tmp_path / "offsets.csv").write_text(f"{letters.dlq},0,2\n")
    group = f"kcli-redrive.{letters.dlq}.0badcafe"
    file = str(tmp_path / "offsets.csv")
    letters.kcli.ok("groups", "reset", group, "--create", "--from-file", file, "--execute", "--no-undo", "-q")
    _, rows, totals, said = letters.run()
    assert (rows[letters.orders]["records"], totals["sent_before"]) == (3, 0)
    assert (
        f"{letters.dlq}[0]: it is unknown which records before offset 2 were sent under the name {group}; they may be "
        "sent again" in said
    )
    assert "unknown" not in letters.run("-o", "2:")[3]


def test_records_without_an_origin_fail_are_skipped_or_go_to_a_topic(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", None, {}), ("c", letters.orders, {}))
    code, rows, _, said = letters.run("--execute")
    assert (code, rows[None]["failed"], letters.values(letters.orders)) == (1, 1, ["a"])
    assert (
        f"{letters.dlq}[0] offset 1: no header names its topic; use --topic-header, --to TOPIC or --missing skip"
        in said
    )
    assert "3 records read: 1 redriven, 1 failed, 1 not tried" in said
    code, rows, totals, _ = letters.run("--execute", "--missing", "skip")
    assert (code, rows[None]["skipped"], totals["read"]) == (0, 1, 2), "it goes on in front of what stopped it"
    assert letters.values(letters.orders) == ["a", "c"]
    assert letters.run("--execute", "--restart", "--to", letters.other)[0] == 0
    assert letters.values(letters.other) == ["b"]


def test_a_target_that_is_missing_stops_it_in_front_of_the_record(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", "nowhere", {}), ("c", letters.orders, {}))
    code, rows, _, said = letters.run("--execute")
    assert (code, rows["nowhere"]["failed"], letters.values(letters.orders)) == (1, 1, ["a"])
    assert "offset 1: nowhere: the topic does not exist; `kcli topics create nowhere`" in said
    code, rows, totals, _ = letters.run("--execute", "--on-error", "skip")
    assert (code, rows["nowhere"]["failed"], totals["read"]) == (1, 1, 2)
    assert letters.values(letters.orders) == ["a", "c"]


def test_a_record_the_target_refuses_is_counted_and_the_others_go(letters: Letters) -> None:
    small = letters.kcli.topic()
    letters.kcli.ok("topics", "create", f"{small}-small", "--config", "max.message.bytes=300")
    letters.write(("a", f"{small}-small", {}), ("b" * 2000, f"{small}-small", {}), ("c", letters.orders, {}))
    code, rows, _, said = letters.run("--execute", "--on-error", "skip")
    assert code == 1
    refused = rows[f"{small}-small"]
    assert (refused["redriven"], refused["failed"], rows[letters.orders]["redriven"]) == (1, 1, 1)
    assert "MESSAGE_TOO_LARGE" in refused["note"]
    assert "3 records read: 2 redriven, 1 failed" in said
    assert letters.values(f"{small}-small") == ["a"]


def test_a_loop_ends(letters: Letters) -> None:
    letters.write(
        ("a", letters.orders, {"kcli-redrive-attempts": "3"}), ("b", letters.orders, {"kcli-redrive-attempts": "1"})
    )
    code, rows, _, _ = letters.run("--execute")
    assert (code, rows[None]["skipped"], rows[None]["note"]) == (0, 1, "was redriven too often")
    (one,) = letters.kcli.ok("consume", letters.orders, "-e", "--envelope").splitlines()
    assert ["kcli-redrive-attempts", "2"] in json.loads(one)["headers"]
    assert letters.run("--execute", "--restart", "--max-attempts", "1")[1][None]["skipped"] == 2


def test_the_dead_letter_topic_itself_is_no_target(letters: Letters) -> None:
    letters.write(("a", letters.dlq, {}))
    code, rows, _, said = letters.run("--execute")
    assert (code, rows[None]["failed"], letters.values(letters.dlq)) == (1, 1, ["a"])
    assert "its topic is the dead-letter topic itself" in said
    done = letters.kcli("redrive", letters.dlq, "--to", letters.dlq)
    assert (done.returncode, done.stderr.decode()) == (
        2, f"kcli: --to {letters.dlq}: this is the dead-letter topic itself\n",
    )  # fmt: skip


def test_exactly_once_publishes_and_stores_together_or_neither(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", letters.orders, {}))
    assert letters.run("--execute", "--exactly-once")[0] == 0
    assert letters.kcli.ok("count", letters.orders, "--isolation", "read_committed") == b"2\n"
    letters.write(("c", letters.orders, {}), ("d", "nowhere", {}))
    code, rows, _, _ = letters.run("--execute", "--exactly-once")
    assert (code, rows[letters.orders]["redriven"], rows["nowhere"]["failed"]) == (1, 1, 1)
    assert letters.run("--execute", "--exactly-once")[1].keys() == {"nowhere"}
    assert letters.kcli.ok("count", letters.orders, "--isolation", "read_committed") == b"3\n"


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_R4_what_is_killed_goes_on_and_leaves_nothing_out(letters: Letters, number: signal.Signals) -> None:
    """kill -9 in the middle: every record is there, and only the last second's are there twice. Ctrl-C: once each."""
    letters.write(*((str(n), letters.orders, {}) for n in range(300)))
    with letters.kcli.start("redrive", letters.dlq, "--execute", "--rate", "100") as process:
        until = time.monotonic() + 20
        while int(letters.kcli.ok("count", letters.orders)) < 60 and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode == (-9 if number is signal.SIGKILL else 130)
    partly = int(letters.kcli.ok("count", letters.orders))
    assert 60 <= partly < 300
    assert letters.run("--execute")[0] == 0
    values = letters.values(letters.orders)
    assert sorted(set(values), key=int) == [str(n) for n in range(300)]
    assert len(values) - 300 <= (150 if number is signal.SIGKILL else 0)


def test_limits_and_the_rate(letters: Letters) -> None:
    letters.write(*((str(n), letters.orders, {}) for n in range(30)))
    assert letters.run("--execute", "-n", "7")[1][letters.orders]["redriven"] == 7
    assert letters.run("--execute", "-n", "3")[1][letters.orders]["redriven"] == 3
    begun = time.monotonic()
    assert letters.run("--execute", "--rate", "40")[1][letters.orders]["redriven"] == 20
    assert time.monotonic() - begun >= 0.3
    assert sorted(letters.values(letters.orders), key=int) == [str(n) for n in range(30)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "missing argument: kcli redrive DLQ"),
        (("a", "b"), "missing argument: kcli redrive DLQ"),
        (("a", "--transactional-id", "x"), "--transactional-id requires --exactly-once"),
        (("a", "--exactly-once", "--no-resume"), "--exactly-once cannot be combined"),
        (("a", "--rate", "fast"), "--rate fast: expected records or bytes per second"),
        (("a", "--where", "x"), "--where x: column 1: unknown name x"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_connected(words: tuple[str, ...], sentence: str) -> None:
    done = Shell("localhost:1")("redrive", *words)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"kcli: {sentence}")


@pytest.mark.process
def test_ctrl_c_is_heard_while_a_rate_makes_it_wait(letters: Letters) -> None:
    letters.write(*((str(n) + "x" * 1000, letters.orders, {}) for n in range(3)))
    with letters.kcli.start("redrive", letters.dlq, "--execute", "-n", "1") as process:
        process.communicate(timeout=20)
    with letters.kcli.start("redrive", letters.dlq, "--execute", "--rate", "0.01") as process:
        until = time.monotonic() + 20
        while int(letters.kcli.ok("count", letters.orders)) < 2:  # the third is due in 100 s
            assert time.monotonic() < until
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted: 2 records read: 1 redriven, 1 not tried" in said
    assert letters.run("--execute")[1][letters.orders]["redriven"] == 1
    assert len(letters.values(letters.orders)) == 3


@pytest.mark.process
def test_ctrl_c_is_heard_while_nobody_answers_and_what_was_sent_is_unknown(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", letters.orders, {}))
    letters.kcli("faults", "never_answer", "api=Produce", "times=1000")
    try:
        with letters.kcli.start("redrive", letters.dlq, "--execute") as process:
            until = time.monotonic() + 20
            while int(letters.kcli.ok("count", letters.orders)) < 2:
                assert time.monotonic() < until
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert b"waiting for responses to the sent records" in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
    finally:
        letters.kcli("faults", "clear")
    assert process.returncode == 130
    assert said.startswith(b"kcli: stopped: 2 records read: 0 redriven, 2 unknown")


def test_exactly_once_a_commit_without_an_answer_is_unknown(letters: Letters) -> None:
    letters.write(("a", letters.orders, {}), ("b", letters.orders, {}))
    letters.kcli("faults", "never_answer", "api=EndTxn", "times=1000")
    letters.kcli("faults", "error", "api=DescribeTransactions", "code=TRANSACTIONAL_ID_NOT_FOUND", "times=1000")
    try:
        slow = ("-X", "request.timeout.ms=300", "-X", "delivery.timeout.ms=700", "-X", "max.block.ms=700")
        code, rows, _, said = letters.run("--execute", "--exactly-once", *slow)
    finally:
        letters.kcli("faults", "clear")
    assert (code, rows[letters.orders]["unknown"], rows[letters.orders]["failed"]) == (1, 2, 0), said
    assert "2 records read: 0 redriven, 2 unknown" in said


def test_exactly_once_reads_where_to_begin_when_nobody_else_can_commit_any_more(
    letters: Letters, tmp_path: Path
) -> None:
    letters.write(("a", letters.orders, {}))
    trace = tmp_path / "trace"
    assert letters.run("--execute", "--exactly-once", "--trace-file", str(trace))[0] == 0
    asked = trace.read_text()
    assert 0 < asked.index("InitProducerId") < asked.index("OffsetFetch")

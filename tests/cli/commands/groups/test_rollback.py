"""`groups reset --time-field` and `rollback`: a group goes to the first record of a payload time, exactly."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.cli.commands.consume.test_payload_time import BASE, iso
from tests.cli.conftest import Shell


@pytest.fixture
def billing(kcli: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, list[list[int]]]:
    """A topic that the group of the same name has read, and the payload times of its partitions in ms; partition 2 is
    empty, partition 3 has no times."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    rng = random.Random(5)
    topic, times = kcli.topic(4), [[(BASE + n) * 1000 - rng.randint(0, 9000) for n in range(size)] for size in (900, 7)]
    for partition, some in enumerate(times):
        lines = "\n".join(json.dumps({"event": {"ts": time}}) for time in some)
        kcli.ok("produce", topic, "-p", str(partition), stdin=lines.encode())
    kcli.ok("produce", topic, "-p", "3", stdin=b"{}\n" * 3)
    kcli.ok("consume", topic, "-g", topic, "--from-beginning", "-e")
    return topic, times


def committed(kcli: Shell, topic: str) -> list[int]:
    rows = json.loads(kcli.ok("offsets", topic, "--group", topic, "-J"))["partitions"]
    return [row["committed"] for row in rows]


def first(times: list[int], moment: int) -> int:
    return next((offset for offset, time in enumerate(times) if time >= moment), len(times))


def test_a_group_rolls_back_to_the_first_record_of_a_payload_time(kcli: Shell, billing) -> None:
    topic, times = billing
    assert committed(kcli, topic) == [900, 7, 0, 3]
    for seconds in (400, 3, -5, 5000):
        expected = [first(some, (BASE + seconds) * 1000) for some in times]
        done = kcli("rollback", topic, "-t", topic, "--time-field", "event.ts", "--start", iso(BASE + seconds), "-J")
        plan = json.loads(done.stdout)["partitions"]
        assert [row["new"] for row in plan[:2]] == expected
        words = ["-t", topic, "--time-field", "event.ts", "--jitter", "9s", "--execute"]
        done = kcli("groups", "reset", "--create", topic, "--to-datetime", iso(BASE + seconds), *words)
        assert done.returncode == 0, done.stderr
        assert committed(kcli, topic) == [*expected, 0, 3]
        kcli("groups", "reset", "--create", topic, "--all-topics", "--to-latest", "--execute")
    done = kcli("rollback", "-g", topic, "--all-topics", "--time-field", "event.ts", "--start", iso(BASE), "--execute")
    assert done.returncode == 0, done.stderr
    assert committed(kcli, topic) == [*(first(some, BASE * 1000) for some in times), 0, 3]
    read = kcli.ok("consume", topic, "-g", topic, "-e")
    assert len(read.splitlines()) == 907 - sum(first(some, BASE * 1000) for some in times)


def test_the_plan_says_which_time_stands_there_and_where_none_does(kcli: Shell, billing) -> None:
    topic, _ = billing
    done = kcli("rollback", topic, "-t", topic, "--time-field", "event.ts", "--start", iso(BASE + 400), "-J")
    notes = [row["note"] for row in json.loads(done.stdout)["partitions"]]
    assert notes[0].startswith("event.ts is 2023-11-14T22:20:0")
    assert notes[1:3] == ["no record is that recent: set to the end"] * 2
    assert notes[3] == "no record has a time in event.ts"


def test_without_a_field_it_is_the_records_timestamps(
    kcli: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    topic = kcli.topic()
    for second in range(10):
        kcli.ok("produce", topic, "--timestamp", str((BASE + second) * 1000), stdin=b"v\n")
    kcli.ok("consume", topic, "-g", topic, "--from-beginning", "-e")
    for start, expected in ((iso(BASE + 4), 4), ("latest", 10), (str(BASE + 7), 7), ("earliest", 0), ("now", 10)):
        done = kcli("rollback", topic, "-t", topic, "--start", start, "--execute")
        assert done.returncode == 0, done.stderr
        assert committed(kcli, topic) == [expected]
        assert (b"to 20" in done.stderr) == (start not in ("earliest", "latest")), "the moment that is meant"


REFUSED = [
    (["rollback", "g", "-t", "t"], "rollback needs --start TIME"),
    (["rollback", "g", "-t", "t", "--start", "now", "--jitter", "1m"], "--jitter is for times in values"),
    (["rollback", "g", "-t", "t", "--start", "latest", "--time-field", "ts"], "--start latest is not a time"),
    (["rollback", "g", "-t", "t", "--time-field", "ts"], "rollback needs --start TIME"),
    (["rollback", "g", "-t", "t", "--time-field", "ts", "--start", "soon"], "--start soon: expected a time"),
    (["rollback", "g", "--time-field", "ts", "--start", "now"], "missing topics: --topic TOPIC"),
    (["rollback", "-t", "t", "--time-field", "ts", "--start", "now"], "name at least one GROUP"),
    (
        ["groups", "reset", "g", "-t", "t", "--to-latest", "--time-field", "ts"],
        "--time-field requires a time",
    ),
    (
        ["groups", "reset", "--create", "g", "-t", "t", "--to-latest", "--jitter", "5s"],
        "times in values; add --time-field NAME",
    ),
    (
        ["groups", "reset", "--create", "g", "-t", "t", "--to", "@-1h", "--time-field", "ts", "--jitter", "x"],
        "--jitter x",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=lambda one: " ".join(one) if isinstance(one, list) else "")
def test_what_makes_no_sense_is_refused(words: list[str], sentence: str) -> None:
    done = Shell("127.0.0.1:1")(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert sentence in done.stderr.decode()


def test_a_wrong_field_changes_nothing(kcli: Shell, billing) -> None:
    topic, _ = billing
    done = kcli("rollback", topic, "-t", topic, "--time-field", "ts", "--start", iso(BASE), "--execute")
    assert done.returncode == 1
    assert "no record has a time in ts" in done.stderr.decode()
    assert committed(kcli, topic) == [900, 7, 0, 3]


def test_offsets_at_a_payload_time(kcli: Shell, billing) -> None:
    topic, times = billing
    done = kcli("offsets", topic, "--at", iso(BASE + 400), "--time-field", "event.ts", "--jitter", "9s", "-J")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = json.loads(done.stdout)["partitions"]
    moment = (BASE + 400) * 1000
    assert [row["at_offset"] for row in rows] == [*(first(some, moment) for some in times), 0, 3]
    assert rows[0]["at_timestamp"] == times[0][first(times[0], moment)]
    for words, sentence in (
        (["--time-field", "ts"], "add --at TIME"),
        (["--at", "now", "--jitter", "1s"], "times in values; add --time-field NAME"),
    ):
        done = kcli("offsets", topic, *words)
        assert done.returncode == 2
        assert sentence in done.stderr.decode()


def test_the_schema_of_rollback_is_that_of_a_reset(kcli: Shell) -> None:
    assert kcli.ok("schema", "rollback") == kcli.ok("schema", "groups", "reset")

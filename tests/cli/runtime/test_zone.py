"""--local and --utc: in which zone times are printed, and read that name none."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest

from kcli.grammar.zone import Zone, zone
from tests.cli.conftest import Shell

NOON = 1_767_268_800_000  # 2026-01-01T12:00:00Z


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine is in Tokyo, nine hours before UTC, all year."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def topic(kcli: Shell, tokyo: None) -> str:
    """Two records: at noon of UTC, and of Tokyo."""
    name = kcli.topic()
    lines = [{"value": "tokyo", "timestamp": NOON - 9 * 3_600_000}, {"value": "utc", "timestamp": NOON}]
    kcli.ok("produce", name, "--input", "json", stdin=b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return name


def test_times_are_printed_in_the_zone_of_the_machine(kcli: Shell, topic: str) -> None:
    for words in (["consume", topic, "-e", "--pretty"], ["tail", topic, "-e", "--pretty"]):
        assert kcli.ok(*words).decode().splitlines()[-1].startswith("2026-01-01T12:00:00.000Z  0:1")
        assert kcli.ok(*words, "--local").decode().splitlines()[-1].startswith("2026-01-01T21:00:00.000+09:00  0:1")
    assert kcli.ok("consume", topic, "-e", "--meta", "--local").startswith(b"2026-01-01T12:00:00.000+09:00\t")
    (row,) = json.loads(kcli.ok("topics", "stats", topic, "--over", "0s", "--local", "-J"))["topics"]
    assert row["last_write"] == "2026-01-01T21:00:00+09:00"
    offsets = kcli.ok("offsets", topic, "--at", "2026-01-01T00:00", "--local").decode()
    assert "2026-01-01T12:00:00.000+09:00" in offsets, offsets
    plan = json.loads(kcli.ok("copy", topic, "other", "--dry-run", "--local", "-J"))
    assert plan["partitions"][0]["last"] == "2026-01-01T21:00:00.000+09:00"
    peeked = kcli.ok(
        "groups", "reset", "--create", topic, "-t", topic, "--to", "1", "--execute", "-q", "--no-undo", "--local"
    )
    assert peeked
    assert "2026-01-01T21:00:00.000+09:00" in kcli.ok("groups", "peek", topic, "--local").decode()
    assert zone == Zone(), "the next command of this process has its own"


def test_times_that_name_no_zone_are_local_or_those_of_utc(kcli: Shell, topic: str) -> None:
    noon = "2026-01-01T12:00"
    for words in (["-o", f"@{noon}", "-e"], ["--start", noon, "--end", "now"]):
        assert kcli.ok("consume", topic, *words) == b"tokyo\nutc\n"
        assert kcli.ok("consume", topic, *words, "--local") == b"tokyo\nutc\n"
        assert kcli.ok("consume", topic, *words, "--utc") == b"utc\n"
    assert kcli.ok("count", topic, "-o", f"@{noon}", "--utc") == b"1\n"
    assert kcli.ok("count", topic, "-o", f"@{noon}Z", "--local") == b"1\n", "a zone that is named counts"


def test_both_exclude_each_other(kcli: Shell) -> None:
    done = kcli("tail", "t", "--local", "--utc")
    assert (done.returncode, done.stderr) == (2, b"kcli: --local and --utc cannot be combined\n")


@pytest.mark.parametrize("text", ["@25:99", "@24:00", "@7:60", "@07:30:61", "@25:99:08"])
def test_a_time_of_day_that_there_is_not_is_refused(kcli: Shell, text: str) -> None:
    for command in ("consume", "tail", "count"):
        done = kcli(command, "t", "-o", text)
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"kcli: -o {text}: invalid time: hours are 0 to 23")

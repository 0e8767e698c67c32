"""`kcli copy` as its user sees it, on the sandbox."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from kcli.cli.commands.copy.resume import rate_of
from kcli.errors import UsageError
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import KCLI, Shell
from tests.cli.test_end_to_end import end
from tests.programs import until


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Shell]:
    """Another cluster."""
    with SandboxThread(control=True) as sandbox:
        yield Shell(sandbox.bootstrap)


def fill(kcli: Shell, topic: str, count: int = 1000, *, first: int = 0, codec: str = "none") -> None:
    """Records with every kind of field."""
    rows = []
    for n in range(first, first + count):
        text = json.dumps({"n": n, "even": n % 2 == 0})
        row = {
            "partition": n % 3,
            "timestamp": 1_700_000_000_000 + n,
            "key": None if n % 7 == 0 else f"k{n}",
            "value": None if n % 11 == 0 else {"base64": "/wA="} if n % 13 == 0 else text,
            "headers": [["h", "1"], ["h", None], ["größe", {"base64": "/w=="}]] if n % 5 == 0 else [],
        }
        rows.append(json.dumps(row, ensure_ascii=False))
    kcli.ok("produce", topic, "--input", "json", "-z", codec, stdin="".join(row + "\n" for row in rows).encode())


def copied(kcli: Shell, topic: str) -> int:
    """How many records are committed, whatever is still open."""
    return kcli.ok("consume", topic, "-e", "-q", "--isolation", "read_committed", "-f", "x%p").count(b"x")


def content(kcli: Shell, topic: str, *, offsets: bool = False) -> list[dict[str, object]]:
    """All records by partition, without the topic's name."""
    lines = kcli.ok("consume", topic, "-e", "--envelope", "--isolation", "read_committed").splitlines()
    rows = [json.loads(line) for line in lines]
    for row in rows:
        del row["topic"]
        if not offsets:
            del row["offset"]
    return sorted(rows, key=lambda row: (row["partition"], row["timestamp"]))


def copies(kcli: Shell, *words: str) -> dict[str, object]:
    done = kcli("copy", *words, "-q", "-J")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["copies"]
    return dict(row)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_copy_has_the_same_records_and_its_batches_are_untouched(kcli: Shell, codec: str) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, codec=codec)
    row = copies(kcli, source, target)
    assert (row["read"], row["copied"], row["untouched"]) == (1000, 1000, 1000)
    assert content(kcli, target, offsets=True) == content(kcli, source, offsets=True)


def test_it_goes_on_where_it_was_and_restart_begins_anew(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 300)
    assert copies(kcli, source, target)["copied"] == 300
    assert copies(kcli, source, target)["copied"] == 0
    fill(kcli, source, 50, first=300)
    done = kcli("copy", source, target, "-v")
    assert (done.returncode, done.stdout) == (0, b"")
    said = done.stderr.decode()
    assert f"resuming after 300 offsets already copied (group kcli-copy.{source}.{target}." in said
    assert "50 records read: 50 copied, in" in said
    assert content(kcli, target) == content(kcli, source)
    assert copies(kcli, source, target, "--restart")["copied"] == 350
    assert copies(kcli, source, target, "--no-resume")["copied"] == 350


@pytest.mark.parametrize("mode", [(), ("--exactly-once",)])
def test_the_last_records_are_copied_again_when_they_were_all_copied(kcli: Shell, mode: tuple[str, ...]) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 60)
    words = (source, target, "-o", "-5", *mode)
    for _ in range(2):
        done = kcli("copy", *words, "-J")
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["copies"][0]["copied"] == 15
    assert b"resuming" not in kcli("copy", *words, "--dry-run").stderr
    fill(kcli, source, 6, first=60)
    assert copies(kcli, *words)["copied"] == 15


def test_what_was_cut_short_of_the_last_records_goes_on(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 60)
    words = (source, target, "-o", "-10")
    assert copies(kcli, *words, "-n", "12")["copied"] == 12
    done = kcli("copy", *words, "-J")
    assert json.loads(done.stdout)["copies"][0]["copied"] == 18
    assert b"resuming after 12 offsets already copied" in done.stderr
    assert copies(kcli, *words)["copied"] == 30


def test_between_clusters_with_the_topic_made_like_the_source(kcli: Shell, elsewhere: Shell) -> None:
    source = f"made-{os.getpid()}"
    kcli.ok("topics", "create", source, "-p", "3", "--config", "retention.ms=86400000")
    fill(kcli, source, 200)
    missing = kcli("copy", source, source, "--to-bootstrap", elsewhere.bootstrap)
    assert missing.returncode == 1
    assert f"this topic does not exist; --create creates it like {source}".encode() in missing.stderr
    done = kcli("copy", source, source, "--to-bootstrap", elsewhere.bootstrap, "--create", "-v")
    assert done.returncode == 0, done.stderr
    assert f"created topic {source} with 3 partitions, retention.ms=86400000" in done.stderr.decode()
    assert content(elsewhere, source) == content(kcli, source)
    (topic,) = json.loads(elsewhere.ok("topics", "describe", source, "-J"))["topics"]
    assert topic["configs"] == {"retention.ms": "86400000"}


def test_filters_ranges_limits_and_partitions(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 300)
    row = copies(kcli, source, target, "--where", "value.even", "-p", "0-1")
    kept = [r for r in content(kcli, source) if r["partition"] in (0, 1) and '"even": true' in str(r["value"])]
    assert (row["read"], row["copied"], row["filtered"]) == (200, len(kept), 200 - len(kept))
    assert content(kcli, target) == kept
    some = kcli.topic(3)
    assert copies(kcli, source, some, "-n", "17")["copied"] == 17
    assert len(content(kcli, some)) == 17
    assert copies(kcli, source, some)["copied"] == 283
    assert content(kcli, some) == content(kcli, source)
    part = kcli.topic(3)
    assert copies(kcli, source, part, "-o", "10:20")["copied"] == 30


def test_repartition_and_compression_make_batches_anew(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(1)
    fill(kcli, source, 300)
    few = kcli("copy", source, target)
    assert few.returncode == 2
    assert b"has no partition 2: its partitions are 0-0; --repartition assigns new ones" in few.stderr
    row = copies(kcli, source, target, "--repartition", "-z", "zstd")
    assert (row["copied"], row["untouched"]) == (300, 0)
    want = [{**one, "partition": 0} for one in content(kcli, source)]
    assert content(kcli, target) == sorted(want, key=lambda one: one["timestamp"])  # type: ignore[arg-type, return-value]


def test_a_dry_run_shows_partitions_and_times_and_publishes_nothing(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 300)
    plan = json.loads(kcli.ok("copy", source, target, "--dry-run", "-q", "-J", "--where", "value.n < 100"))
    assert [row["records"] for row in plan["partitions"]] == [100, 100, 100]
    assert sum(row["copied"] for row in plan["times"]) == sum(row["copied"] for row in plan["partitions"]) < 100
    assert content(kcli, target) == []
    table = kcli.ok("copy", source, target, "--dry-run", "-q").decode()
    assert "########" in table
    assert "COPIED" not in table
    done = kcli("copy", source, target, "--dry-run", "-v", "--where", "value.n < 100")
    assert b"TO COPY" in done.stdout
    kept = sum(row["copied"] for row in plan["partitions"])
    assert (
        done.stderr.decode() == f"kcli: {source}: {kept} of 300 records would be copied; dry run: nothing was copied\n"
    )
    assert copies(kcli, source, target)["copied"] == 300  # a dry run kept no position


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_P11_a_dry_run_shows_the_records_that_will_be_copied(kcli: Shell, codec: str) -> None:
    source, midnight = kcli.topic(), 1_700_006_400_000
    rows = [{"value": "v" * 40, "timestamp": midnight + n * 60_000} for n in range(1440)]
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    kcli.ok("produce", source, "--input", "json", "-z", codec, stdin=lines)

    def planned(*words: str) -> dict[str, Any]:
        return cast(dict[str, Any], json.loads(kcli.ok("copy", source, "copy", *words, "--dry-run", "-q", "-J")))

    [whole] = planned()["partitions"]
    assert (whole["first"], whole["last"]) == ("2023-11-15T00:00:00.000Z", "2023-11-15T23:59:00.000Z")
    hour = planned("-o", "@2023-11-15T10:00Z:@2023-11-15T11:00Z")
    for part in (hour, planned("-o", "600:660"), planned("-o", "600", "-n", "60")):
        [row] = part["partitions"]
        assert row["copied"] == 60
        assert (row["first"], row["last"]) == ("2023-11-15T10:00:00.000Z", "2023-11-15T10:59:00.000Z")
        assert whole["bytes"] / 30 < row["bytes"] < whole["bytes"] / 20
        assert sum(cell["copied"] for cell in part["times"]) == 60
        assert part["times"][0]["from"] == "2023-11-15T10:00:00.000Z"


def test_a_dry_run_begins_where_the_copy_would(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 300)
    assert copies(kcli, source, target)["copied"] == 300
    fill(kcli, source, 60, first=300)

    def planned(*words: str) -> int:
        rows = json.loads(kcli.ok("copy", source, *words, "--dry-run", "-q", "-J"))["partitions"]
        return sum(row["records"] for row in rows)

    assert planned(target) == 60
    assert planned(target, "--where", "value.n >= 0") == 360, "another filter is another copy"
    assert planned(target, "--restart") == 360
    assert planned(target, "--no-resume") == 360
    assert planned(f"{target}-new") == 360, "this topic does not exist yet"


def test_a_rate_is_kept(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 300)
    row = copies(kcli, source, target, "--rate", "300")
    assert 0.7 < float(str(row["seconds"])) < 10
    assert content(kcli, target) == content(kcli, source)


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_aborted_records_are_not_copied_unless_asked_for(kcli: Shell, isolation: str) -> None:
    from confluent_kafka import Producer

    source, target = kcli.topic(), kcli.topic()
    producer = Producer({"bootstrap.servers": kcli.bootstrap, "transactional.id": f"x-{source}"})
    producer.init_transactions(20)
    for n, commit in enumerate([True, False, True]):
        producer.begin_transaction()
        producer.produce(source, b"%d" % n)
        producer.flush(20)
        (producer.commit_transaction if commit else producer.abort_transaction)(20)
    copied = copies(kcli, source, target, "--isolation", isolation)["copied"]
    want = [b"0", b"2"] if isolation == "read_committed" else [b"0", b"1", b"2"]
    assert copied == len(want)
    assert kcli.ok("consume", target, "-e").split() == want
    assert copies(kcli, source, target, "--isolation", isolation)["copied"] == 0  # past the markers too


@pytest.mark.process
@pytest.mark.parametrize("options", [(), ("--exactly-once",)])
def test_killed_at_any_moment_and_run_again_it_leaves_out_nothing(kcli: Shell, options: tuple[str, ...]) -> None:
    """At least once: no record missing. Exactly once: the same records, each once."""
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 3000)
    rng = random.Random(5)
    words = [*KCLI, "copy", source, target, "--rate", "1000", "-q", "--commit-interval-ms", "100", *options]
    for _ in range(4):
        before = copied(kcli, target)
        with subprocess.Popen(words, env=kcli.environment) as copying:
            while copied(kcli, target) == before and copying.poll() is None:
                time.sleep(0.02)
            time.sleep(rng.uniform(0, 0.3))
            copying.kill()
    done = kcli.process("copy", source, target, "-q", *options)
    assert done.returncode == 0, done.stderr
    there, want = content(kcli, target), content(kcli, source)
    if options:
        assert there == want
    else:
        assert {json.dumps(one) for one in there} == {json.dumps(one) for one in want}


@pytest.mark.process
def test_ctrl_c_publishes_what_was_read_keeps_the_position_and_tells(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    fill(kcli, source, 3000)
    with subprocess.Popen(
        [*KCLI, "copy", source, target, "--rate", "100"], env=kcli.environment, stderr=subprocess.PIPE
    ) as copying:  # of half a minute
        until(lambda: copied(kcli, target))
        copying.send_signal(signal.SIGINT)
        assert copying.wait(20) == 130
        assert copying.stderr is not None
        said = copying.stderr.read().decode()
    assert "interrupted: " in said
    count = int(said.split("interrupted: ")[1].split()[0])
    assert 0 < count < 3000
    assert f"{count} records read: {count} copied" in said
    assert len(content(kcli, target)) == count
    assert copies(kcli, source, target)["copied"] == 3000 - count
    assert content(kcli, target) == content(kcli, source)


@pytest.mark.process
def test_follow_goes_on_until_ctrl_c_which_is_success(kcli: Shell) -> None:
    source, target = kcli.topic(3), kcli.topic(3)
    with subprocess.Popen([*KCLI, "copy", source, target, "--follow", "-q"], env=kcli.environment) as copying:
        for part in range(3):
            fill(kcli, source, 100, first=100 * part)
            until(partial(lambda count: copied(kcli, target) == count, 100 * (part + 1)))
        copying.send_signal(signal.SIGINT)
        assert copying.wait(20) == 0
    assert content(kcli, target) == content(kcli, source)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("a",), "missing arguments: kcli copy SRC DST"),
        (("a", "a"), "SRC and DST are the same topic"),
        (("a", "b", "--rate", "fast"), "--rate fast: expected records or bytes per second, such as 500 or 10MB"),
        (("a", "b", "--rate", "inf"), "--rate inf: expected records or bytes per second"),
        (("a", "b", "--rate", "nan"), "--rate nan: expected records or bytes per second"),
        (("a", "b", "--exactly-once", "--to-bootstrap", "h:1"), "--exactly-once works only within"),
        (
            ("a", "b", "--exactly-once", "--no-resume"),
            "--exactly-once cannot be combined with --no-resume: it stores progress with the records",
        ),
        (("a", "b", "--transactional-id", "x"), "--transactional-id requires --exactly-once"),
        (("a", "b", "--follow", "-o", ":10"), "--follow has no end; the range has one"),
        (("a", "b", "--follow", "--dry-run"), "--follow has no end; --dry-run has one"),
        (("a", "b", "-o", "stored"), "-o stored: a copy resumes by itself"),
        (("a", "b", "--to-X", "linger.ms=5"), "--to-X sets properties of DST's cluster"),
        (("a", "b", "-z", "lzma"), "-z lzma"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_done(kcli: Shell, words: tuple[str, ...], sentence: str) -> None:
    done = kcli("copy", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"kcli: {sentence}"), done.stderr


def test_a_topic_of_the_same_cluster_by_another_address_is_refused(kcli: Shell) -> None:
    topic = kcli.topic()
    done = kcli("copy", topic, topic, "--to-bootstrap", kcli.bootstrap.replace("127.0.0.1", "localhost"))
    assert done.returncode == 2
    assert b"the same topic of the same cluster" in done.stderr


def test_a_record_the_destination_does_not_take_stops_the_copy_and_is_counted(kcli: Shell) -> None:
    source, target = kcli.topic(), kcli.topic()
    kcli.ok("topics", "delete", target, "--execute")
    kcli.ok("topics", "create", target, "-p", "1", "--config", "max.message.bytes=2000")
    kcli.ok("produce", source, "-X", "linger.ms=0", stdin=b"small\n")
    kcli.ok("produce", source, stdin=b"x" * 5000 + b"\n")
    done = kcli("copy", source, target)
    assert done.returncode == 1
    assert b"max.message.bytes" in done.stderr
    assert b"1 failed" in done.stderr
    assert b"; records copied after its committed offsets are copied again" in done.stderr
    assert kcli.ok("consume", target, "-e") == b"small\n"


@pytest.mark.parametrize(
    ("given", "per_second", "of_bytes"),
    [("500", 500, False), ("500/s", 500, False), ("2.5", 2.5, False), ("10MB", 1e7, True), ("1MiB/s", 1 << 20, True)],
)
def test_rates_are_records_or_bytes(given: str, per_second: float, of_bytes: bool) -> None:
    made = rate_of(given)
    assert made is not None
    assert (made.per_second, made.of_bytes) == (per_second, of_bytes)
    for wrong in ("0", "-5", "MB", "5 apples", "1e400x"):
        with pytest.raises(UsageError):
            rate_of(wrong)


def test_the_help_has_examples(kcli: Shell, tmp_path: Path) -> None:
    said = kcli.ok("copy", "--help").decode()
    assert "kcli copy orders orders --to-profile staging --create" in said


@pytest.mark.process
def test_across_profiles(kcli: Shell, elsewhere: Shell, tmp_path: Path) -> None:
    source = f"profiled-{os.getpid()}"
    kcli.ok("topics", "create", source, "-p", "3")
    fill(kcli, source, 100)
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.here]\nbootstrap = "{kcli.bootstrap}"\n'
        f'[profiles.there]\nbootstrap = "{elsewhere.bootstrap}"\n"linger.ms" = 1\n'
    )
    words = [*KCLI, "copy", source, source, "--profile", "here", "--to-profile", "there", "--create"]
    environment = {name: value for name, value in kcli.environment.items() if name != "KCLI_BOOTSTRAP"}
    done = subprocess.run(words, env={**environment, "KCLI_CONFIG": str(config)}, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert content(elsewhere, source) == content(kcli, source)


def test_another_cluster_another_range_and_another_filter_are_other_copies(kcli: Shell, elsewhere: Shell) -> None:
    """What one of them did says nothing about the others: none may skip what it has not copied."""
    topic = f"named-{os.getpid()}"
    for shell in (kcli, elsewhere):
        shell.ok("topics", "create", topic, "-p", "3")
    source = kcli.topic(3)
    fill(kcli, source, 300)
    there = ("--to-bootstrap", elsewhere.bootstrap)
    assert copies(kcli, source, topic, "-o", "50:60")["copied"] == 30
    assert copies(kcli, source, topic, "--where", "value.n == 1")["copied"] == 1
    assert copies(kcli, source, topic, "--where", "value.n == 2")["copied"] == 1
    assert copies(kcli, source, topic)["copied"] == 300
    assert copies(kcli, source, topic, *there)["copied"] == 300
    assert copies(kcli, source, topic, *there)["copied"] == 0
    elsewhere.ok("topics", "delete", topic, "--execute")
    elsewhere.ok("topics", "create", topic, "-p", "3")
    assert copies(kcli, source, topic, *there)["copied"] == 300  # a topic made anew has nothing of it


def test_exactly_once_a_record_that_cannot_be_sent_commits_nothing_of_its_batch(kcli: Shell) -> None:
    source, target = kcli.topic(), kcli.topic()
    for topic in (source, target):
        kcli.ok("topics", "delete", topic, "--execute")
        kcli.ok("topics", "create", topic, "-p", "1", "--config", "max.message.bytes=5000000")
    big = ("-X", "max.request.size=4000000", "-X", "batch.size=4000000", "-X", "linger.ms=1000")
    kcli.ok("produce", source, *big, stdin=b"one\ntwo\n" + b"x" * 2_000_000 + b"\nthree\n")
    for _ in range(2):
        done = kcli("copy", source, target, "--exactly-once", "--repartition")
        assert done.returncode == 1
        assert b"max.request.size" in done.stderr
        assert kcli.ok("consume", target, "-e", "--isolation", "read_committed") == b""


@pytest.mark.process
def test_exactly_once_a_slow_rate_commits_between_the_slices_of_a_batch(kcli: Shell) -> None:
    source, target = kcli.topic(), kcli.topic()
    kcli.ok("produce", source, "-X", "linger.ms=1000", stdin=b"".join(b"%d\n" % n for n in range(400)))
    words = [*KCLI, "copy", source, target, "--exactly-once", "--rate", "50", "--commit-interval-ms", "200", "-q"]
    with subprocess.Popen(words, env=kcli.environment) as copying:
        until(lambda: copied(kcli, target))
        assert copied(kcli, target) < 400
        copying.kill()
    assert kcli.process("copy", source, target, "--exactly-once", "-q").returncode == 0
    until(lambda: copied(kcli, target) == 400)
    seen = kcli.ok("consume", target, "-e", "--isolation", "read_committed").split()
    assert seen == [b"%d" % n for n in range(400)]


def test_a_count_is_a_count_though_a_rate_cuts_its_batch_into_slices(kcli: Shell) -> None:
    source, target = kcli.topic(), kcli.topic()
    kcli.ok("produce", source, stdin=b"".join(b"%d\n" % n for n in range(100)))
    assert copies(kcli, source, target, "-c", "30", "--rate", "100")["copied"] == 30
    assert copies(kcli, source, target)["copied"] == 70
    assert kcli.ok("consume", target, "-e").split() == [b"%d" % n for n in range(100)]


@pytest.mark.process
def test_ctrl_c_is_heard_while_a_rate_makes_it_wait(kcli: Shell) -> None:
    source, target = kcli.topic(), kcli.topic()
    for _ in range(2):
        kcli.ok("produce", source, "--value", "x" * 100_000)
    copying = kcli.start("copy", source, target, "--rate", "1KB")  # the second one is due in 100 s
    until(lambda: kcli.ok("count", target).strip() == b"1")
    copying.send_signal(signal.SIGINT)
    _, said = copying.communicate(timeout=30)
    assert copying.returncode == 130
    assert b"interrupted: 1 record read: 1 copied" in said
    assert copies(kcli, source, target)["copied"] == 1


@pytest.mark.process
@pytest.mark.parametrize("options", [(), ("--rate", "1000")])
def test_ctrl_c_is_heard_while_nobody_answers_and_what_was_sent_is_unknown(
    kcli: Shell, elsewhere: Shell, options: tuple[str, ...]
) -> None:
    source, target = kcli.topic(), elsewhere.topic()
    kcli.ok("produce", source, "--value", "a", "--value", "b")
    elsewhere("faults", "never_answer", "api=Produce", "times=1000")
    try:
        copying = kcli.start("copy", source, target, "--to-bootstrap", elsewhere.bootstrap, *options)
        until(lambda: elsewhere.ok("count", target).strip() == b"2")
        copying.send_signal(signal.SIGINT)
        assert copying.stderr is not None
        first = copying.stderr.readline()
        assert b"waiting for responses to the sent records; Ctrl-C again stops at once" in first
        copying.send_signal(signal.SIGINT)
        _, said = copying.communicate(timeout=30)
    finally:
        elsewhere("faults", "clear")
    assert (copying.returncode, said) == (130, b"kcli: stopped: 2 records read: 0 copied, 2 unknown\n")


@pytest.mark.process
def test_ctrl_c_is_heard_while_the_destination_is_silent(kcli: Shell) -> None:
    source = kcli.topic()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        copying = kcli.start("copy", source, source, "--to-bootstrap", address)
        silent.settimeout(20)
        there, _ = silent.accept()
        with there:
            there.settimeout(20)
            assert there.recv(1)
            copying.send_signal(signal.SIGINT)
            assert end(copying) == (130, b"")

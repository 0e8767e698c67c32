"""`kcli consume --share-group` against the sandbox: what is written is accepted, what is not goes back."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import KCLI, Shell
from tests.cli.leaps import leaping


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A sandbox of this file, by a clock that leaps: members of a share group wait for records that nobody sends."""
    with leaping(), SandboxThread() as sandbox:
        yield sandbox.bootstrap


@pytest.fixture
def topic(kcli: Shell) -> str:
    """A topic with the values 0 to 99, and a group of its name that begins at the beginning."""
    name = kcli.topic(2)
    kcli.ok("produce", name, stdin=b"".join(b"%d\n" % n for n in range(100)))
    assert kcli("consume", name, "--share-group", name, "--from-beginning", "-n", "0").returncode == 0
    return name


def read(kcli: Shell, topic: str, *words: str) -> list[int]:
    return [int(word) for word in kcli.ok("consume", topic, "--share-group", topic, "-q", *words).split()]


def lag(kcli: Shell, group: str) -> int:
    (row,) = json.loads(kcli.ok("lag", group, "--by", "group", "-J"))["groups"]
    return int(row["lag"])


def test_all_there_is_comes_once_and_the_group_has_no_lag_then(kcli: Shell, topic: str) -> None:
    assert sorted(read(kcli, topic, "-e")) == list(range(100))
    assert lag(kcli, topic) == 0
    again = kcli("consume", topic, "--share-group", topic, "-e")
    assert (again.returncode, again.stdout) == (0, b"")
    assert b"has no records now" in again.stderr


def test_E64_a_limit_releases_what_was_not_printed(kcli: Shell, topic: str) -> None:
    first = read(kcli, topic, "-n", "7")
    assert len(first) == 7
    assert lag(kcli, topic) == 93
    assert sorted(first + read(kcli, topic, "-e")) == list(range(100))


def test_E64_released_records_are_printed_once_and_come_again_in_the_next_run(kcli: Shell, topic: str) -> None:
    for _ in range(2):
        assert sorted(read(kcli, topic, "-e", "--share-ack", "release")) == list(range(100))
    assert lag(kcli, topic) == 100
    assert sorted(read(kcli, topic, "-e", "--share-ack", "reject")) == list(range(100))
    assert read(kcli, topic, "-e") == []


def test_filters_and_formats_are_as_elsewhere(kcli: Shell, topic: str) -> None:
    assert sorted(read(kcli, topic, "-e", "--grep", "^9")) == [9, *range(90, 100)]
    assert read(kcli, topic, "-e") == []  # all was read
    rows = kcli.ok("produce", topic, stdin=b"x\n") or kcli.ok("consume", topic, "--share-group", topic, "-e", "-J")
    assert json.loads(rows)["value"] == "x"
    kcli.ok("produce", topic, stdin=b"a\nb\nc\n")
    printed = kcli.ok("consume", topic, "--share-group", topic, "-u", "-n", "2", "-f", "%t %s\\n")
    assert printed.count(b"\n") == 2
    assert lag(kcli, topic) == 1


def test_no_record_in_time_is_exit_code_4_and_none_at_all_3(kcli: Shell, topic: str) -> None:
    read(kcli, topic, "-e")
    assert kcli("consume", topic, "--share-group", topic, "--timeout-ms", "300").returncode == 4
    assert kcli("consume", topic, "--share-group", topic, "-e", "--fail-if-none").returncode == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-g", "x"), "be combined"),
        (("-o", "beginning"), "no start offset"),
        (("-p", "0"), "partitions"),
        (("--order", "time"), "to any member"),
        (("--isolation", "read_committed"), "config of the group"),
        (("--print-control-records",), "no control records"),
        (("--start", "-1h"), "not a time range; use"),
        (("--share-ack", "release"), "stops: add -n, -e or --timeout"),
    ],
)
def test_what_does_not_go_with_a_share_group_is_refused_before_anything_is_done(
    kcli: Shell, words: tuple[str, ...], says: str
) -> None:
    ran = kcli("consume", "t", "--share-group", "s", *words)
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert says in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1


def test_a_pattern_and_a_lone_acknowledgement_are_refused(kcli: Shell) -> None:
    assert b"names of topics, not a pattern" in kcli("consume", "^t", "--share-group", "s").stderr
    assert b"it needs --share-group" in kcli("consume", "t", "--share-ack", "reject").stderr
    missing = kcli("consume", "no-such-topic", "--share-group", "s")
    assert (missing.returncode, b"this topic does not exist" in missing.stderr) == (1, True)


def test_where_a_group_begins_is_told_and_cannot_be_moved_back_by_it(kcli: Shell, topic: str) -> None:
    ran = kcli("consume", topic, "--share-group", f"{topic}-2", "--from-beginning", "-e")
    assert ran.stdout.count(b"\n") == 100
    assert b"share.auto.offset.reset=earliest is set, and stays" in ran.stderr
    again = kcli("consume", topic, "--share-group", f"{topic}-2", "--from-beginning", "-e")
    assert (again.stdout, b"--from-beginning does not move it back" in again.stderr) == (b"", True)


@pytest.mark.process
def test_ctrl_c_gives_back_what_was_not_written_and_keeps_what_was(kcli: Shell, topic: str) -> None:
    words = [*KCLI, "consume", topic, "--share-group", topic]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kcli.environment) as process:
        assert process.stdout is not None
        got = b""
        while got.count(b"\n") < 100:
            got += os.read(process.stdout.fileno(), 4096)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert lag(kcli, topic) == 0


@pytest.mark.process
def test_a_reader_that_leaves_takes_nothing_with_it(kcli: Shell) -> None:
    topic = kcli.topic()
    assert kcli("consume", topic, "--share-group", topic, "--from-beginning", "-n", "0").returncode == 0
    kcli.ok("produce", topic, stdin=b"".join(b"%d %s\n" % (n, b"x" * 1000) for n in range(4000)))
    words = [*KCLI, "consume", topic, "--share-group", topic, "-e"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kcli.environment) as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        process.wait(20)
        assert process.stderr is not None
    left = kcli.ok("consume", topic, "--share-group", topic, "-e")
    assert left.count(b"\n") >= 2000


@pytest.mark.process
def test_E66_a_lock_is_renewed_while_the_reader_of_the_output_stands_still() -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        _configure(shell, "g", **{"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "400"})
        shell.ok("produce", "t", stdin=b"".join(b"%d %s\n" % (n, b"x" * 1000) for n in range(3000)))
        words = [*KCLI, "consume", "t", "--share-group", "g", "-e"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=shell.environment) as process:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 60)[0]
            time.sleep(1.5)  # several locks long
            out, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (0, b"")
        assert sorted(int(line.split()[0]) for line in out.splitlines()) == list(range(3000))


@pytest.mark.process
def test_E66_without_renewal_what_is_late_is_told_or_not_written_and_nothing_is_lost() -> None:
    with SandboxThread(topics={"t": 3}, brokers=3) as sandbox:
        for api in ("ShareFetch", "ShareAcknowledge"):
            sandbox.faults.wire.speak_only(api, 1, 1)
        shell = Shell(sandbox.bootstrap)
        _configure(shell, "g", **{"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "500"})
        for partition in "012":
            lines = b"".join(b"%s-%d %s\n" % (partition.encode(), n, b"x" * 6000) for n in range(1000))
            shell.ok("produce", "t", "-p", partition, stdin=lines)
        words = [*KCLI, "consume", "t", "--share-group", "g", "-e"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=shell.environment) as process:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 60)[0]
            time.sleep(2.5)  # several locks long, and there is more than a pipe holds
            out, err = process.communicate(timeout=20)
        assert process.returncode == 1
        assert b"written and not accepted, to be delivered again" in err
        assert b"not written: their locks had expired, so" in err
        seen = {line.split()[0] for line in out.splitlines()}
        assert seen == {b"%d-%d" % (partition, n) for partition in (0, 1, 2) for n in range(1000)}


def _configure(shell: Shell, group: str, **configs: str) -> None:
    import asyncio

    from kcli.client import Client
    from kcli.proto.messages.incremental_alter_configs import (
        AlterableConfig,
        AlterConfigsResource,
        IncrementalAlterConfigsRequest,
    )
    from kcli.settings import ClientSettings, parse_bootstrap

    async def work() -> None:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(shell.bootstrap))) as client:
            rows = [AlterableConfig(name=name, value=value) for name, value in configs.items()]
            resource = AlterConfigsResource(resource_type=32, resource_name=group, configs=rows)
            answer = await (await client.cluster.controller()).ask(IncrementalAlterConfigsRequest(resources=[resource]))
            assert [row.error_code for row in answer.responses] == [0]

    asyncio.run(work())


def test_E64_what_nobody_knows_is_said_and_the_exit_code_is_1() -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        _configure(shell, "g", **{"share.auto.offset.reset": "earliest"})
        shell.ok("produce", "t", stdin=b"a\nb\n")
        sandbox.faults.wire.lose_answer("ShareAcknowledge")
        ran = shell("consume", "t", "--share-group", "g", "-n", "2")
        assert (ran.returncode, ran.stdout) == (1, b"a\nb\n")
        assert b"2 records written, unknown whether accepted: t[0] offset 0 to 1: unknown" in ran.stderr


def test_E63_a_cluster_without_share_groups_says_how_they_are_switched_on() -> None:
    with SandboxThread(topics={"t": 1}, features={"share.version": 0}) as sandbox:
        ran = Shell(sandbox.bootstrap)("consume", "t", "--share-group", "g", "-e")
        assert ran.returncode == 1
        assert b"upgrade --feature share.version=1`" in ran.stderr
        assert ran.stderr.count(b"\n") == 1

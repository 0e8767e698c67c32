"""`kcli cat` where there is no kcat to compare with: its names, its files, signals, what it says on stderr."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kcli.cli.commands.cat.output.pack import Unpacked, unpack
from kcli.cli.commands.cat.output.printer import unescape
from kcli.cli.commands.cat.parsing.line import c_number, delimiter, options
from kcli.cli.commands.cat.parsing.words import Fatal, Misused
from kcli.proto.messages.fetch import EpochEndOffset, FetchResponse
from kcli.proto.schema import Response
from kcli.proto.session import Received, ServerSession
from tests.cli.conftest import KCLI, ROOT, Shell
from tests.programs import until


@pytest.fixture
def topic(kcli: Shell) -> str:
    name = kcli.topic()
    kcli.ok("produce", name, stdin=b"a\nb\nc\n")
    return name


@pytest.mark.process
def test_linked_as_kcat_it_is_kcat(kcli: Shell, topic: str, tmp_path: Path) -> None:
    program = tmp_path / "kcat"
    program.write_text(f"#!{sys.executable}\nfrom kcli.cli.main import console\nconsole()\n")
    program.chmod(0o755)
    words = [str(program), "-b", kcli.bootstrap, "-Cet", topic]
    done = subprocess.run(words, capture_output=True, env=kcli.environment, timeout=20)
    assert (done.returncode, done.stdout) == (0, b"a\nb\nc\n")
    assert done.stderr == b"%% Reached end of topic %b [0] at offset 3: exiting\n" % topic.encode()


@pytest.mark.parametrize("name", ["KCAT_CONFIG", "KAFKACAT_CONFIG"])
def test_the_environment_names_a_file(
    kcli: Shell, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "conf").write_text(f"# mine\nbootstrap.servers={kcli.bootstrap}\n")
    monkeypatch.setenv(name, str(tmp_path / "conf"))
    done = kcli("cat", "-Ceqt", topic)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a\nb\nc\n", b"")


def test_the_users_file_is_read_unless_there_is_F(
    kcli: Shell, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "kcat.conf").write_text(f"metadata.broker.list={kcli.bootstrap}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert kcli("cat", "-Ceqt", topic).stdout == b"a\nb\nc\n"
    refused = kcli("cat", "-F", "none", "-Ceqt", topic)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"-b <broker,..> missing" in refused.stderr


def test_a_file_names_its_line(kcli: Shell, tmp_path: Path) -> None:
    (tmp_path / "conf").write_text("client.id=x\nno.such.thing=1\n")
    done = kcli("cat", "-F", str(tmp_path / "conf"), "-C", "-t", "x")
    assert done.returncode == 1
    assert b"conf:2: unknown property no.such.thing" in done.stderr


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_reader_with_0(kcli: Shell, topic: str, number: int) -> None:
    words = ["cat", "-b", kcli.bootstrap, "-C", "-t", topic]
    with kcli.start(*words, stdin=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(6) == b"a\nb\nc\n"
        assert b"Reached end" in running.stderr.readline()
        running.send_signal(number)
        assert running.wait(10) == 0


@pytest.mark.process
def test_who_leaves_early_is_no_error(kcli: Shell, topic: str) -> None:
    with kcli.start("cat", "-b", kcli.bootstrap, "-C", "-q", "-t", topic, stdin=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        running.stdout.read(1)
        running.stdout.close()
        kcli.ok("produce", topic, stdin=b"x" * 100 + b"\n")
        assert running.wait(10) == 0


@pytest.mark.process
def test_a_follower_prints_what_comes(kcli: Shell, topic: str) -> None:
    with kcli.start(
        "cat", "-b", kcli.bootstrap, "-Cqt", topic, "-o", "end", "-c", "2", stdin=subprocess.DEVNULL
    ) as one:
        deadline = time.monotonic() + 60
        while one.poll() is None and time.monotonic() < deadline:
            kcli.ok("produce", topic, stdin=b"new\n")  # how far it is, only it knows
            time.sleep(0.1)
        assert one.wait(10) == 0
        assert one.stdout is not None
        assert one.stdout.read() == b"new\nnew\n"


@pytest.mark.process
def test_an_interrupted_transaction_is_aborted(kcli: Shell) -> None:
    name = kcli.topic()
    words = ["cat", "-b", kcli.bootstrap, "-P", "-t", name, "-X", f"transactional.id={name}"]
    with kcli.start(*words) as running:
        assert running.stdin is not None
        assert running.stderr is not None
        assert b"Using transactional producer" in running.stderr.readline()
        running.stdin.write(b"a\nb\n")
        until(lambda: kcli.ok("count", name, "--isolation", "read_uncommitted").strip() == b"2")
        running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
        assert b"Aborting transaction" in running.stderr.read()
    assert kcli("cat", "-b", kcli.bootstrap, "-Ceqt", name).stdout == b""


@pytest.mark.process
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), b"% Interrupted: not all input read before it was acknowledged\n"),
        (("-X", "transactional.id=unheard"), b"% ERROR: No response to the abort: the coordinator aborts after"),
    ],
)
def test_a_signal_is_heard_while_nobody_answers(kcli: Shell, options: tuple[str, ...], said: bytes) -> None:
    name = kcli.topic()
    soon = "import kcli.cli.commands.cat.produce as it; it.GRACE = 0.3; from kcli.cli.main import console; console()"
    words = [sys.executable, "-c", soon, "cat", "-b", kcli.bootstrap, "-P", "-t", name, *options]
    kcli("faults", "never_answer", "api=Produce", "times=1000")
    try:
        with subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=kcli.environment) as running:
            assert running.stdin is not None
            running.stdin.write(b"a\n")
            running.stdin.close()
            until(lambda: kcli.ok("count", name, "--isolation", "read_uncommitted").strip() == b"1")
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 1
            assert running.stderr is not None
            assert said in running.stderr.read()
    finally:
        kcli("faults", "clear")


def test_a_partition_that_is_not_there_fails(kcli: Shell, topic: str) -> None:
    done = kcli("cat", "-b", kcli.bootstrap, "-P", "-t", topic, "-p", "9", stdin=b"a\n")
    assert done.returncode == 1
    assert done.stderr.startswith(b"% ")


@pytest.mark.parametrize("words", [["nope"], ["TOPIC", "nope"], ["nope", "TOPIC", "-E"]], ids=" ".join)
def test_a_group_that_wants_a_topic_that_is_not_there_fails(kcli: Shell, topic: str, words: list[str]) -> None:
    names = [topic if word == "TOPIC" else word for word in words]
    done = kcli("cat", "-b", kcli.bootstrap, "-e", "-G", f"of-{topic}", *names)
    assert done.returncode == 1
    assert b"Topic nope [0] error: Subscribed topic not available: nope: Broker: Unknown topic" in done.stderr
    assert done.stdout == b""


@pytest.mark.timeout(30)
def test_a_group_ends_at_the_end_of_a_log_that_was_emptied(kcli: Shell, topic: str) -> None:
    kcli.ok("produce", topic, "-p", "0", stdin=b"a\nb\n")
    assert kcli("topics", "trim", topic, "--before", "end", "--execute").returncode == 0
    words = ("-G", f"of-{topic}", topic, "-e", "-X", "auto.offset.reset=earliest")
    done = kcli("cat", "-b", kcli.bootstrap, *words)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr


@pytest.mark.process
def test_a_log_that_was_cut_ends_what_reads_to_its_end(
    kcli: Shell, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next position is the end of the log, and no record is left (KIP-320)."""
    respond = ServerSession.respond

    def cut(self: ServerSession, to: Received, response: Response, version: int | None = None) -> Any:
        if isinstance(response, FetchResponse):
            for row in [row for each in response.responses for row in each.partitions]:
                row.diverging_epoch, row.records = EpochEndOffset(end_offset=0), b""
        return respond(self, to, response, version)

    monkeypatch.setattr(ServerSession, "respond", cut)
    words = [*KCLI, "cat", "-b", kcli.bootstrap, "-Ceqt", topic, "-o", "beginning", "-X", "auto.offset.reset=latest"]
    done = subprocess.run(words, capture_output=True, env=kcli.environment, timeout=10)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_nobody_listens(kcli: Shell) -> None:
    started = time.monotonic()
    for mode in ("-C", "-P", "-L"):
        done = kcli("cat", mode, "-t", "x", "-b", "localhost:1", stdin=b"a\n")
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr.startswith(b"% ERROR: ")
        assert b"localhost:1" in done.stderr
    assert time.monotonic() - started < 5


def test_help_is_there(kcli: Shell) -> None:
    for words in (["cat", "--help"], ["cat", "-h"], ["help", "cat"]):
        done = kcli(*words)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"-o OFFSET" in done.stdout


def test_argv_as_getopt_reads_it() -> None:
    others: list[str] = []
    found = list(options(["one", "-CJet", "x", "-o-2", "two", "-b1:2,3:4", "--", "-q"], others))
    assert found == [("C", ""), ("J", ""), ("e", ""), ("t", "x"), ("o", "-2"), ("b", "1:2,3:4")]
    assert others == ["one", "two", "-q"]
    for words in (["-t"], ["-Cy"], ["--topic"]):
        with pytest.raises(Misused):
            list(options(words, []))


def test_numbers_as_c_reads_them() -> None:
    found = [c_number(text) for text in ("", "x", "12x", " -3", "+4", "-", "99999999999999999999")]
    assert found == [0, 0, 12, -3, 4, 0, 2**63 - 1]


def test_escapes() -> None:
    assert delimiter(r"a\n\t\x41\x2C;") == b"a\n\tA,;"
    assert unescape(rb"\065\10\x41BC\xAB\q\\") == b"5\n\xbcABq\\"
    with pytest.raises(Fatal):
        delimiter(r"\xq")


def test_numbers_are_unpacked_in_the_order_that_is_said() -> None:
    data = bytes(range(1, 15))
    assert unpack("value", "bB h", data) == b"12 772"
    assert unpack("value", "<i>i", data) == b"67305985" + b"84281096"
    assert unpack("value", "qcs", data[:9] + b"rest") == b"72623859790382856\trest"
    with pytest.raises(Unpacked, match="expected value end-of-input, but 13 bytes remaining") as broken:
        unpack("value", "b$", data)
    assert broken.value.before == b"1"


@pytest.mark.process
def test_it_starts_without_what_it_does_not_use(kcli: Shell, topic: str) -> None:
    code = f"import sys\nfrom kcli.cli.main import main\nmain(['cat','-b','{kcli.bootstrap}','-Ceqt','{topic}'])\n"
    code += (
        "print(sorted({'typer', 'rich', 're', 'json', 'typing', 'dataclasses', 'logging', 'ssl'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [KCLI[0], "-S", "-c", code],
        capture_output=True,
        timeout=20,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    assert done.stdout == b"a\nb\nc\n[]\n", done.stderr


@pytest.mark.process
@pytest.mark.parametrize("words", [[], ["-J"], ["-f", "%s\\n"], ["-Z"], ["-s", "s"]])
def test_a_terminal_is_not_sent_what_it_would_obey(kcli: Shell, words: list[str]) -> None:
    name = kcli.topic()
    kcli.ok("produce", name, stdin=b"\x1b[2Jx\n")
    ours, theirs = os.openpty()
    line = [*KCLI, "cat", "-b", kcli.bootstrap, "-Ceqt", name, *words]
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=kcli.environment) as running:
        assert running.wait(20) == 0
    printed = os.read(ours, 1000)
    os.close(ours)
    os.close(theirs)
    assert b"x" in printed
    assert b"\x1b" not in printed


def test_a_profile_that_is_in_use_binds_the_producer_and_is_named_where_b_is_missing(
    kcli: Shell, topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kcli").mkdir()
    (tmp_path / "kcli" / "config.toml").write_text(f'[profiles.ro]\nbootstrap = "{kcli.bootstrap}"\nread_only = true\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("KCLI_PROFILE", "ro")
    for program in ("cat", "kcat"):
        done = kcli(
            *([program] if program == "cat" else ["cat", program]),
            "-P",
            "-b",
            kcli.bootstrap,
            "-t",
            topic,
            stdin=b"x\n",
        )
        assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
        assert b"refused by read-only profile ro" in done.stderr
    assert kcli("cat", "-Ceqt", topic, "-b", kcli.bootstrap).stdout == b"a\nb\nc\n"
    done = kcli("cat", "-Ceqt", topic)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"kcli consume and kcli produce use ro" in done.stderr

"""`--trace`: a line per frame with everything but what is in it; nothing at all when it is off."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kcli.broker.connection.connection import Connection
from kcli.broker.connection.tracing import traced
from kcli.broker.connector import Opening
from kcli.client import Client
from kcli.model import Address
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.cli.conftest import Shell

LINE = re.compile(
    r"\d\d:\d\d:\d\d\.\d{6} (?P<sign>[<>+-]) \[(?P<number>\d+)\] (broker \d+ at \S+|[^ ]+:\d+) (?P<text>.*)"
)
SENT = re.compile(r"(?P<what>\w+ v\d+ #\d+) (?P<size>\d+) B")
ANSWERED = re.compile(r"(?P<what>\w+ v\d+ #\d+) (?P<size>\d+) B (?P<time>[\d.]+) ms")


def test_each_frame_is_a_line_with_its_API_version_number_size_and_latency(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    with SandboxThread(topics={"t": 1}) as sandbox:
        kcli = Shell(sandbox.bootstrap)
        assert kcli("produce", "t", "--trace-file", str(path), stdin=b"a secret value\n").returncode == 0
    lines = [LINE.fullmatch(line) for line in path.read_text().splitlines()]
    assert all(lines)
    by_connection: dict[str, list[tuple[str, str]]] = {}
    for line in lines:
        assert line is not None
        by_connection.setdefault(line["number"], []).append((line["sign"], line["text"]))
    apis = set()
    for events in by_connection.values():
        assert events[0][0] == "+"
        assert events[-1] == ("-", "closed")
        sent = [SENT.fullmatch(text) for sign, text in events if sign == ">"]
        back = [ANSWERED.fullmatch(text) for sign, text in events if sign == "<"]
        assert [one["what"] for one in sent if one] == [one["what"] for one in back if one]
        assert len(sent) == len(back) > 0
        apis |= {one["what"].split()[0] for one in sent if one}
    assert {"ApiVersions", "Metadata", "Produce"} <= apis
    assert "secret" not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_on_stderr_beside_the_data_on_stdout() -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        kcli = Shell(sandbox.bootstrap)
        kcli.ok("produce", "t", stdin=b"x\n")
        done = kcli("consume", "t", "-e", "--trace")
    assert (done.returncode, done.stdout) == (0, b"x\n")
    assert all(LINE.fullmatch(line) for line in done.stderr.decode().splitlines())
    assert b" Fetch v" in done.stderr


def test_authentication_is_traced_without_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_SASL_PASSWORD", "hunter2")
    with SandboxThread(sasl={"me": "hunter2"}) as sandbox:
        done = Shell(sandbox.bootstrap)(
            "topics", "list", "--trace", "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN",
            "-X", "sasl.username=me",
        )  # fmt: skip
    assert done.returncode == 0
    assert b"SaslHandshake v1 #1" in done.stderr
    assert b"SaslAuthenticate v" in done.stderr
    assert b"hunter2" not in done.stderr


async def test_a_request_without_an_answer_is_traced_too(capsys: pytest.CaptureFixture[str]) -> None:
    with SandboxThread(topics={"t": 1}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), trace="-")) as client:
            async with client.producer(ProducerSettings(acks=0, idempotence=False)) as producer:
                await producer.send("t", b"v")
    told = capsys.readouterr().err
    assert re.search(r"> \[\d+\] broker 1 at \S+ Produce v\d+ #\d+ \d+ B\n", told)
    assert not re.search(r"< .*Produce", told)


def test_when_it_is_off_a_connection_is_what_it_was() -> None:
    opening = Opening(Address("x", 1), "x", ClientSettings(), "me")
    assert opening._kind is Connection
    on = Opening(Address("x", 1), "x", ClientSettings(trace="-"), "me")
    assert on._kind is not Connection
    assert traced("-").__mro__[1].__name__ == "Traced"


@pytest.mark.process
def test_when_it_is_off_nothing_of_it_is_imported() -> None:
    dear = {
        "kcli.broker.connection.tracing", "kcli.broker.security.access",
        "kcli.security",
        "kcli.config.properties.names", "kcli.config.secrets.secured", "kcli.config.secrets.sources",
        "kcli.config.profiles",
    }  # fmt: skip
    hot = "kcli.cli.commands.produce.produce, kcli.cli.commands.consume.consume, kcli.client"
    code = f"import sys, {hot}; print([*{dear} & {{*sys.modules}}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


def test_a_trace_that_cannot_be_written_is_told_and_nothing_is_done() -> None:
    with SandboxThread() as sandbox:
        done = Shell(sandbox.bootstrap)("topics", "list", "--trace-file", "/no/such/folder/trace")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"kcli: /no/such/folder/trace: No such file or directory\n"

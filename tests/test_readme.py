"""README.md is true: every command line in its code blocks runs, in order, against a sandbox, and ends with 0."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

from benchmarks.report import figures, with_figures
from kcli.sandbox.access.tls import make_certificates
from kcli.sandbox.thread import SandboxThread
from tests.docs.pages import blocks, shell_lines
from tests.pipeline import class_archive
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
LIMIT = 30
"""Seconds that one command line may take."""
SPARK_LIMIT = 150
"""Seconds that one with Spark may take: a JVM starts."""


def command_lines(heading: str = "") -> list[str]:
    """The lines of all code blocks, or of those below a heading, without their comments; not those that the
    page marks as not run (docs/pages.py)."""
    text = re.split(r"^## ", README.partition(f"\n## {heading}\n")[2], flags=re.MULTILINE)[0] if heading else README
    lines = [re.sub(r"\s+#\s.*$", "", line).strip() for line in shell_lines(text)]
    return [line for line in lines if line]


class Shell:
    """A directory with a `kcli` on the PATH, in which the README's lines run one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.registry_port = free_port(), free_port()
        self.background: list[subprocess.Popen[bytes]] = []
        command = folder / "bin" / "kcli"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kcli "$@"\n')
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
        home = {
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "XDG_CACHE_HOME": str(folder / ".cache"),
        }
        class_archive.share(folder)
        self.environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **home}

    def run(self, line: str) -> bytes:
        """Run a line as a shell does; its stdout. The sandbox of `… &` gets a free port and is waited for."""
        line = line.replace("9092", str(self.port)).replace("8081", str(self.registry_port))
        line = line.replace("--registry ", f"--registry --registry-port {self.registry_port} ")
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self.environment[name] = value
            return b""
        if line.endswith("&"):
            self.start(line)
            return b""
        done = subprocess.run(
            line, shell=True, executable=shutil.which("bash"), cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SPARK_LIMIT if "kcli pipeline" in line else LIMIT,
        )  # fmt: skip
        said = [] if "--where" in line else done.stderr.splitlines()  # the lines of the README are no JSON
        assert (done.returncode, said) == (0, []), (line, done)
        return done.stdout

    def start(self, line: str) -> None:
        words = shlex.split(line.removesuffix("&"))
        process = subprocess.Popen(words, cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)  # fmt: skip
        self.background.append(process)
        until = time.monotonic() + LIMIT
        while process.poll() is None and time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError(f"{line} does not listen (exit code {process.poll()})")

    def close(self) -> None:
        for process in self.background:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """With a client.properties of a cluster that wants TLS and a password."""
    made = Shell(tmp_path)
    (tmp_path / "certificates").mkdir()
    certificates = make_certificates(tmp_path / "certificates")
    try:
        with SandboxThread(tls=certificates, sasl={"me": "secret"}, advertised="localhost") as secured:
            port = secured.bootstrap.rpartition(":")[2]
            (tmp_path / "client.properties").write_text(
                f"bootstrap.servers=localhost:{port}\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
                "ssl.truststore.type=PEM\nssl.truststore.location=certificates/ca.pem\n"
                "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
                'username="me" password="secret";\n'
            )
            (tmp_path / "client.properties").chmod(0o600)
            yield made
    finally:
        made.close()


def says_of_schemas(printed: dict[str, bytes]) -> None:
    """What the lines about schemas print, on each registry: the record, decoded, and why a schema is incompatible."""
    (read,) = (out for line, out in printed.items() if line.startswith("kcli consume shop"))
    assert read == b'{"id":7,"total":9.5}\n'
    (check,) = (out for line, out in printed.items() if line.startswith("kcli registry check"))
    assert b"amount" in check or b"/fields/1" in check
    assert check.endswith(b"exit code 3\n")


@pytest.mark.process
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pipelines", [False, pytest.param(True, marks=pytest.mark.spark)], ids=["plain", "spark"])
def test_every_command_line_runs_and_ends_with_0(shell: Shell, pipelines: bool) -> None:
    """The lines that start Spark are left out once: `make test` has no Spark."""
    lines = [line for line in command_lines() if not line.startswith("pip install")]
    lines = [line for line in lines if pipelines or "kcli pipeline" not in line]
    assert len(lines) > 10
    printed = {line: shell.run(line) for line in lines}
    says_of_schemas(printed)
    plain, keyed = ([b"%s%d" % (prefix, n) for n in range(1, 1001)] for prefix in (b"", b"order "))
    assert sorted(printed["kcli consume orders -o beginning -e"].splitlines()) == sorted(plain)
    values = plain + keyed
    for topic in ("orders", "orders-2"):
        assert sorted(shell.run(f"kcli consume {topic} -e").splitlines()) == sorted(values)
    assert shell.run("kcli count copy") == (b"3000\n" if pipelines else b"1000\n")
    if pipelines:
        assert parquet.read_table(shell.folder / "out" / "orders").num_rows == 2000
    (program,) = [
        "\n".join(line.text for line in block.lines) for block in blocks(README) if block.language == "python"
    ]
    (shell.folder / "program.py").write_text(program.replace("9092", str(shell.port)))
    assert shell.run(f"{shlex.quote(sys.executable)} program.py").endswith(b"\n2001 records\n")


def test_every_make_target_is_there() -> None:
    targets = set(re.findall(r"^make (\w+)|`make (\w+)`", README, re.MULTILINE))
    targets = {first or second for first, second in targets}
    there = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert targets <= there
    assert {"demo", "test"} <= targets


def test_every_file_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_it_stays_short_and_begins_with_the_two_commands() -> None:
    lines = README.splitlines()
    assert len(lines) <= 145
    assert {line.split("#")[0].strip() for line in lines[:45]} >= {"make demo", "make test"}


def test_its_figures_are_those_of_the_benchmarks() -> None:
    """kcli, kcat and confluent-kafka of the last run of `make bench`."""
    measured = (ROOT / "docs" / "benchmarks.md").read_text()
    rows = [line for line in README.splitlines() if re.match(r"\| (produce|consume) ", line)]
    assert len(rows) >= 4
    table = figures(measured)
    for row in rows:
        name, *shown = (cell.strip() for cell in row.strip("|").split("|"))
        found = [table[name][program] for program in ("kcli", "kcat", "confluent-kafka")]
        assert shown == found, f"README.md: {name} is of another run: {found}"
    assert with_figures(README, measured) == README
    assert (
        with_figures(README.replace("| produce 100 B (1,000,000) | ", "| produce 100 B (1,000,000) | 9"), measured)
        == README
    )


@pytest.mark.process
def test_on_a_package_index_its_links_lead_to_the_repository(tmp_path: Path) -> None:
    """There are no files beside the text there. Without an address of the repository it is README.md as it is."""
    for address in ("", "https://git.example.org/kcli/kcli"):
        folder = tmp_path / ("named" if address else "plain")
        folder.mkdir()
        subprocess.run(
            [sys.executable, "setup.py", "-q", "egg_info", "--egg-base", folder], cwd=ROOT, check=True, timeout=100,
            env={**os.environ, "KCLI_REPOSITORY": address}, capture_output=True,
        )  # fmt: skip
        head, _, text = (folder / "kcli_kafka.egg-info/PKG-INFO").read_text().partition("\n\n")
        links = re.findall(r"\]\(([^)#]+)\)", text)
        assert len(links) > 10
        assert {link.startswith(f"{address}/") for link in links} == {bool(address)}
        assert ("Project-URL: Source, " in head) == bool(address)

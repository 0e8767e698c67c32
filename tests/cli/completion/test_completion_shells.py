"""Completion in the shells people have: bash, zsh and fish in a pty, against a sandbox. Where one is missing the test
says so, and fails in CI."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.cli.completion.shells import Terminal
from tests.cli.completion.test_complete import HOSTILE
from tests.cli.conftest import Shell
from tests.sandbox.registry.asking import register

pytestmark = pytest.mark.long

PROMPT = 1.0  # seconds; three times as long as it takes
TOPICS = {"orders": 1, "payments.eu": 2, "payments.us": 2}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxThread]:
    with SandboxThread(topics=TOPICS, registry=True) as running:
        shell = Shell(running.bootstrap)
        assert register(running.registry_url, "refunds-value", '"long"')[0] == 200
        for group in ("billing", *HOSTILE):
            shell.ok("consume", "orders", "-g", group, "-e", "-q", "--from-beginning")
        yield running


SHELLS = ["bash", *(pytest.param(name, marks=pytest.mark.needs(name)) for name in ("zsh", "fish"))]


@pytest.fixture(scope="module", params=SHELLS)
def terminal(
    request: pytest.FixtureRequest, sandbox: SandboxThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp(request.param)
    with Terminal(request.param, folder, sandbox.bootstrap, KCLI_SCHEMA_REGISTRY_URL=sandbox.registry_url) as made:
        config = made.home / ".config" / "kcli" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[profiles.staging]\nbootstrap = "kafka-1:9092"\n')
        yield made


@pytest.mark.process
@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("kcli cons", "kcli consume"),
        ("kcli topics desc", "kcli topics describe"),
        ("kcli consume orders --isol", "kcli consume orders --isolation"),
        ("kcli consume --isolation read_c", "kcli consume --isolation read_committed"),
        ("kcli consume --isolation=read_c", "kcli consume --isolation=read_committed"),
        ("kcli produce orders -X linger", "kcli produce orders -X linger.ms="),
        ("kcli produce orders -X security.protocol=SASL_S", "kcli produce orders -X security.protocol=SASL_SSL"),
        ("kcli consume orders --profile st", "kcli consume orders --profile staging"),
    ],
)
def test_commands_options_choices_and_profiles_complete(line: str, whole: str, terminal: Terminal) -> None:
    assert terminal.said_after(line) == whole


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("kcli consume or", "kcli consume orders"),
        ("kcli consume orders pay", "kcli consume orders payments."),
        ('kcli consume "or', "kcli consume orders"),
        ("kcli lag bil", "kcli lag billing"),
        ("kcli registry describe ref", "kcli registry describe refunds-value"),
        ("kcli consume orders --value-schema ref", "kcli consume orders --value-schema refunds-value"),
        ("kcli groups reset billing --topic=pay", "kcli groups reset billing --topic=payments."),
        ("kcli topics create x --config min.ins", "kcli topics create x --config min.insync.replicas="),
    ],
)
def test_names_complete_from_the_cluster(line: str, whole: str, terminal: Terminal) -> None:
    """A machine that is busy may be too late for the first TAB: the names are there at a later one."""
    until = time.monotonic() + 20
    while (said := _asked(line, terminal)) != whole:
        assert time.monotonic() < until, said


def _asked(line: str, terminal: Terminal) -> str:
    if '"' not in line:
        return terminal.said_after(line)
    terminal.type(line)
    terminal.settle()
    terminal.tab()
    if '"orders"' not in terminal.plain().rpartition("kcli consume ")[2]:
        terminal.type('"')  # the shell left the quote open
    return terminal.echo()


def test_the_brokers_address_completes_though_it_has_a_colon(terminal: Terminal, sandbox: SandboxThread) -> None:
    host, _, port = sandbox.bootstrap.partition(":")
    for typed in (f"kcli lag -b {host[:5]}", f"kcli lag -b {host}:{port[:2]}"):
        until = time.monotonic() + 20
        while (said := terminal.said_after(typed)) != f"kcli lag -b {sandbox.bootstrap}":
            assert time.monotonic() < until, said


def test_files_complete_where_a_file_is_meant(terminal: Terminal) -> None:
    (terminal.home / "my file.txt").write_text("")
    assert terminal.said_after("kcli produce orders my") == "kcli produce orders my file.txt"


def test_hostile_names_are_neither_shown_nor_run(terminal: Terminal) -> None:
    """The groups of the cluster have names with blanks, quotes, `$()`, line ends and escapes."""
    until = time.monotonic() + 20
    while terminal.said_after("kcli lag bil") != "kcli lag billing":
        assert time.monotonic() < until
    for line in ("kcli lag ", "kcli lag or", "kcli lag '", "kcli lag $(touch pwned", "kcli lag `touch pwned"):
        shown = terminal.listed(line).partition(line)[2]
        assert "pwned" not in shown.replace(line, "")
        assert b"\x1b]" not in terminal.seen.replace(b"\x1b]0;", b"").replace(b"\x1b]7;", b""), "titles are the shell's"
        assert "\u202e" not in shown
        assert "\x9b" not in shown
    assert terminal.said_after("kcli lag or") == "kcli lag or"
    assert not list(terminal.home.rglob("*pwned*"))


@pytest.mark.process
@pytest.mark.parametrize("name", SHELLS)
def test_a_dead_cluster_does_not_keep_the_prompt(name: str, tmp_path: Path) -> None:
    """From TAB to prompt in 0.3 s (bash, zsh; fish itself takes 0.1 s more) on a quiet machine: the best of some."""
    took = []
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        for attempt in range(5):
            folder = tmp_path / str(attempt)
            folder.mkdir()
            with Terminal(name, folder, f"127.0.0.1:{deaf.getsockname()[1]}") as terminal:
                terminal.said_after("kcli cons")  # everything is loaded
                terminal.type("kcli consume or")
                terminal.settle()
                terminal.seen = b""
                begin = time.monotonic()
                terminal.type("\tXX")
                terminal.wait("X.*X")
                took.append(time.monotonic() - begin)
                assert terminal.echo() == "kcli consume orXX"
            if took[-1] < PROMPT:
                return
    raise AssertionError(f"{took} s")

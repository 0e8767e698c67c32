"""A command whose `-b` leads to something else says in one sentence which it is, with exit code 5 (B1, C1, C2);
a port that accepts and never answers costs no more than the time one may connect for (B22)."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kcli.sandbox.thread import SandboxThread
from tests.certificates import Authority
from tests.cli.conftest import Shell
from tests.ports import free_port

COMMANDS = [["topics", "list"], ["produce", "t"], ["consume", "t", "-e"]]
NAMES = ["topics-list", "produce", "consume"]
SOON = ["-X", "socket.connection.setup.timeout.ms=300", "-X", "socket.connection.setup.timeout.max.ms=300"]
QUICK = 10.0  # seconds, on a busy machine, where half a minute is what must not be
HTTP = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

Serve = Callable[[socket.socket], None]


@contextlib.contextmanager
def peer(serve: Serve) -> Iterator[str]:
    """A port where every connection is served by `serve`."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            kept.append(connection)
            with contextlib.suppress(OSError):
                serve(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{listening.getsockname()[1]}"
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(5)
        for connection in kept:
            connection.close()


def speak_http(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(HTTP)
    connection.close()


def keep_silent(connection: socket.socket) -> None:
    """The connection is open; that is all."""


def hang_up(connection: socket.socket) -> None:
    connection.close()


SENT_NOTHING = "kcli: 1 record read: 0 acknowledged, 0 failed, 0 unknown, 1 not sent"
FAILED = "kcli: 1 record read: 0 acknowledged, 1 failed, 0 unknown, 0 not sent"


def complaint(kcli: Shell, words: list[str], *more: str, counts: str = SENT_NOTHING) -> tuple[int, str]:
    """Exit code and the one sentence; `produce` adds the counts of what it read, and where a name server lets us wait
    that is said on the way."""
    begin = time.monotonic()
    done = kcli(*words, *more, stdin=b"x\n")
    assert time.monotonic() - begin < QUICK
    assert done.stdout == b""
    lines = [line for line in done.stderr.decode().splitlines() if not line.endswith("; retrying")]
    if words[0] == "produce":
        assert lines.pop() == counts
    assert len(lines) == 1, lines
    return done.returncode, lines[0]


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_B1_a_web_server_is_named(words: list[str]) -> None:
    with peer(speak_http) as address:
        code, said = complaint(Shell(address), words, "-b", address)
    what = "this port uses HTTP, not Kafka: check the port number (ApiVersions v4 #0)"
    assert (code, said) == (5, f"kcli: could not connect to a broker: {address}: {what}")


@pytest.mark.process
@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_B1_a_TLS_port_is_named(words: list[str], certificate: Path) -> None:
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def speak_tls(connection: socket.socket) -> None:
        with contextlib.suppress(ssl.SSLError):
            context.wrap_socket(connection, server_side=True)

    with peer(speak_tls) as address:
        code, said = complaint(Shell(address), words, "-b", address)
    assert code == 5
    assert address in said
    assert "TLS" in said
    assert "security.protocol" in said


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate in one file."""
    return Authority(tmp_path_factory.mktemp("tls")).issue("server").both


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_C1_dead_addresses_are_all_named_each_with_its_reason(words: list[str]) -> None:
    port = free_port()
    given = f"127.0.0.1:{port},no-such-host.invalid:9092"
    code, said = complaint(Shell(given), words, "-b", given)
    assert code == 5
    assert f"127.0.0.1:{port}: connection refused: nothing listens there" in said
    assert "no-such-host.invalid:9092: the host name no-such-host.invalid does not resolve" in said


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_C1_a_name_that_does_not_resolve_is_told(words: list[str]) -> None:
    code, said = complaint(Shell("x"), words, "-b", "no-such-host.invalid:9092")
    assert code == 5
    assert "the host name no-such-host.invalid does not resolve" in said


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_B22_a_port_that_accepts_and_never_answers_is_told_in_time(words: list[str]) -> None:
    with peer(keep_silent) as address:
        code, said = complaint(Shell(address), words, "-b", address, *SOON)
    assert code == 5
    assert f"{address} accepts connections but does not answer ApiVersions: is it a Kafka listener?" in said


@pytest.mark.parametrize("words", COMMANDS, ids=NAMES)
def test_B1_a_port_that_hangs_up_may_want_TLS(words: list[str]) -> None:
    with peer(hang_up) as address:
        code, said = complaint(Shell(address), words, "-b", address)
    assert code == 5
    assert (
        f"{address} closed the connection on the first request: it may expect TLS or SASL (security.protocol)" in said
    )


@pytest.mark.parametrize("words", COMMANDS[1:], ids=NAMES[1:])
def test_C2_a_wrong_advertised_listener_names_both_addresses(words: list[str]) -> None:
    with SandboxThread(topics={"t": 1}, advertised="kafka.invalid") as sandbox:
        port = sandbox.bootstrap.rpartition(":")[2]
        given = f"127.0.0.1:{port}"
        code, said = complaint(
            Shell(given), words, "-b", given, "-X", "default.api.timeout.ms=1000", "-X", "delivery.timeout.ms=1000",
            "-X", "request.timeout.ms=500", "-X", "linger.ms=0", counts=FAILED,
        )  # fmt: skip
    assert code == 5
    assert f"kafka.invalid:{port}" in said, "the advertised one"
    assert given in said, "the one that was given"


UNREACHED = {
    "groups describe": ["groups", "describe", "billing"],
    "groups members": ["groups", "members", "billing"],
    "groups reset": ["groups", "reset", "--create", "billing", "-t", "t", "--to-earliest", "--dry-run"],
    "lag": ["lag"],
    "topics create": ["topics", "create", "new"],
    "offsets": ["offsets", "t"],
    "count": ["count", "t"],
    "consume": ["consume", "t", "-e"],
    "consume in a group": ["consume", "t", "-g", "billing", "-e"],
    "produce": ["produce", "t", "--value", "x"],
}


@pytest.mark.parametrize("name", UNREACHED)
def test_C2_brokers_that_advertise_what_cannot_be_reached_are_told_soon(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bootstrap address by way of a tunnel or a container's port, behind which brokers call themselves by names of
    another network: not one of the brokers can be met, and no command waits for half a minute to say so."""
    monkeypatch.setattr("kcli.cluster.pool.GRACE", 0.2)
    with SandboxThread(topics={"t": 2}, brokers=2, advertised="no-such-host.invalid") as running:
        seed = f"127.0.0.1:{running.bootstrap.partition(',')[0].rpartition(':')[2]}"
        begin = time.monotonic()
        done = Shell(seed)(*UNREACHED[name])
        assert time.monotonic() - begin < QUICK
    assert done.returncode == 5
    assert "the host name no-such-host.invalid does not resolve" in done.stderr.decode()
    assert "advertise" in done.stderr.decode()
    assert not done.stdout.strip() or name == "groups reset"

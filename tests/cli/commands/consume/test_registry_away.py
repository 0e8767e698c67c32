"""A registry that is late, drips or is dead costs a reader one time-out: records are shown as stored."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.cli.conftest import Shell
from tests.ports import free_port

RECORDS = 10_000
IN_TIME = 0.6  # seconds that the registry has for an answer
LIMITS = ("-X", "http.read.timeout.ms=600", "-X", "http.connect.timeout.ms=600")
FULL = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n" + b"x" * 4000


class Bad:
    """A server that does `behave` with each connection, and counts them."""

    def __init__(self, behave: Callable[[socket.socket, threading.Event], None]) -> None:
        self._behave = behave
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self.connections = 0
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def _accept(self) -> None:
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                peer, _ = self._listener.accept()
                self.connections += 1
                thread = threading.Thread(target=self._serve, args=(peer,))
                thread.start()
                self._threads.append(thread)

    def _serve(self, peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):  # the client has gone
            self._behave(peer, self._ended)

    def close(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()


def silent(peer: socket.socket, ended: threading.Event) -> None:
    ended.wait(30)


def dripping(peer: socket.socket, ended: threading.Event) -> None:
    """Each byte is in time, and the last one is not."""
    for place in range(len(FULL)):
        peer.sendall(FULL[place : place + 1])
        if ended.wait(0.05):
            return


@pytest.fixture(params=[silent, dripping], ids=["silent", "dripping"])
def bad(request: pytest.FixtureRequest) -> Iterator[Bad]:
    server = Bad(request.param)
    yield server
    server.close()


@pytest.fixture
def topic(kcli: Shell) -> str:
    """Keys and values with frames of several schemas."""
    name = kcli.topic(1)
    lines = [b"\0\0\0\0%c%d\t\0\0\0\0%cvalue" % (65 + n % 3, n, 75 + n % 5) for n in range(RECORDS)]
    kcli.ok("produce", name, "-K", "\t", stdin=b"\n".join(lines))
    return name


def seconds(run: Callable[[], object]) -> float:
    begun = time.monotonic()
    run()
    return time.monotonic() - begun


def said(err: bytes, reason: bytes) -> None:
    """One sentence for the keys and one for the values, with all of them."""
    lines = err.splitlines()
    assert len(lines) == 2, lines
    for line, kind in zip(lines, (b"keys", b"values"), strict=True):
        assert b"%s could not be decoded and are shown as stored: " % (b"10,000 " + kind) in line
        assert reason in line


def test_a_registry_that_is_late_costs_one_time_out(kcli: Shell, topic: str, bad: Bad) -> None:
    line = ("consume", topic, "-e", "-K", "\t")
    raw = kcli.ok(*line)
    plain = seconds(lambda: kcli.ok(*line))
    begun = time.monotonic()
    done = kcli(*line, "--schema-registry", bad.url, *LIMITS)
    took = time.monotonic() - begun
    assert (done.returncode, done.stdout) == (0, raw)
    said(done.stderr, b"10,000 \xc3\x97 " + f"{bad.url} did not answer within {IN_TIME:g} s".encode())
    assert bad.connections == 1
    assert IN_TIME <= took < 2 * IN_TIME + 3 * plain + 2, "eight schemas would be eight time-outs"


def test_a_registry_that_is_dead_costs_next_to_nothing(kcli: Shell, topic: str) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    line = ("consume", topic, "-e", "-K", "\t")
    raw = kcli.ok(*line)
    done = kcli(*line, "--schema-registry", url, *LIMITS)
    assert (done.returncode, done.stdout) == (0, raw)
    said(done.stderr, f"{url} cannot be reached: Connection refused".encode())


def test_a_filter_and_a_count_go_on_with_what_is_stored(kcli: Shell, topic: str, bad: Bad) -> None:
    words = ("--schema-registry", bad.url, *LIMITS)
    done = kcli("count", topic, "--where", "value is not None", *words)
    assert (done.returncode, done.stdout) == (5, b"10000\n")
    assert b"it is unknown which of these records match" in done.stderr
    assert bad.connections == 1

"""Signals: the second SIGINT ends whatever goes on, SIGTERM what has stopped turning, and SIGHUP is as SIGTERM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kcli import watchdog
from kcli.cli.output.messages import complain
from tests.cli.conftest import Shell
from tests.tui.terminal import Terminal

pytestmark = pytest.mark.process

LONG = 60
"""Seconds that a process may take to end; what is tested is that it does, and how. What it does would take hours."""

try:
    import kcli._watchdog  # noqa: F401
except ImportError:
    COMPILED = False
else:
    COMPILED = True

STUCK = """
import asyncio, hashlib, os, sys, time
from kcli import watchdog
from kcli.cli.runtime import signals as loop
from kcli.cli.main import main

def keeps_the_lock():
    sum(range(10**14))

def gives_the_lock_away():
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)

def runs_python():
    while True:
        pass

def sleeps():
    time.sleep(36000)
"""

PROGRAM = """
async def work(stop):
    print("ready", flush=True)
    WORK()
    return 0

async def flushes(stop):
    print("ready", flush=True)
    await stop.unless(asyncio.sleep(3600))
    await asyncio.sleep(3)
    print("flushed", flush=True)
    return loop.INTERRUPTED

watchdog.arm()
sys.exit(loop.run(COMMAND))
"""

ASLEEP = """
import signal, threading

async def waits(stop):
    threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    print("ready", flush=True)
    await stop.wait()
    print("flushed", flush=True)
    return loop.INTERRUPTED

watchdog.arm()
sys.exit(loop.run(waits))
"""
"""A signal that reaches another thread does not wake the loop, as one that comes just before the loop sleeps."""

LOST = """
import signal, weakref

class Thing:
    pass

async def waits(stop):
    await stop.wait()
    return loop.INTERRUPTED

watchdog.arm()
print("ready", flush=True)
thing = Thing()
callback = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
del thing
"""
"""Python discards the KeyboardInterrupt that a signal raises in a callback, as in one of the import system."""

SANDBOX = """
from kcli.sandbox.sandbox import Sandbox

enter = Sandbox.__aenter__
async def then(self):
    await enter(self)
    asyncio.get_running_loop().call_later(0.1, stick)
    return self

def stick():
    os.write(1, b"ready\\n")
    WORK()

Sandbox.__aenter__ = then
watchdog.arm()
sys.exit(main(["sandbox", "--port", "0"]))
"""

DASHBOARD = """
from kcli.tui.app import Dashboard

mount = Dashboard.on_mount
async def then(self):
    await mount(self)
    asyncio.get_running_loop().call_later(0.5, stick)

def stick():
    os.write(1, b"ready\\n")
    WORK()

Dashboard.on_mount = then
watchdog.arm()
sys.exit(main(["tui", "-b", "127.0.0.1:1"]))
"""


@contextmanager
def stuck(
    work: str, *, compiled: bool = True, ignored: bool = False, program: str = PROGRAM
) -> Iterator[subprocess.Popen[str]]:
    """A command under way that does not let the event loop turn; "" for one that does."""
    text = STUCK + program.replace("WORK()", f"{work}()" if work else "pass")
    text = text.replace("COMMAND", "work" if work else "flushes")
    environment = {**os.environ, "KCLI_PURE_PYTHON": "" if compiled else "1"}
    process = subprocess.Popen(
        ["nohup"] * ignored + [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True, env=environment,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert "ready\n" in process.stdout
        time.sleep(0.3)  # it is in the call that takes hours
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


NEEDS_THE_THREAD = pytest.mark.skipif(not COMPILED, reason="the thread was not compiled")
WAYS = [
    pytest.param("keeps_the_lock", True, marks=NEEDS_THE_THREAD),
    ("gives_the_lock_away", True),
    ("gives_the_lock_away", False),
    ("runs_python", True),
    ("runs_python", False),
]


@pytest.mark.long
@pytest.mark.parametrize(("work", "compiled"), WAYS)
def test_the_second_sigint_ends_a_process_that_is_stuck(work: str, compiled: bool) -> None:
    with stuck(work, compiled=compiled) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(2 * watchdog.PATIENCE)
        assert process.poll() is None  # the first one asks
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 130


@pytest.mark.long
@pytest.mark.parametrize(("work", "compiled"), WAYS)
def test_a_process_that_is_stuck_ends_a_moment_after_sigterm(work: str, compiled: bool) -> None:
    with stuck(work, compiled=compiled) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 143


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=NEEDS_THE_THREAD), False])
def test_a_process_that_is_stuck_ends_a_moment_after_sighup(compiled: bool) -> None:
    with stuck("sleeps", compiled=compiled) as process:
        process.send_signal(signal.SIGHUP)
        assert process.wait(LONG) == 129


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_loop_that_turns_has_its_time(number: int, code: int) -> None:
    with stuck("") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, out, err) == (code, "flushed\n", "")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("compiled", [pytest.param(True, marks=NEEDS_THE_THREAD), False])
def test_a_signal_that_comes_just_before_the_loop_sleeps_wakes_it(number: int, code: int, compiled: bool) -> None:
    with stuck("", compiled=compiled, program=ASLEEP) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=LONG)
    assert (process.returncode, out, err) == (code, "flushed\n", "")


@pytest.mark.parametrize("command", ["sys.exit(loop.run(waits))", "loop.run_to_end(asyncio.sleep(3600))"])
def test_ctrl_c_before_a_command_listens_is_not_lost(command: str) -> None:
    with stuck("", program=LOST + command) as process:
        process.communicate(timeout=LONG)
    assert process.returncode in (130, -signal.SIGINT)


def test_a_terminal_that_goes_is_told_of_twice() -> None:
    with stuck("") as process:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (129, "flushed\n")


def test_nohup_is_heeded() -> None:
    with stuck("", ignored=True) as process:
        process.send_signal(signal.SIGHUP)
        time.sleep(2 * watchdog.PATIENCE)
        assert process.poll() is None


# -- the sandbox and the dashboard ------------------------------------------------------------------------------------

LOCKED = "keeps_the_lock" if COMPILED else "sleeps"


@pytest.mark.parametrize("work", [LOCKED, "sleeps"])
def test_two_sigints_end_a_sandbox_that_is_stuck(work: str) -> None:
    with stuck(work, program=SANDBOX) as process:
        process.send_signal(signal.SIGINT)
        time.sleep(2 * watchdog.PATIENCE)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(LONG) == 130


@pytest.mark.parametrize("work", [LOCKED, "sleeps"])
def test_sigterm_ends_a_sandbox_that_is_stuck(work: str) -> None:
    with stuck(work, program=SANDBOX) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONG) == 143


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_sandbox_ends_in_order(number: int, code: int) -> None:
    with stuck("", program=SANDBOX) as process:
        process.send_signal(number)
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == code, err
    assert "Traceback" not in err


@contextmanager
def dashboard(work: str, monkeypatch: pytest.MonkeyPatch, *, compiled: bool = True) -> Iterator[Terminal]:
    """`kcli tui` on a terminal, which is stuck; "" for one that is not. Afterwards the terminal is as it was."""
    monkeypatch.setenv("KCLI_PURE_PYTHON", "" if compiled else "1")
    text = STUCK + DASHBOARD.replace("WORK()", f"{work}()" if work else "pass")
    screen = Terminal([sys.executable, "-c", text])
    there = os.dup(screen._fd)
    try:
        before = termios.tcgetattr(there)
        screen.until(lambda drawn: b"ready" in drawn, LONG)
        assert termios.tcgetattr(there) != before
        screen.rest(0.3)  # it is in the call that takes hours
        screen.drawn = b""
        yield screen
        assert termios.tcgetattr(there)[3] == before[3]
        assert b"\x1b[?1049l" in screen.drawn
        assert b"\x1b[?25h" in screen.drawn
    finally:
        os.close(there)


WAYS_TO_STICK = [(LOCKED, True), ("sleeps", True), ("sleeps", False)]


@pytest.mark.long
@pytest.mark.parametrize(("work", "compiled"), WAYS_TO_STICK)
def test_two_sigints_end_a_dashboard_that_is_stuck(work: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with dashboard(work, monkeypatch, compiled=compiled) as screen:
        os.kill(screen.pid, signal.SIGINT)
        screen.rest(0.5)
        os.kill(screen.pid, signal.SIGINT)
        assert screen.end(b"", LONG) == 130


@pytest.mark.long
@pytest.mark.parametrize(("work", "compiled"), WAYS_TO_STICK)
def test_sigterm_ends_a_dashboard_that_is_stuck(work: str, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    with dashboard(work, monkeypatch, compiled=compiled) as screen:
        os.kill(screen.pid, signal.SIGTERM)
        assert screen.end(b"", LONG) == 143


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_dashboard_ends_in_order(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with dashboard("", monkeypatch) as screen:
        os.kill(screen.pid, number)
        assert screen.end(b"", LONG) == 128 + number


# -- SIGHUP of commands -----------------------------------------------------------------------------------------------


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_sighup_leaves_the_group(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\n")
    with kcli.start("consume", topic, "-g", topic, "--from-beginning") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"a\n"
        assert members(kcli, topic) == 1
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == 129, err
    assert members(kcli, topic) == 0
    assert kcli("consume", topic, "-g", topic, "-e").stdout == b""  # what was printed was committed


def members(kcli: Shell, group: str) -> int:
    return len(json.loads(kcli("groups", "members", group, "--format", "json").stdout)["members"])


def test_sighup_aborts_the_transaction(kcli: Shell) -> None:
    topic = kcli.topic()
    with kcli.start("produce", topic, "--transactional-id", topic) as process:
        assert process.stdin is not None
        process.stdin.write(b"a\nb\n")
        until(lambda: state(kcli, topic) == "Ongoing")
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=LONG)
    assert process.returncode == 129, err
    assert state(kcli, topic) == "CompleteAbort"


def state(kcli: Shell, name: str) -> str:
    rows = json.loads(kcli.ok("txn", "list", "--format", "json"))["transactions"]
    return next((str(row["state"]) for row in rows if row["transactional_id"] == name), "")


def test_last_words_are_written_though_python_was_writing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A signal's handler may run inside of a write to stderr, which refuses another one."""

    class Busy:
        def write(self, text: str) -> int:
            raise RuntimeError("reentrant call inside <_io.BufferedWriter name='<stderr>'>")

    monkeypatch.setattr("sys.stderr", Busy())
    complain("stopped: 2 records read")
    monkeypatch.undo()
    assert capfd.readouterr().err == "kcli: stopped: 2 records read\n"

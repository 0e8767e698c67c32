"""`python -m tests.alone FOLDER…`: each test function in a process of its own, so that no test leans on another.

Each test file is collected once, in a process that imports nothing else; each of its test functions then runs in a fork
of that process. Exit code 1 when a test fails, with its output.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LIMIT = 1800.0
"""Seconds for all tests of one file: each test of Spark starts a Spark of its own."""


_running: set[subprocess.Popen[str]] = set()


def main(folders: list[str]) -> int:
    files = sorted(file for folder in folders for file in _files(Path(folder)))
    begun, failed = time.monotonic(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        try:
            for file, outcome in zip(files, pool.map(_run, files), strict=True):
                if outcome.returncode:
                    failed += 1
                    print(f"{file}:\n{outcome.stdout}", flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for running in list(_running):
                _end(running)
            raise
    print(f"{len(files) - failed} files passed, {failed} failed, in {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


def _files(folder: Path) -> list[Path]:
    return [folder] if folder.is_file() else list(folder.rglob("test_*.py"))


def _run(file: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.alone", "--file", str(file)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as running:
        _running.add(running)
        try:
            output, code = running.communicate(timeout=LIMIT)[0], running.returncode
        except subprocess.TimeoutExpired:
            _end(running)
            output, code = f"{running.communicate()[0]}\nnot done after {LIMIT:.0f} s", 1
        _running.remove(running)
    return subprocess.CompletedProcess(command, code, output)


def _end(running: subprocess.Popen[str]) -> None:
    """Kill a process with its forks and what they started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)


class EachInAFork:
    """Runs the tests of a collected session, those of one function in one child."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            functions.setdefault(item.nodeid.split("[")[0], []).append(item)
        wrong = [name for name, items in functions.items() if _in_a_child(session, items) != 0]
        session.testsfailed = len(wrong)
        print(f"{len(functions) - len(wrong)} functions passed, {len(wrong)} failed", *wrong, sep="\n  ")
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            print(f"{report.nodeid} ({report.when}):\n{report.longreprtext}", flush=True)


def _in_a_child(session: pytest.Session, items: list[pytest.Item]) -> int:
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    with contextlib.suppress(BaseException):
        session.items[:] = items
        session.testsfailed = 0
        for at, item in enumerate(items):
            after = items[at + 1] if at + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        code = 1 if session.testsfailed else 0
    sys.stdout.flush()
    os._exit(code)


def _one_file(file: str) -> int:
    arguments = [file, "-qq", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "0", "--tb=short", "--timeout=600"]
    code = pytest.main(arguments, plugins=[EachInAFork()])
    return int(code) if code != pytest.ExitCode.NO_TESTS_COLLECTED else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--file"]:
        sys.exit(_one_file(sys.argv[2]))
    sys.exit(main(sys.argv[1:] or ["tests"]))

"""`-p tests.forks --forks N`: the tests of a session in N forks of the process that collected them.

pytest-xdist imports and collects all tests again in each worker, which costs seconds of CPU a worker. A fork has them
already: many forks are cheap, and wait side by side. Each fork takes the next group of tests (conftest.py: a file)
whenever it has done one, and sends its reports to the parent. The parent handles them as if it had run the tests: it
prints and counts failures, and remembers them for --lf.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SILENCE = 300.0
"""Seconds without a report from any fork before the tests that run count as hung; pytest-timeout stops one at 120."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--forks", type=int, default=0, metavar="N", help="run the collected tests in N forks")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--forks") and not config.option.usepdb:
        config.pluginmanager.register(Forks(config.getoption("--forks")))


class Forks:
    def __init__(self, count: int) -> None:
        self._count = count
        self._parent: Connection | None = None  # in a fork: where its reports go

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest's own loop runs nothing then
        groups = [list(items) for _, items in itertools.groupby(session.items, _group)]
        config: Any = session.config
        config._tmp_path_factory.getbasetemp()  # one for all forks
        forks = dict(self._fork(config, groups))
        try:
            Reports(session).read(forks)
        finally:
            for process in forks.values():
                process.kill()
                process.join()
        return True

    def _fork(self, config: pytest.Config, groups: list[list[pytest.Item]]) -> Iterator[tuple[Connection, BaseProcess]]:
        context = multiprocessing.get_context("fork")
        taken = context.Value("i", 0)
        for _ in range(min(self._count, len(groups))):
            reports, sender = context.Pipe(duplex=False)
            process = context.Process(target=self._run, args=(config, groups, taken, sender))
            with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # threads of numpy and the like
                process.start()
            sender.close()
            yield reports, process

    def _run(self, config: Any, groups: list[list[pytest.Item]], taken: Any, sender: Connection) -> None:
        """What a fork does: run the groups that no other fork has taken."""
        self._parent = sender
        config._tmp_path_factory._basetemp = config._tmp_path_factory.mktemp("fork")
        capture = config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are shared with the other forks
        capture.start_global_capturing()
        with contextlib.suppress(KeyboardInterrupt):  # the parent has it too, and says so
            for item, after in itertools.pairwise(_take(groups, taken)):
                if item is not None:
                    config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        capture.stop_global_capturing()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if self._parent is None:
            return None
        self._parent.send(item.nodeid)
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            self._parent.send(item.config.hook.pytest_report_to_serializable(config=item.config, report=report))
        return True


def _group(item: pytest.Item) -> str:
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker is not None else item.nodeid.split("::")[0]


def _of_a_file(item: pytest.Item) -> bool:
    return _group(item) == item.nodeid.split("::")[0]


def _take(groups: list[list[pytest.Item]], taken: Any) -> Iterator[Any]:
    """The tests of the groups that this fork takes, and None at the end. None also follows the tests of a fixture:
    what it started, such as a Kafka, ends with them and uses no processor while other tests run."""
    while True:
        with taken.get_lock():
            number = taken.value
            taken.value += 1
        if number >= len(groups):
            break
        yield from groups[number]
        if not _of_a_file(groups[number][0]):
            yield None
    yield None


class Reports:
    """The reports of all forks, as the parent's plugins see them."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._undone = {item.nodeid: item for item in session.items}
        self._running: dict[Connection, str] = {}

    def read(self, forks: dict[Connection, BaseProcess]) -> None:
        """Handle reports until every fork has ended; a test without its reports has failed."""
        at_work = set(forks)
        while at_work:
            ready = wait(at_work, SILENCE)
            if not ready:
                break
            for connection in at_work.intersection(ready):
                try:
                    self._handle(connection, connection.recv())
                except EOFError:
                    at_work.remove(connection)
                    forks[connection].join()
        for connection, nodeid in self._running.items():
            code = forks[connection].exitcode
            self._lost(nodeid, f"its process ended with exit code {code}" if code is not None else "it hangs")
        for nodeid in list(self._undone):
            self._lost(nodeid, "it did not run: the process that should have run it was lost")

    def _handle(self, connection: Connection, message: Any) -> None:
        if isinstance(message, str):
            self._running[connection] = message
            return
        hook = self._session.config.hook
        report = hook.pytest_report_from_serializable(config=self._session.config, data=message)
        hook.pytest_runtest_logreport(report=report)
        if report.when == "teardown":
            del self._undone[self._running.pop(connection)]
            hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)

    def _lost(self, nodeid: str, why: str) -> None:
        item = self._undone.pop(nodeid)
        report = pytest.TestReport(
            nodeid, item.location, {}, "failed", why, "call", user_properties=item.user_properties
        )
        self._session.config.hook.pytest_runtest_logreport(report=report)

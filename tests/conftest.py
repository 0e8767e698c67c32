"""What holds for every test: in CI (CI=true) a skipped test is a failed run, because there nothing may be missing; no
test in which our client broke the rules of the protocol before a sandbox has passed; and a test that uses
a real component is marked with it (components.py)."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli import redact
from kcli.cli.output.hints import worded
from kcli.sandbox.pytest import kcli_sandbox
from kcli.sandbox.sandbox import Sandbox
from tests import components, librdkafka, needs
from tests.cli.leaps import leaping
from tests.effort import QUICK, take_two_cases, use_profile
from tests.failures import Failures

if TYPE_CHECKING:
    from collections.abc import Iterator


sandbox = kcli_sandbox
use_profile()
os.environ.pop("PYTHONUNBUFFERED", None)  # with it a process has nothing left to write when it ends
gc.disable()  # collecting makes objects that all stay: a walk through them frees nothing, and costs a seventh of it


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make the table of the command line anew where a source has changed since: tests start commands as users do."""
    from kcli.cli.parsing import make_tables, table
    from kcli.cli.parsing.registry import SUBJECTS

    if not hasattr(session.config, "workerinput") and any(table.read(name) is None for name in SUBJECTS):
        make_tables.write()


@pytest.fixture(autouse=True)
def keeps_the_rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look at every sandbox of the test, unless it provokes them (`@pytest.mark.kcli_violates`)."""
    made: list[Sandbox] = []
    started = Sandbox.start

    async def start(self: Sandbox) -> None:
        made.append(self)
        await started(self)

    monkeypatch.setattr(Sandbox, "start", start)
    yield
    found = [one for sandbox in made for one in sandbox.violations]
    if found and request.node.get_closest_marker("kcli_violates") is None:
        pytest.fail("kcli broke the rules of the protocol: " + "; ".join(found), pytrace=False)


@pytest.fixture(autouse=True)
def knows_no_secrets() -> None:
    """What another test revealed is not hidden in this one's texts."""
    redact._sent.clear()


@pytest.fixture(autouse=True, scope="session")
def leaves_no_undo_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What kcli keeps for its user is not kept for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def face(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hints have the words of the command line, which a command sets for itself."""
    monkeypatch.setattr("kcli.errors.wording", worded)


@pytest.fixture
def hasty_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern without end has a tenth of its time; `test_matches_of_where_is_stopped_too` waits for all of it."""
    monkeypatch.setattr("kcli.text.patterns.SECONDS", 0.1)


@pytest.fixture
def leaping_clock(pytestconfig: pytest.Config) -> Iterator[None]:
    """What kcli and the sandbox wait out in this test costs no time; `make late` has a clock of its own."""
    late = pytestconfig.pluginmanager.hasplugin("tests.late")
    with contextlib.nullcontext() if late else leaping():
        yield


TOGETHER = ("kafka3", "kafka", "spark", "registry")
"""Fixtures that are dear to start, the slowest first: of several processes one has all tests of each, and begins with
them. Every other file is a group of its own."""
SLOW = ("tests/kafka/", "tests/interop/", "tests/tui/")
"""Folders whose other files come next: a long test at the end is one that all other processes wait for."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--failures", metavar="FILE", help="write the tests that failed and their components to FILE as JSON"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(components.ProcessGuard())
    config.pluginmanager.register(needs.Programs())
    config.pluginmanager.register(librdkafka)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and the programs of tests would inherit that
    if not hasattr(config, "workerinput"):
        path = config.getoption("--failures")
        config.pluginmanager.register(Failures(Path(path) if path else None))


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if QUICK:
        take_two_cases(items)
    for item in items:
        components.mark(item)
        item.add_marker(pytest.mark.xdist_group(group(item)))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """Whether a test runs early (small) or late."""
    name = group(item)
    return TOGETHER.index(name) if name in TOGETHER else len(TOGETHER) + (not name.startswith(SLOW))


def pytest_collection_finish() -> None:
    """What 7,000 tests were collected into stays to the end: the collector need not walk through it."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def sets_what_stays_aside() -> None:
    """Nor through what earlier files left, or through all of it because a test undid `gc.freeze`."""
    gc.collect()
    gc.freeze()


def group(item: pytest.Item) -> str:
    """The tests that one process runs: of a fixture, which a parameter may name too, or of a file."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    used = {*getattr(item, "fixturenames", ()), *(name for name in parameters if isinstance(name, str))}
    return next((fixture for fixture in TOGETHER if fixture in used), item.nodeid.split("::")[0])


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("CI") and not needs.BARE and skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if os.environ.get("CI") and not needs.BARE and skipped:
        terminalreporter.write_line(f"{len(skipped)} skipped: in CI that is a failure", red=True)

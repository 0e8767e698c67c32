"""What holds for every test: in CI (CI=true) a skipped test is a failed run, because there nothing may be missing; and
no test in which our client broke the rules of the protocol before a sandbox has passed (engine.md I)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kcli.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def keeps_the_rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Look at every sandbox of the test, unless it provokes them (`@pytest.mark.violates`)."""
    made: list[Sandbox] = []
    started = Sandbox.start

    async def start(self: Sandbox) -> None:
        made.append(self)
        await started(self)

    monkeypatch.setattr(Sandbox, "start", start)
    yield
    found = [one for sandbox in made for one in sandbox.violations]
    if found and request.node.get_closest_marker("violates") is None:
        pytest.fail("kcli broke the rules of the protocol: " + "; ".join(found), pytrace=False)


@pytest.fixture(autouse=True, scope="session")
def leaves_no_undo_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What kcli keeps for its user is not kept for a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


TOGETHER = ("kafka", "pipeline", "tui", "interop")
"""Packages whose tests share something that is dear to start; with several workers (-n) one of them has it."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        package = item.nodeid.split("/")[1] if "/" in item.nodeid else item.nodeid
        group = package if package in TOGETHER else item.nodeid.split("::")[0]
        if "kafka3" in getattr(item, "fixturenames", ()):
            group = "kafka3"  # three nodes of their own, beside those who want one
        item.add_marker(pytest.mark.xdist_group(group))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("CI") and skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if os.environ.get("CI") and skipped:
        terminalreporter.write_line(f"{len(skipped)} skipped: in CI that is a failure", red=True)

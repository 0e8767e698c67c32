"""The names of tests in reports, and `--failures FILE`: the tests that failed and the components they use, as JSON for
`suite.py`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class Failures:
    """Collects the failed phases of all workers; a test that fails twice (call and teardown) is one failure."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._failed: dict[str, list[str]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        known = [str(value) for name, value in report.user_properties if name == "nodeid"]
        if known:
            report.nodeid = known[0]  # xdist appends "@group", which neither --lf nor a command line understands
        if report.failed:
            self._failed[report.nodeid] = [str(value) for name, value in report.user_properties if name == "component"]

    def pytest_sessionfinish(self) -> None:
        if self._path is not None:
            self._path.write_text(json.dumps(self._failed))

"""The playground has what it promises, and the dashboard shows all of it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

import pytest

from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.tui.conftest import shows, until
from tests.tui.playground.still import COMMITS, STILL, ends

SOON = {"OK", "GROWING", "ORPHANED", "LOSING DATA", "NO COMMIT", "TXN-BLOCKED", "IDLE"}
"""Statuses that are there within a few refreshes; STUCK takes half a minute of patience, REWOUND a turn."""


def test_partitions_are_filled_unevenly_and_whole() -> None:
    found = ends("metrics")
    assert len(found) == STILL["metrics"].partitions
    assert len(set(found.values())) > 2
    assert 0.99 * STILL["metrics"].records < sum(found.values()) <= STILL["metrics"].records


@pytest.mark.long
@pytest.mark.process
async def test_thirty_topics_and_a_dozen_groups_of_different_fates_until_a_signal() -> None:
    words = [sys.executable, "-m", "tests.tui.playground", "--address"]
    process = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        assert line.startswith("30 topics, a dozen groups: kcli tui -b 127.0.0.1:")
        await shown(line.split()[-1])
    finally:
        process.send_signal(signal.SIGTERM)
        code = await process.wait()
    assert code == 0


async def shown(bootstrap: str) -> None:
    """The dashboard has all of it."""
    app = Dashboard(LiveSession(ClientSettings(bootstrap=parse_bootstrap(bootstrap)), interval=1.0))
    async with app.run_test(size=(200, 44)) as pilot:

        def fates() -> dict[str, str]:
            look = app.state.snapshot
            return {} if look is None else {one.described.group: one.status for one in look.groups}

        met: set[str] = set()

        def all_met() -> bool:
            met.update(fates().values())
            return met >= SOON

        await until(pilot, all_met, 60.0)
        assert len(fates()) >= 12
        assert fates()["metrics-to-lake"] == "LOSING DATA"
        assert fates().keys() >= COMMITS.keys()
        text = await shows(pilot, "1 of kcli's own hidden")
        assert "small orphans of long ago hidden" in text
        await pilot.press("ctrl+t")
        await shows(pilot, "Topics (30)")

"""`groups peek` and `lag --records` of a partition whose leader refuses to give records: they end, and say so."""

from __future__ import annotations

import pytest

from kcli import codes
from kcli.cli.commands.consume import bounded
from kcli.sandbox.thread import SandboxThread
from tests.cli.conftest import Shell


@pytest.mark.parametrize("line", ["groups peek g", "lag g --records"])
def test_a_range_that_cannot_be_read_is_given_up(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "PATIENCE", 0.3)
    with SandboxThread(topics={"t": 1}) as sandbox:
        shell = Shell(sandbox.bootstrap)
        shell.ok("produce", "t", stdin=b"a\nb\nc\n")
        shell.ok("groups", "reset", "--create", "g", "-t", "t", "--to", "0=1", "--execute", "-q", "--no-undo")
        sandbox.faults.error("Fetch", codes.NOT_LEADER_OR_FOLLOWER, times=100_000)
        done = shell(*line.split())
    assert done.returncode == 4
    assert b"no record arrived for 0.3 s" in done.stderr

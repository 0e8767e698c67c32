"""One way to ask: what a module outside `asking` would have to write again is written nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KCLI = Path(__file__).parents[2] / "kcli"
OTHER_SIDE = ("kcli/sandbox/", "kcli/proto/")  # a broker's, and the messages themselves


@pytest.mark.parametrize(
    ("written", "where"),
    [
        (r"\bListOffsetsRequest\(", {"kcli/asking/offsets.py"}),
        # the doctor asks over connections of its own, as long as no cluster can be talked to
        (r"\bFindCoordinatorRequest\(", {"kcli/cluster/find_coordinators.py", "kcli/cli/commands/doctor/rights.py"}),
        (r"\bsession_epoch=-1\b", {"kcli/asking/fetch_once.py"}),
        (r"\bsleep\(.*(\.next\(\)|\bafter\()", {"kcli/backoff.py"}),  # a pause of its own: Backoff.pause
        (r"\bretriable = True\b|\bretriable = code\b", {"kcli/errors.py", "kcli/producer/batches/queue.py"}),
    ],
)
def test_it_is_written_once(written: str, where: set[str]) -> None:
    pattern = re.compile(written)
    names = {path.relative_to(KCLI.parent).as_posix(): path.read_text() for path in KCLI.rglob("*.py")}
    hits = {name for name, text in names.items() if pattern.search(text) and not name.startswith(OTHER_SIDE)}
    assert hits == where

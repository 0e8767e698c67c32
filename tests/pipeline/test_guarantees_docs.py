"""docs/pipeline.md names every option there is."""

from __future__ import annotations

import re
from pathlib import Path

from kcli.pipeline.options import KNOWN

SPARKS = {"groupIdPrefix", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "path", "checkpointLocation"}
"""Taken because Spark passes them, or its own source takes them; they change nothing here."""


def test_every_option_is_in_the_table() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "pipeline.md").read_text()
    table = set(re.findall(r"`([\w.]+)`", text[text.index("## Options") : text.index("## How fast")]))
    by_time = {"startingOffsetsByTimestamp", "endingOffsetsByTimestamp"}  # one cell says both
    assert set(KNOWN) - SPARKS - by_time <= table


def test_every_test_that_is_named_is_there_and_every_example_is_named() -> None:
    root = Path(__file__).parent.parent.parent
    text = (root / "docs" / "pipeline.md").read_text()
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", text)
    assert len(named) > 12
    for file, name in named:
        assert f"def {name}(" in (root / file).read_text(), f"{file}::{name}"
    for example in (root / "examples" / "pipelines").iterdir():
        assert f"examples/pipelines/{example.name}" in text

"""docs/pipeline has every option, and docs/contributors/pipeline.md names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

from kcli.pipeline.options import KNOWN

ROOT = Path(__file__).parent.parent.parent
SPARKS = {"groupIdPrefix", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "path", "checkpointLocation"}
"""Taken because Spark passes them, or its own source takes them; they change nothing here."""


def test_every_option_is_in_the_table() -> None:
    text = (ROOT / "docs/pipeline/options.md").read_text()
    table = set(re.findall(r"`([\w.]+)`", text.partition("## Options\n")[2].partition("\n## ")[0]))
    by_time = {"startingOffsetsByTimestamp", "endingOffsetsByTimestamp"}  # one cell says both
    assert set(KNOWN) - SPARKS - by_time <= table


def test_every_test_that_is_named_is_there() -> None:
    text = (ROOT / "docs/contributors/pipeline.md").read_text()
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", text)
    assert len(named) > 50
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"


def test_every_example_is_named() -> None:
    text = "".join((ROOT / f"docs/{page}.md").read_text() for page in ("pipeline", "clusters", "lake"))
    folders = ("pipelines", "airflow", "kubernetes", "notebooks")
    examples = [one for folder in folders for one in (ROOT / "examples" / folder).iterdir() if one.is_file()]
    assert len(examples) >= 7
    for example in examples:
        assert str(example.relative_to(ROOT)) in text

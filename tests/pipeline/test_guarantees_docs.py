"""docs/pipeline.md names every option there is; it and the pages beside it name tests and examples that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcli.pipeline.options import KNOWN

ROOT = Path(__file__).parent.parent.parent
SPARKS = {"groupIdPrefix", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "path", "checkpointLocation"}
"""Taken because Spark passes them, or its own source takes them; they change nothing here."""


def test_every_option_is_in_the_table() -> None:
    text = (ROOT / "docs/pipeline.md").read_text()
    table = set(re.findall(r"`([\w.]+)`", text[text.index("## Options") : text.index("## How fast")]))
    by_time = {"startingOffsetsByTimestamp", "endingOffsetsByTimestamp"}  # one cell says both
    assert set(KNOWN) - SPARKS - by_time <= table


PAGES = ("pipeline", "clusters", "format-kafka")


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_is_named_is_there(page: str) -> None:
    text = (ROOT / f"docs/{page}.md").read_text()
    named = re.findall(r"`(tests/\S+\.py)::(\w+)`", text)
    assert len(named) > (12 if page == "pipeline" else 0)
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file}::{name}"


def test_every_example_is_named() -> None:
    text = "".join((ROOT / f"docs/{page}.md").read_text() for page in (*PAGES, "lake"))
    folders = ("pipelines", "airflow", "kubernetes", "notebooks")
    examples = [one for folder in folders for one in (ROOT / "examples" / folder).iterdir() if one.is_file()]
    assert len(examples) >= 7
    for example in examples:
        assert str(example.relative_to(ROOT)) in text

"""The page of benchmarks: its figures of schemas are within their limits, and a part of it is written anew alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.report import with_part
from tests.each import each

PAGE = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line.startswith("|")]
COLUMNS = "Avro → Arrow columns, no process around it, 20,000 records a column"


@each(
    ("row", "limit"),
    [
        (["Avro as JSON", "kcli"], 1.0),
        (["Protobuf as JSON", "kcli"], 4.0),
        ([COLUMNS, "kcli"], 0.12),
        (["consume, 10 records of Avro"], 25),
    ],
)
def test_figures_of_schemas_are_within_their_limits(row: list[str], limit: float) -> None:
    """µs of CPU a record; of a start-up, ms more than without schemas."""
    (found,) = [cells for cells in ROWS if cells[: len(row)] == row]
    assert float(found[-1]) <= limit


def test_a_part_of_the_page_is_written_anew() -> None:
    page = "# Page\n\n## One, of old\n\n1\n\n## Two\n\n2\n"
    assert with_part(page, "## One", "\n## One\n\n3\n") == "# Page\n\n## One\n\n3\n\n## Two\n\n2\n"
    assert with_part(page, "## Two", "\n## Two\n\n3\n") == "# Page\n\n## One, of old\n\n1\n\n## Two\n\n3\n"
    with pytest.raises(ValueError, match="no part ## Three"):
        with_part(page, "## Three", "")

"""docs/contributors/connections.md has the matrix of listeners and mechanisms: every test it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.each import each

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/contributors/connections.md").read_text()
MECHANISMS = ("none", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
NAMED = sorted(set(re.findall(r"`((?:\w+/)*test_\w+\.py)::(\w+)`", PAGE)))


@each(("file", "name"), NAMED)
def test_a_test_that_the_page_names_is_there(file: str, name: str) -> None:
    path = ROOT / (file if file.startswith("tests/") else f"tests/kafka/{file}")
    assert re.search(rf"^(?:async )?def {name}\(", path.read_text(), re.MULTILINE), f"{file}::{name}"


def test_every_mechanism_has_a_test_on_both_kinds_of_listener() -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in PAGE.partition("\n## Faults")[0].splitlines()
        if "|" in line
    ]
    for mechanism in MECHANISMS:
        (row,) = [cells for cells in rows if re.match(rf"(?:.*, )?{re.escape(mechanism)}(?:[,: ]|$)", cells[0])]
        assert all("::" in cell for cell in row[1:]), mechanism

"""What the journal keeps to undo changes, as files for `groups reset --from-file` and its like."""

from __future__ import annotations

import json
from pathlib import Path


def undo_files(state: Path) -> list[Path]:
    """A file for each change of the journal in this state folder that can be undone, in order."""
    journal = state / "kcli" / "journal" / "journal.ndjson"
    lines = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    files = []
    for line in lines:
        details = line.get("details", {})
        if details.get("file"):
            details = json.loads((journal.parent / f"change-{line['number']}.json").read_text())
        if details.get("undo"):
            files.append(state / f"undo-{line['number']}.json")
            files[-1].write_text(json.dumps(details["undo"]))
    return files

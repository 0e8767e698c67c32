"""`make snapshots` writes what `tests/cli/golden` keeps of all shapes: tables, JSON schemas, the order of keys.

It writes nothing when a script that reads a shape's JSON would break: a column is gone, has another type or another
place. Such a change raises the `version` of the shape.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kcli.cli.commands.schema.schema import schema_of
from kcli.cli.output.tables.shape import every
from tests.cli.output.table_samples import WIDTHS, drawn, heading

GOLDEN = Path(__file__).parents[1] / "golden"
SCHEMAS = GOLDEN / "schemas.json"
KEYS = GOLDEN / "keys.json"
REMADE = "as it should be? `make snapshots` writes them"

Schemas = dict[str, Any]
"""The JSON schema of each shape, by the shape's name and version: `kcli.topics.list/1`."""
Keys = dict[str, dict[str, list[str]]]
"""The keys of each section of a shape, in the order of JSON, by the shape's name: `topics.list`."""


def tables(width: int) -> Path:
    """The snapshot of all tables on a terminal so wide."""
    return GOLDEN / f"tables-{width}.txt"


def schemas() -> Schemas:
    return {shape.id: schema_of(shape) for shape in every()}


def keys() -> Keys:
    return {shape.name: {section.name: [*section.keys] for section in shape.sections} for shape in every()}


def breaks(was: tuple[Schemas, Keys], now: tuple[Schemas, Keys]) -> list[str]:
    """The sections of shapes, of the same version before and now, of which a column is gone, changed or moved."""
    broken = []
    for name in was[0].keys() & now[0].keys():
        before, after = _columns(name, *was), _columns(name, *now)
        broken += [f"{name}: {part}" for part, row in before.items() if after.get(part, [])[: len(row)] != row]
    return sorted(broken)


def _columns(name: str, schemas: Schemas, keys: Keys) -> dict[str, list[tuple[str, Any]]]:
    """The sections of a shape: each column and its type, in the order of JSON."""
    properties = schemas[name]["properties"]
    return {
        section: [(key, properties[section]["items"]["properties"][key].get("type")) for key in order]
        for section, order in keys[name.removeprefix("kcli.").partition("/")[0]].items()
    }


def write() -> list[str]:
    """Write all snapshots; or none, and what would break."""
    was = json.loads(SCHEMAS.read_text()), json.loads(KEYS.read_text())
    now = schemas(), keys()
    broken = breaks(was, now)
    if not broken:
        for width in WIDTHS:
            tables(width).write_text("".join(f"{heading(one, width)}{drawn(one, width)}\n" for one in every()))
        SCHEMAS.write_text(json.dumps(now[0], ensure_ascii=False, indent=1) + "\n")
        KEYS.write_text(json.dumps(now[1], ensure_ascii=False, indent=1) + "\n")
    return broken


if __name__ == "__main__":
    for section in (broken := write()):
        print(f"{section}: a column is gone, changed or moved: raise the version of the shape", file=sys.stderr)
    sys.exit(1 if broken else 0)

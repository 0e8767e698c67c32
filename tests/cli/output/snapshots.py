"""`make snapshots` writes what `tests/cli/golden` keeps of all shapes: tables, and JSON columns with their types.

It writes nothing when a script that reads a shape's JSON would break: a column is gone, has another type or another
place. Such a change raises the `version` of the shape.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kcli.cli.commands.schema import schema_of
from kcli.cli.output.tables.shape import Shape, every
from tests.cli.output.table_samples import WIDTHS, drawn, heading

GOLDEN = Path(__file__).parents[1] / "golden"
SHAPES = GOLDEN / "shapes.json"
REMADE = "as it should be? `make snapshots` writes them"

Shapes = dict[str, dict[str, dict[str, str]]]
"""The type of each column in the order of JSON, by the shape's name and version (`kcli.topics.list/1`) and section."""


def tables(width: int) -> Path:
    """The snapshot of all tables on a terminal so wide."""
    return GOLDEN / f"tables-{width}.txt"


def shapes() -> Shapes:
    return {shape.id: columns(shape) for shape in every()}


def columns(shape: Shape) -> dict[str, dict[str, str]]:
    """The sections of a shape: each column and its type, in the order of JSON."""
    properties: Any = schema_of(shape)["properties"]
    return {
        section.name: {key: _type(properties[section.name]["items"]["properties"][key]) for key in section.keys}
        for section in shape.sections
    }


def _type(schema: dict[str, Any]) -> str:
    """`integer or null`; the whole schema, without its words, where it says more than that."""
    kept = _without_words(schema)
    kinds = kept["type"] if kept.keys() == {"type"} else [json.dumps(kept)]
    return kinds if isinstance(kinds, str) else " or ".join(kinds)


def _without_words(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {key: _without_words(value) for key, value in schema.items() if key != "description"}


def breaks(was: Shapes, now: Shapes) -> list[str]:
    """The sections of shapes, of the same version before and now, of which a column is gone, changed or moved."""
    return sorted(
        f"{name}: {section}"
        for name in was.keys() & now.keys()
        for section, before in was[name].items()
        if [*now[name].get(section, {}).items()][: len(before)] != [*before.items()]
    )


def write() -> list[str]:
    """Write all snapshots; or none, and what would break."""
    now = shapes()
    broken = breaks(json.loads(SHAPES.read_text()), now)
    if not broken:
        for width in WIDTHS:
            tables(width).write_text("".join(f"{heading(one, width)}{drawn(one, width)}\n" for one in every()))
        SHAPES.write_text(json.dumps(now, ensure_ascii=False, indent=1) + "\n")
    return broken


if __name__ == "__main__":
    for section in (broken := write()):
        print(f"{section}: a column is gone, changed or moved: raise the version of the shape", file=sys.stderr)
    sys.exit(1 if broken else 0)

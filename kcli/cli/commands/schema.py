"""`kcli schema COMMAND`: the JSON schema of what a command prints with `--format json`."""

from __future__ import annotations

import sys

from kcli.cli.output.tables.shape import Column, Section, Shape, every
from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

SAME = {"rollback": "groups.reset", "cluster.describe": "cluster.list", "configs.unset": "configs.delete"}
"""Commands that print what another one prints, or that had another name when it was published."""
DRAFT = "https://json-schema.org/draft/2020-12/schema"

KINDS: dict[str, dict[str, object]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "moment": {"type": "integer"},
    "duration": {"type": "number", "minimum": 0},
    "boolean": {"type": "boolean"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer"}},
    "object": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
}


class SchemaOptions(Options):
    """The words name the command."""


@command(
    "schema",
    words="SHAPE",
    examples="""
kcli schema
kcli schema topics list
kcli schema lag > lag.schema.json
kcli schema apply file > kcli-cluster.schema.json     # for the editor""",
)
def schema(options: SchemaOptions) -> int:
    """Print the JSON schema of a command's --format json; without a name, list the commands that have one. `apply
    file` is the schema of the files of `kcli apply`."""
    words = options.words
    from json import dumps

    if not words:
        sys.stdout.write("".join(f"{one.name.replace('.', ' ')}\n" for one in every()) + "apply file\n")
        return 0
    if words in (["apply", "file"], ["apply.file"]):
        from kcli.declared.schema import SCHEMA

        sys.stdout.write(dumps(SCHEMA, ensure_ascii=False, indent=2) + "\n")
        return 0
    sys.stdout.write(dumps(schema_of(find(words)), ensure_ascii=False, indent=2) + "\n")
    return 0


def find(words: list[str]) -> Shape:
    """The shape of a command line's words. Raises UsageError that names the nearest."""
    name = ".".join(word for given in words for word in given.split("."))
    name = SAME.get(name, name)
    for one in every():
        if one.name == name:
            return one
    from kcli.text.suggest import did_you_mean

    names = [one.name.replace(".", " ") for one in every()]
    raise UsageError(f"schema: no command {name.replace('.', ' ')!r} has one{did_you_mean(' '.join(words), names)}")


def schema_of(shape: Shape) -> dict[str, object]:
    """JSON schema (2020-12) of the document of a command."""
    error = {
        "type": "object",
        "properties": {
            **{name: {"type": "string"} for name in ("about", "error", "message", "limit", "topic")},
            "partition": {"type": "integer"},
        },
        "required": ["about", "error", "message"],
    }
    properties: dict[str, object] = {
        "schema": {"const": shape.id},
        "ok": {"type": "boolean", "description": "True when errors is empty."},
        **({"total": {"type": ["integer", "null"], "description": shape.total}} if shape.total else {}),
        **{section.name: {"type": "array", "items": _row(section)} for section in shape.sections},
        "errors": {"type": "array", "items": error},
    }
    return {
        "$schema": DRAFT,
        "title": f"kcli {shape.name.replace('.', ' ')}",
        "description": shape.about,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _row(section: Section) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {column.name: _column(column) for column in section.columns},
        "required": [column.name for column in section.columns],
        "additionalProperties": False,
    }


def _column(column: Column) -> dict[str, object]:
    kind = dict(KINDS[column.kind])
    if column.null:
        kind["type"] = [kind["type"], "null"]
    return {**kind, "description": column.about}

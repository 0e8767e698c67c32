"""Rows as objects of a JSON schema. A null of a property that is not required is not written: a record without it is
read as null, and the property may take no null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.pipeline.schemas.json_schema import JsonColumns, parsed
from kcli.pipeline.schemas.sealed import Known


def without_absent(known: Known) -> Callable[[Any], Any]:
    """What makes the object of a row's plain JSON. Raises SchemaRefused."""
    schema, files = parsed(known)
    columns = JsonColumns(schema, files)

    def left(value: Any, own: Any, root: Any) -> Any:
        if not isinstance(value, dict | list):
            return value
        own, root = columns.followed(own, root)
        if not isinstance(own, dict):
            return value
        if isinstance(value, list):
            return [left(one, own.get("items"), root) for one in value]
        properties, required = own.get("properties"), own.get("required")
        named = properties if isinstance(properties, dict) else {}
        asked = required if isinstance(required, list) else ()
        more = own.get("additionalProperties")
        return {
            name: left(inner, named.get(name, more), root)
            for name, inner in value.items()
            if inner is not None or name in asked or name not in named
        }

    return lambda value: left(value, schema, schema)

"""A document against the schema: the first thing that is wrong, in one sentence with its file and line.

As much of JSON Schema as schema.py uses. A reader's maps tell the `lines` of their keys.
"""

from __future__ import annotations

from typing import Any

from kcli.declared.schema import Schema
from kcli.errors import UsageError
from kcli.text.suggest import did_you_mean

SAID = {"object": "keys and values below it", "array": "a list", "integer": "a whole number", "number": "a number"}


class Checker:
    """One file."""

    def __init__(self, path: str, schema: Schema) -> None:
        self._path = path
        self._whole = schema

    def check(self, document: Any) -> None:
        """Raises UsageError."""
        if not isinstance(document, dict):
            raise UsageError(f"{self._path}:1: a declared cluster is a map: {', '.join(self._whole['properties'])}")
        self._value(document, self._whole, 1, "")

    def _wrong(self, line: int, where: str, why: str) -> UsageError:
        return UsageError(f"{self._path}:{line}: {where}{': ' if where else ''}{why}")

    def _value(self, value: Any, schema: Schema, line: int, where: str) -> None:
        schema = self._meant(value, schema)
        if value is None:
            raise self._wrong(line, where, "there is no value")
        if "const" in schema:
            if value != schema["const"]:
                raise self._wrong(line, where, f"this kcli reads {schema['const']}, not {value}")
            return
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if isinstance(value, dict):
            if "object" not in types:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not keys and values")
            self._object(value, schema, line, where)
        elif isinstance(value, list):
            if "array" not in types:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not a list")
            for number, one in enumerate(value, 1):
                lines = list(getattr(one, "lines", {}).values())
                at = f"{where} {number}" if isinstance(one, dict) else where
                self._value(one, schema["items"], min(lines, default=line), at)
        else:
            self._scalar(value, schema, types, line, where)

    def _meant(self, value: Any, schema: Schema) -> Schema:
        """The schema without references and choices: of those the one of the value's kind."""
        if "$ref" in schema:
            return self._meant(value, self._whole["$defs"][schema["$ref"].rpartition("/")[2]])
        if "anyOf" not in schema:
            return schema
        kind = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
        choices: list[Schema] = [self._meant(value, one) for one in schema["anyOf"]]
        return next((choice for choice in choices if kind and choice["type"] == kind), choices[0])

    def _expected(self, schema: Schema) -> str:
        kind = schema["type"]
        return SAID.get(kind, "one value") if isinstance(kind, str) else "one value"

    def _object(self, value: dict[str, Any], schema: Schema, line: int, where: str) -> None:
        lines = getattr(value, "lines", {})
        known = schema.get("properties", {})
        for key, one in value.items():
            at, name = lines.get(key, line), f"{where}: {key}" if where else key
            rest = schema["additionalProperties"]
            if key in known:
                self._value(one, known[key], at, name)
            elif rest is False:
                near = did_you_mean(key, known) or f"; known: {', '.join(known)}"
                raise self._wrong(at, where, f"unknown key {key}{near}")
            elif not key:
                raise self._wrong(at, where, "a name is empty")
            else:
                self._value(one, rest, at, name)
        for key in schema.get("required", ()):
            if key not in value:
                raise self._wrong(line, where, f"{key} is missing")

    def _scalar(self, value: Any, schema: Schema, types: list[str], line: int, where: str) -> None:
        text = str(value)
        if not isinstance(value, str | int | float):  # a date of TOML
            raise self._wrong(line, where, f"{text}: write it in quotation marks")
        if "object" in types or "array" in types:
            raise self._wrong(line, where, f"expected {self._expected(schema)}, not {text}")
        if "enum" in schema and text not in schema["enum"]:
            near = did_you_mean(text, schema["enum"]) or f"; known: {', '.join(schema['enum'])}"
            raise self._wrong(line, where, f"{text} is none{near}")
        if types == ["integer"] or types == ["number"]:
            try:
                number = int(text) if types == ["integer"] else float(text)
            except ValueError:
                raise self._wrong(line, where, f"expected {self._expected(schema)}, not {text}") from None
            for bound, fits in (
                ("minimum", number >= schema.get("minimum", number)),
                ("maximum", number <= schema.get("maximum", number)),
            ):
                if not fits:
                    raise self._wrong(line, where, f"{text} is not the {bound} {schema[bound]} or {_beyond(bound)}")
        elif types == ["boolean"] and text.lower() not in ("true", "false"):
            raise self._wrong(line, where, f"expected true or false, not {text}")
        elif types == ["string"] and schema.get("minLength") and not text:
            raise self._wrong(line, where, "it is empty")


def _beyond(bound: str) -> str:
    return "more" if bound == "minimum" else "less"

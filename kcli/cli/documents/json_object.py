"""Fields of a JSON object from a file, read by the type that the reader expects.

A wrong type is one sentence that names the field (`configs[2].value: expected a text`), never Python's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from kcli.values import Frozen


class JsonObject(Frozen):
    """One object, and where it stands in its document ("" at the top). Every reader raises ValueError."""

    fields: Mapping[str, object] = {}
    place: str = ""

    def text(self, name: str) -> str:
        value = self._value(name)
        if not isinstance(value, str):
            raise ValueError(f"{self._path(name)}: expected a text")
        return value

    def text_or_null(self, name: str) -> str | None:
        return None if self._value(name) is None else self.text(name)

    def number_or_null(self, name: str) -> float | None:
        value = self._value(name)
        if value is None:
            return None
        if type(value) is int or type(value) is float:  # and no bool, which is an int
            return float(value)
        raise ValueError(f"{self._path(name)}: expected a number or null")

    def texts_or_nulls(self, name: str) -> dict[str, str | None]:
        """The object of this name, whose values are texts or null."""
        inner = self.nested(name)
        return {key: inner.text_or_null(key) for key in inner.fields}

    def nested(self, name: str) -> JsonObject:
        return json_object(self._value(name), self._path(name))

    def objects(self, name: str) -> list[JsonObject]:
        value = self._value(name)
        if not isinstance(value, list):
            raise ValueError(f"{self._path(name)}: expected a list")
        rows: list[object] = value
        return [json_object(row, f"{self._path(name)}[{index}]") for index, row in enumerate(rows)]

    def _value(self, name: str) -> object:
        if name not in self.fields:
            raise ValueError(f"{self._path(name)} is missing")
        return self.fields[name]

    def _path(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


def read_object(text: str) -> JsonObject:
    """The object that a JSON text is. Raises ValueError for other texts, RecursionError for one nested too deeply."""
    return json_object(json.loads(text), "")


def json_object(value: object, place: str) -> JsonObject:
    """Raises ValueError if the value is no object."""
    if not isinstance(value, dict):
        raise ValueError(f"{place}: expected a JSON object" if place else "expected a JSON object")
    return JsonObject(fields=value, place=place)

"""Reads fields of a JSON object from a file or server with the expected type.

A wrong type is reported in one sentence that names the field (`configs[2].value: expected a text`), not in Python's
words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from kcli.values import Frozen


class JsonObject(Frozen):
    """A JSON object, and its place in its document ("" at the top). Every reader raises ValueError."""

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
        if type(value) is int or type(value) is float:  # excludes bool, which is an int
            return float(value)
        raise ValueError(f"{self._path(name)}: expected a number or null")

    def number(self, name: str) -> int:
        """Return a whole number."""
        return whole(self._value(name), self._path(name))

    def flag(self, name: str) -> bool:
        value = self._value(name)
        if not isinstance(value, bool):
            raise ValueError(f"{self._path(name)}: expected true or false")
        return value

    def has(self, name: str) -> bool:
        """Whether the field exists and is not null."""
        return self.fields.get(name) is not None

    def texts(self, name: str) -> list[str]:
        return texts(self._value(name), self._path(name))

    def texts_or_nulls(self, name: str) -> dict[str, str | None]:
        """Return the object of this name, whose values are strings or null."""
        inner = self.nested(name)
        return {key: inner.text_or_null(key) for key in inner.fields}

    def nested(self, name: str) -> JsonObject:
        return json_object(self._value(name), self._path(name))

    def objects(self, name: str) -> list[JsonObject]:
        return objects(self._value(name), self._path(name))

    def _value(self, name: str) -> object:
        if name not in self.fields:
            raise ValueError(f"{self._path(name)} is missing")
        return self.fields[name]

    def _path(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name


def read_object(text: str) -> JsonObject:
    """Parse a JSON object. Raises ValueError for other texts, RecursionError if it is nested too deeply."""
    return json_object(json.loads(text), "")


def rows(value: object, place: str) -> list[tuple[object, str]]:
    """Return the items of a list, each with its place. Raises ValueError if the value is not a list."""
    if not isinstance(value, list):
        raise ValueError(f"{place}: expected a list" if place else "expected a list")
    items: list[object] = value
    return [(item, f"{place}[{index}]") for index, item in enumerate(items)]


def objects(value: object, place: str = "") -> list[JsonObject]:
    return [json_object(item, where) for item, where in rows(value, place)]


def texts(value: object, place: str = "") -> list[str]:
    items = []
    for item, where in rows(value, place):
        if not isinstance(item, str):
            raise ValueError(f"{where}: expected a text")
        items.append(item)
    return items


def whole_numbers(value: object, place: str = "") -> list[int]:
    return [whole(item, where) for item, where in rows(value, place)]


def whole(value: object, place: str = "") -> int:
    if type(value) is not int:  # excludes bool, which is an int
        raise ValueError(f"{place}: expected a whole number" if place else "expected a whole number")
    return value


def json_object(value: object, place: str) -> JsonObject:
    """Raises ValueError if the value is not an object."""
    if not isinstance(value, dict):
        raise ValueError(f"{place}: expected a JSON object" if place else "expected a JSON object")
    return JsonObject(fields=value, place=place)

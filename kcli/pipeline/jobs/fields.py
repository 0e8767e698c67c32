"""Statistics of fields in JSON values: types, how often they are null or missing, distinct values, minimum and maximum,
examples. They can be added up, so that each task processes its own records."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from kcli.values import Value, field

KEPT = 256
"""Smallest hashes kept to estimate distinct values; the error is below 6 % in two of three cases."""
EXAMPLES, LONGEST = 3, 60
DEEPEST, MOST = 8, 500
"""Nesting levels and fields that are examined; everything beyond is one field `…`."""
SPACE = 1 << 64
TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}


class Field(Value):
    """One path, such as user.name or items[].sku. `seen` counts non-null values; `nulls` nulls; `parents` how often it
    could have been present."""

    seen: int = 0
    nulls: int = 0
    types: Counter[str] = field(factory=Counter)
    least: float | None = None
    most: float | None = None
    shortest: int = -1
    longest: int = -1
    hashes: set[int] = field(factory=set)
    examples: list[str] = field(factory=list)

    @property
    def distinct(self) -> int:
        """The approximate number of distinct values; exact up to 256."""
        if len(self.hashes) < KEPT:
            return len(self.hashes)
        return min(round((KEPT - 1) * SPACE / sorted(self.hashes)[KEPT - 1]), self.seen)

    def note(self, value: Any) -> None:
        """Add a value."""
        if value is None:
            self.nulls += 1
            return
        self.seen += 1
        self.types[TYPES[type(value)]] += 1
        if isinstance(value, dict | list):
            size = len(value)
        else:
            text = value if isinstance(value, str) else json.dumps(value)
            self._distinct(text)
            if isinstance(value, str):
                size = len(value)
            else:
                size = -1
                # excludes NaN and Infinity, which JSON cannot express
                if not isinstance(value, bool) and value - value == 0:
                    self.least = value if self.least is None else min(self.least, value)
                    self.most = value if self.most is None else max(self.most, value)
        if size >= 0:
            self.shortest = size if self.shortest < 0 else min(self.shortest, size)
            self.longest = max(self.longest, size)

    def _distinct(self, text: str) -> None:
        if len(self.examples) < EXAMPLES and text[:LONGEST] not in self.examples:
            self.examples.append(text[:LONGEST])
        number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        hashes = self.hashes
        hashes.add(number)
        if len(hashes) > KEPT * 2:
            self.hashes = set(sorted(hashes)[:KEPT])

    def add(self, other: Field) -> None:
        """Add the statistics of another part."""
        self.seen += other.seen
        self.nulls += other.nulls
        self.types.update(other.types)
        if other.least is not None and other.most is not None:
            self.least = other.least if self.least is None else min(self.least, other.least)
            self.most = other.most if self.most is None else max(self.most, other.most)
        if other.shortest >= 0:
            self.shortest = other.shortest if self.shortest < 0 else min(self.shortest, other.shortest)
            self.longest = max(self.longest, other.longest)
        self.hashes = set(sorted(self.hashes | other.hashes)[:KEPT])
        self.examples = list(dict.fromkeys([*self.examples, *other.examples]))[:EXAMPLES]


class Fields(Value):
    """All fields of some values: the number of values, and of JSON objects among them."""

    values: int = 0
    objects: int = 0
    paths: dict[str, Field] = field(factory=dict)

    def note(self, data: bytes) -> None:
        """Add a record's value."""
        self.values += 1
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            self.objects += 1
            self._walk(value, "", 0)

    def _walk(self, value: dict[str, Any], before: str, depth: int) -> None:
        for key, one in value.items():
            path = f"{before}{key}"
            if path not in self.paths and (len(self.paths) >= MOST or depth >= DEEPEST):
                path, one = "…", str(type(one).__name__)
            known = self.paths.get(path)
            if known is None:
                known = self.paths[path] = Field()
            known.note(one)
            if isinstance(one, dict):
                self._walk(one, f"{path}.", depth + 1)
            elif isinstance(one, list):
                for item in one[:100]:
                    if isinstance(item, dict):
                        self._walk(item, f"{path}[].", depth + 1)

    def add(self, other: Fields) -> None:
        """Add the statistics of another task."""
        self.values += other.values
        self.objects += other.objects
        for path, counted in other.paths.items():
            self.paths.setdefault(path, Field()).add(counted)


def fields_of(values: Iterable[bytes | bytearray | None]) -> Fields:
    """Return the fields of these values."""
    fields = Fields()
    for value in values:
        if value is not None:
            fields.note(bytes(value))
    return fields

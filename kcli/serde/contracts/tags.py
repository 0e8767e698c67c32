"""The tags of fields, and which rules encrypt a field: by its tags, and by path patterns in the metadata."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule

TAGS = "confluent:tags"


class Tags:
    """A schema's metadata about its fields, and the rules that encrypt."""

    def __init__(self, schema: Schema, rules: Sequence[Rule]) -> None:
        self._rules = rules
        metadata = json.loads(schema.metadata) if schema.metadata else {}
        patterns = metadata.get("tags") if isinstance(metadata, dict) else None
        self._patterns = [
            (_pattern(path), frozenset(map(str, tags)))
            for path, tags in (patterns.items() if isinstance(patterns, dict) else ())
            if isinstance(tags, list)
        ]

    def of(self, path: str, own: Iterable[str]) -> frozenset[str]:
        """Return the tags of a field, from its path and its own tags."""
        return frozenset(own).union(*(tags for pattern, tags in self._patterns if _matches(pattern, path)))

    def rule(self, path: str, own: Iterable[str]) -> Rule | None:
        """Return the first rule that encrypts a field; a rule without tags encrypts every field."""
        tags = self.of(path, own)
        return next((rule for rule in self._rules if not rule.tags or rule.tags & tags), None)


def sealed(rule: Rule) -> dict[str, str]:
    """Return the placeholder for ciphertext."""
    return {"encrypted": rule.key or rule.name}


def _pattern(path: str) -> list[str]:
    """Split a Confluent path pattern into steps: `**` is anything, `*` anything without a dot, `?` one character of a
    name."""
    return [
        step
        for part in re.split(r"(\*\*|\*|\?)", path)
        for step in ([part] if part in ("**", "*", "?") else list(part))
    ]


def _matches(pattern: Sequence[str], path: str) -> bool:
    """Whether a pattern matches the whole path, in time proportional to the product of their lengths, because both come
    from a registry."""
    at = _past_stars(pattern, {0})
    for char in path:
        following = set()
        for step in at:
            wanted = pattern[step] if step < len(pattern) else ""
            if wanted == "**" or (wanted == "*" and char != "."):
                following.add(step)
            elif wanted == char or (wanted == "?" and char != "."):
                following.add(step + 1)
        at = _past_stars(pattern, following)
    return len(pattern) in at


def _past_stars(pattern: Sequence[str], steps: set[int]) -> set[int]:
    """Return these steps, and those after stars that can match nothing."""
    for step in sorted(steps):
        while step < len(pattern) and pattern[step] in ("*", "**"):
            step += 1
            steps.add(step)
    return steps

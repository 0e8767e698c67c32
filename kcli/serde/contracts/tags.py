"""The tags of fields, and which rules encrypt a field: by tags beside it, and by patterns of paths in the metadata."""

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
    """What the metadata of a schema says about its fields, and the rules that encrypt."""

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
        """The tags of a field, by its path and its own ones."""
        return frozenset(own).union(*(tags for pattern, tags in self._patterns if _matches(pattern, path)))

    def rule(self, path: str, own: Iterable[str]) -> Rule | None:
        """The first rule that encrypts a field, by its path and its own tags; a rule without tags encrypts each."""
        tags = self.of(path, own)
        return next((rule for rule in self._rules if not rule.tags or rule.tags & tags), None)


def sealed(rule: Rule) -> dict[str, str]:
    """What is shown in place of ciphertext."""
    return {"encrypted": rule.key or rule.name}


def _pattern(path: str) -> list[str]:
    """A path of Confluent's in steps: `**` is any, `*` any without a dot, `?` one character of a name."""
    return [
        step
        for part in re.split(r"(\*\*|\*|\?)", path)
        for step in ([part] if part in ("**", "*", "?") else list(part))
    ]


def _matches(pattern: Sequence[str], path: str) -> bool:
    """Whether the whole path is of a pattern, in time that is their lengths' product: both are a registry's."""
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
    """These steps, and those behind stars that may stand for nothing."""
    for step in sorted(steps):
        while step < len(pattern) and pattern[step] in ("*", "**"):
            step += 1
            steps.add(step)
    return steps

"""The tags of fields, and which rules encrypt a field: by tags beside it, and by patterns of paths in the metadata."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kcli.schemas import Schema
    from kcli.serde.rules.rules import Rule

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

    def rule(self, path: str, own: Iterable[str]) -> Rule | None:
        """The first rule that encrypts a field, by its path and its own tags; a rule without tags encrypts each."""
        tags = set(own).union(*(tags for pattern, tags in self._patterns if pattern.fullmatch(path)))
        return next((rule for rule in self._rules if not rule.tags or rule.tags & tags), None)


def sealed(rule: Rule) -> dict[str, str]:
    """What is shown in place of ciphertext."""
    return {"encrypted": rule.key or rule.name}


def _pattern(path: str) -> re.Pattern[str]:
    """A path of Confluent's: `**` is any, `*` any without a dot, `?` one character of a name."""
    some = {"**": ".*", "*": "[^.]*", "?": "[^.]"}
    return re.compile("".join(some.get(part) or re.escape(part) for part in re.split(r"(\*\*|\*|\?)", path)))

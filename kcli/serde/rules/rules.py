"""The rules of a schema's data contract."""

from __future__ import annotations

import json
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from kcli.schemas import Schema

    class Rule(NamedTuple):
        """One rule that is not disabled. `key` is the name of its KEK, the key that encrypts keys; "" without one."""

        name: str
        type: str
        mode: str
        tags: frozenset[str]
        key: str
else:
    Rule = namedtuple("Rule", "name type mode tags key")

WRITING = ("WRITE", "WRITEREAD")
PAYLOAD = "ENCRYPT_PAYLOAD"
"""The type of rules that encrypt whole payloads; the others encrypt fields."""


def rules_of(schema: Schema) -> Iterator[Rule]:
    """The rules of all its sets, as far as they are of the form that registries give them."""
    found = json.loads(schema.rule_set) if schema.rule_set else {}
    for rules in found.values() if isinstance(found, dict) else ():
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, dict) and not rule.get("disabled"):
                tags, parameters = rule.get("tags"), rule.get("params")
                key = parameters.get("encrypt.kek.name") if isinstance(parameters, dict) else None
                name, type, mode = (str(rule.get(field) or "") for field in ("name", "type", "mode"))
                yield Rule(
                    name, type, mode, frozenset(map(str, tags if isinstance(tags, list) else ())), str(key or "")
                )


def encrypts(rule: Rule) -> bool:
    return rule.type.startswith("ENCRYPT")

"""The rules of a schema's data contract."""

from __future__ import annotations

import json
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NamedTuple

    from kcli.schemas import Schema

    class Rule(NamedTuple):
        """One rule that is not disabled. `key` is the name of its KEK, the key that encrypts keys; "" without one.
        `set` is the list of the rule set that has it, `failing` the name of the action for a value that fails."""

        name: str
        type: str
        mode: str
        tags: frozenset[str]
        key: str
        set: str
        kind: str
        text: str
        doc: str
        failing: str
else:
    Rule = namedtuple("Rule", "name type mode tags key set kind text doc failing")

WRITING = ("WRITE", "WRITEREAD")
PAYLOAD = "ENCRYPT_PAYLOAD"
"""The type of rules that encrypt whole payloads; the others encrypt fields."""
CLIENTS = ("ALL", "CLIENT")
"""Places in `enableAt` at which serializers run the rules."""


def rules_of(schema: Schema) -> Iterator[Rule]:
    """The rules of all its sets, as far as they are of the form that registries give them."""
    found = json.loads(schema.rule_set) if schema.rule_set else {}
    if not isinstance(found, dict):
        return
    elsewhere = (found.get("enableAt") or "ALL") not in CLIENTS
    for name, rules in found.items():
        for one in rules if isinstance(rules, list) else ():
            if isinstance(one, dict) and not one.get("disabled"):
                rule = _rule(name, one)
                if encrypts(rule) or not elsewhere:  # a gateway may encrypt; kcli does not know whether it talks to one
                    yield rule


def _rule(set: str, rule: dict[str, object]) -> Rule:
    tags, parameters = rule.get("tags"), rule.get("params")
    key = parameters.get("encrypt.kek.name") if isinstance(parameters, dict) else None
    name, type, mode, kind, text, doc = (
        str(rule.get(field) or "") for field in ("name", "type", "mode", "kind", "expr", "doc")
    )
    failing = str(rule.get("onFailure") or "ERROR")
    if mode == "WRITEREAD":  # for writing, for reading
        failing = failing.partition(",")[0]
    labels = frozenset(map(str, tags if isinstance(tags, list) else ()))
    return Rule(name, type, mode, labels, str(key or ""), set, kind, text, doc, failing)


def encrypts(rule: Rule) -> bool:
    return rule.type.startswith("ENCRYPT")


def encrypting(schema: Schema) -> Rule | None:
    """The first rule that encrypts values of the schema."""
    if "ENCRYPT" not in schema.rule_set:
        return None
    return next((rule for rule in rules_of(schema) if encrypts(rule)), None)


def checks(rule: Rule) -> bool:
    """Whether it is a condition in CEL about what is written."""
    return (rule.type, rule.kind, rule.set) == ("CEL", "CONDITION", "domainRules") and rule.mode in WRITING


def changes_fields(rule: Rule) -> bool:
    """Whether it is about fields that are written: a condition in CEL, or an expression for what is stored."""
    kinds = ("CONDITION", "TRANSFORM")
    return (rule.type, rule.set) == ("CEL_FIELD", "domainRules") and rule.kind in kinds and rule.mode in WRITING


def earliest(rules: Sequence[Rule]) -> list[Rule]:
    """Rules without those that change the fields of an earlier one: Confluent's serializers run the first of them."""
    met: set[tuple[str, str, frozenset[str]]] = set()
    kept = []
    for rule in rules:
        changed = (rule.type, rule.mode, rule.tags)
        if rule.kind != "TRANSFORM" or rule.type != "CEL_FIELD" or not rule.tags or changed not in met:
            kept.append(rule)
        if rule.kind == "TRANSFORM":
            met.add(changed)
    return kept

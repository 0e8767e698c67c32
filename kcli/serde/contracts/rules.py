"""The rules of a schema's data contract."""

from __future__ import annotations

import json
from collections import namedtuple

from kcli.errors import UsageError
from kcli.schemas import SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import NamedTuple

    from kcli.errors import KcliError
    from kcli.schemas import Schema

    class Rule(NamedTuple):
        """An enabled rule. `key` is the name of its KEK, the key that encrypts keys; "" without one. `set` is the list
        of the rule set that contains it, `failing` the action for a value that fails when writing, and `misread` that
        for reading."""

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
        misread: str = "ERROR"
else:
    Rule = namedtuple("Rule", "name type mode tags key set kind text doc failing misread", defaults=["ERROR"])

WRITING = ("WRITE", "WRITEREAD")
READING = ("READ", "WRITEREAD")
PAYLOAD = "ENCRYPT_PAYLOAD"
"""The type of rules that encrypt whole payloads; the others encrypt fields."""
CLIENTS = ("ALL", "CLIENT")
"""Values of `enableAt` for which serializers run the rules."""


def rules_of(schema: Schema) -> Iterator[Rule]:
    """Iterate over the rules of all sets that have a valid form."""
    found = json.loads(schema.rule_set) if schema.rule_set else {}
    if not isinstance(found, dict):
        return
    elsewhere = (found.get("enableAt") or "ALL") not in CLIENTS
    for name, rules in found.items():
        for one in rules if isinstance(rules, list) else ():
            if isinstance(one, dict) and not one.get("disabled"):
                rule = _rule(name, one)
                # a gateway may encrypt, and kcli cannot know whether it talks to one
                if encrypts(rule) or not elsewhere:
                    yield rule


def _rule(set: str, rule: dict[str, object]) -> Rule:
    tags, parameters = rule.get("tags"), rule.get("params")
    key = parameters.get("encrypt.kek.name") if isinstance(parameters, dict) else None
    name, type, mode, kind, text, doc = (
        str(rule.get(field) or "") for field in ("name", "type", "mode", "kind", "expr", "doc")
    )
    failing = misread = str(rule.get("onFailure") or "ERROR")
    if mode == "WRITEREAD" and "," in failing:  # for writing, for reading
        failing, misread = failing.split(",")[:2]
    labels = frozenset(map(str, tags if isinstance(tags, list) else ()))
    return Rule(name, type, mode, labels, str(key or ""), set, kind, text, doc, failing, misread)


def encrypts(rule: Rule) -> bool:
    return rule.type.startswith("ENCRYPT")


def encrypting(schema: Schema) -> Rule | None:
    """Return the first rule that encrypts values of the schema."""
    if "ENCRYPT" not in schema.rule_set:
        return None
    return next((rule for rule in rules_of(schema) if encrypts(rule)), None)


def checks(rule: Rule) -> bool:
    """Whether it is a CEL condition for written values."""
    return _is_condition(rule) and rule.mode in WRITING


def changes_fields(rule: Rule) -> bool:
    """Whether it applies to written fields: a CEL condition, or an expression for the stored value."""
    return _is_of_fields(rule) and rule.mode in WRITING


def reading(schema: Schema) -> list[Rule]:
    """Return the CEL rules to run when values are read, in order, which is the reverse of that for writing.

    Empty for a schema with encryption rules, because other rules would apply to ciphertext. Raises SchemaRefused for a
    rule that kcli does not run, unless its failure has no effect.
    """
    rules = [rule for rule in rules_of(schema) if rule.mode in READING]
    if any(map(encrypts, rules_of(schema))):
        return []
    run = [rule for rule in rules if _is_condition(rule) or _is_of_fields(rule)]
    other = next((rule for rule in rules if rule not in run and rule.misread != "NONE"), None)
    if other is not None:
        raise SchemaRefused(
            f"{schema.name} has the rule {other.name} ({other.type}) for reading, which kcli does not run"
        ).hinted("without-rules")
    run = earliest(run)
    return [rule._replace(failing=rule.misread) for rule in reversed(run)]


def check_cel(schema: Schema, rules: Sequence[Rule], error: type[KcliError] = UsageError) -> None:
    """Raise `error` for CEL rules if the extra that runs them (`kcli/serde/rules`) is not installed."""
    try:
        import celpy  # noqa: F401
    except ImportError:
        raise error(
            f"the rule {rules[0].name} ({rules[0].type}) of {schema.name} is evaluated by cel-python: "
            "pip install 'kcli-kafka[rules]'"
        ).hinted("without-rules") from None


def _is_condition(rule: Rule) -> bool:
    return (rule.type, rule.kind, rule.set) == ("CEL", "CONDITION", "domainRules")


def _is_of_fields(rule: Rule) -> bool:
    return (rule.type, rule.set) == ("CEL_FIELD", "domainRules") and rule.kind in ("CONDITION", "TRANSFORM")


def earliest(rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules without those that change fields of an earlier one: Confluent's serializers run only the
    first."""
    met: set[tuple[str, str, frozenset[str]]] = set()
    kept = []
    for rule in rules:
        changed = (rule.type, rule.mode, rule.tags)
        if rule.kind != "TRANSFORM" or rule.type != "CEL_FIELD" or not rule.tags or changed not in met:
            kept.append(rule)
        if rule.kind == "TRANSFORM":
            met.add(changed)
    return kept

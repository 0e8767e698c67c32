"""Schemas that cannot be used for writing because of their rules, and the rules to run for the others."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.serde.contracts.rules import WRITING, changes_fields, checks, encrypts, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule


def conditions_of(schema: Schema, *, without: bool = False) -> list[Rule]:
    """Return the CEL rules for written values, in order; none if `without`. Raises UsageError for a schema with other
    rules for writing, which kcli does not run. `without` writes anyway, but never plain text if a rule encrypts."""
    conditions = []
    for rule in rules_of(schema):
        about = f"{schema.name} has the rule {rule.name} ({rule.type}) for writing"
        if rule.mode in WRITING and encrypts(rule):
            raise UsageError(f"{about}: kcli does not encrypt, and does not store plain text instead of ciphertext")
        if checks(rule) or changes_fields(rule):
            conditions.append(rule)
        elif rule.mode in WRITING and not without:
            raise UsageError(f"{about}, which kcli does not run").hinted("without-rules")
    return [] if without else conditions

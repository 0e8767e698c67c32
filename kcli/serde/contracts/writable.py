"""Schemas that are not written by because of their rules, and the rules that are run for those that are."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.serde.contracts.rules import WRITING, changes_fields, checks, encrypts, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule


def conditions_of(schema: Schema, *, without: bool = False) -> list[Rule]:
    """The rules in CEL that are run about written values, in their order, none if `without`. Raises UsageError for a
    schema with another rule for writing: those are not run here. `without` writes all the same, but never plain text
    where a rule encrypts."""
    conditions = []
    for rule in rules_of(schema):
        about = f"{schema.name} has the rule {rule.name} ({rule.type}) for writing"
        if rule.mode in WRITING and encrypts(rule):
            raise UsageError(f"{about}: kcli does not encrypt, and stores no plain text in place of ciphertext")
        if checks(rule) or changes_fields(rule):
            conditions.append(rule)
        elif rule.mode in WRITING and not without:
            raise UsageError(f"{about}, which kcli does not run").hinted("without-rules")
    return [] if without else conditions

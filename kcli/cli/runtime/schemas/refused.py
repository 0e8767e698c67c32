"""Schemas that are not written by, because of their rules."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.serde.rules.rules import WRITING, encrypts, rules_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.schemas import Schema


def refuse_rules(schema: Schema, *, without: bool = False) -> None:
    """Raises UsageError for a schema whose rules change or check what is written: they are not run here. `without`
    writes all the same, but never plain text where a rule encrypts."""
    for rule in rules_of(schema):
        about = f"{schema.name} has the rule {rule.name} ({rule.type}) for writing"
        if rule.mode in WRITING and encrypts(rule):
            raise UsageError(f"{about}: kcli does not encrypt, and stores no plain text in place of ciphertext")
        if rule.mode in WRITING and not without:
            raise UsageError(f"{about}, which kcli does not run; --without-rules stores without it")

"""A field as seen by a CEL_FIELD rule, and the rule's result."""

from __future__ import annotations

from celpy import celtypes

from kcli.serde.avro.exact import BadValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kcli.serde.contracts.rules import Rule
    from kcli.serde.rules.expression import Expression

KEPT = object()
"""Result of a rule that keeps the value."""


class FieldRule:
    """A rule and its expression."""

    def __init__(self, rule: Rule, expression: Expression) -> None:
        self.rule, self._expression = rule, expression
        self.sees_message = "message" in rule.text
        self.now: Any = None

    def concerns(self, tags: frozenset[str]) -> bool:
        """Whether it applies to a field with these tags."""
        return not self.rule.tags or bool(self.rule.tags & tags)

    def made(self, value: Any, path: str, type: str, tags: Iterable[str], message: Any) -> Any:
        """Return the result for a CEL value, KEPT for the value itself. `path` ends with the name of the field, `type`
        is Confluent's name for its type. Raises BadValue."""
        name = path.rpartition(".")[2]
        variables = {
            "value": value,
            "name": celtypes.StringType(name),
            "fullName": celtypes.StringType(path),
            "typeName": celtypes.StringType(type),
            "tags": celtypes.ListType([celtypes.StringType(tag) for tag in sorted(tags)]),
            "now": self.now,
        }
        if self.sees_message:
            variables["message"] = message
        about = f" ({name})"
        if self.rule.kind == "CONDITION":
            self._expression.check(variables, about)
            return KEPT
        applies, made = self._expression.evaluated(variables, about)
        return made if applies else KEPT

    def refused(self, name: str, problem: str) -> BadValue:
        return BadValue(f"the rule {self.rule.name} puts into {name} {problem}")


def plain(made: Any, about: str) -> Any:
    """Return the result of an expression as a Python value. Raises BadValue for a type that no simple field has."""
    if made is None or isinstance(made, celtypes.BoolType | bool):
        return None if made is None else bool(made)
    kinds: tuple[Any, ...] = (int, float, str, bytes)
    for kind in kinds:
        if isinstance(made, kind):
            return kind(made)
    raise BadValue(f"{about} gives a value that is none of a field")

"""Evaluates CEL rules for written values with cel-python (the extra `rules`).

A condition sees the value as `message`: the payload to be stored, decoded with its schema, so it includes defaults. A
value for which a condition is false, or cannot be evaluated, raises BadValue.
"""

from __future__ import annotations

from datetime import UTC, datetime

from celpy import celtypes

from kcli.schemas import AVRO, PROTOBUF
from kcli.serde.avro.exact import BadValue
from kcli.serde.contracts.rules import earliest
from kcli.serde.rules.expression import Expression, reason
from kcli.serde.rules.functions import FUNCTIONS, environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule

    Run = Callable[[bytes], bytes]
    """Returns the payload to store. Raises BadValue if a condition rejects it."""

    class FieldStep(Protocol):
        """A rule for fields."""

        def applied(self, payload: bytes, now: Any) -> bytes:
            """Return the payload with the rule's changes. Raises BadValue."""


def rules_run(schema: Schema, rules: Sequence[Rule], referred: Sequence[tuple[str, str]], message: str) -> Run:
    """Return the function that runs rules on bare payloads of a schema, in order; `message` is a Protobuf message.
    Raises UsageError for an invalid expression, SchemaRefused."""
    made = environment()
    expressions = [(rule, Expression(made, FUNCTIONS, schema, rule)) for rule in earliest(rules)]
    steps = [
        (rule, _field_rule(schema, referred, message, rule, expression) if rule.type == "CEL_FIELD" else expression)
        for rule, expression in expressions
    ]
    value_of = _values(schema, referred, message)

    def run(payload: bytes) -> bytes:
        now = celtypes.TimestampType(datetime.now(UTC))
        variables: dict[str, Any] = {}
        for rule, step in steps:
            try:
                if isinstance(step, Expression):
                    variables = variables or {"message": _evaluable(value_of, payload, step), "now": now}
                    step.check(variables)
                elif (changed := _applied(step, payload, now, rule)) != payload:
                    payload, variables = changed, {}
            except BadValue:
                if rule.failing != "NONE":  # as in Confluent's serializers: the value is unchanged
                    raise
        return payload

    return run


def _values(schema: Schema, referred: Sequence[tuple[str, str]], message: str) -> Callable[[bytes], Any]:
    """Return the decoder for payloads of a schema. Raises SchemaRefused."""
    from kcli.serde.rules.cel_values import avro_values, json_value, protobuf_values

    texts = [text for _, text in referred]
    if schema.kind == AVRO:
        return avro_values(schema.text, texts)
    return protobuf_values(schema.text, texts, message) if schema.kind == PROTOBUF else json_value


def _field_rule(
    schema: Schema, referred: Sequence[tuple[str, str]], message: str, rule: Rule, expression: Expression
) -> FieldStep:
    texts = [text for _, text in referred]
    if schema.kind == AVRO:
        from kcli.serde.rules.field_rules.avro import AvroFieldRule

        return AvroFieldRule(schema, texts, rule, expression)
    if schema.kind == PROTOBUF:
        from kcli.serde.rules.field_rules.protobuf import ProtobufFieldRule

        return ProtobufFieldRule(schema, texts, message, rule, expression)
    from kcli.serde.rules.field_rules.json_schema import JsonFieldRule

    return JsonFieldRule(schema, referred, rule, expression)


def _applied(step: FieldStep, payload: bytes, now: Any, rule: Rule) -> bytes:
    try:
        return step.applied(payload, now)
    except BadValue:
        raise
    except (ValueError, OverflowError) as problem:
        raise BadValue(f"the rule {rule.name} cannot be evaluated: {reason(problem)}") from None


def _evaluable(value_of: Callable[[bytes], Any], payload: bytes, step: Expression) -> Any:
    try:
        return value_of(payload)
    except (ValueError, OverflowError) as problem:
        raise BadValue(f"the rule {step.name} cannot be evaluated: {reason(problem)}") from None

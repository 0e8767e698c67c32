"""Rules in CEL about what is written, evaluated by cel-python (the extra `rules`).

A condition sees the value as `message`: what is about to be stored, read by its schema, so that defaults are in it. A
value that fails a condition is BadValue, and so is one about which a condition cannot be evaluated.
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
    """The payload that is stored. Raises BadValue for one that a condition refuses."""

    class FieldStep(Protocol):
        """A rule about fields."""

        def applied(self, payload: bytes, now: Any) -> bytes:
            """The payload with what the rule puts into it. Raises BadValue."""


def rules_run(schema: Schema, rules: Sequence[Rule], referred: Sequence[tuple[str, str]], message: str) -> Run:
    """What runs rules about bare payloads of a schema, in their order; `message` is one of Protobuf. Raises UsageError
    for an expression that is none, SchemaRefused."""
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
                if rule.failing != "NONE":  # as with Confluent's serializers: the value stays as it is
                    raise
        return payload

    return run


def _values(schema: Schema, referred: Sequence[tuple[str, str]], message: str) -> Callable[[bytes], Any]:
    """What reads payloads of a schema. Raises SchemaRefused."""
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

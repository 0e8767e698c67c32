"""Conditions in CEL about what is written, evaluated by cel-python (the extra `rules`).

A condition sees the value as `message`: what is about to be stored, read by its schema, so that defaults are in it. A
value that fails a condition is BadValue, and so is one about which a condition cannot be evaluated.
"""

from __future__ import annotations

from datetime import UTC, datetime

from kcli.errors import UsageError
from kcli.schemas import AVRO, PROTOBUF
from kcli.serde.avro.exact import BadValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from celpy import Environment, Runner

    from kcli.schemas import Schema
    from kcli.serde.rules.rules import Rule
    from kcli.serde.schemas.readers import References

    Check = Callable[[bytes], None]
    """Raises BadValue for a payload that a condition refuses."""

LONGEST = 16 << 10  # characters of an expression
MACROS = frozenset(("has", "dyn", "all", "exists", "exists_one", "map", "filter", "reduce", "min"))
"""Words of cel-python that look like functions."""


def checks_of(schema: Schema, rules: Sequence[Rule], referred: References, message: str) -> Check:
    """What holds bare payloads of a schema against conditions; `message` is one of Protobuf. Raises UsageError without
    the package and for an expression that is none, SchemaRefused."""
    try:
        from celpy import celtypes
    except ImportError:
        raise UsageError(
            f"the rule {rules[0].name} (CEL) of {schema.name} is evaluated by cel-python: "
            "pip install 'kcli-kafka[rules]'; --without-rules stores without it"
        ) from None
    from kcli.serde.rules.cel_values import avro_values, json_value, protobuf_values
    from kcli.serde.rules.functions import FUNCTIONS, environment

    made = environment()
    conditions = [Condition(made, FUNCTIONS, schema, rule) for rule in rules]
    texts = [text for _, text in referred]
    if schema.kind == AVRO:
        value_of = avro_values(schema.text, texts)
    elif schema.kind == PROTOBUF:
        value_of = protobuf_values(schema.text, texts, message)
    else:
        value_of = json_value

    def check(payload: bytes) -> None:
        try:
            variables = {"message": value_of(payload), "now": celtypes.TimestampType(datetime.now(UTC))}
        except (ValueError, OverflowError) as problem:
            raise BadValue(f"the rule {rules[0].name} cannot be evaluated: {reason(problem)}") from None
        for condition in conditions:
            condition.check(variables)

    return check


class Condition:
    """A rule's expression. `guard; expression` counts only where the guard holds."""

    def __init__(self, environment: Environment, functions: dict[str, Any], schema: Schema, rule: Rule) -> None:
        """Raises UsageError for an expression that is none."""
        from celpy.celtypes import BoolType

        self._bool = BoolType
        self._rule = rule
        self._environment, self._functions = environment, functions
        self._about = f"the rule {rule.name} (CEL) of {schema.name}"
        guard, parted, text = rule.text.partition(";")
        if not parted:
            guard, text = "", rule.text
        self._guard = self._program(guard) if guard.strip() else None
        self._expression = self._program(text)

    def check(self, variables: dict[str, Any]) -> None:
        """Raises BadValue."""
        if self._rule.failing == "NONE":
            return  # as with Confluent's serializers: the value is written, whatever the condition says
        try:
            holds = True
            if self._guard is None or self._guard.evaluate(variables):
                holds = self._expression.evaluate(variables)
        except Exception as problem:  # noqa: BLE001 - cel-python raises what the operators of Python raise
            raise BadValue(f"the rule {self._rule.name} cannot be evaluated: {reason(problem)}") from None
        if holds is not True and not isinstance(holds, self._bool):
            raise BadValue(f"the rule {self._rule.name} is neither true nor false: {self._rule.text}")
        if not holds:
            raise BadValue(f"refused by the rule {self._rule.name}: {self._rule.doc or self._rule.text}")

    def _program(self, text: str) -> Runner:
        from celpy import CELParseError

        if len(text) > LONGEST:
            raise UsageError(f"{self._about} is longer than {LONGEST:,} characters; --without-rules stores without it")
        try:
            tree = self._environment.compile(text)
            called = {*_called(tree)} - MACROS
        except (CELParseError, RecursionError) as problem:
            raise UsageError(f"{self._about} is no expression: {reason(problem)}") from None
        unknown = sorted(called - self._functions.keys())
        if unknown:
            raise UsageError(
                f"{self._about} calls {unknown[0]}, which kcli does not have; --without-rules stores without it"
            )
        return self._environment.program(tree, self._functions)


def reason(problem: BaseException) -> str:
    """An error of cel-python in one line: it may print all the variables behind its first words."""
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    words = str(problem.args[0] if problem.args else problem).partition(" (in activation")[0]
    return " ".join(words.split())[:200]


def _called(tree: Any) -> list[str]:
    """The names of the functions that an expression calls."""
    place = {"ident_arg": 0, "dot_ident_arg": 0, "member_dot_arg": 1}
    return [str(node.children[place[node.data]]) for node in tree.iter_subtrees() if node.data in place]

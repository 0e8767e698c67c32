"""The CEL expression of a rule, parsed once and evaluated for each record or field."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.serde.avro.exact import BadValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from celpy import Environment, Runner

    from kcli.schemas import Schema
    from kcli.serde.contracts.rules import Rule

LONGEST = 16 << 10  # characters of an expression
MOST_STOPPED = 8
"""Number of interrupted evaluations after which the expression is no longer evaluated, because a topic has many
records."""
MACROS = frozenset(("has", "dyn", "all", "exists", "exists_one", "map", "filter", "reduce", "min"))
"""Names that look like functions in cel-python."""


class Expression:
    """A rule's expression. `guard; expression` applies only if the guard is true."""

    def __init__(self, environment: Environment, functions: dict[str, Any], schema: Schema, rule: Rule) -> None:
        """Raises UsageError for an invalid expression."""
        from celpy.celtypes import BoolType

        self.name = rule.name
        self._bool = BoolType
        self._rule = rule
        self._environment, self._functions = environment, functions
        self._about = f"the rule {rule.name} ({rule.type}) of {schema.name}"
        self._stopped = 0
        guard, parted, text = rule.text.partition(";")
        if not parted:
            guard, text = "", rule.text
        self._guard = self._program(guard) if guard.strip() else None
        self._expression = self._program(text)

    def check(self, variables: dict[str, Any], about: str = "") -> None:
        """Check a condition; `about` is the field that it applies to. Raises BadValue."""
        applies, holds = self.evaluated(variables, about)
        if applies and holds is not True and not isinstance(holds, self._bool):
            raise BadValue(f"the rule {self.name} is neither true nor false{about}: {self._rule.text}")
        if applies and not holds:
            raise BadValue(f"refused by the rule {self.name}{about}: {self._rule.doc or self._rule.text}")

    def evaluated(self, variables: dict[str, Any], about: str = "") -> tuple[bool, Any]:
        """Return whether the guard is true, and the result of the expression. Raises BadValue."""
        from kcli.serde.rules.functions import TooMuch

        try:
            if self._stopped >= MOST_STOPPED:
                raise TooMuch("it was stopped too often")
            if self._guard is not None and not self._guard.evaluate(variables):
                return False, None
            return True, self._expression.evaluate(variables)
        except TooMuch as problem:
            self._stopped += 1
            raise BadValue(f"the rule {self.name} cannot be evaluated{about}: {problem}") from None
        except Exception as problem:  # noqa: BLE001 - cel-python raises what the operators of Python raise
            raise BadValue(f"the rule {self.name} cannot be evaluated{about}: {reason(problem)}") from None

    def _program(self, text: str) -> Runner:
        from celpy import CELParseError

        if len(text) > LONGEST:
            raise UsageError(f"{self._about} is longer than {LONGEST:,} characters").hinted("without-rules")
        try:
            tree = self._environment.compile(text)
            called = {*_called(tree)} - MACROS
        except (CELParseError, RecursionError) as problem:
            raise UsageError(f"{self._about} is not a valid expression: {reason(problem)}") from None
        unknown = sorted(called - self._functions.keys())
        if unknown:
            raise UsageError(f"{self._about} calls {unknown[0]}, which kcli does not have").hinted("without-rules")
        return self._environment.program(tree, self._functions)


def reason(problem: BaseException) -> str:
    """Return an error of cel-python in one line, without the variables that it may print."""
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    words = str(problem.args[0] if problem.args else problem).partition(" (in activation")[0]
    return " ".join(words.split())[:200]


def _called(tree: Any) -> list[str]:
    """Return the names of the functions that an expression calls."""
    place = {"ident_arg": 0, "dot_ident_arg": 0, "member_dot_arg": 1}
    return [str(node.children[place[node.data]]) for node in tree.iter_subtrees() if node.data in place]

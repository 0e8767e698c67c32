"""Functions for CEL conditions: those of CEL, and string functions of Confluent's serializers."""

from __future__ import annotations

import re
import sys
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit
from uuid import UUID

import re2
from celpy import CELEvalError, Environment, Evaluator, InterpretedRunner
from celpy.celtypes import BoolType, MapType
from celpy.evaluation import base_functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LABEL = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)")
_LOCAL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}")
_QUIET = re2.Options()
_QUIET.log_errors = False  # it would print to stderr


class Fields(MapType):
    """A Protobuf message: an unset field has its default, and `has` is false for it."""

    unset: frozenset[str] = frozenset()
    asked = 0
    """Number of `has` being evaluated."""

    def __getitem__(self, key: Any) -> Any:
        if Fields.asked and key in self.unset:
            raise KeyError(key)
        return super().__getitem__(key)


MOST_STEPS = 100_000
"""Steps of one evaluation: macros over lists can be nested."""
MOST_MADE = 16 << 20
"""Characters, bytes and items that one evaluation may create by additions and calls."""
_MAKING = ("addition", "ident_arg", "member_dot_arg")


class TooMuch(Exception):
    """An evaluation exceeds the limit of steps or created data."""


class _Work:
    """The work of one evaluation."""

    steps = 0
    made = 0


class _Evaluator(Evaluator):
    work: _Work

    def sub_evaluator(self, ast: Any) -> _Evaluator:
        inner = _Evaluator(ast, activation=self.activation)
        inner.work = self.work
        return inner

    def _visit_tree(self, tree: Any) -> Any:
        self.work.steps += 1
        if self.work.steps > MOST_STEPS:
            raise TooMuch(f"it takes more than {MOST_STEPS:,} steps")
        result = super()._visit_tree(tree)
        if len(tree.children) > 1 and tree.data in _MAKING and isinstance(result, str | bytes | list):
            self.work.made += len(result)
            if self.work.made > MOST_MADE:
                raise TooMuch(f"it makes texts and lists of more than {MOST_MADE >> 20} MiB")
        return result

    def literal(self, tree: Any) -> Any:
        """Cache a literal: cel-python parses its text each time, character by character."""
        if not hasattr(tree, "read"):
            tree.read = super().literal(tree)
        return tree.read

    def macro_has_eval(self, exprlist: Any) -> BoolType:
        Fields.asked += 1
        try:
            return super().macro_has_eval(exprlist)
        finally:
            Fields.asked -= 1


class _Runner(InterpretedRunner):
    def evaluate(self, context: Any) -> Any:
        evaluator = _Evaluator(ast=self.ast, activation=self.new_activation())
        evaluator.work = _Work()
        return evaluator.evaluate(context)


def environment() -> Environment:
    """Return the parser and runtime of expressions. cel-python raises the recursion limit, which kcli uses to detect
    deep nesting, so it is restored."""
    limit = sys.getrecursionlimit()
    try:
        return Environment(runner_class=_Runner)
    finally:
        sys.setrecursionlimit(limit)


def _matches(text: str, pattern: str) -> BoolType:
    """RE2 patterns, which run in linear time."""
    try:
        found = re2.search(re2.compile(pattern, _QUIET), text)
    except re2.error as problem:
        raise CELEvalError(f"{pattern} is not a regular expression: {_words(problem)}") from None
    return BoolType(found is not None)


def _words(problem: Exception) -> str:
    words = problem.args[0] if problem.args else b""
    return words.decode(errors="replace") if isinstance(words, bytes) else str(words)


def _read_by(read: Callable[[str], object]) -> Callable[[str], BoolType]:
    """Return a function that tells whether a text can be parsed."""

    def reads(text: str) -> BoolType:
        try:
            read(str(text))
        except ValueError:
            return BoolType(False)
        return BoolType(True)

    return reads


def _host(name: str) -> bool:
    """Check a host name by RFC 1034; the last label must not be a number."""
    labels = name.removesuffix(".").split(".")
    return len(name) <= 253 and all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdecimal()


def _email(text: str) -> BoolType:
    local, parted, host = str(text).rpartition("@")
    return BoolType(bool(parted) and len(text) <= 254 and _LOCAL.fullmatch(local) is not None and _host(host))


def _uri(text: str) -> BoolType:
    try:
        parts = urlsplit(str(text))
    except ValueError:
        return BoolType(False)
    return BoolType(bool(parts.scheme and parts.netloc and parts.path))


def _uri_ref(text: str) -> BoolType:
    try:
        parts = urlsplit(str(text))
    except ValueError:
        return BoolType(False)
    return BoolType(bool(parts.scheme and parts.path) or not parts.fragment)


FUNCTIONS: dict[str, Any] = {
    **base_functions,
    "matches": _matches,
    "isEmail": _email,
    "isHostname": lambda text: BoolType(_host(str(text))),
    "isIpv4": _read_by(IPv4Address),
    "isIpv6": _read_by(IPv6Address),
    "isUri": _uri,
    "isUriRef": _uri_ref,
    "isUuid": _read_by(UUID),
}
"""By name in expressions."""

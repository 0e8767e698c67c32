"""The language of `--where`: an expression over one record, parsed with Python's parser and rebuilt from an allow list.

Typed input is never executed as such. Every node becomes a call of a function in operators.py, a constant or one of the
record's names, so no attribute, name or call can reach the interpreter; anything not on the list is refused with its
column. Fields are data: `value.__class__` is the field of that name.
"""

from __future__ import annotations

import ast
import re
from collections import namedtuple

from kcli.errors import OPTION, UsageError
from kcli.serde.filters import operators
from kcli.serde.filters.hints import hints_of
from kcli.text.patterns import compiled, searcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple

    Path = tuple[str | None, ...]

    class Compared(NamedTuple):
        """A part of the record that a condition compares with a constant; `equal`: with ==."""

        part: str
        path: Path
        constant: object
        equal: bool

    Test = Callable[[Any, Any, Any, Any, Any, Any, Any], Any]

else:
    Compared = namedtuple("Compared", "part path constant equal")

NAMES = ("key", "value", "headers", "topic", "partition", "offset", "timestamp")
WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
LONGEST = 10_000  # characters

_COMPARED = {
    ast.Eq: "equal",
    ast.NotEq: "differ",
    ast.Lt: "less",
    ast.LtE: "at_most",
    ast.Gt: "more",
    ast.GtE: "at_least",
    ast.In: "member",
    ast.NotIn: "no_member",
    ast.Is: "equal",
    ast.IsNot: "differ",
}
_RECKONED = {
    ast.Add: "plus",
    ast.Sub: "minus",
    ast.Mult: "times",
    ast.Div: "over",
    ast.FloorDiv: "whole",
    ast.Mod: "rest",
}
_PIECES = re.compile(
    r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\.[ \t]*([^\W\d]\w*)"""
    r"""|(&&|\|\||(?<![=!<>])=(?![=~])|!(?!=)|@)|(=~)|\[(\*)\]"""
)
_INSTEAD = {"&&": "and", "||": "or", "=": "==", "!": "not", "@": "=~"}


class Where:
    """A condition. `names` are the parts of the record that it uses; `test` takes all of NAMES, in that order, and
    returns a value that is true or false in Python's sense.

    `hints` are what a matching record must contain. `paths` are the fields of the value that it uses, each as its names
    from the outside in; an index is None. `all_paths` includes those of the key, with the part that each leads into.
    """

    def __init__(self, text: str) -> None:
        """Raises UsageError with the column of the mistake."""
        self.text = text
        self.names: set[str] = set()
        self.all_paths: dict[str, list[Path]] = {"key": [], "value": []}
        self.compared: list[Compared] = []
        self._of_elements = False  # whether it has [*]
        self._known: dict[str, Any] = {"__builtins__": {}}
        if len(text) > LONGEST:
            raise UsageError(f"where has {len(text)} characters; the most is {LONGEST}").hinted(OPTION)
        try:
            typed = _Patterns().visit(self._parsed())
            self._find_paths(typed)
            body = self._made(typed)
            self.hints = hints_of(typed, self._attribute)
            arguments = ast.arguments(
                posonlyargs=[], args=[ast.arg(arg=name) for name in NAMES], kwonlyargs=[], kw_defaults=[], defaults=[]
            )
            tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(args=arguments, body=body)))
            self.test: Test = eval(compile(tree, "where", "eval"), self._known)
        except (RecursionError, MemoryError):
            raise UsageError("where is nested too deeply").hinted(OPTION) from None

    def _parsed(self) -> ast.expr:
        def plain(match: re.Match[str]) -> str:
            if match[2]:
                raise self._wrong(match.start(2), f"write {_INSTEAD[match[2]]} for {match[2]}")
            if match[1]:  # `value.from`: field names may be Python keywords
                return match[0][: -len(match[1])] + "x" * len(match[1])
            if match[3]:  # replaces operators and slices by unused ones of the same length
                return "@ "
            if match[4]:
                self._of_elements = True
                return "[:]"
            return match[0]

        self._leading = len(self.text) - len(self.text.lstrip())
        text = self.text.strip()
        if not text:
            raise UsageError("where is empty; write a condition such as 'value.user.id == 42'").hinted(OPTION)
        if "\n" in text or "\0" in text:
            raise UsageError("where is one line, without NUL").hinted(OPTION)
        try:
            read = _PIECES.sub(plain, text)
            self._text, self._bytes = text, read.encode()  # of the same length; columns of the tree count bytes
            return ast.parse(read, mode="eval").body
        except UnicodeEncodeError:
            raise UsageError("where is not UTF-8 text").hinted(OPTION) from None
        except SyntaxError as problem:
            place = min(problem.offset - 1 if problem.offset else len(text), len(text))
            raise self._wrong(place, _said(problem, text, place)) from None
        except ValueError as problem:
            raise UsageError(f"where {self.text}: {problem}").hinted(OPTION) from None

    @property
    def paths(self) -> list[Path]:
        return self.all_paths["value"]

    def _path(self, node: ast.AST) -> tuple[str, Path]:
        """Return the part of the record, and the names that lead into it; ("", ()) for anything else."""
        names: list[str | None] = []
        inner = node
        while isinstance(inner, ast.Attribute | ast.Subscript):
            if isinstance(inner, ast.Attribute):
                names.append(self._attribute(inner))
            else:
                name = inner.slice.value if isinstance(inner.slice, ast.Constant) else None
                names.append(name if isinstance(name, str) else None)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.all_paths:
            return inner.id, (*reversed(names),)
        return "", ()

    def _find_paths(self, node: ast.AST) -> None:
        part, path = self._path(node)
        if part:
            self.all_paths[part].append(path)
            return
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            for thing, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
                part, path = self._path(thing)
                if part and isinstance(other, ast.Constant) and not isinstance(node.ops[0], ast.In | ast.NotIn):
                    equal = isinstance(node.ops[0], ast.Eq)
                    if not isinstance(node.ops[0], ast.NotEq):
                        self.compared.append(Compared(part, path, other.value, equal))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Attribute) and isinstance(node, ast.Call) and child is node.func:
                child = child.value  # a method
            self._find_paths(child)

    def _wrong(self, place: int, reason: str) -> UsageError:
        return UsageError(f"where {self.text}: column {self._leading + place + 1}: {reason}").hinted(OPTION)

    def _at(self, node: ast.expr, reason: str) -> UsageError:
        return self._wrong(self._place(node.col_offset), reason)

    def _place(self, column: int) -> int:
        return len(self._bytes[:column].decode())

    def _made(self, node: ast.expr) -> ast.expr:
        """Return a node of our own for a parsed one."""
        maker = getattr(self, f"_{type(node).__name__}", None)
        if maker is None:
            raise self._at(node, "this has no meaning here: conditions compare values, and are joined by and, or, not")
        expression: ast.expr = maker(node)
        return expression

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        function = operators.FUNCTIONS[name][1] if name in operators.FUNCTIONS else getattr(operators, name)
        self._known[f"_{name}"] = function if self._of_elements else operators.ALONE.get(function, function)
        return ast.Call(func=_name(f"_{name}"), args=list(arguments), keywords=[])

    def _Constant(self, node: ast.Constant) -> ast.expr:
        if node.value is not None and type(node.value) not in (str, int, float, bool):
            raise self._at(node, "only texts, numbers, true, false and null are constants")
        return self._number(node) if type(node.value) is float else ast.Constant(node.value)

    def _number(self, node: ast.Constant, sign: str = "") -> ast.expr:
        """Return a float, or a name for the typed number if a double would be a different one."""
        typed = self._text[self._place(node.col_offset) : self._place(node.end_col_offset or 0)].replace("_", "")
        literal = operators.literal(sign + typed)
        if type(literal) is float:
            return ast.Constant(literal)
        name = f"_literal{len(self._known)}"
        self._known[name] = literal
        return _name(name)

    def _Name(self, node: ast.Name) -> ast.expr:
        if node.id in WORDS:
            return ast.Constant(WORDS[node.id])
        if node.id not in NAMES:
            from difflib import get_close_matches

            near = get_close_matches(node.id, NAMES, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(NAMES)}"
            raise self._at(node, f"unknown name {node.id}; {hint}")
        self.names.add(node.id)
        return _name(node.id)

    def _Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._call("field", self._made(node.value), ast.Constant(self._attribute(node)))

    def _attribute(self, node: ast.Attribute) -> str:
        """Return the name as typed, if a placeholder of the same length was parsed."""
        end = self._place(node.end_col_offset or 0)
        return self._text[end - len(node.attr) : end]

    def _Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice) and self._text[self._place(node.slice.col_offset)] == "*":
            return self._call("each", self._made(node.value))
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            raise self._at(node.slice, "[ ] takes one index or name")
        return self._call("field", self._made(node.value), self._made(node.slice))

    def _Compare(self, node: ast.Compare) -> ast.expr:
        parts = []
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self._compared(type(operator), left, right))
            left = right
        return parts[0] if len(parts) == 1 else ast.BoolOp(op=ast.And(), values=parts)

    def _compared(self, operator: type[ast.cmpop], left: ast.expr, right: ast.expr) -> ast.expr:
        pair = self._made(left), self._made(right)
        if operator in (ast.Eq, ast.NotEq) and any(_simple(side) for side in pair):
            # For a string, or a number that no boolean equals, Python's own comparison gives the same result faster.
            return ast.Compare(left=pair[0], ops=[operator()], comparators=[pair[1]])
        return self._call(_COMPARED[operator], *pair)

    def _BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(op=node.op, values=[self._made(value) for value in node.values])

    def _UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(op=ast.Not(), operand=self._made(node.operand))
        if isinstance(node.op, ast.USub):
            if isinstance(node.operand, ast.Constant) and type(node.operand.value) is float:
                return self._number(node.operand, "-")
            constant = self._made(node.operand)
            if isinstance(constant, ast.Constant) and type(constant.value) in (int, float):
                return ast.Constant(-constant.value)  # type: ignore[operator]
            return self._call("negative", constant)
        raise self._at(node, "only - and not are allowed before a value")

    def _BinOp(self, node: ast.BinOp) -> ast.expr:
        name = _RECKONED.get(type(node.op))
        if name is None:
            raise self._at(node, "the arithmetic is + - * / // %")
        return self._call(name, self._made(node.left), self._made(node.right))

    def _List(self, node: ast.List | ast.Tuple | ast.Set) -> ast.expr:
        return ast.List(elts=[self._made(element) for element in node.elts], ctx=ast.Load())

    _Tuple = _Set = _List

    def _Call(self, node: ast.Call) -> ast.expr:
        """Handle `startswith(text, "a")`, and its form `text.startswith("a")`."""
        arguments = list(node.args)
        if isinstance(node.func, ast.Attribute):
            name = self._attribute(node.func)
            arguments.insert(0, node.func.value)
        elif isinstance(node.func, ast.Name):
            name = node.func.id
        else:
            raise self._at(node, "this is not a function")
        if node.keywords:
            raise self._at(node, f"{name} takes no named arguments")
        if name == "matches":
            return self._matches(node, arguments)
        if name not in operators.FUNCTIONS:
            known = ", ".join(sorted([*operators.FUNCTIONS, "matches"]))
            raise self._at(node, f"unknown function {name}; known: {known}")
        wanted, _ = operators.FUNCTIONS[name]
        if len(arguments) != wanted:
            raise self._at(node, f"{name} takes {wanted} argument{'s' if wanted > 1 else ''}, not {len(arguments)}")
        return self._call(name, *map(self._made, arguments))

    def _matches(self, node: ast.Call, arguments: list[ast.expr]) -> ast.expr:
        if len(arguments) != 2:
            raise self._at(node, f"matches takes a text and a pattern, not {len(arguments)} arguments")
        pattern = arguments[1]
        if not isinstance(pattern, ast.Constant) or type(pattern.value) is not str:
            raise self._at(pattern, "the pattern of matches is a text in quotes")
        try:
            search = searcher(compiled(pattern.value), f"where {self.text}: matches({pattern.value!r})")
        except re.error as problem:
            raise self._at(pattern, f"no regular expression: {problem}") from None
        name = f"_matches{len(self._known)}"
        self._known[name] = operators.searches(search)
        return ast.Call(func=_name(name), args=[self._made(arguments[0])], keywords=[])


class _Patterns(ast.NodeTransformer):
    """Turns `text =~ "RE"`, parsed as `text @ "RE"`, into a call of matches."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        call = ast.Call(func=ast.copy_location(_name("matches"), node), args=[node.left, node.right], keywords=[])
        return ast.copy_location(call, node)


def _name(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Load())


def _simple(node: ast.expr) -> bool:
    if not isinstance(node, ast.Constant):
        return False
    kind = type(node.value)
    return kind is str or (kind in (int, float) and node.value not in (0, 1))


def _said(problem: SyntaxError, text: str, place: int) -> str:
    """Return Python's reason, if it is useful without knowing Python."""
    reason = problem.msg
    if reason.startswith("invalid syntax"):
        here = text[place : place + 20]
        return f"did not expect {here!r}" if here else "the condition ends too early"
    return reason[:1].lower() + reason[1:]

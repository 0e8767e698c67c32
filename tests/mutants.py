"""`make mutants ARGS=kcli/consumer`: break one rule of the code at a time, and list the changes that no test notices.

A mutant is a module with one change: another comparison or number, a condition turned round, a statement or a keyword
argument left out, two arguments swapped. MUTANTS (40) are drawn by MUTANTS_SEED (0). No file is changed: the change is
compiled when pytest imports the module. The tests are those that import the module, the nearest first: a run without a
change shows how many of them take MUTANTS_SECONDS (60), and each mutant runs those that passed, until one fails. A
mutant that takes far longer hangs, which a test notices as well.

A survivor is a missing test, or a change without a difference: test the situation in which a user would notice. mutmut
3.8 was tried (it changes no code outside of functions, drops no statement, and runs all the tests twice before the
first mutant), and cosmic-ray 8.7 (it writes mutants to the files, and does not choose tests).
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

PAIRS = "Lt LtE Gt GtE Eq NotEq Is IsNot In NotIn And Or Add Sub Mult FloorDiv BitOr BitAnd".split()
OTHERS = {getattr(ast, one): getattr(ast, PAIRS[at ^ 1]) for at, one in enumerate(PAIRS)}
IN_PROCESS = "not (kafka or spark or terminal or process or registry or dist or long)"
IMPORT = re.compile(r"^ *(?:from ([\w.]+) )?import \(?([\w., ]*)", re.MULTILINE)
NAME = re.compile(r"(/__init__)?\.py$")
Change = tuple[ast.AST, str, Any, ast.AST]  # a node, its field, what the field becomes, and where that is


def changes(tree: ast.AST) -> Iterator[Change]:
    """Yield every change of a tree, always in the same order."""
    for node in ast.iter_child_nodes(tree):
        if not _is_no_rule(node):
            yield from _changes_of(node)
            yield from changes(node)
    for field in ("body", "orelse", "finalbody"):
        block: Any = getattr(tree, field, None)
        for at, step in enumerate(block if isinstance(block, list) else ()):
            if _is_step(step):
                yield tree, field, [*block[:at], ast.copy_location(ast.Pass(), step), *block[at + 1 :]], step


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op, *more]) if type(op) in OTHERS:
            yield node, "ops", [OTHERS[type(op)](), *more], node
        case ast.BoolOp(op=op) | ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OTHERS:
            yield node, "op", OTHERS[type(op)](), node
        case ast.Constant(value=bool() | int() | float() as value):
            yield node, "value", not value if isinstance(value, bool) else value + 1, node
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare):
            yield node, "test", ast.UnaryOp(ast.Not(), test), node
        case ast.Call(args=[first, second, *rest]) if ast.dump(first) != ast.dump(second):
            yield node, "args", [second, first, *rest], node
    keywords = node.keywords if isinstance(node, ast.Call) else []
    for at, keyword in enumerate(keywords):
        yield node, "keywords", keywords[:at] + keywords[at + 1 :], keyword


def _is_step(node: ast.AST) -> bool:
    """Whether Python runs without this statement: a call, a change of an object, an error, a jump."""
    if isinstance(node, ast.Expr | ast.Assign):
        of = node.value if isinstance(node, ast.Expr) else node.targets[0]
        return isinstance(of, ast.Call | ast.Await | ast.Attribute | ast.Subscript) and not _is_no_rule(node)
    return isinstance(node, ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break)


def _is_no_rule(node: ast.AST) -> bool:
    """Whether it is a type, a log line or a text for people."""
    if isinstance(node, ast.If | ast.Expr):
        return ast.unparse(node).startswith(("if TYPE_CHECKING:", "LOG."))
    return isinstance(node, ast.JoinedStr) or getattr(node, "name", "") == "__repr__"


def mutants(path: str) -> list[str]:
    """All mutants of a module, for people: the place, and the line before and after."""
    texts = []
    for node, field, value, where in changes(ast.parse(Path(path).read_text())):
        other = copy.copy(node)
        setattr(other, field, value)
        both = zip(*(ast.unparse(ast.fix_missing_locations(one)).split("\n") for one in (node, other)))
        was, now = next(pair for pair in both if pair[0] != pair[1])
        texts.append(f"{path}:{getattr(where, 'lineno', 1)}: {was.strip()}  ->  {now.strip()}")
    return texts


@cache
def importers() -> dict[str, set[str]]:
    """The files that import each module."""
    found: dict[str, set[str]] = {}
    for path in map(str, [*Path("kcli").rglob("*.py"), *Path("tests").rglob("*.py")]):
        for package, names in IMPORT.findall(Path(path).read_text()):
            for name in filter(None, re.split(r"[ ,]+", names)):
                for module in (package, f"{package}.{name}") if package else (name,):
                    found.setdefault(module, set()).add(path)
    return found


def tests_of(path: str) -> list[str]:
    """The nearest test files: few imports between, and a folder and name that are alike."""
    distances = {path: 0}
    for one, distance in (waiting := [(path, 0)]):
        new = importers().get(NAME.sub("", one).replace("/", "."), set()) - distances.keys()
        distances |= dict.fromkeys(new, distance + 1)
        waiting += [(by, distance + 1) for by in new]
    own = {*Path(path).with_suffix("").parts}
    tests = [test for test in distances if Path(test).name.startswith("test_") and not test.startswith("tests/kafka/")]
    alike = {test: len(own & {*test.removesuffix(".py").replace("test_", "").split("/")}) for test in tests}
    return sorted(tests, key=lambda test: (distances[test] - 2 * alike[test], test))[:30]


class Plugin(SourceFileLoader):
    """In pytest: loads a mutant instead of its module, and keeps to the tests that passed without a change."""

    def __init__(self, path: str, number: int | None, passed: str) -> None:
        super().__init__(NAME.sub("", path).replace("/", "."), str(Path(path).resolve()))
        self.number, self.passed = number, Path(passed)
        self.good: dict[str, bool] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        mine = name == self.name and self.number is not None
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if mine else None

    def get_code(self, fullname: str) -> Any:
        node, field, value, _ = list(changes(tree := ast.parse(Path(self.path).read_bytes())))[self.number or 0]
        setattr(node, field, value)
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.number is not None:
            passed = set(json.loads(self.passed.read_text()))
            items[:] = [item for item in items if item.nodeid in passed]
        self.end = time.monotonic() + float(os.environ.get("MUTANTS_SECONDS", "60"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.good[report.nodeid] = self.good.get(report.nodeid, True) and report.passed

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if self.number is None and time.monotonic() > self.end:
            item.session.shouldstop = "enough tests"

    def pytest_sessionfinish(self) -> None:
        if self.number is None:
            self.passed.write_text(json.dumps([test for test, good in self.good.items() if good]))


def passes(path: str, number: int | None, passed: Path, limit: float = 600.0) -> bool:
    """Whether no test notices this change; None is none, and writes the tests that passed."""
    what = json.dumps({"path": path, "number": number, "passed": str(passed)})
    environment = {**os.environ, "KCLI_MUTANT": what, "KCLI_QUICK": "1"}
    environment["KCLI_PURE_PYTHON"] = "1" * ("proto/plain" in path)
    words = f"-m tests.mutants -q {'' if number is None else '-x'} -p no:randomly -p no:cacheprovider -m"
    command = [sys.executable, *words.split(), IN_PROCESS, *(tests_of(path) or ["tests/suite.py"])]
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=limit)
        return done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    except subprocess.TimeoutExpired:
        return False


def main(places: list[str]) -> None:
    """Print the survivors among the mutants of files and folders."""
    files = [str(file) for at in map(Path, places) for file in (sorted(at.rglob("*.py")) if at.is_dir() else [at])]
    every = [(file, number, text) for file in files for number, text in enumerate(mutants(file))]
    count, seed = (int(os.environ.get(name, usual)) for name, usual in (("MUTANTS", "40"), ("MUTANTS_SEED", "0")))
    drawn = sorted(random.Random(seed).sample(every, min(count, len(every))))
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        limits: dict[str, float] = {}
        for file, number, text in drawn:
            passed, begun = Path(folder, file.replace("/", ".")), time.monotonic()
            if file not in limits:
                assert passes(file, None, passed) or passed.exists(), f"{file}: its tests do not end"
                limits[file] = 10.0 + 2 * (time.monotonic() - begun)
                print(f"{file}: {len(json.loads(passed.read_text()))} tests", file=sys.stderr, flush=True)
            if passes(file, number, passed, limits[file]):
                survived += 1
                print(text, flush=True)
    print(f"{survived} of {len(drawn)} mutants survived, of {len(every)}; MUTANTS_SEED={seed} repeats")


if __name__ == "__main__" and "KCLI_MUTANT" in os.environ:
    sys.meta_path.insert(0, plugin := Plugin(**json.loads(os.environ["KCLI_MUTANT"])))
    sys.exit(pytest.main(sys.argv[1:], [plugin]))
elif __name__ == "__main__":
    main(sys.argv[1:])

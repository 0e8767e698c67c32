"""`python -m tests.house`: measures of the source tree against `house.txt`; a measure may fall, never rise.

Each row of `house.txt` is a measure, its highest allowed value and its goal. `source_lines` has no row: features add
lines. Exit code 1 when a measure is above what is allowed; `--update` writes down what is measured when none is;
`--list MEASURE` prints what is counted, `--table` all measures. Times depend on the machine: `make bench`, and
`python -m benchmarks --start-up` with the limits of start-up.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ALLOWED = Path(__file__).with_suffix(".txt")
KCLI = Path("kcli")
GENERATED = "kcli/cli/parsing/tables"
LARGE = ("kcli/proto", "kcli/proto/messages", "kcli/proto/plain", "kcli/sandbox/answers", GENERATED)
"""Folders with one file an API, sans-IO code that is declared file by file, or data that `make tables` writes, a file
a subject: they may be as large as they are."""
MODULES = 12  # in a folder of kcli
TEST_MODULES = 25  # in a folder of tests
PARAMETERS = 8  # of a function
LINES = 40  # of a function, its docstring not counted
README = range(30, 61)  # lines of the README.md of a package of the first level
ELSEWHERE = ("docs", "interop", "kafka", "nightly", "release")
"""Tests of the pages, of other programs, of a real Kafka, of the nightly run and of the packages."""
ID = r"(?:A\d\.\d\d|[B-FR]\d{1,2})"
CITED = re.compile(rf"\(((?:{ID}(?:, |–|-))*{ID})\)")
IN_A_NAME = re.compile(r"(?<=_)(A\d_\d\d|[B-FR]\d{1,2})(?=_)")
DEFINED = re.compile(rf"^\| ({ID}) \|", re.MULTILINE)
"""A row of docs/rules.md."""


def circle(package: str) -> list[str]:
    """The modules of the largest import circle of a package; imports in functions and for types only count too."""
    return max(_circles(package), key=len, default=[])


def other_circles() -> list[str]:
    """The modules in circles of the packages that have no row of their own, or across packages."""
    own = tuple(f"kcli.{name}." for name in ("cli", "sandbox", "tui"))
    return [name for circle in _circles("") for name in circle if not name.startswith(own)]


def large_folders() -> list[str]:
    """Folders of kcli and of tests with too many modules; `loose_in_kcli` counts those of kcli itself."""
    folders = Counter(str(path.parent) for path in sources() if path.name != "__init__.py" and path.parent != KCLI)
    tests = Counter(str(path.parent) for path in Path("tests").rglob("test_*.py"))
    return [
        *(
            f"{name} {count}"
            for name, count in folders.items()
            if count > MODULES and not name.startswith(LARGE) and name != "kcli"
        ),
        *(f"{name} {count}" for name, count in tests.items() if count > TEST_MODULES),
    ]


def loose(folder: str) -> list[str]:
    """The modules that lie directly in a folder."""
    return [path.name for path in sorted(Path(folder).glob("*.py")) if not path.name.startswith("__")]


def string_keys() -> list[str]:
    """Reads of a parsed command line by a string: `values["no_undo"]`."""
    return lines(re.compile(r'\b(values|given|options)(\["|\.get\(")'), KCLI / "cli")


def any_dicts_in_cli() -> list[str]:
    """Dictionaries of anything in the command line: their keys and values are checked by nobody."""
    return lines(re.compile(r"dict\[str, Any\]"), KCLI / "cli")


def skipped_formats() -> list[str]:
    return lines(re.compile(r"# fmt: skip"), KCLI)


def long_signatures() -> list[str]:
    """Functions with too many parameters, `self` not counted, outside `proto`."""
    rows = []
    for path in sources():
        if str(path).startswith("kcli/proto/"):
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
                count = len([name for name in names if name not in ("self", "cls")])
                if count > PARAMETERS:
                    rows.append(f"{path}:{node.lineno} {node.name} {count}")
    return rows


def long_functions() -> list[str]:
    """Functions that do not fit on a screen. The plain record core is apart: one loop a batch, no call a record."""
    rows = []
    for path in sources():
        if str(path).startswith((GENERATED, "kcli/proto/plain/")):
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                docstring = ast.get_docstring(node, clean=False)
                count = (node.end_lineno or 0) - node.lineno + 1 - (len(docstring.splitlines()) if docstring else 0)
                if count > LINES:
                    rows.append(f"{path}:{node.lineno} {node.name} {count}")
    return rows


def random_pauses() -> list[str]:
    """Hand-written jitter: a pause that is not made by `kcli/backoff.py`."""
    pattern = re.compile(r"\brandom\.(random|uniform)\(|\b(uniform|jitter)\(")
    return [row for row in lines(pattern, KCLI) if not row.startswith("kcli/backoff.py")]


def retry_predicates() -> list[str]:
    """What says whether a request may be sent again: `KcliError.retriable`, which `kcli/codes.py` has for each code."""
    name = re.compile(r"retr(y|iable)|transient|try_again|may_(try|pass)|passing|final")
    rows = []
    for path in sources():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                if name.search(node.name) and ast.unparse(node.returns) == "bool":
                    rows.append(f"{path}:{node.lineno} {node.name}")
            elif isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "retriable":
                rows.append(f"{path}:{node.lineno} retriable")
    return rows


def back_off_loops() -> list[str]:
    """Loops outside `kcli/backoff.py` that catch an error and sleep by themselves: neither `retry`, `repeat` nor
    `Backoff.pause`. A time-out is how a task waits for its next turn, and no error."""
    rows = []
    for path in sources():
        loops = [node for node in ast.walk(tree(path)) if isinstance(node, ast.While | ast.For | ast.AsyncFor)]
        for loop in loops if path != KCLI / "backoff.py" else ():
            parts = list(ast.walk(loop))
            caught = {ast.unparse(part.type) for part in parts if isinstance(part, ast.ExceptHandler) and part.type}
            called = [part.func for part in parts if isinstance(part, ast.Call)]
            names = {func.attr for func in called if isinstance(func, ast.Attribute)}
            names |= {func.id for func in called if isinstance(func, ast.Name)}
            if caught - {"TimeoutError"} and "sleep" in names:
                rows.append(f"{path}:{loop.lineno}")
    return rows


def undefined_rules() -> list[str]:
    """Ids of rules, in a comment, a docstring or the name of a test, without a row in docs/rules.md."""
    defined = set(DEFINED.findall(Path("docs/rules.md").read_text()))
    rows = []
    for path in (*sources(), *KCLI.rglob("*.pyx"), *KCLI.rglob("*.pxi"), *sorted(Path("tests").rglob("*.py"))):
        text = path.read_text()
        cited = {rule for match in CITED.finditer(text) for rule in re.findall(ID, match[1])}
        for name in re.findall(r"def (test_\w+)", text):
            cited |= {rule.replace("_", ".") for rule in IN_A_NAME.findall(name)}
        rows += [f"{path} {rule}" for rule in sorted(cited - defined)]
    return rows


def readme_lengths() -> list[str]:
    """Packages of the first level without a README.md of 30 to 60 lines."""
    rows = []
    for package in sorted(path.parent for path in KCLI.glob("*/__init__.py")):
        readme = package / "README.md"
        count = len(readme.read_text().splitlines()) if readme.exists() else 0
        if count not in README:
            rows.append(f"{readme} {count}")
    return rows


def homeless_tests() -> list[str]:
    """Folders of tests that mirror no folder of kcli and no module of that package: a new test has one obvious place.
    `ELSEWHERE` has the tests of what is not in kcli."""
    folders = sorted({path.parent.relative_to("tests") for path in Path("tests").rglob("test_*.py")} - {Path()})
    return [
        f"tests/{folder}"
        for folder in folders
        if folder.parts[0] not in ELSEWHERE
        and not (KCLI / folder).is_dir()
        and not any((KCLI / folder.parent).rglob(f"{folder.name}.py"))
    ]


def file_map() -> list[str]:
    """Rows of the table of files in docs/design.md."""
    return [row for row in Path("docs/design.md").read_text().splitlines() if re.match(r"\| `[\w/]+\.py`", row)]


def for_tests_only() -> list[str]:
    """Functions and classes of a module that nothing in kcli names: not their module, no import of it, no attribute,
    no string (`run="module:function"`). Hooks that others call by their name are none of them."""
    names: dict[str, set[str]] = {}
    said: set[str] = set()
    for path in [*sources(), *Path("pyspark_kcli").rglob("*.py")]:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom):
                for one in node.names:
                    names.setdefault(one.name, set()).add(node.module or "")
            elif isinstance(node, ast.Name):
                names.setdefault(node.id, set()).add(_module(path))
            elif isinstance(node, ast.Attribute):
                said.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                said.update(re.findall(r"\w+", node.value))
    return [
        f"{path}:{node.lineno} {node.name}"
        for path in sources()
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith(("__", "pytest_"))
        and not node.decorator_list
        and node.name not in said
        and not any(f"{_module(path)}.".startswith(f"{user}.") for user in names.get(node.name, ()))
    ]


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def source_lines() -> list[str]:
    """Lines of source but blank lines and blocks of imports for types only."""
    rows = []
    for path in (*sources(), *KCLI.rglob("*.pyx"), *KCLI.rglob("*.pxi")):
        text = path.read_text().splitlines()
        typing = type_lines(tree(path)) if path.suffix == ".py" else set()
        rows += [f"{path}:{number}" for number, line in enumerate(text, 1) if line.strip() and number not in typing]
    return rows


MEASURES: dict[str, Callable[[], list[str]]] = {
    "circle_cli": lambda: circle("kcli.cli."),
    "circle_sandbox": lambda: circle("kcli.sandbox."),
    "circle_tui": lambda: circle("kcli.tui."),
    "circles_elsewhere": other_circles,
    "string_keys_in_cli": string_keys,
    "any_dicts_in_cli": any_dicts_in_cli,
    "large_folders": large_folders,
    "loose_in_cli": lambda: loose("kcli/cli"),
    "loose_in_kcli": lambda: loose("kcli"),
    "long_signatures": long_signatures,
    "long_functions": long_functions,
    "fmt_skip": skipped_formats,
    "hand_written_jitter": random_pauses,
    "retry_predicates": retry_predicates,
    "back_off_loops": back_off_loops,
    "undefined_rules": undefined_rules,
    "readme_lengths": readme_lengths,
    "homeless_tests": homeless_tests,
    "file_map_rows": file_map,
    "for_tests_only": for_tests_only,
    "source_lines": source_lines,
}


def sources() -> list[Path]:
    return sorted(KCLI.rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def lines(pattern: re.Pattern[str], folder: Path) -> list[str]:
    return [
        f"{path}:{number}"
        for path in sorted(folder.rglob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if pattern.search(line)
    ]


def _circles(prefix: str) -> Iterator[list[str]]:
    """The circles among the modules whose names begin with the prefix."""
    return circles({name: targets for name, targets in imports().items() if name.startswith(prefix)})


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """Strongly connected nodes, two or more (Tarjan, 1972); a target that is no node does not count."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> Iterator[list[str]]:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in graph[name]:
            if target not in graph:
                continue
            if target not in index:
                yield from visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                yield circle

    for name in graph:
        if name not in index:
            yield from visit(name)


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module imports, wherever it does; a package's `__init__` is a module."""
    names = {path: ".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in sources()}
    known = set(names.values())
    graph: dict[str, set[str]] = {}
    for path, name in names.items():
        graph[name] = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                graph[name] |= {one.name for one in node.names} & known
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = {f"{node.module}.{one.name}" for one in node.names} & known
                graph[name] |= below or {node.module} & known
        graph[name].discard(name)
    return graph


def type_lines(module: ast.Module) -> set[int]:
    """The lines of `if TYPE_CHECKING:` blocks."""
    return {
        number
        for node in ast.walk(module)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--list"]:
        print(*MEASURES[arguments[1]](), sep="\n")
        return 0
    if arguments[:1] == ["--table"]:
        goals = {name: (allowed, goal) for name, allowed, goal in map(str.split, ALLOWED.read_text().splitlines())}
        for name, measure in MEASURES.items():
            allowed, goal = goals.get(name, ("-", "-"))
            print(f"{name:22} {len(measure()):7} allowed {allowed:>3} goal {goal:>3}")
        return 0
    rows = [row.split() for row in ALLOWED.read_text().splitlines()]
    measured = {name: len(MEASURES[name]()) for name, _, _ in rows}
    higher = [(name, allowed) for name, allowed, _ in rows if measured[name] > int(allowed)]
    for name, allowed in higher:
        print(f"{name}: {measured[name]}, {allowed} is allowed; `python -m tests.house --list {name}` lists them")
    if "--update" in arguments and not higher:
        ALLOWED.write_text("".join(f"{name} {measured[name]} {goal}\n" for name, _, goal in rows))
    return 1 if higher else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

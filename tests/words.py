"""`python -m tests.words`: riddle words in user-visible text, docstrings and comments; their number may only fall.

A riddle is a phrase that has to be translated back before it says something: "who asks", "what stands there", "nobody",
"it is told", "at most so long". Subjects are nouns of Kafka, verbs are active.

`words.txt` has the number each place may have; a place that is not in it may have none. Exit code 1 when a place has
more. `--list PLACE` prints what is counted there, `--update` writes the numbers down when none is higher.
Users read: every string of three words or more in `kcli`, the docstring of a command (its help), and the pages.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ALLOWED = Path(__file__).with_suffix(".txt")
KCLI = Path("kcli")
PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(str(path) for path in sorted(Path("docs").glob("*.md")) if not path.is_symlink()),
)
GENERATED = ("kcli/cli/parsing/tables", "kcli/cli/parsing/help/reference.py")
WORDS = 3  # what is shorter is a name
AROUND = 70  # characters shown around a riddle
RIDDLES = re.compile(
    r"""\b(?:
    who(?!-can)|whom|whose(?=\s+is)|nobody|somebody|everybody|
    no\ one(?!\ of)|
    so\ (?:long|many|much|far)(?!\ as)|
    (?:a|one|each|every|per|last|next|first|between|two|of)\ looks?(?!-|\ (?:at|for|like|up))|looks(?=[.,;:)]|$)|
    stands?(?!\ for)|
    (?:goes|go|went|going)\ on|
    (?:is|are|was|were|be|been|being)\ (?:told|said|heard)|
    took\ back|tak(?:e|es|en|ing)\ back|
    (?:is|was|are)\ too\ much|
    there\ is\ (?:none|no\ such)|
    (?:begin|begins|made)\ (?:anew|afresh)|
    may\ (?:everything|all)|
    shall(?!ow)|
    the\ least\ is|
    left\ out|leaves?\ out|leaving\ out|
    mends?|mended|mending
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def user_text(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each string that may reach a user: no docstring but a command's."""
    module = ast.parse(path.read_text())
    apart = {id(node) for node, _, _ in docstrings(module)}
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            yield node.lineno, literal(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.lineno, node.value
    for node, text, owner in docstrings(module):
        if is_command(owner):
            yield node.lineno, text


def docstrings(module: ast.Module) -> Iterator[tuple[ast.Constant, str, ast.AST]]:
    """The strings that are statements, with what they stand in."""
    for owner in ast.walk(module):
        body = getattr(owner, "body", None)
        for node in body if isinstance(body, list) else ():
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                yield node.value, node.value.value, owner


def is_command(node: ast.AST) -> bool:
    """Whether a function has `@command` over it: its docstring is the description in --help."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "command"
        for one in node.decorator_list
    )


def literal(node: ast.JoinedStr) -> str:
    return "".join(
        part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "…" for part in node.values
    )


def inner_text(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring and comment."""
    text = path.read_text()
    for node, docstring, owner in docstrings(ast.parse(text)):
        if not is_command(owner):
            yield node.lineno, docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def riddles(text: str) -> list[str]:
    """The riddles of a text of three words or more, each with the words around it."""
    text = " ".join(text.split())
    if len(text.split()) < WORDS:
        return []
    return [
        f"{text[max(0, one.start() - AROUND) : one.start()]}[{one[0]}]{text[one.end() : one.end() + AROUND]}"
        for one in RIDDLES.finditer(text)
    ]


def page_text(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page but code, which has strings of its own."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "`…`", line)


def place(path: Path) -> str:
    """`kcli/admin`, `kcli/cli/commands`: two folders, three in the command line."""
    parts = path.parts[: 3 if path.parts[1] == "cli" else 2]
    return "/".join(parts) if "/".join(parts) != str(path) else str(path.parent)


def found() -> Iterator[tuple[str, str]]:
    """The place of each riddle, and the line that shows it."""
    for path in sorted(KCLI.rglob("*.py")):
        if str(path).startswith(GENERATED):
            continue
        for kind, texts in (("", user_text(path)), ("docstrings:", inner_text(path))):
            for number, text in texts:
                for word in riddles(text):
                    yield kind + place(path), f"{path}:{number} {word}"
    for name in PAGES:
        for number, text in page_text(Path(name).read_text()):
            for word in riddles(text):
                yield name, f"{name}:{number} {word}"


def main(arguments: list[str]) -> int:
    rows = list(found())
    if arguments[:1] == ["--list"]:
        print(*(line for name, line in rows if name.startswith(arguments[1])), sep="\n")
        return 0
    counted = Counter(name for name, _ in rows)
    allowed = {name: int(count) for count, name in map(str.split, ALLOWED.read_text().splitlines())}
    more = {name: count for name, count in counted.items() if count > allowed.get(name, 0)}
    for name, count in sorted(more.items()):
        print(f"{name}: {count} riddles, {allowed.get(name, 0)} are allowed; `python -m tests.words --list {name}`")
    if "--update" in arguments and not (more and allowed):
        ALLOWED.write_text("".join(f"{counted[name]} {name}\n" for name in sorted(counted)))
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

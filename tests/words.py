"""`python -m tests.words`: riddle words in user-visible text, docstrings and comments; their number may only fall.

A riddle is a phrase that has to be translated back before it says something: "who asks", "what stands there", "nobody",
"it is told", "at most so long". Subjects are nouns of Kafka, verbs are active.

`words.txt` has the number each place may have; a place that is not in it may have none. Exit code 1 when a place has
more. `--list PLACE` prints what is counted there, `--update` writes the numbers down when none is higher.
Users read: every string of three words or more in `kcli`, the docstring of a command (its help), and the pages.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

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


class Text(NamedTuple):
    """The texts of a file, each with its line."""

    user: list[tuple[int, str]]
    """Each string that may reach a user: no docstring but a command's."""
    inner: list[tuple[int, str]]
    """Each docstring and each comment."""


@functools.cache
def text_of(path: Path) -> Text:
    """A file is parsed once a process: a pass over all of kcli takes seconds."""
    source = path.read_text()
    nodes = [*ast.walk(ast.parse(source))]
    found = Text([], [])
    apart = set()
    for string, text, owner in docstrings(nodes):
        apart.add(id(string))
        (found.user if is_command(owner) else found.inner).append((string.lineno, text))
    strings: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in node.values}
            found.user.append((node.lineno, literal(node)))
            strings.append(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node)
            if id(node) not in apart:
                found.user.append((node.lineno, node.value))
    found.inner.extend(comments(source, strings))
    return found


def comments(source: str, strings: list[ast.expr]) -> list[tuple[int, str]]:
    """The comments of a source. Tokens are slow to make, and needed only where a `#` may be inside a string: after a
    quotation mark, or in a line between two lines of one."""
    marked = {number: line.partition("#") for number, line in enumerate(source.split("\n"), 1) if "#" in line}
    long = [range(node.lineno + 1, (node.end_lineno or 0) + 1) for node in strings if node.end_lineno != node.lineno]
    if any("'" in code or '"' in code for code, _, _ in marked.values()) or any(map(marked.keys().__and__, long)):
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        return [(one.start[0], one.string) for one in tokens if one.type == tokenize.COMMENT]
    return [(number, f"#{comment}") for number, (_, _, comment) in marked.items()]


def docstrings(nodes: list[ast.AST]) -> Iterator[tuple[ast.Constant, str, ast.AST]]:
    """The strings that are statements, with what they stand in."""
    for owner in nodes:
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
        for kind, texts in (("", text_of(path).user), ("docstrings:", text_of(path).inner)):
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

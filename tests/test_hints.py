"""Below the command line and the dashboard no message names an option or a command: hints do, and a face words them."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import kcli
from kcli import codes
from kcli.cli.output.hints import WORDS, worded
from kcli.cli.parsing.registry import SUBJECTS, every
from kcli.errors import OPTION, BrokerError, Hint, KcliError, UsageError
from kcli.serde.filters.where import Where

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(kcli.__file__).parent
OPTIONS = {flag for _, command in every() for flag in command.by_flag}
COMMANDS = {*SUBJECTS, "help", "version"}
PROGRAMS = (
    *("sandbox/__main__.py", "pipeline/session/gateway.py", "system/processes.py"),
    *("serde/json_schema/child.py", "changes/change.py", "changes/journal.py"),
)
"""A program with options of its own, the options of Java, ps and Python; and the command lines that make changes."""
FOREIGN = ("kafka-features.sh", "ulimit")
"""Programs of others whose options a message may name."""
NAMES = ("kcli sandbox authority", "kcli sandbox", r"(.*-m)(\d+)\.avro")
"""Names in certificates, and of files."""


def below_the_faces() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("cli/", "tui/")) and name not in PROGRAMS:
            yield name, ast.parse(path.read_text())


def texts(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The texts of a module but for its docstrings, each with its line."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value, node.lineno


def hints(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """The hints that a module gives, with the names of their values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(code := node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("hinted", "Hint"):
                yield str(code.value), {keyword.arg or "" for keyword in node.keywords}


def test_no_message_below_the_faces_names_an_option_or_a_command() -> None:
    assert {"--where", "--broker-map", "--on-error", "-X"} <= OPTIONS
    assert {"groups", "topics", "pipeline"} <= COMMANDS
    found = []
    for name, tree in below_the_faces():
        for text, line in texts(tree):
            options = OPTIONS.intersection(re.findall(r"(?<![\w-])(?:--[a-z][a-z-]*|-[A-Za-z](?![\w-]))", text))
            commands = COMMANDS.intersection(re.findall(r"\bkcli ([a-z]+)", text))
            foreign = any(program in text for program in FOREIGN)
            if (options or commands) and text not in NAMES and not foreign:
                found.append(f"{name}:{line}: {text}")
    assert found == [], found


def test_each_hint_has_words_and_all_words_have_their_values() -> None:
    given: dict[str, set[str]] = {}
    spelled = set()
    for _, tree in below_the_faces():
        spelled |= {text for text, _ in texts(tree)}
        for code, values in hints(tree):
            given[code] = given.get(code, values) & values
    assert given.keys() - WORDS.keys() == {"spark-option", "grant"}
    assert {code for code in WORDS if code not in spelled and not hasattr(codes, code)} == set()
    for code, values in given.items():
        fields = {field for _, field, _, _ in string.Formatter().parse(WORDS.get(code, "")) if field}
        assert fields <= values, code


def test_the_library_says_a_sentence_of_its_own_and_a_face_adds_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    error = UsageError("refused by protected profile prod").hinted("confirm", profile="prod")
    inside = KcliError(f"orders: {BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)}")
    assert str(error) == "refused by protected profile prod"
    assert str(inside) == "orders: this topic or partition does not exist (UNKNOWN_TOPIC_OR_PARTITION)"
    assert (str(Hint("doctor")), str(KcliError("no").hinted("nobody-knows"))) == ("", "no")
    monkeypatch.setattr("kcli.errors.wording", worded)
    assert str(error) == "refused by protected profile prod; add --confirm prod"
    inside = KcliError(f"orders: {BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)}")
    assert str(inside).endswith("(UNKNOWN_TOPIC_OR_PARTITION); `kcli topics list` shows what does")
    assert (str(Hint("doctor")), str(KcliError("no").hinted("nobody-knows"))) == ("kcli doctor", "no")


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("where is empty", "--where is empty"),
        ("offset 7-: expected", "-o 7-: expected"),
        ("partition_by: a is given twice", "--partition-by: a is given twice"),
        ("key_grep (: missing )", "--key-grep (: missing )"),
    ],
)
def test_a_setting_becomes_its_option(sentence: str, shown: str) -> None:
    assert worded(sentence, Hint(OPTION)) == shown


def test_a_condition_that_is_none_names_the_setting() -> None:
    with pytest.raises(UsageError, match=r"^where offset <: column "):
        Where("offset <")


def test_an_option_of_spark_becomes_that_of_the_command() -> None:
    assert worded("bad value; onBad=null makes it null", Hint("spark-option")) == (
        "bad value; --on-bad null makes it null"
    )

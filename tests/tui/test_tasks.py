"""The keys and places that tasks.md names exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from kcli.tui.actions import menus
from kcli.tui.actions.keys import every
from kcli.tui.alerts import silencing as silencing
from kcli.tui.routes import find
from kcli.tui.screens import groups
from kcli.tui.screens.topics import topics

TASKS = Path(__file__).with_name("tasks.md").read_text(encoding="utf-8")
WAYS = TASKS.partition("## One way to do each")[2]


def _acts() -> set[str]:
    """The letters of the menus: the first argument of every act."""
    found = set()
    for module in (menus, silencing):
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Act", "of_change"):
                found |= {str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant)}
    return found


def test_every_task_has_a_way() -> None:
    numbers = [[int(n) for n in re.findall(r"^(\d+)\. ", text, re.M)] for text in (TASKS.replace(WAYS, ""), WAYS)]
    assert numbers[0] == numbers[1] == list(range(1, len(numbers[0]) + 1))
    assert len(numbers[0]) > 40


def test_the_keys_and_places_of_the_ways_exist() -> None:
    known = {key for one in every().values() for key in one.keys.split(",")} | {",", "?"} | _acts()
    known |= set(re.findall(r'letter="(\w)"', Path(str(groups.__file__)).read_text(encoding="utf-8")))
    known |= set(re.findall(r'letter="(\w)"', Path(str(topics.__file__)).read_text(encoding="utf-8")))
    for word in re.findall(r"`([^`]+)`", WAYS):
        if word.startswith(":") and len(word) > 1:
            assert find(word[1:]) is not None, word
        elif not (word.startswith("/") and len(word) > 1):
            assert word in known, word

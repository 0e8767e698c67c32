"""docs/contributors/design.md against the tree: what it names is there, and no subject is forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DESIGN = (ROOT / "docs/contributors/design.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
SUBJECTS = re.findall(r"^\| (\w+) \|((?: (?:`[\w/]+`)? ?\|)+)$", DESIGN, re.MULTILINE)


def test_each_subject_has_its_places() -> None:
    assert len(SUBJECTS) >= 12
    for subject, cells in SUBJECTS:
        for name in re.findall(r"`([\w/]+)`", cells):
            place = ROOT / "kcli" / name
            assert place.is_dir() or place.with_suffix(".py").is_file(), (subject, name)


def test_each_subject_of_admin_is_in_the_table_under_its_name() -> None:
    folders = {path.parent.name for path in (ROOT / "kcli/admin").glob("*/__init__.py")}
    named = {subject for subject, cells in SUBJECTS if f"`admin/{subject}`" in cells}
    assert folders <= named


def test_each_file_that_is_named_is_there() -> None:
    named = re.findall(r"(?<![\w/.])((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)", DESIGN + CONTRIBUTING)
    assert len(named) > 15
    missing = [
        name for name in named if not any((ROOT / place / name).exists() for place in ("kcli", "", "kcli/producer"))
    ]
    assert not missing


def test_each_package_has_a_readme_with_a_picture() -> None:
    packages = [path.parent for path in sorted((ROOT / "kcli").glob("*/__init__.py"))]
    assert len(packages) >= 15
    wrong = []
    for package in packages:
        readme = package / "README.md"
        text = readme.read_text() if readme.exists() else ""
        pictures = re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if not any("▶" in picture or "▼" in picture for picture in pictures):
            wrong.append(package.name)
    assert not wrong


def test_each_file_that_a_readme_names_is_there() -> None:
    missing = []
    for readme in (ROOT / "kcli").glob("*/README.md"):
        for name in re.findall(r"(?<![\w/.])((?:[a-z_0-9]+/)*[a-z_0-9]+\.(?:pyx|pxi|py))\b", readme.read_text()):
            places = (readme.parent, ROOT / "kcli", ROOT, *(path for path in readme.parent.iterdir() if path.is_dir()))
            if not any((place / name).exists() for place in places):
                missing.append(f"{readme.parent.name}: {name}")
    assert not missing


QUESTIONS = {
    "where is STUCK decided?": ("lag", "Where is STUCK decided?", "lag/status.py", "RULES = ("),
    "add an option to groups reset": (
        "cli",
        "option of `groups reset`",
        "cli/commands/groups/reset/reset.py",
        "class ResetOptions(",
    ),
    "which errors of ListOffsets are retried?": (
        "asking",
        "Which errors of ListOffsets are retried?",
        "codes.py",
        "def _retry(",
    ),
    "use it from pytest": ("sandbox", "From your own tests", "sandbox/pytest.py", "def kcli_sandbox("),
    "what keeps the producer's order?": ("producer", "**Order.**", "producer/batches/queue.py", "class "),
}
"""What a newcomer asks: the package whose README answers, its words, the file that they lead to, and what is there."""


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_README_of_one_package_answers_a_newcomer(question: str) -> None:
    package, words, file, there = QUESTIONS[question]
    readme = (ROOT / "kcli" / package / "README.md").read_text()
    assert words in readme
    assert file.removeprefix(f"{package}/") in readme
    assert f"\n{there}" in (ROOT / "kcli" / file).read_text()


def test_each_table_that_a_recipe_names_is_in_a_file_that_it_names() -> None:
    for recipe in CONTRIBUTING.partition("## Recipes")[2].split("\n**")[1:]:
        files = [ROOT / name for name in re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`", recipe)]
        text = "".join(path.read_text() for path in files)
        tables = re.findall(r"`(_?[A-Z][A-Z_]+)`", recipe)
        assert [name for name in tables if f"\n{name}" not in text] == [], recipe.partition("\n")[0]


def test_each_target_of_make_that_is_named_is_there() -> None:
    named = {word for line in re.findall(r"`make ([a-z -]+)", CONTRIBUTING + DESIGN) for word in line.split()}
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"check", "quick", "snapshots"} <= named
    assert named <= targets
